#include "jit/region/region.h"

#include <array>

namespace tsc::jit {

std::string_view scalar_op_name(ScalarOp op) {
  static constexpr std::array<std::string_view, 30> kNames = {
      "add",        "sub",         "mul",          "true_div",     "floor_div",   "mod",  "pow", "neg",
      "abs",        "minimum",     "maximum",      "eq",           "ne",          "lt",   "le",  "logical_and",
      "logical_or", "logical_not", "int_to_float", "float_to_int", "bool_to_int", "sqrt", "exp", "log",
      "sin",        "cos",         "tanh",         "floor",        "ceil",        "round"};
  return op == ScalarOp::select ? "select" : kNames[static_cast<size_t>(op)];
}

ValueId Region::add_value(Type type) {
  values_.push_back({std::move(type)});
  return static_cast<ValueId>(values_.size() - 1);
}

Type Region::fresh_tensor_type(DType dtype, int rank) {
  Type type{ValueKind::Tensor, dtype, {}};
  for (int axis = 0; axis < rank; ++axis) type.sizes.push_back(add_value({ValueKind::Int, {}, {}}));
  return type;
}

ValueId Region::add_tensor_input(DType dtype, int rank) {
  const ValueId input = add_value({ValueKind::Tensor, dtype, {}});
  Type type = fresh_tensor_type(dtype, rank);
  values_[input].type = std::move(type);
  body.parameters.push_back(input);
  return input;
}

ValueId Region::add_input(ValueKind kind) {
  const ValueId input = add_value({kind, {}, {}});
  body.parameters.push_back(input);
  return input;
}

namespace {

void clone_block(const Block& from, Block& to) {
  to.parameters = from.parameters;
  to.instructions.reserve(from.instructions.size());
  for (const Instruction& source : from.instructions) to.instructions.push_back(clone_instruction(source));
}

}  // namespace

Instruction clone_instruction(const Instruction& source) {
  Instruction copy;
  copy.code = source.code;
  copy.op = source.op;
  copy.scalar_op = source.scalar_op;
  copy.operands = source.operands;
  copy.results = source.results;
  copy.attributes = source.attributes;
  copy.number = source.number;
  copy.id = source.id;
  copy.origin = source.origin;
  for (const auto& block : source.blocks) {
    copy.blocks.push_back(std::make_unique<Block>());
    clone_block(*block, *copy.blocks.back());
  }
  return copy;
}

Region Region::clone() const {
  Region copy;
  copy.name = name;
  copy.assumptions = assumptions;
  copy.values_ = values_;
  clone_block(body, copy.body);
  return copy;
}

size_t tensor_count(const Instruction& instruction) {
  if (instruction.code != Code::Op) return 0;
  const int tensors = op_row(instruction.op).tensors;
  return tensors == kVariadic ? instruction.operands.size() : static_cast<size_t>(tensors);
}

bool has_effect(const Instruction& instruction) {
  return instruction.code != Code::Op && instruction.code != Code::Const && instruction.code != Code::Scalar;
}

size_t scalar_count(Op op, size_t result_rank, size_t last_tensor_rank) {
  std::string_view names = op_row(op).scalars;
  size_t count = 0;
  while (!names.empty()) {
    const size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    // A store's map has the rank of the stored tensor; windows count the axes they slide over; other lists have
    // the rank of the result.
    const bool is_window = op_row(op).family == Family::Window;
    const size_t before = is_window ? static_cast<size_t>(axes_before_windows(op)) : 0;
    const size_t windowed = result_rank > before ? result_rank - before : 0;
    count += !is_scalar_list(name) ? 1 : op == Op::store ? last_tensor_rank : windowed;
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return count;
}

}  // namespace tsc::jit
