#include "interpreter/capture/values/shapes.h"

#include <algorithm>
#include <array>

#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"

namespace tsc::interp {

Av Shapes::shape_of(VTensor& tensor) {
  auto tuple = make<VTuple>();
  tuple->type = Local<Type>(tensor_state_.size_type);
  jit::ValueList sizes = region_.type(tensors_.current(tensor)).sizes;
  for (ValueId size : sizes) tuple->items.push_back(numbers_.int_av(size));
  return Av::of(tuple);
}

// Sizes that are equal now are assumed equal; otherwise the one that is 1 now is assumed to be 1. So a
// batch of 1 and a batch of 64 share one region unless the program really broadcasts.
std::vector<ValueId> Shapes::broadcast_sizes(std::span<const Av> operands) {
  std::vector<ValueId> sizes;
  for (const Av& av : operands) {
    const jit::ValueList other = region_.type(tensors_.tensor_of(av)->id).sizes;
    while (sizes.size() < other.size()) sizes.insert(sizes.begin(), builder_.constant(int64_t{1}));
    size_t lead = sizes.size() - other.size();
    for (size_t axis = 0; axis < other.size(); ++axis) {
      ValueId& size = sizes[lead + axis];
      if (builder_.known_equal(size, other[axis])) continue;
      if (builder_.known_int(other[axis]) == 1) continue;
      if (builder_.known_int(size) == 1) {
        size = other[axis];
        continue;
      }
      std::optional<Scalar> a = conditions_.hint(size), b = conditions_.hint(other[axis]);
      if (!a || !b) break_here(BreakReason::unknown_number, "sizes to broadcast");
      if (a->i == b->i) {
        if (!builder_.require_equal(size, other[axis])) break_here(BreakReason::raises, "broadcast");
        builder_.assume_equal(size, other[axis]);
        continue;
      }
      if (a->i != 1 && b->i != 1) break_here(BreakReason::raises, "shapes do not broadcast");
      assume_size_one(a->i == 1 ? size : other[axis], a->i == 1 ? other[axis] : size);
      if (a->i == 1) size = other[axis];
    }
  }
  return sizes;
}

// `other` is what it broadcasts to: not 1, or the program would be another one.
void Shapes::assume_size_one(ValueId size, ValueId other) {
  ValueId one = builder_.constant(int64_t{1});
  if (other != kNoValue && !builder_.known_int(other)) {
    const ValueId operands[] = {other, one};
    if (!conditions_.assume_at_entry(builder_.scalar(jit::ScalarOp::ne, operands)))
      break_here(BreakReason::unknown_number, "sizes to broadcast");
  }
  if (!builder_.require_equal(size, one)) break_here(BreakReason::raises, "broadcast");
  builder_.assume_equal(size, one);
}

bool Shapes::assume_same_sizes(ValueId a, ValueId b) {
  const jit::ValueList of_a = region_.type(a).sizes, of_b = region_.type(b).sizes;
  if (of_a.size() != of_b.size()) return false;
  for (size_t axis = 0; axis < of_a.size(); ++axis) {
    if (builder_.known_equal(of_a[axis], of_b[axis])) continue;
    const std::optional<Scalar> size = conditions_.hint(of_a[axis]), other = conditions_.hint(of_b[axis]);
    if (!size || !other || size->i != other->i || !builder_.require_equal(of_a[axis], of_b[axis])) return false;
    builder_.assume_equal(of_a[axis], of_b[axis]);
  }
  return true;
}

void Shapes::broadcast_together(std::vector<Av>& operands) {
  const auto sizes_of = [&](const Av& av) -> const jit::ValueList& {
    return region_.type(tensors_.tensor_of(av)->id).sizes;
  };
  const jit::ValueList& first = sizes_of(operands[0]);
  if (std::all_of(operands.begin(), operands.end(), [&](const Av& av) { return sizes_of(av) == first; })) return;
  std::vector<ValueId> sizes = broadcast_sizes(operands);
  for (Av& av : operands) av = broadcast_to(av, sizes);
}

Av Shapes::broadcast_to(const Av& av, const std::vector<ValueId>& sizes) {
  const jit::ValueList own = region_.type(tensors_.tensor_of(av)->id).sizes;
  bool same = own.size() == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = builder_.known_equal(own[i], sizes[i]);
  return same ? av : expand(av, sizes);
}

// A view, also where nothing is repeated.
Av Shapes::expand(const Av& av, const std::vector<ValueId>& sizes) {
  const jit::ValueList own = region_.type(tensors_.tensor_of(av)->id).sizes;
  size_t lead = sizes.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    if (builder_.known_equal(own[i], sizes[lead + i]) || builder_.known_int(own[i]) == 1) continue;
    std::optional<Scalar> a = conditions_.hint(own[i]), b = conditions_.hint(sizes[lead + i]);
    if (!a || !b) break_here(BreakReason::unknown_number, "sizes to broadcast");
    if (a->i == b->i) {
      if (!builder_.require_equal(own[i], sizes[lead + i])) break_here(BreakReason::raises, "broadcast");
      builder_.assume_equal(own[i], sizes[lead + i]);
    } else {
      if (a->i != 1) break_here(BreakReason::raises, "shapes do not broadcast");
      assume_size_one(own[i], sizes[lead + i]);
    }
  }
  return tensors_.emit(Op::broadcast, {&av, 1}, sizes, {});
}

