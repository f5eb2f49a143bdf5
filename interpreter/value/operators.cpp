#include "interpreter/value/operators.h"

namespace tsc::interp {

const BinaryOpInfo kBinaryOps[] = {
    {"+", "__add__", "__radd__", "__iadd__"},
    {"-", "__sub__", "__rsub__", "__isub__"},
    {"*", "__mul__", "__rmul__", "__imul__"},
    {"/", "__truediv__", "__rtruediv__", "__itruediv__"},
    {"//", "__floordiv__", "__rfloordiv__", "__ifloordiv__"},
    {"%", "__mod__", "__rmod__", "__imod__"},
    {"** or pow()", "__pow__", "__rpow__", "__ipow__"},
    {"@", "__matmul__", "__rmatmul__", "__imatmul__"},
    {"<<", "__lshift__", "__rlshift__", "__ilshift__"},
    {">>", "__rshift__", "__rrshift__", "__irshift__"},
    {"&", "__and__", "__rand__", "__iand__"},
    {"|", "__or__", "__ror__", "__ior__"},
    {"^", "__xor__", "__rxor__", "__ixor__"},
};
const char* const kUnaryMethods[] = {"__neg__", "__pos__", "__invert__", "__abs__"};
const char* const kUnarySymbols[] = {"unary -", "unary +", "unary ~", "abs()"};
const char* const kCompareMethods[] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};
const char* const kCompareSymbols[] = {"<", "<=", "==", "!=", ">", ">="};

CompareOp reflected(CompareOp op) {
  constexpr CompareOp kReflected[] = {CompareOp::Gt, CompareOp::Ge, CompareOp::Eq,
                                      CompareOp::Ne, CompareOp::Lt, CompareOp::Le};
  return kReflected[static_cast<int>(op)];
}

}  // namespace tsc::interp
