#include "interpreter/tensor/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/tensor/small_floats.h"

namespace tsc::interp {
namespace {

// PyTorch's combine_categories: `higher` has priority unless its category is lower.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? complex_dtype(*higher) : *higher;
  if (*higher == DType::Bool || is_differentiable(*lower)) return promote_types(*higher, *lower);
  return higher;
}

}  // namespace

DType result_dtype(std::span<const ElementwiseOperand> operands) {
  std::optional<DType> levels[3];
  for (const ElementwiseOperand& operand : operands) {
    std::optional<DType>& slot = levels[static_cast<int>(operand.level)];
    slot = slot ? promote_types(*slot, operand.dtype) : operand.dtype;
  }
  return *combine(levels[2], combine(levels[1], levels[0]));
}

namespace {

bool rounds(Op op) { return op == Op::floor || op == Op::ceil || op == Op::trunc || op == Op::round; }

// What PyTorch refuses although the operands could be converted: bools in a difference, and where a size or a
// whole number is asked for.
void check_bools(Op op, std::span<const ElementwiseOperand> operands, DType dtype) {
  const bool all = std::ranges::all_of(operands, [](const ElementwiseOperand& x) { return x.dtype == DType::Bool; });
  if (op == Op::neg && all)
    throw Error(ErrorKind::NotImplementedError,
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                "use the `~` or `logical_not()` operator instead.");
  if (op == Op::sub && all)
    throw Error(ErrorKind::NotImplementedError,
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                "`logical_xor()` operator instead.");
  if (op == Op::sub)
    for (const ElementwiseOperand& operand : operands)
      if (operand.dtype == DType::Bool)
        throw Error(ErrorKind::NotImplementedError,
                    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                    "invert a mask, use the `~` or `logical_not()` operator instead.");
  if (dtype == DType::Bool && (op == Op::shift_left || op == Op::shift_right))
    throw Error(
        ErrorKind::NotImplementedError,
        std::string(op == Op::shift_left ? "\"lshift_cpu\"" : "\"rshift_cpu\"") + " not implemented for 'Bool'");
  if (dtype == DType::Bool && (op == Op::abs || rounds(op)))
    throw Error(ErrorKind::NotImplementedError, "\"" + std::string(op_name(op)) + "_cpu\" not implemented for 'Bool'");
}

}  // namespace

DType compute_dtype(Op op, std::span<const ElementwiseOperand> operands, DType default_dtype, bool* identity) {
  *identity = false;
  if (op == Op::select) return result_dtype(operands.subspan(1));
  DType dtype = result_dtype(operands);
  check_bools(op, operands, dtype);
  if (op_row(op).dtype_rule == DTypeRule::Float && !is_differentiable(dtype)) {
    *identity = rounds(op);
    return *identity ? dtype : default_dtype;
  }
  *identity = op == Op::sign && dtype == DType::Bool;
  return dtype;
}

std::optional<size_t> unrounded_operand(Op op, std::span<const ElementwiseOperand> operands, DType dtype) {
  if (!is_small_float(dtype) || (op != Op::mul && op != Op::div && op != Op::floor_div && op != Op::quot))
    return std::nullopt;
  if (op == Op::mul && operands[0].level == ElementwiseOperand::Level::Number)
    return 0;  // the same as the other way round
  if (operands[1].level == ElementwiseOperand::Level::Number || operands[1].dtype != dtype) return 1;
  return std::nullopt;
}

bool holds_exactly(DType dtype, const Scalar& number) {
  const float value = static_cast<float>(number.as_float());
  return (dtype == DType::BF16 ? widen(float_to_bf16(value)) : widen(float_to_f16(value))) == value;
}

double largest_number(DType dtype) {
  switch (dtype) {
    case DType::F16: return 65504;
    case DType::BF16: return 0x1.FEp127;
    case DType::F32:
    case DType::C64: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

bool fits_dtype(DType dtype, const Scalar& number) {
  if (is_floating(dtype) || is_complex(dtype))
    return !std::isfinite(number.as_float()) || std::abs(number.as_float()) <= largest_number(dtype);
  if (!is_integral(dtype) || number.kind == Scalar::Kind::Bool) return true;
  const bool is_int = number.kind == Scalar::Kind::Int;
  if (dtype == DType::I64) return is_int || (number.f >= -0x1p63 && number.f < 0x1p63);
  const int64_t most = (int64_t{1} << (dtype_info(dtype).bits - !is_unsigned(dtype))) - 1;
  const int64_t least = !is_unsigned(dtype) ? -most - 1 : is_int ? -most : 0;
  if (is_int) return number.i >= least && number.i <= most;
  return number.f >= static_cast<double>(least) && number.f <= static_cast<double>(most);
}

void refuse_number(DType dtype) {
  const auto name = [dtype] {
    switch (dtype) {
      case DType::F64: return "double";
      case DType::F32: return "float";
      case DType::F16: return "c10::Half";
      case DType::BF16: return "c10::BFloat16";
      case DType::C64: return "c10::complex<float>";
      case DType::I64: return "int64_t";
      case DType::I32: return "int";
      case DType::I16: return "int16_t";
      case DType::I8: return "int8_t";
      case DType::U8: return "uint8_t";
      default: return "bool";
    }
  };
  throw Error(ErrorKind::RuntimeError,
              "value cannot be converted to type " + std::string(name()) + " without overflow");
}

void check_number(DType dtype, const Scalar& number) {
  if (!fits_dtype(dtype, number)) refuse_number(dtype);
}

OperatorPrimitive primitive_of(BinaryOp op, bool number_on_left) {
  if (op == BinaryOp::TrueDiv && number_on_left) return {true, Op::mul, false, true};
  // clang-format off
  static constexpr OperatorPrimitive kTable[] = {
      {true, Op::add},         {true, Op::sub},         {true, Op::mul},
      {true, Op::div},         {true, Op::floor_div},   {true, Op::remainder},
      {},                      {},                      {true, Op::shift_left},
      {true, Op::shift_right}, {true, Op::bitwise_and}, {true, Op::bitwise_or},
      {true, Op::bitwise_xor},
  };
  // clang-format on
  static_assert(std::size(kTable) == static_cast<size_t>(BinaryOp::kCount));
  return kTable[static_cast<int>(op)];
}

OperatorPrimitive primitive_of(CompareOp op) {
  static constexpr OperatorPrimitive kTable[] = {
      {true, Op::lt}, {true, Op::le}, {true, Op::eq}, {true, Op::ne}, {true, Op::lt, true}, {true, Op::le, true},
  };
  static_assert(std::size(kTable) == static_cast<size_t>(CompareOp::kCount));
  return kTable[static_cast<int>(op)];
}

}  // namespace tsc::interp