// A reshape that splits at most one axis, and adds or drops axes of size 1, is a view in every layout.
bool Shapes::reshape_is_view(const jit::ValueList& from, std::span<const ValueId> to) {
  auto is_one = [&](ValueId size) { return builder_.known_int(size) == 1; };
  size_t i = 0, j = 0, from_end = from.size(), to_end = to.size();
  while (i < from_end || j < to_end) {
    if (i < from_end && is_one(from[i])) ++i;
    else if (j < to_end && is_one(to[j])) ++j;
    else if (i < from_end && j < to_end && builder_.known_equal(from[i], to[j])) ++i, ++j;
    else break;
  }
  while (from_end > i && to_end > j) {
    if (is_one(from[from_end - 1])) --from_end;
    else if (is_one(to[to_end - 1])) --to_end;
    else if (builder_.known_equal(from[from_end - 1], to[to_end - 1])) --from_end, --to_end;
    else break;
  }
  size_t left = 0;
  for (; i < from_end; ++i) left += !is_one(from[i]);
  return left <= 1;
}

bool Shapes::is_reshaped_view(const VTensor& view, const VTensor& of) {
  if (!view.view || view.view->op != Op::reshape || view.view->parent.get() != &of) return false;
  const jit::ValueList from = region_.type(of.id).sizes;
  const std::vector<ValueId>& to = view.view->scalars;
  if (of.contiguous || reshape_is_view(from, to)) return true;
  // Leading sizes that agree now, as those of view(2, 5, heads, -1), are assumed to agree at every entry.
  for (size_t i = 0; i + 1 < from.size() && i < to.size(); ++i) {
    if (builder_.known_equal(from[i], to[i])) continue;
    if (!builder_.require_equal(from[i], to[i])) break;
    builder_.assume_equal(from[i], to[i]);
  }
  return reshape_is_view(from, to);
}

// Whether axes in another order leave the elements where they are, as those of size 1 do.
std::optional<bool> Shapes::keeps_order(jit::ValueList sizes, const Sizes& order) {
  const ValueId one = builder_.constant(int64_t{1}), two = builder_.constant(int64_t{2});
  const auto size_at = [&](size_t i) { return sizes[static_cast<size_t>(order[i])]; };
  std::vector<ValueId> ones;
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (order[i] < order[j]) continue;
      const std::optional<Scalar> a = conditions_.hint(size_at(i)), b = conditions_.hint(size_at(j));
      if (!a || !b || a->i == 0 || b->i == 0) return std::nullopt;
      if (a->i == 1) ones.push_back(size_at(i));
      else if (b->i == 1) ones.push_back(size_at(j));
      else if (conditions_.assume_below(two, size_at(i)) && conditions_.assume_below(two, size_at(j))) return false;
      else return std::nullopt;
    }
  for (ValueId size : ones)
    if (!conditions_.assume_below(size, one)) return std::nullopt;
  return true;
}

// Whether a slice of row-major elements lies row by row: it takes the whole axis, or the axes in front of it have one
// element each.
std::optional<bool> Shapes::slice_keeps_order(jit::ValueList sizes, const VirtualView& view) {
  if (builder_.known_int(view.scalars[2]) != 1) return std::nullopt;
  const auto axis = static_cast<size_t>(view.attributes.axes[0]);
  const ValueId length = view.scalars[1], one = builder_.constant(int64_t{1}), two = builder_.constant(int64_t{2});
  const auto now = [&](ValueId number) {
    const std::optional<Scalar> hint = conditions_.hint(number);
    return hint ? hint->i : -1;
  };
  const auto are_equal = [&](ValueId number, ValueId other) {
    return builder_.known_equal(number, other) ||
           (conditions_.assume_below(number, other) && conditions_.assume_below(other, number));
  };
  const auto holds = [](bool each) { return each ? std::optional(true) : std::nullopt; };
  const auto front = std::span<const ValueId>(sizes.begin(), axis);
  if (std::all_of(front.begin(), front.end(), [&](ValueId size) { return now(size) == 1; }))
    return holds(std::all_of(front.begin(), front.end(), [&](ValueId size) { return are_equal(size, one); }));
  if (builder_.known_equal(length, sizes[axis]) || (now(length) >= 0 && now(length) == now(sizes[axis])))
    return holds(are_equal(length, sizes[axis]));
  // Rows of which parts are left out, and none of them is empty.
  const auto rows = std::find_if(front.begin(), front.end(), [&](ValueId size) { return now(size) > 1; });
  const bool has_elements =
      std::all_of(sizes.begin(), sizes.end(), [&](ValueId size) { return now(size) > 0; }) && now(length) > 0;
  if (rows == front.end() || !has_elements) return std::nullopt;
  bool stays = conditions_.assume_below(two, *rows) && conditions_.assume_below(one, length) &&
               conditions_.assume_below(builder_.scalar(jit::ScalarOp::add, std::array{length, one}), sizes[axis]);
  for (ValueId size : sizes) stays = stays && conditions_.assume_below(one, size);
  return stays ? std::optional(false) : std::nullopt;
}

