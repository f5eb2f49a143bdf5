// What can go wrong with the sizes that an operation is given, and with integers: found out while capturing, and
// assumed at entry to stay well where that does not follow. So an operation of a region never fails on its sizes, whose
// error would come where the region happens to compute it, or not at all if nobody reads the result.
#include "interpreter/capture/entry/size_checks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/written/effects.h"
#include "jit/region/infer.h"

namespace tsc::interp {

using jit::ScalarOp;

// Every element of the slice lies in its axis.
bool SizeChecks::assume_inside(ValueId size, std::span<const ValueId> slice) {
  const ValueId start = slice[0], length = slice[1], step = slice[2];
  const std::optional<Scalar> count = conditions_.hint(length), by = conditions_.hint(step);
  if (!count || !by || !conditions_.assume_nonnegative(start) || !conditions_.assume_nonnegative(length)) return false;
  if (count->i == 0)
    return conditions_.assume_below(length, builder_.constant(int64_t{0})) && conditions_.assume_below(start, size);
  const ValueId one = builder_.constant(int64_t{1});
  if (builder_.known_int(step) == 1)
    return conditions_.assume_below(conditions_.combined(ScalarOp::add, start, length), size);
  const ValueId last =
      conditions_.combined(ScalarOp::add, start,
                           conditions_.combined(ScalarOp::mul, conditions_.combined(ScalarOp::sub, length, one), step));
  if (by->i < 0)
    return conditions_.assume_nonnegative(last) &&
           conditions_.assume_below(conditions_.combined(ScalarOp::add, start, one), size);
  return conditions_.assume_below(conditions_.combined(ScalarOp::add, last, one), size);
}

// What padding by negative numbers of elements leaves.
bool SizeChecks::assume_cropped(ValueId size, ValueId low, ValueId high) {
  const auto sum = [&](ValueId a, ValueId b) { return conditions_.combined(ScalarOp::add, a, b); };
  const auto grows = [&](ValueId by) { return builder_.known_int(by).value_or(-1) >= 0; };
  if (grows(low) && grows(high)) return true;
  return conditions_.assume_nonnegative(sum(size, low)) && conditions_.assume_nonnegative(sum(size, high)) &&
         conditions_.assume_nonnegative(sum(sum(size, low), high));
}

// Nothing but sizes of tensors, as those of most operations, that fit each other or that the builder compares.
bool SizeChecks::sizes_fit(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                           const OpAttributes& attributes) {
  if (op == Op::slice || op == Op::unfold || op == Op::pad) return false;
  if (op_row(op).family == Family::Window) return false;
  if (op == Op::gather || op == Op::scatter || op == Op::scatter_add) return false;
  if (op_row(op).domain == Domain::NonEmpty) {
    const jit::ValueList sizes = region_.type(tensors[0]).sizes;
    for (int64_t axis : attributes.axes)
      if (const std::optional<Scalar> now = conditions_.hint(sizes[static_cast<size_t>(axis)]); now && now->i == 0)
        return false;
  }
  const std::span<const ValueId> sizes = scalars.subspan(jit::free_scalars(op));
  return std::all_of(sizes.begin(), sizes.end(), [&](ValueId size) { return conditions_.is_never_negative(size); });
}

// Beside the axis that the index chooses from, the index is no larger.
bool SizeChecks::assume_index_fits(ValueId tensor, ValueId index, int64_t axis) {
  const jit::ValueList sizes = region_.type(tensor).sizes, wanted = region_.type(index).sizes;
  for (size_t i = 0; i < sizes.size() && i < wanted.size(); ++i)
    if (static_cast<int64_t>(i) != axis && !conditions_.assume_below(wanted[i], sizes[i])) return false;
  return true;
}

bool SizeChecks::assume_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                              const OpAttributes& attributes) {
  const auto axis_size = [&] { return region_.type(tensors[0]).sizes[static_cast<size_t>(attributes.axes[0])]; };
  switch (op) {
    case Op::full:
    case Op::iota:
    case Op::rng_bits:
    case Op::reshape:
    case Op::broadcast:
      for (ValueId size : scalars.subspan(jit::free_scalars(op)))
        if (!conditions_.assume_nonnegative(size)) return false;
      return true;
    case Op::slice: return assume_inside(axis_size(), scalars);
    case Op::unfold:
      return conditions_.hint(scalars[0]) && conditions_.hint(scalars[1]) &&
             conditions_.assume_nonnegative(scalars[0]) && conditions_.assume_below(scalars[0], axis_size()) &&
             conditions_.assume_below(builder_.constant(int64_t{1}), scalars[1]);
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
bool SizeChecks::assume_windows(Op op, std::span<const ValueId> scalars) {
  const size_t windowed = scalars.size() / 5;
  const auto sizes = scalars.first(op == Op::convolve ? windowed : 2 * windowed);
  const auto distances = scalars.subspan(sizes.size(), 4 * windowed - sizes.size());
  const ValueId one = builder_.constant(int64_t{1});
  return std::all_of(sizes.begin(), sizes.end(), [&](ValueId size) { return conditions_.assume_nonnegative(size); }) &&
         std::all_of(distances.begin(), distances.end(), [&](ValueId by) { return conditions_.assume_below(one, by); });
}

// What needs more than 64 bits the interpreter makes. That those of this call are far from it is assumed of every call.
void SizeChecks::check_overflow(ScalarOp op, std::span<const ValueId> operands) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const auto may_be_least = [&](ValueId id) {
    return !conditions_.is_never_negative(id) && !conditions_.assume_within(id, kLargest);
  };
  const bool is_int = region_.type(operands[0]).kind == jit::ValueKind::Int;
  // Of the least of all ints there is no opposite.
  const bool turns = op == ScalarOp::neg || op == ScalarOp::abs ||
                     (op == ScalarOp::floor_div && builder_.known_int(operands[1]).value_or(-1) == -1);
  if (is_int && turns && may_be_least(operands[0])) effects_.may_need_big_int();
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
  const bool fits =
      left    ? conditions_.assume_within(operands[1], room(*left))
      : right ? conditions_.assume_within(operands[0], room(*right))
              : conditions_.assume_within(operands[0], each - 1) && conditions_.assume_within(operands[1], each - 1);
  if (fits) return;
  const std::optional<Scalar> a = conditions_.hint(operands[0]), b = conditions_.hint(operands[1]);
  int64_t result = 0;
  const bool is_big = a && b &&
                      (op == ScalarOp::add   ? __builtin_add_overflow(a->i, b->i, &result)
                       : op == ScalarOp::sub ? __builtin_sub_overflow(a->i, b->i, &result)
                                             : __builtin_mul_overflow(a->i, b->i, &result));
  if (is_big) break_here(BreakReason::unknown_number, "an int of more than 64 bits");
  effects_.may_need_big_int();
}

// In front of an operation. With the sizes of this call the reference inference decides: what it raises, the
// interpreter raises at this place.
void SizeChecks::check_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                             const OpAttributes& attributes) {
  if (is_elementwise(op) || sizes_fit(op, tensors, scalars, attributes)) return;
  std::vector<Sizes> operands;
  std::vector<Scalar> numbers;
  const auto number = [&](ValueId id) {
    const std::optional<Scalar> now = conditions_.hint(id);
    return now ? now->i : -1;
  };
  bool known = true;
  for (ValueId tensor : tensors) {
    operands.emplace_back();
    for (ValueId size : jit::ValueList(region_.type(tensor).sizes)) {
      known = known && conditions_.hint(size);
      operands.back().push_back(number(size));
    }
  }
  const size_t free = jit::free_scalars(op);
  for (size_t i = 0; i < scalars.size(); ++i) {
    known = known && (i < free || conditions_.hint(scalars[i]));
    numbers.push_back(Scalar::of_int(i < free ? 0 : number(scalars[i])));
  }
  if (known) infer_sizes(op, operands, numbers, attributes);
  if (!assume_sizes(op, tensors, scalars, attributes)) effects_.operation_may_raise();
}

}  // namespace tsc::interp
