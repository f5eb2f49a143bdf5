// What can go wrong with the sizes that an operation is given, and with integers: found out while capturing, and assumed
// at entry to stay well where that does not follow. So an operation of a region never fails on its sizes, whose error
// would come where the region happens to compute it, or not at all if nobody reads the result.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "interpreter/capture/capture.h"
#include "jit/region/infer.h"

namespace tsc::interp {

using jit::ScalarOp;

ValueId Capture::combined(ScalarOp op, ValueId a, ValueId b) {
  const ValueId operands[] = {a, b};
  return builder_.scalar(op, operands);
}

bool Capture::is_never_negative(ValueId number) const {
  const std::optional<int64_t> known = builder_.known_int(number);
  return known ? *known >= 0 : nonnegative_.count(number) != 0;
}

// What is made of sizes of tensors without subtracting.
bool Capture::stays_nonnegative(const jit::Instruction& scalar) const {
  const auto holds = [&](size_t k) { return is_never_negative(scalar.operands[k]); };
  switch (scalar.scalar_op) {
    case ScalarOp::add:
    case ScalarOp::mul:
    case ScalarOp::minimum:
    case ScalarOp::floor_div: return holds(0) && holds(1);
    case ScalarOp::maximum: return holds(0) || holds(1);
    case ScalarOp::bool_to_int: return true;
    default: return false;
  }
}

// False: only running can tell.
bool Capture::is_nonnegative_at_entry(ValueId size) {
  if (builder_.known_int(size)) return true;  // the builder looks at what is known
  if (!hint(size)) return false;
  if (nonnegative_.count(size)) return true;
  if (!assume_at_entry(combined(ScalarOp::le, builder_.constant(int64_t{0}), size))) return false;
  nonnegative_.insert(size);
  return true;
}

bool Capture::assume_below(ValueId low, ValueId high) {
  if (builder_.known_equal(low, high)) return true;
  const ValueId holds = combined(ScalarOp::le, low, high);
  const std::optional<Scalar> known = builder_.known(holds);
  return known ? known->i != 0 : assume_at_entry(holds);
}

// Every element of the slice lies in its axis.
bool Capture::assume_inside(ValueId size, std::span<const ValueId> slice) {
  const ValueId start = slice[0], length = slice[1], step = slice[2];
  const std::optional<Scalar> count = hint(length), by = hint(step);
  if (!count || !by || !assume_nonnegative(start) || !assume_nonnegative(length)) return false;
  if (count->i == 0) return assume_below(length, builder_.constant(int64_t{0})) && assume_below(start, size);
  const ValueId one = builder_.constant(int64_t{1});
  if (builder_.known_int(step) == 1) return assume_below(combined(ScalarOp::add, start, length), size);
  const ValueId last = combined(ScalarOp::add, start, combined(ScalarOp::mul, combined(ScalarOp::sub, length, one), step));
  if (by->i < 0) return assume_nonnegative(last) && assume_below(combined(ScalarOp::add, start, one), size);
  return assume_below(combined(ScalarOp::add, last, one), size);
}

// Whether axes in another order leave the elements where they are, as those of size 1 do.
std::optional<bool> Capture::keeps_order(jit::ValueList sizes, const Sizes& order) {
  const ValueId one = builder_.constant(int64_t{1}), two = builder_.constant(int64_t{2});
  const auto size_at = [&](size_t i) { return sizes[static_cast<size_t>(order[i])]; };
  std::vector<ValueId> ones;
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (order[i] < order[j]) continue;
      const std::optional<Scalar> a = hint(size_at(i)), b = hint(size_at(j));
      if (!a || !b || a->i == 0 || b->i == 0) return std::nullopt;
      if (a->i == 1) ones.push_back(size_at(i));
      else if (b->i == 1) ones.push_back(size_at(j));
      else if (assume_below(two, size_at(i)) && assume_below(two, size_at(j))) return false;
      else return std::nullopt;
    }
  for (ValueId size : ones)
    if (!assume_below(size, one)) return std::nullopt;
  return true;
}

// Whether a tensor's elements are in row-major order, which is assumed of every entry; nothing where only running can tell.
std::optional<bool> Capture::is_row_major(const VTensor& tensor) {
  if (tensor.contiguous) return true;
  if (!tensor.view) return false;
  const VirtualView& view = *tensor.view;
  if (!is_row_major(*view.parent).value_or(false)) return std::nullopt;
  switch (view.op) {
    case Op::detach:
    case Op::save_for_backward: return true;
    case Op::permute: return keeps_order(region_.type(view.parent->id).sizes, view.attributes.axes);
    case Op::slice:
      if (view.attributes.axes[0] == 0 && builder_.known_int(view.scalars[2]) == 1) return true;
      return std::nullopt;
    default: return std::nullopt;
  }
}

