#include "runtime/ops/op.h"

#include <string>

#include "runtime/base/error.h"

namespace tsc {
namespace {

constexpr OpRow kRows[] = {
#define OP(name, family, tensors, scalars, rule, flags, domain, doc) \
  {Op::name, #name, Family::family, tensors, scalars, DTypeRule::rule, uint8_t(flags), Domain::domain, doc},
#include "runtime/ops/ops.def"
};

std::string join_dtypes(std::span<const DType> dtypes) {
  std::string text;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (i) text += i + 1 == dtypes.size() ? " and " : ", ";
    text += dtype_name(dtypes[i]);
  }
  return text;
}

// NotImplementedError: no tensors of these dtypes; RuntimeError: not these together.
// In the words of PyTorch's kernels, which call shifts by shorter names.
[[noreturn]] void refuse_kernel(const OpRow& row, DType dtype) {
  const std::string name = row.op == Op::shift_left    ? "lshift"
                           : row.op == Op::shift_right ? "rshift"
                                                       : std::string(row.name);
  throw Error(ErrorKind::NotImplementedError,
              "\"" + name + "_cpu\" not implemented for '" + std::string(dtype_info(dtype).scalar_name) + "'");
}

[[noreturn]] void refuse(ErrorKind kind, const OpRow& row, const std::string& needs, std::span<const DType> operands) {
  throw Error(kind, std::string(row.name) + ": " + needs + ", got " + join_dtypes(operands));
}

// The operands that must share one dtype start here: select's condition and nothing else stands before.
size_t first_value_operand(Op op) { return op == Op::select ? 1 : 0; }

void check_operand_dtypes(const OpRow& row, std::span<const DType> operands) {
  if (row.tensors != kVariadic && static_cast<int>(operands.size()) != row.tensors)
    throw Error(ErrorKind::TypeError, std::string(row.name) + ": takes " + std::to_string(row.tensors) +
                                          " tensors, got " + std::to_string(operands.size()));
  if (row.tensors == kVariadic && operands.empty())
    throw Error(ErrorKind::RuntimeError, std::string(row.name) + ": expected a non-empty list of tensors");
  if (row.op == Op::select && operands[0] != DType::Bool)
    refuse(ErrorKind::RuntimeError, row, "the condition must be a bool tensor", operands);
  bool indexed = row.family == Family::Index && row.tensors > 1;
  if (indexed && operands[1] != DType::I64)
    refuse(ErrorKind::RuntimeError, row, "the index must be an int64 tensor", operands);
  size_t first = first_value_operand(row.op);
  for (size_t i = first + 1; i < operands.size(); ++i)
    if (operands[i] != operands[first] && !(indexed && i == 1))
      refuse(ErrorKind::RuntimeError, row, "the operands must have one dtype", operands);
}

void check_complex(const OpRow& row, std::span<const DType> operands) {
  if (row.flags & kComplex) return;
  for (const DType dtype : operands) {
    if (!is_complex(dtype)) continue;
    if (row.op == Op::sort) throw Error(ErrorKind::TypeError, "Sort does not support complex dtypes on CPU");
    if (row.op == Op::argmax || row.op == Op::argmin)
      throw Error(ErrorKind::TypeError, std::string(row.name) + "(): does not support complex input");
    throw Error(ErrorKind::NotImplementedError, "\"" + std::string(row.name) + "\" not implemented for '" +
                                                    std::string(dtype_info(dtype).scalar_name) + "'");
  }
}

void check_attribute_dtype(const OpRow& row, std::span<const DType> operands, DType result) {
  if (row.op == Op::bitcast) {
    bool fits = dtype_size(operands[0]) == dtype_size(result) && operands[0] != DType::Bool && result != DType::Bool;
    if (operands[0] != result && !fits)
      refuse(ErrorKind::RuntimeError, row,
             "needs two dtypes of one width, neither bool, and the result is " + std::string(dtype_name(result)),
             operands);
  }
  if (row.op == Op::rng_bits && result != DType::I32 && result != DType::I64 && result != DType::F32 &&
      result != DType::F64)
    throw Error(ErrorKind::TypeError,
                "rng_bits: the dtype must be int32, int64, float32 or float64, not " + std::string(dtype_name(result)));
}

}  // namespace

std::span<const OpRow> op_rows() { return kRows; }
const OpRow& op_row(Op op) { return kRows[static_cast<size_t>(op)]; }

std::optional<Op> op_from_name(std::string_view name) {
  for (const OpRow& row : kRows)
    if (row.name == name) return row.op;
  return std::nullopt;
}

DType infer_dtype(Op op, std::span<const DType> operands, const OpAttributes& attributes, int index) {
  const OpRow& row = op_row(op);
  check_operand_dtypes(row, operands);
  check_complex(row, operands);
  if (index == 1) return DType::I64;  // of a row of the family Sort
  DType operand = operands.empty() ? attributes.dtype : operands[first_value_operand(op)];
  switch (row.dtype_rule) {
    case DTypeRule::Same: return operand;
    case DTypeRule::Float:
      if (!is_differentiable(operand)) refuse(ErrorKind::NotImplementedError, row, "needs a floating dtype", operands);
      return operand;
    case DTypeRule::Number:
      if (operand == DType::Bool) refuse(ErrorKind::NotImplementedError, row, "does not take bool tensors", operands);
      return operand;
    case DTypeRule::Integer:
      if (is_differentiable(operand)) refuse_kernel(row, operand);
      return operand;
    case DTypeRule::Bool: return DType::Bool;
    case DTypeRule::Attribute: check_attribute_dtype(row, operands, attributes.dtype); return attributes.dtype;
    case DTypeRule::I64: return DType::I64;
    case DTypeRule::ReduceSum: return is_differentiable(operand) ? operand : DType::I64;
    case DTypeRule::Part:
      if (!is_complex(operand)) refuse(ErrorKind::RuntimeError, row, "is only supported for complex tensors", operands);
      return part_dtype(operand);
    case DTypeRule::ComplexOf:
      if (operand != DType::F32 && operand != DType::F64)
        refuse(ErrorKind::RuntimeError, row, "is only supported for float32 and float64 tensors", operands);
      return complex_dtype(operand);
  }
  return operand;
}

}  // namespace tsc
