#include "interpreter/tensor/prim_signature.h"

#include <vector>

namespace tsc::interp {
namespace {

enum class AxisUse { None, One, Many };

AxisUse axis_use(Op op) {
  switch (op_row(op).family) {
    case Family::Reduce: return AxisUse::Many;
    case Family::Scan:
    case Family::Sort: return AxisUse::One;
    case Family::Index: return op == Op::nonzero ? AxisUse::None : AxisUse::One;
    case Family::Create: return op == Op::iota ? AxisUse::One : AxisUse::None;
    case Family::View:
      if (op == Op::permute || op == Op::diagonal) return AxisUse::Many;
      return op == Op::slice || op == Op::unfold ? AxisUse::One : AxisUse::None;
    case Family::Move: return op == Op::pad || op == Op::concat ? AxisUse::One : AxisUse::None;
    default: return AxisUse::None;
  }
}

struct Writer {
  PrimSignature signature;
  void add(PrimParameter kind, std::string_view name) {
    signature.parameters.push_back(kind);
    if (!signature.text.empty()) signature.text += ", ";
    signature.text += name;
  }
};

}  // namespace

std::vector<std::string_view> scalar_names(Op op) {
  std::vector<std::string_view> names;
  std::string_view rest = op_row(op).scalars;
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return names;
}

PrimSignature prim_signature(Op op) {
  static constexpr std::string_view kTensorNames[] = {"x|input", "y", "z"};  // PyTorch calls the first tensor `input`
  const OpRow& row = op_row(op);
  Writer writer;
  if (row.tensors == kVariadic) writer.add(PrimParameter::TensorList, "tensors");
  for (int i = 0; i < row.tensors; ++i) writer.add(PrimParameter::Tensor, kTensorNames[i]);
  if (axis_use(op) == AxisUse::One) writer.add(PrimParameter::Axis, "axis");
  if (axis_use(op) == AxisUse::Many) writer.add(PrimParameter::Axes, "axes");
  for (std::string_view name : scalar_names(op))
    writer.add(is_scalar_list(name) ? PrimParameter::Sizes : PrimParameter::Number, name);
  if (row.dtype_rule == DTypeRule::Attribute) writer.add(PrimParameter::DType, "dtype");
  if (op == Op::sort) writer.add(PrimParameter::Mode, "descending");
  if (op == Op::convolve) writer.add(PrimParameter::Mode, "channels_first=False");
  if (op == Op::amax || op == Op::amin) writer.add(PrimParameter::Mode, "nans_share=False");
  if (reports_bounds(op)) writer.add(PrimParameter::Bounds, "bounds=0");
  writer.signature.fills = op == Op::full;
  return writer.signature;
}

}  // namespace tsc::interp
