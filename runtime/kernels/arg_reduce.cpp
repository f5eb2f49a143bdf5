// argmax and argmin: the first extremum in row-major order of the reduced axes; the first nan wins.
#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/strided.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr double kSearchNanoseconds = 0.5;

template <class S>
bool is_nan(S x) {
  return x != x;
}

// The first element equal to the extremum (a nan when that is nan).
template <class S>
int64_t find_first(const S* x, int64_t n, S wanted_element) {
  auto wanted = load_element(&wanted_element);
  if (is_nan(wanted)) {
    for (int64_t i = 0; i < n; ++i)
      if (is_nan(load_element(x + i))) return i;
  }
  for (int64_t i = 0; i < n; ++i)
    if (load_element(x + i) == wanted) return i;
  return n;
}

Sizes reduced_last(const Tensor& x, const Sizes& axes) {
  Sizes order;
  size_t next = 0;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (next < axes.size() && axes[next] == axis) ++next;
    else order.push_back(axis);
  }
  for (int64_t axis : axes) order.push_back(axis);
  return order;
}

}  // namespace

// Two steps: the extremum by the reduction, then a search for where it stands.
OpResults run_arg_reduce(const OpCall& call, const Tensor& out) {
  const Tensor& x = call.tensors[0];
  const Sizes& axes = call.attributes.axes;
  Op extremum_op = call.op == Op::argmax ? Op::amax : Op::amin;
  Tensor extremum = run_op(extremum_op, call.tensors, {}, call.attributes).first;
  Tensor rows = contiguous(view_permute(x, reduced_last(x, axes)));
  int64_t count = x.numel() / out.numel();
  visit_ordered_dtype(x.dtype(), [&]<class S>() {
    parallel_for(out.numel(), grain_for(kSearchNanoseconds * count + 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out.data_as<int64_t>()[i] = find_first(rows.data_as<S>() + i * count, count, extremum.data_as<S>()[i]);
    });
  });
  return {out, {}};
}

}  // namespace tsc