// Whether a view of a tensor from outside is in row-major order in this call.
bool Capture::is_row_major_now(const VTensor& tensor) {
  spoil_record();
  const auto layout = [&](const VTensor& of, const auto& self) -> Tensor {
    if (!of.view) return of.host.is_undefined() ? Tensor() : cast<TensorObject>(of.host)->tensor;
    const Tensor parent = self(*of.view->parent, self);
    std::vector<Scalar> numbers;
    for (ValueId scalar : of.view->scalars)
      if (const std::optional<Scalar> now = hint(scalar)) numbers.push_back(*now);
    if (!parent.defined() || numbers.size() != of.view->scalars.size()) return {};
    return run_op(of.view->op, {&parent, 1}, numbers, of.view->attributes).first;
  };
  const Tensor now = layout(tensor, layout);
  return now.defined() && now.is_contiguous();
}

// What padding by negative numbers of elements leaves.
bool Capture::assume_cropped(ValueId size, ValueId low, ValueId high) {
  const auto sum = [&](ValueId a, ValueId b) { return combined(ScalarOp::add, a, b); };
  const auto grows = [&](ValueId by) { return builder_.known_int(by).value_or(-1) >= 0; };
  if (grows(low) && grows(high)) return true;
  return assume_nonnegative(sum(size, low)) && assume_nonnegative(sum(size, high)) &&
         assume_nonnegative(sum(sum(size, low), high));
}

// Nothing but sizes of tensors, as those of most operations, that fit each other or that the builder compares.
bool Capture::sizes_fit(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                        const OpAttributes& attributes) {
  if (op == Op::slice || op == Op::unfold || op == Op::pad) return false;
  if (op_row(op).family == Family::Window) return false;
  if (op == Op::gather || op == Op::scatter || op == Op::scatter_add) return false;
  if (op_row(op).domain == Domain::NonEmpty) {
    const jit::ValueList sizes = region_.type(tensors[0]).sizes;
    for (int64_t axis : attributes.axes)
      if (const std::optional<Scalar> now = hint(sizes[static_cast<size_t>(axis)]); now && now->i == 0) return false;
  }
  const std::span<const ValueId> sizes = scalars.subspan(jit::free_scalars(op));
  return std::all_of(sizes.begin(), sizes.end(), [&](ValueId size) { return is_never_negative(size); });
}

// Beside the axis that the index chooses from, the index is no larger.
bool Capture::assume_index_fits(ValueId tensor, ValueId index, int64_t axis) {
  const jit::ValueList sizes = region_.type(tensor).sizes, wanted = region_.type(index).sizes;
  for (size_t i = 0; i < sizes.size() && i < wanted.size(); ++i)
    if (static_cast<int64_t>(i) != axis && !assume_below(wanted[i], sizes[i])) return false;
  return true;
}

bool Capture::assume_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                           const OpAttributes& attributes) {
  const auto axis_size = [&] { return region_.type(tensors[0]).sizes[static_cast<size_t>(attributes.axes[0])]; };
  switch (op) {
    case Op::full:
    case Op::iota:
    case Op::rng_bits:
    case Op::reshape:
    case Op::broadcast:
      for (ValueId size : scalars.subspan(jit::free_scalars(op)))
        if (!assume_nonnegative(size)) return false;
      return true;
    case Op::slice: return assume_inside(axis_size(), scalars);
    case Op::unfold:
      return hint(scalars[0]) && hint(scalars[1]) && assume_nonnegative(scalars[0]) && assume_below(scalars[0], axis_size()) &&
             assume_below(builder_.constant(int64_t{1}), scalars[1]);
    case Op::pad: return assume_cropped(axis_size(), scalars[1], scalars[2]);
    case Op::gather:
    case Op::scatter:
    case Op::scatter_add: return assume_index_fits(tensors[0], tensors[1], attributes.axes[0]);
    case Op::convolve:
    case Op::window_argmax: return assume_windows(op, scalars);
    default: return true;
  }
}

