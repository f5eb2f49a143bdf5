// infer_sizes: the checks of the eager path, then the generic rule.
#include "runtime/ops/infer.h"

#include <string>

namespace tsc {
namespace {

struct Call {
  const OpRow& row;
  std::span<const Sizes> operands;
  std::span<const Scalar> scalars;
  const OpAttributes& attributes;

  std::string name() const { return std::string(row.name); }
  int64_t scalar(size_t i) const { return scalars[i].as_int(); }
  int64_t rank(size_t i) const { return static_cast<int64_t>(operands[i].size()); }
  [[noreturn]] void fail(ErrorKind kind, const std::string& message) const {
    throw Error(kind, name() + ": " + message);
  }
};

std::string shapes_text(std::span<const Sizes> shapes) {
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (i) text += i + 1 == shapes.size() ? " and " : ", ";
    text += shape_text(shapes[i]);
  }
  return text;
}

void check_counts(const Call& call, int64_t scalars) {
  int64_t tensors = call.row.tensors, given = static_cast<int64_t>(call.operands.size());
  if (tensors != kVariadic && given != tensors)
    call.fail(ErrorKind::TypeError, "takes " + std::to_string(tensors) + " tensors, got " + std::to_string(given));
  if (tensors == kVariadic && given == 0) call.fail(ErrorKind::RuntimeError, "expected a non-empty list of tensors");
  if (scalars >= 0 && static_cast<int64_t>(call.scalars.size()) != scalars)
    call.fail(ErrorKind::TypeError,
              "takes " + std::to_string(scalars) + " scalar operands, got " + std::to_string(call.scalars.size()));
}

void check_axes(const Call& call, size_t count) {
  const Sizes& axes = call.attributes.axes;
  if (axes.size() != count)
    call.fail(ErrorKind::TypeError, "needs " + std::to_string(count) + " axes, got " + std::to_string(axes.size()));
  for (int64_t axis : axes)
    if (axis < 0 || axis >= call.rank(0))
      call.fail(ErrorKind::IndexError, "axis " + std::to_string(axis) + " is out of range for a tensor of shape " +
                                           shape_text(call.operands[0]));
}

std::string bracketed(const Sizes& sizes) {
  std::string text;
  for (int64_t size : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

void check_sizes_scalars(const Call& call, size_t first) {
  for (size_t i = first; i < call.scalars.size(); ++i) {
    if (call.scalar(i) >= 0) continue;
    Sizes sizes;  // as the script wrote them
    for (size_t k = first; k < call.scalars.size(); ++k) sizes.push_back(call.scalar(k));
    const std::string size = std::to_string(call.scalar(i)), shape = bracketed(sizes);
    throw Error(ErrorKind::RuntimeError,
                call.row.op == Op::reshape ? "invalid shape dimension " + size + " at index " +
                                                 std::to_string(i - first) + " of shape " + shape
                                           : "Trying to create tensor with negative dimension " + size + ": " + shape);
  }
}

void check_elementwise(const Call& call) {
  check_counts(call, 0);
  for (const Sizes& other : call.operands.subspan(1))
    if (!(other == call.operands[0]))
      call.fail(ErrorKind::RuntimeError, "the operands must have one shape, got " + shapes_text(call.operands));
}

void check_create(const Call& call) {
  int64_t before = scalars_before_sizes(call.row.op);
  if (static_cast<int64_t>(call.scalars.size()) < before)
    call.fail(ErrorKind::TypeError, "needs the scalars " + std::string(call.row.scalars));
  check_sizes_scalars(call, before);
  if (call.row.op == Op::iota) {
    const Sizes& axes = call.attributes.axes;
    if (axes.size() != 1 || axes[0] < 0 || axes[0] >= static_cast<int64_t>(call.scalars.size()))
      call.fail(ErrorKind::IndexError,
                "the axis is out of range for " + std::to_string(call.scalars.size()) + " sizes");
  }
}

Sizes scalar_sizes(const Call& call, size_t first, size_t count) {
  Sizes sizes;
  for (size_t i = first; i < first + count; ++i) sizes.push_back(call.scalar(i));
  return sizes;
}

// The map checks are those of the views themselves: run them on a storage-less tensor of that shape.
void check_view(const Call& call) {
  const Sizes& x = call.operands[0];
  Tensor shape(Ref<Storage>(), DType::Bool, x, contiguous_strides(x), 0);
  const Sizes& axes = call.attributes.axes;
  switch (call.row.op) {
    case Op::reshape:
      check_counts(call, -1);
      check_sizes_scalars(call, 0);
      try_view_reshape(shape, scalar_sizes(call, 0, call.scalars.size()));
      return;
    case Op::broadcast:
      check_counts(call, -1);
      view_broadcast(shape, scalar_sizes(call, 0, call.scalars.size()));
      return;
    case Op::permute:
      check_counts(call, 0);
      view_permute(shape, axes);
      return;
    case Op::slice:
      check_counts(call, 3);
      check_axes(call, 1);
      view_slice(shape, axes[0], call.scalar(0), call.scalar(1), call.scalar(2));
      return;
    case Op::diagonal:
      check_counts(call, 1);
      check_axes(call, 2);
      view_diagonal(shape, call.scalar(0), axes[0], axes[1]);
      return;
    case Op::view_as_real: check_counts(call, 0); return;
    case Op::view_as_complex:
      check_counts(call, 0);
      if (x.empty() || x.back() != 2) call.fail(ErrorKind::RuntimeError, "Tensor must have a last dimension of size 2");
      return;
    default:
      check_counts(call, 2);
      check_axes(call, 1);
      view_unfold(shape, axes[0], call.scalar(0), call.scalar(1));
  }
}

void check_concat(const Call& call) {
  check_axes(call, 1);
  int64_t joined = call.attributes.axes[0];
  for (size_t i = 1; i < call.operands.size(); ++i) {
    if (call.rank(i) != call.rank(0))
      call.fail(ErrorKind::RuntimeError,
                "tensors must have the same number of dimensions, got " + shapes_text(call.operands));
    for (int64_t axis = 0; axis < call.rank(0); ++axis)
      if (axis != joined && call.operands[i][axis] != call.operands[0][axis])
        throw Error(ErrorKind::RuntimeError, "Sizes of tensors must match except in dimension " +
                                                 std::to_string(joined) + ". Expected size " +
                                                 std::to_string(call.operands[0][axis]) + " but got size " +
                                                 std::to_string(call.operands[i][axis]) + " for tensor number " +
                                                 std::to_string(i) + " in the list.");
  }
}

void check_move(const Call& call) {
  switch (call.row.op) {
    case Op::pad: {
      check_counts(call, 3);
      check_axes(call, 1);
      int64_t size = call.operands[0][call.attributes.axes[0]];
      int64_t low = call.scalar(1), high = call.scalar(2);
      if (checked_add(size, low) < 0 || checked_add(size, high) < 0 || checked_add(checked_add(size, low), high) < 0)
        call.fail(ErrorKind::RuntimeError, "cropping " + std::to_string(low) + " and " + std::to_string(high) +
                                               " elements leaves a negative size of axis " +
                                               std::to_string(call.attributes.axes[0]) + " of shape " +
                                               shape_text(call.operands[0]));
      return;
    }
    case Op::concat: check_counts(call, 0); return check_concat(call);
    case Op::store: {
      check_counts(call, -1);
      size_t rank = call.operands[1].size();
      check_counts(call, static_cast<int64_t>(1 + 2 * rank));
      if (!(scalar_sizes(call, 1, rank) == call.operands[1]))
        call.fail(ErrorKind::RuntimeError, "the map's sizes " + shape_text(scalar_sizes(call, 1, rank)) +
                                               " differ from the value's shape " + shape_text(call.operands[1]));
      return;  // the map's range is checked against the storage when the view is made
    }
    default: check_counts(call, 0);
  }
}

void check_index(const Call& call) {
  check_counts(call, 0);
  Op op = call.row.op;
  check_axes(call, 1);
  int64_t axis = call.attributes.axes[0];
  const Sizes &x = call.operands[0], &index = call.operands[1];
  if (op == Op::take) return;
  if (op == Op::index_add) {
    Sizes expected = infer_index_sizes<int64_t>(Op::take, call.operands, call.attributes.axes);
    if (!(call.operands[2] == expected))
      call.fail(ErrorKind::RuntimeError,
                "the values must have shape " + shape_text(expected) + ", got " + shape_text(call.operands[2]));
    return;
  }
  bool fits = index.size() == x.size();
  for (int64_t i = 0; fits && i < call.rank(0); ++i) fits = i == axis || index[i] <= x[i];
  if (!fits)
    call.fail(ErrorKind::RuntimeError, "an index of shape " + shape_text(index) + " does not fit a tensor of shape " +
                                           shape_text(x) + " apart from dimension " + std::to_string(axis));
  if (op != Op::gather && !(call.operands[2] == index))
    call.fail(ErrorKind::RuntimeError,
              "the values must have the index's shape " + shape_text(index) + ", got " + shape_text(call.operands[2]));
}

void check_reduce(const Call& call) {
  check_counts(call, 0);
  const Sizes& axes = call.attributes.axes;
  check_axes(call, axes.size());
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] <= axes[i - 1])
      call.fail(ErrorKind::RuntimeError, "the axes must be sorted and unique: " + shape_text(axes));
  if (call.row.domain != Domain::NonEmpty) return;
  for (int64_t axis : axes)
    if (call.operands[0][axis] == 0)
      call.fail(ErrorKind::IndexError, "expected reduction dim " + std::to_string(axis) +
                                           " to have non-zero size, got shape " + shape_text(call.operands[0]));
}

void check_contract(const Call& call) {
  check_counts(call, 0);
  const Sizes &x = call.operands[0], &y = call.operands[1];
  if (x.size() != 3 || y.size() != 3 || x[0] != y[0] || x[2] != y[1])
    call.fail(ErrorKind::RuntimeError, "shapes " + shape_text(x) + " and " + shape_text(y) +
                                           " cannot be multiplied: needs (b, m, k) and (b, k, n)");
}

// The positions that the windows reach over are numbers that can be computed with.
void check_window_numbers(const Call& call, size_t axis, size_t windowed, int64_t taps) {
  const auto list = [&](size_t i) { return call.scalar(i * windowed + axis); };
  const bool convolves = call.row.op == Op::convolve;
  const int64_t places = list(0), stride = list(convolves ? 1 : 2), dilation = list(convolves ? 2 : 3);
  const int64_t gap = convolves ? list(3) : 1, low = list(4);
  if (places < 0 || taps < 0)
    call.fail(ErrorKind::RuntimeError,
              "a tensor cannot have a negative size: " + std::to_string(std::min(places, taps)));
  if (stride < 1 || dilation < 1 || gap < 1)
    call.fail(ErrorKind::RuntimeError, "strides, dilations and gaps must be at least 1");
  const int64_t end = checked_add(checked_mul(places, stride), checked_mul(taps, dilation));
  checked_add(end, low);
  checked_add(end, checked_mul(low, -1));
  checked_mul(call.operands[0][call.operands[0].size() - windowed + axis], gap);
}

void check_window(const Call& call) {
  check_counts(call, -1);
  const int64_t before = axes_before_windows(call.row.op);
  const int64_t windowed = call.rank(0) - before;
  if (windowed < 1 || windowed > 3)
    call.fail(ErrorKind::RuntimeError, "needs one to three windowed axes behind " + std::to_string(before) +
                                           ", got shape " + shape_text(call.operands[0]));
  check_counts(call, 5 * windowed);
  const bool convolves = call.row.op == Op::convolve;
  if (convolves) {
    const Sizes &x = call.operands[0], &y = call.operands[1];
    if (y.size() != x.size() || x[1] != y[0] || x[2] != y[2])
      call.fail(ErrorKind::RuntimeError, "shapes " + shape_text(x) + " and " + shape_text(y) +
                                             " do not fit: needs (n, g, c, ...) and (g, o, c, ...)");
  }
  for (int64_t i = 0; i < windowed; ++i)
    check_window_numbers(call, static_cast<size_t>(i), static_cast<size_t>(windowed),
                         convolves ? call.operands[1][before + i] : call.scalar(windowed + i));
}

void check_call(const Call& call) {
  switch (call.row.family) {
    case Family::Unary:
    case Family::Binary:
    case Family::Ternary: return check_elementwise(call);
    case Family::Create: return check_create(call);
    case Family::View: return check_view(call);
    case Family::Move: return check_move(call);
    case Family::Index: return check_index(call);
    case Family::Reduce: return check_reduce(call);
    case Family::Scan:
    case Family::Sort: check_counts(call, 0); return check_axes(call, 1);
    case Family::Contract: return check_contract(call);
    case Family::Window: return check_window(call);
  }
}

}  // namespace

Sizes infer_sizes(Op op, std::span<const Sizes> operands, std::span<const Scalar> scalars,
                  const OpAttributes& attributes) {
  const OpRow& row = op_row(op);
  TSC_CHECK(!(row.flags & kDynamicSize), std::string(row.name) + " has a size known only after it ran");
  check_call({row, operands, scalars, attributes});
  Sizes values;
  for (const Scalar& scalar : scalars) values.push_back(scalar.as_int());
  return infer_sizes_generic<int64_t>(op, operands, std::span<const int64_t>(values), attributes, ConcreteSizes());
}

Sizes broadcast_sizes(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes sizes = longer;
  const size_t added = longer.size() - shorter.size();
  for (size_t i = shorter.size(); i-- > 0;) {
    int64_t &size = sizes[i + added], other = shorter[i];
    if (size == other || other == 1) continue;
    if (size != 1)
      throw Error(ErrorKind::RuntimeError, "The size of tensor a (" + std::to_string(&longer == &a ? size : other) +
                                               ") must match the size of tensor b (" +
                                               std::to_string(&longer == &a ? other : size) +
                                               ") at non-singleton dimension " + std::to_string(i + added));
    size = other;
  }
  return sizes;
}

}  // namespace tsc
