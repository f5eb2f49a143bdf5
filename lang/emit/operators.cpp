#include "lang/emit/operators.h"

namespace tsc::lang {
namespace {

// In the order of enum Operator.
constexpr BinaryOps kBinary[] = {
    {Op::Add, Op::InplaceAdd, Op::AddK, Op::InplaceAddK},
    {Op::Sub, Op::InplaceSub, Op::SubK, Op::InplaceSubK},
    {Op::Mul, Op::InplaceMul, Op::MulK, Op::InplaceMulK},
    {Op::MatMul, Op::InplaceMatMul, Op::Nop, Op::Nop},
    {Op::TrueDiv, Op::InplaceTrueDiv, Op::TrueDivK, Op::Nop},
    {Op::Mod, Op::InplaceMod, Op::ModK, Op::Nop},
    {Op::Pow, Op::InplacePow, Op::PowK, Op::Nop},
    {Op::LShift, Op::InplaceLShift, Op::Nop, Op::Nop},
    {Op::RShift, Op::InplaceRShift, Op::Nop, Op::Nop},
    {Op::BitOr, Op::InplaceBitOr, Op::Nop, Op::Nop},
    {Op::BitXor, Op::InplaceBitXor, Op::Nop, Op::Nop},
    {Op::BitAnd, Op::InplaceBitAnd, Op::Nop, Op::Nop},
    {Op::FloorDiv, Op::InplaceFloorDiv, Op::FloorDivK, Op::Nop},
};

// In the order of enum CompareOperator.
constexpr CompareOps kCompare[] = {
    {Op::Eq, Op::EqK, Op::JumpEq, Op::JumpEqK}, {Op::Ne, Op::NeK, Op::JumpNe, Op::JumpNeK},
    {Op::Lt, Op::LtK, Op::JumpLt, Op::JumpLtK}, {Op::Le, Op::LeK, Op::JumpLe, Op::JumpLeK},
    {Op::Gt, Op::GtK, Op::JumpGt, Op::JumpGtK}, {Op::Ge, Op::GeK, Op::JumpGe, Op::JumpGeK},
    {Op::Is, Op::Nop, Op::Nop, Op::Nop},        {Op::IsNot, Op::Nop, Op::Nop, Op::Nop},
    {Op::In, Op::Nop, Op::Nop, Op::Nop},        {Op::NotIn, Op::Nop, Op::Nop, Op::Nop},
};

}  // namespace

const BinaryOps& binary_ops(Operator op) { return kBinary[static_cast<size_t>(op)]; }
const CompareOps& compare_ops(CompareOperator op) { return kCompare[static_cast<size_t>(op)]; }

}  // namespace tsc::lang
