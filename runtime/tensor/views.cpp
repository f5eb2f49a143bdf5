// The views: each is a new index map over the same storage. Their rules and errors are those of
// infer_sizes (runtime/ops), restated here for callers that hold a Tensor.
#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace tsc {
namespace {

void check_axis(const char* what, const Tensor& x, int64_t axis) {
  if (axis < 0 || axis >= x.rank())
    throw Error(ErrorKind::IndexError, std::string(what) + ": axis " + std::to_string(axis) +
                                           " is out of range for a tensor of shape " + shape_text(x.sizes()));
}

Tensor with_map(const Tensor& x, Sizes sizes, Sizes strides, int64_t offset) {
  return Tensor(x.storage(), x.dtype(), std::move(sizes), std::move(strides), offset);
}

}  // namespace

Tensor view_permute(const Tensor& x, const Sizes& axes) {
  if (axes.size() != x.sizes().size())
    throw Error(ErrorKind::RuntimeError, "permute: " + std::to_string(axes.size()) +
                                             " axes given for a tensor of shape " + shape_text(x.sizes()));
  Sizes sizes, strides;
  uint64_t seen = 0;
  for (int64_t axis : axes) {
    check_axis("permute", x, axis);
    if (seen >> axis & 1) throw Error(ErrorKind::RuntimeError, "permute(): duplicate dims are not allowed.");
    seen |= uint64_t{1} << axis;
    sizes.push_back(x.size(axis));
    strides.push_back(x.stride(axis));
  }
  return with_map(x, std::move(sizes), std::move(strides), x.offset());
}

Tensor view_broadcast(const Tensor& x, const Sizes& sizes) {
  const int64_t added = static_cast<int64_t>(sizes.size()) - x.rank();
  if (added < 0)
    throw Error(ErrorKind::RuntimeError, "expand(torch." + std::string(dtype_info(x.dtype()).scalar_name) + "Tensor{" +
                                             sizes_text(x.sizes()) + "}, size=" + sizes_text(sizes) +
                                             "): the number of sizes provided (" + std::to_string(sizes.size()) +
                                             ") must be greater or equal to the number of dimensions in the tensor (" +
                                             std::to_string(x.rank()) + ")");
  Sizes strides(sizes.size(), 0);
  for (int64_t axis = static_cast<int64_t>(sizes.size()); axis-- > 0;) {
    const int64_t wanted = sizes[axis];
    if (axis < added ? wanted >= 0 : x.size(axis - added) == wanted) {
      if (axis >= added) strides[axis] = x.stride(axis - added);
    } else if (axis < added) {
      throw Error(ErrorKind::RuntimeError, "The expanded size of the tensor (" + std::to_string(wanted) +
                                               ") isn't allowed in a leading, non-existing dimension " +
                                               std::to_string(axis));
    } else if (x.size(axis - added) != 1 || wanted < 0) {
      throw Error(ErrorKind::RuntimeError,
                  "The expanded size of the tensor (" + std::to_string(wanted) + ") must match the existing size (" +
                      std::to_string(x.size(axis - added)) + ") at non-singleton dimension " + std::to_string(axis) +
                      ".  Target sizes: " + sizes_text(sizes) + ".  Tensor sizes: " + sizes_text(x.sizes()));
    }
  }
  numel_of(sizes);  // raises when the product overflows
  return with_map(x, sizes, std::move(strides), x.offset());
}

Tensor view_slice(const Tensor& x, int64_t axis, int64_t start, int64_t length, int64_t step) {
  check_axis("slice", x, axis);
  int64_t size = x.size(axis);
  if (step == 0) throw Error(ErrorKind::ValueError, "slice: step must not be 0");
  bool inside = length >= 0 && start >= 0 && start <= size;
  if (inside && length > 0) {
    int64_t last = checked_add(start, checked_mul(length - 1, step));
    inside = start < size && last >= 0 && last < size;
  }
  if (!inside)
    throw Error(ErrorKind::IndexError, "slice: start " + std::to_string(start) + ", length " + std::to_string(length) +
                                           ", step " + std::to_string(step) + " is outside axis " +
                                           std::to_string(axis) + " of a tensor of shape " + shape_text(x.sizes()));
  Sizes sizes = x.sizes(), strides = x.strides();
  sizes[axis] = length;
  if (length > 1) strides[axis] *= step;
  return with_map(x, std::move(sizes), std::move(strides),
                  length == 0 ? x.offset() : x.offset() + start * x.stride(axis));
}

Tensor view_diagonal(const Tensor& x, int64_t offset, int64_t axis0, int64_t axis1) {
  check_axis("diagonal", x, axis0);
  check_axis("diagonal", x, axis1);
  if (axis0 == axis1)
    throw Error(ErrorKind::RuntimeError, "diagonal: the two axes must differ, both are " + std::to_string(axis0));
  int64_t rows = x.size(axis0), columns = x.size(axis1);
  int64_t length = 0, start = 0;
  if (offset >= 0 && offset < columns) {
    length = std::min(rows, columns - offset);
    start = offset * x.stride(axis1);
  } else if (offset < 0 && offset > -rows) {
    length = std::min(columns, rows + offset);
    start = -offset * x.stride(axis0);
  }
  Sizes sizes, strides;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (axis == axis0 || axis == axis1) continue;
    sizes.push_back(x.size(axis));
    strides.push_back(x.stride(axis));
  }
  sizes.push_back(length);
  strides.push_back(x.stride(axis0) + x.stride(axis1));
  return with_map(x, std::move(sizes), std::move(strides), x.offset() + (length > 0 ? start : 0));
}

