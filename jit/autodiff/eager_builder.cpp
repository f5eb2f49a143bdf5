#include "jit/autodiff/eager_builder.h"

#include "jit/region/scalar_eval.h"

namespace tsc::jit {

ValueId EagerBuilder::add_item(Item item) {
  items_.push_back(std::move(item));
  return static_cast<ValueId>(items_.size() - 1);
}

ValueId EagerBuilder::add(TapeTensor tensor) {
  Item item;
  item.dtype = tensor.tensor.dtype();
  item.sizes = tensor.tensor.sizes();
  if (!tensor.tensor.place().is_host() && !place_.is_meta()) place_ = tensor.tensor.place();
  item.value = std::move(tensor);
  return add_item(std::move(item));
}

ValueId EagerBuilder::add_shape(DType dtype, const Sizes& sizes) {
  Item item;
  item.dtype = dtype;
  item.sizes = sizes;
  return add_item(std::move(item));
}

ValueId EagerBuilder::add(const Scalar& scalar) {
  Item item;
  item.is_scalar = true;
  item.scalar = scalar;
  return add_item(std::move(item));
}

const TapeTensor& EagerBuilder::tensor(ValueId id) const {
  const Item& item = items_[id];
  TSC_CHECK(!item.is_scalar && item.value.tensor.defined(),
            "a gradient rule reads a tensor that its row does not save");
  return item.value;
}

ValueId EagerBuilder::op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                         const OpAttributes& attributes, int result) {
  std::vector<TapeTensor> inputs;
  std::vector<Scalar> numbers;
  for (ValueId id : tensors) inputs.push_back(tensor(id));
  for (ValueId id : scalars) numbers.push_back(items_[id].scalar);
  TapeResults results = run_taped(op, inputs, numbers, attributes, record_);
  return add(std::move(result == 0 ? results.first : results.second));
}

ValueId EagerBuilder::scalar(ScalarOp op, std::span<const ValueId> operands) {
  Scalar numbers[3];
  for (size_t i = 0; i < operands.size(); ++i) numbers[i] = items_[operands[i]].scalar;
  return add(eval_scalar(op, {numbers, operands.size()}));
}

ValueId EagerBuilder::size(ValueId tensor, int axis) { return constant(items_[tensor].sizes[axis]); }

int EagerBuilder::rank(ValueId tensor) const { return static_cast<int>(items_[tensor].sizes.size()); }

ValueId EagerBuilder::fill(ValueId value, std::span<const ValueId> sizes, DType dtype) {
  Sizes shape;
  for (ValueId size : sizes) shape.push_back(items_[size].scalar.i);
  if (place_.is_meta()) return add({Tensor::meta(dtype, shape), {}, nullptr});
  OpAttributes attributes;
  attributes.dtype = dtype;
  const Tensor one = create_at(place_, Op::full, {&items_[value].scalar, 1}, attributes);
  return add({view_broadcast(one, shape), {}, nullptr});
}

std::optional<int64_t> EagerBuilder::known_int(ValueId scalar) const { return items_[scalar].scalar.as_int(); }

}  // namespace tsc::jit