// Whether a tensor's elements are in row-major order, which is assumed of every entry; nothing where only running can
// tell.
std::optional<bool> Shapes::is_row_major(const VTensor& tensor) {
  if (tensor.contiguous) return true;
  if (!tensor.view) return false;
  const VirtualView& view = *tensor.view;
  if (!is_row_major(*view.parent).value_or(false)) return std::nullopt;
  switch (view.op) {
    case Op::detach:
    case Op::save_for_backward: return true;
    case Op::permute: return keeps_order(region_.type(view.parent->id).sizes, view.attributes.axes);
    case Op::slice: return slice_keeps_order(region_.type(view.parent->id).sizes, view);
    default: return std::nullopt;
  }
}

// The axes from the outermost to the innermost, as the interpreter finds them at every entry: it looks at the strides,
// which say nothing of an order where an axis has one element or none. Nothing where only running can tell.
std::optional<Sizes> Shapes::memory_order(const VTensor& tensor) {
  const jit::ValueList sizes = region_.type(tensor.id).sizes;
  const std::optional<Sizes> order = order_through_views(tensor);
  if (!order || std::is_sorted(order->begin(), order->end())) return order;
  for (const VTensor* at = &tensor; at->view; at = at->view->parent.get())
    if (at->view->op == Op::broadcast) return std::nullopt;  // axes that are repeated have no place
  const ValueId two = builder_.constant(int64_t{2});
  for (ValueId size : sizes) {
    const std::optional<Scalar> now = conditions_.hint(size);
    if (!now || now->i < 2 || !conditions_.assume_below(two, size)) return std::nullopt;
  }
  return order;
}

std::optional<Sizes> Shapes::order_through_views(const VTensor& tensor) {
  Sizes own;
  for (size_t axis = 0; axis < region_.type(tensor.id).sizes.size(); ++axis) own.push_back(static_cast<int64_t>(axis));
  if (tensor.contiguous || own.size() < 2) return own;
  if (!tensor.view) return std::nullopt;
  const VirtualView& view = *tensor.view;
  const std::optional<Sizes> before = order_through_views(*view.parent);
  if (!before) return std::nullopt;
  const bool is_plain = std::is_sorted(before->begin(), before->end());
  switch (view.op) {
    case Op::detach:
    case Op::save_for_backward: return before;
    case Op::slice: return builder_.known_int(view.scalars[2]).value_or(0) > 0 ? before : std::nullopt;
    case Op::broadcast: return is_plain ? std::optional<Sizes>(own) : std::nullopt;
    case Op::permute: {
      const Sizes& axes = view.attributes.axes;
      for (size_t i = 0; i < own.size(); ++i) own[i] = std::find(axes.begin(), axes.end(), (*before)[i]) - axes.begin();
      return own;
    }
    default: return std::nullopt;
  }
}

// Whether a view of a tensor from outside is in row-major order in this call.
bool Shapes::is_row_major_now(const VTensor& tensor) {
  repeats_.spoil_record();
  const auto layout = [&](const VTensor& of, const auto& self) -> Tensor {
    if (!of.view) return of.host.is_undefined() ? Tensor() : cast<TensorObject>(of.host)->tensor;
    const Tensor parent = self(*of.view->parent, self);
    std::vector<Scalar> numbers;
    for (ValueId scalar : of.view->scalars)
      if (const std::optional<Scalar> now = conditions_.hint(scalar)) numbers.push_back(*now);
    if (!parent.defined() || numbers.size() != of.view->scalars.size()) return {};
    return run_op(of.view->op, {&parent, 1}, numbers, of.view->attributes).first;
  };
  const Tensor now = layout(tensor, layout);
  return now.defined() && now.is_contiguous();
}

}  // namespace tsc::interp