// Sizes that are none below zero, distances that are none below one; what stands in front may be any number.
bool Capture::assume_windows(Op op, std::span<const ValueId> scalars) {
  const size_t windowed = scalars.size() / 5;
  const auto sizes = scalars.first(op == Op::convolve ? windowed : 2 * windowed);
  const auto distances = scalars.subspan(sizes.size(), 4 * windowed - sizes.size());
  const ValueId one = builder_.constant(int64_t{1});
  return std::all_of(sizes.begin(), sizes.end(), [&](ValueId size) { return assume_nonnegative(size); }) &&
         std::all_of(distances.begin(), distances.end(), [&](ValueId by) { return assume_below(one, by); });
}

// Between -most and most.
bool Capture::assume_within(ValueId number, int64_t most) {
  if (const std::optional<int64_t> known = builder_.known_int(number)) return *known >= -most && *known <= most;
  const std::optional<Scalar> now = hint(number);
  if (!now || now->i > most || now->i < -most) return false;
  return (nonnegative_.count(number) || assume_below(builder_.constant(-most), number)) &&
         assume_below(number, builder_.constant(most));
}

// What needs more than 64 bits the interpreter makes. That those of this call are far from it is assumed of every call.
void Capture::check_overflow(ScalarOp op, std::span<const ValueId> operands) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const auto may_be_least = [&](ValueId id) {
    return !builder_.known_int(id) && !is_never_negative(id) && !assume_within(id, kLargest);
  };
  const bool is_int = region_.type(operands[0]).kind == jit::ValueKind::Int;
  // Of the least of all ints there is no opposite.
  const bool turns = op == ScalarOp::neg || op == ScalarOp::abs ||
                     (op == ScalarOp::floor_div && builder_.known_int(operands[1]).value_or(-1) == -1);
  if (is_int && turns && may_be_least(operands[0])) may_need_big_int();
  const bool overflows = op == ScalarOp::add || op == ScalarOp::sub || op == ScalarOp::mul;
  if (!overflows || !is_int) return;
  const std::optional<int64_t> left = builder_.known_int(operands[0]), right = builder_.known_int(operands[1]);
  if (left && right) return;
  // What the other operand may be beside one that is known; half of the bits where none is.
  const auto room = [&](int64_t known) {
    const int64_t size = known == std::numeric_limits<int64_t>::min() ? kLargest : std::abs(known);
    return op == ScalarOp::mul ? kLargest / std::max<int64_t>(size, 1) : kLargest - size;
  };
  const int64_t each = op == ScalarOp::mul ? int64_t{1} << 31 : int64_t{1} << 62;
  const bool fits = left    ? assume_within(operands[1], room(*left))
                    : right ? assume_within(operands[0], room(*right))
                            : assume_within(operands[0], each - 1) && assume_within(operands[1], each - 1);
  if (fits) return;
  const std::optional<Scalar> a = hint(operands[0]), b = hint(operands[1]);
  int64_t result = 0;
  const bool is_big = a && b && (op == ScalarOp::add   ? __builtin_add_overflow(a->i, b->i, &result)
                                 : op == ScalarOp::sub ? __builtin_sub_overflow(a->i, b->i, &result)
                                                       : __builtin_mul_overflow(a->i, b->i, &result));
  if (is_big) break_here(BreakReason::unknown_number, "an int of more than 64 bits");
  may_need_big_int();
}

// In front of an operation. With the sizes of this call the reference inference decides: what it raises, the interpreter
// raises at this place.
void Capture::check_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                          const OpAttributes& attributes) {
  if (is_elementwise(op) || sizes_fit(op, tensors, scalars, attributes)) return;
  std::vector<Sizes> operands;
  std::vector<Scalar> numbers;
  const auto number = [&](ValueId id) {
    const std::optional<Scalar> now = hint(id);
    return now ? now->i : -1;
  };
  bool known = true;
  for (ValueId tensor : tensors) {
    operands.emplace_back();
    for (ValueId size : jit::ValueList(region_.type(tensor).sizes)) {
      known = known && hint(size);
      operands.back().push_back(number(size));
    }
  }
  const size_t free = jit::free_scalars(op);
  for (size_t i = 0; i < scalars.size(); ++i) {
    known = known && (i < free || hint(scalars[i]));
    numbers.push_back(Scalar::of_int(i < free ? 0 : number(scalars[i])));
  }
  if (known) infer_sizes(op, operands, numbers, attributes);
  if (!assume_sizes(op, tensors, scalars, attributes)) operation_may_raise();
}

}  // namespace tsc::interp
