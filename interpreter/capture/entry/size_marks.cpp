// What a program says of the sizes of tensors that come in: torch._dynamo.mark_static and torch.compile(dynamic=False)
// make facts of them, torch._dynamo.mark_dynamic forbids that. The marks are attributes of the tensor, under PyTorch's
// names, set by stdlib/torch/_dynamo/decorators.tsc.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

using jit::ScalarOp;

namespace {

Value mark_on(Vm& vm, TensorObject* tensor, const char* name) {
  return get_own_attribute(vm, tensor, intern(vm, name).get());
}

bool names_axis(Vm& vm, const Value& marks, int axis) {
  const bool plain = is_kind(marks, Kind::Set) || is_kind(marks, Kind::Dict);
  return plain && contains(vm, marks, Value::integer(axis));
}

// Why not, where the size is outside the bounds that a mark gives: a tuple of two ints or None.
std::string out_of_range(Vm& vm, const Value& ranges, int axis, int64_t size) {
  if (!names_axis(vm, ranges, axis)) return "";
  const Value range = get_item(vm, ranges, Value::integer(axis));
  if (!is_kind(range, Kind::Tuple) || cast<TupleObject>(range)->size != 2) return "";
  const Value &low = cast<TupleObject>(range)->items[0], &high = cast<TupleObject>(range)->items[1];
  const bool fits = !(low.is_int() && size < low.as_int()) && !(high.is_int() && size > high.as_int());
  if (fits) return "";
  return std::to_string(size) + " not in range [" + std::to_string(low.is_int() ? low.as_int() : 0) + ", " +
         (high.is_int() ? std::to_string(high.as_int()) : "int_oo") + "]";
}

}  // namespace

void Conditions::take_size_marks(TensorObject* tensor, ValueId id) {
  if (!memory_.specialises && !mark_on(vm_, tensor, "_has_dynamo_dim_marking")) return;
  const Value is_static = mark_on(vm_, tensor, "_dynamo_static_indices");
  const Value is_dynamic = mark_on(vm_, tensor, "_dynamo_dynamic_indices");
  const Value may_vary = mark_on(vm_, tensor, "_dynamo_weak_dynamic_indices");
  const Value ranges = mark_on(vm_, tensor, "_dynamo_dynamic_range");
  for (int axis = 0; axis < tensor->tensor.rank(); ++axis) {
    const ValueId size = region_.type(id).sizes[axis];
    const int64_t now = tensor->tensor.size(axis);
    const std::string name =
        "dimension " + std::to_string(axis) + " of a tensor of sizes " + shape_text(tensor->tensor.sizes());
    if (names_axis(vm_, is_dynamic, axis)) {
      marked_sizes_.push_back({size, name});
      const std::string outside = out_of_range(vm_, ranges, axis, now);
      if (!outside.empty()) violations_.push_back(outside);
      continue;
    }
    const bool fixed = names_axis(vm_, is_static, axis) || (memory_.specialises && !names_axis(vm_, may_vary, axis));
    if (!fixed) continue;
    const ValueId sides[] = {size, builder_.constant(now)};
    if (!assume_at_entry(builder_.scalar(ScalarOp::eq, sides))) continue;
    builder_.assume_equal(sides[0], sides[1]);
    cells_.note_fact(name + " is " + std::to_string(now));
  }
}

// An entry condition `size == constant` for a size that was marked dynamic.
std::vector<std::string> Conditions::broken_size_marks() const {
  std::vector<std::string> broken = violations_;
  for (const auto& [size, name] : marked_sizes_)
    for (const jit::Instruction& instruction : region_.body.instructions) {
      if (instruction.code != jit::Code::Scalar || instruction.scalar_op != ScalarOp::eq) continue;
      if (!holding_.count(instruction.results[0])) continue;
      for (size_t side = 0; side < 2; ++side) {
        const std::optional<int64_t> number = builder_.known_int(instruction.operands[1 - side]);
        if (instruction.operands[side] != size || !number) continue;
        broken.push_back("You marked " + name + " as dynamic but your code specialized it to be a constant (" +
                         std::to_string(*number) + "). Remove mark_dynamic or use maybe_mark_dynamic.");
      }
    }
  return broken;
}

}  // namespace tsc::interp
