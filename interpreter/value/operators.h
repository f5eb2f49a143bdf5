#pragma once
// Names of the script's operators, as the type slots and the operations see them. The order is that of
// the instructions (lang/bytecode/bytecode.def), so that one is computed from the other.
#include <cstdint>

namespace tsc::interp {

// clang-format off
enum class BinaryOp : uint8_t {
  Add, Sub, Mul, TrueDiv, FloorDiv, Mod, Pow, MatMul, LShift, RShift, BitAnd, BitOr, BitXor,
  kCount,
};
// clang-format on
enum class UnaryOp : uint8_t { Negative, Positive, Invert, Absolute, kCount };
enum class CompareOp : uint8_t { Lt, Le, Eq, Ne, Gt, Ge, kCount };

struct BinaryOpInfo {
  const char* symbol;
  const char* method;
  const char* reflected;
  const char* in_place;
};
// Indexed by the enums.
extern const BinaryOpInfo kBinaryOps[static_cast<int>(BinaryOp::kCount)];
extern const char* const kUnaryMethods[static_cast<int>(UnaryOp::kCount)];
extern const char* const kUnarySymbols[static_cast<int>(UnaryOp::kCount)];
extern const char* const kCompareMethods[static_cast<int>(CompareOp::kCount)];
extern const char* const kCompareSymbols[static_cast<int>(CompareOp::kCount)];
CompareOp reflected(CompareOp op);

}  // namespace tsc::interp