Tensor view_unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step) {
  check_axis("unfold", x, axis);
  if (size < 0) throw Error(ErrorKind::RuntimeError, "size is " + std::to_string(size) + " but must be >= 0");
  if (size > x.size(axis))
    throw Error(ErrorKind::RuntimeError, "maximum size for tensor at dimension " + std::to_string(axis) + " is " +
                                             std::to_string(x.size(axis)) + " but size is " + std::to_string(size));
  if (step <= 0) throw Error(ErrorKind::RuntimeError, "step is " + std::to_string(step) + " but must be > 0");
  Sizes sizes = x.sizes(), strides = x.strides();
  sizes.push_back(size);
  strides.push_back(strides[axis]);
  sizes[axis] = (sizes[axis] - size) / step + 1;
  if (sizes[axis] > 1) strides[axis] = checked_mul(strides[axis], step);
  return with_map(x, std::move(sizes), std::move(strides), x.offset());
}

Tensor view_as_strided(const Tensor& x, const Sizes& sizes, const Sizes& strides, int64_t offset) {
  if (sizes.size() != strides.size())
    throw Error(ErrorKind::RuntimeError, "as_strided: sizes " + shape_text(sizes) + " and strides " +
                                             shape_text(strides) + " must have the same length");
  int64_t lowest = offset, highest = offset;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) throw Error(ErrorKind::RuntimeError, "as_strided: negative size in " + shape_text(sizes));
    empty |= sizes[i] == 0;
    int64_t reach = checked_mul(std::max<int64_t>(sizes[i] - 1, 0), strides[i]);
    (reach < 0 ? lowest : highest) = checked_add(reach < 0 ? lowest : highest, reach);
  }
  int64_t elements = x.storage()->bytes() / dtype_size(x.dtype());
  if (!empty && (lowest < 0 || highest >= elements))
    throw Error(ErrorKind::RuntimeError, "as_strided: sizes " + shape_text(sizes) + ", strides " + shape_text(strides) +
                                             ", offset " + std::to_string(offset) + " reach outside a storage of " +
                                             std::to_string(elements) + " elements");
  numel_of(sizes);  // raises when the product overflows
  return with_map(x, sizes, strides, empty ? 0 : offset);
}

Tensor view_as_real(const Tensor& x) {
  Sizes sizes = x.sizes(), strides = x.strides();
  for (int64_t& stride : strides) stride = checked_mul(stride, 2);
  sizes.push_back(2);
  strides.push_back(1);
  return Tensor(x.storage(), part_dtype(x.dtype()), std::move(sizes), std::move(strides), checked_mul(x.offset(), 2));
}

Tensor view_as_complex(const Tensor& x) {
  const auto fail = [](const char* what) {
    throw Error(ErrorKind::RuntimeError, std::string("Tensor must have a ") + what);
  };
  if (x.rank() == 0 || x.sizes().back() != 2) fail("last dimension of size 2");
  if (x.strides().back() != 1) fail("last dimension with stride 1");
  Sizes sizes = x.sizes(), strides = x.strides();
  sizes.pop_back();
  strides.pop_back();
  for (int64_t& stride : strides) {
    if (stride % 2 != 0) fail("stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  if (x.offset() % 2 != 0) fail("storage_offset divisible by 2");
  return Tensor(x.storage(), complex_dtype(x.dtype()), std::move(sizes), std::move(strides), x.offset() / 2);
}

// PyTorch's rule (computeStride): the old axes are grouped into runs that are contiguous among
// themselves; each run must be a product of consecutive new sizes.
Tensor try_view_reshape(const Tensor& x, const Sizes& sizes) {
  if (x.numel() != numel_of(sizes))
    throw Error(ErrorKind::RuntimeError,
                "shape '" + sizes_text(sizes) + "' is invalid for input of size " + std::to_string(x.numel()));
  if (x.numel() == 0 || x.is_contiguous()) return with_map(x, sizes, contiguous_strides(sizes), x.offset());
  Sizes strides(sizes.size());
  int64_t target = static_cast<int64_t>(sizes.size()) - 1;
  int64_t run = 1, filled = 1, base = x.stride(x.rank() - 1);
  for (int64_t axis = x.rank() - 1; axis >= 0; --axis) {
    run *= x.size(axis);
    bool run_ends = axis == 0 || (x.size(axis - 1) != 1 && x.stride(axis - 1) != run * base);
    if (!run_ends) continue;
    while (target >= 0 && (filled < run || sizes[target] == 1)) {
      strides[target] = filled * base;
      filled *= sizes[target--];
    }
    if (filled != run) return Tensor();
    if (axis > 0) {
      base = x.stride(axis - 1);
      run = filled = 1;
    }
  }
  return target < 0 ? with_map(x, sizes, std::move(strides), x.offset()) : Tensor();
}

}  // namespace tsc
