#pragma once
// Names of the script's operators, as the type slots and the operations see them.
#include <cstdint>

namespace tsc::interp {

enum class BinaryOp : uint8_t {
  Add, Subtract, Multiply, TrueDivide, FloorDivide, Modulo, Power, MatMul,
  BitAnd, BitOr, BitXor, LeftShift, RightShift,
  kCount,
};
enum class UnaryOp : uint8_t { Negative, Positive, Invert, Absolute, kCount };
enum class CompareOp : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, kCount };

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
