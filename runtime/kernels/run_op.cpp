#include "runtime/kernels/run_op.h"

#include "runtime/base/error.h"
#include "runtime/kernels/families.h"

namespace tsc {

namespace {

// What is known of the results without their elements.
OpResults run_without_memory(const OpCall& call) {
  const OpRow& row = op_row(call.op);
  if (row.flags & kView) return row.family == Family::View ? run_view(call) : run_move(call);
  if (row.flags & kDynamicSize)
    throw Error(ErrorKind::NotImplementedError,
                std::string(row.name) + "() of a tensor on device meta: the size of its result depends on the elements, "
                "and a meta tensor has none");
  const Sizes sizes = infer_sizes(call);
  OpResults results{Tensor::meta(infer_dtype(call), sizes), {}};
  if (op_result_count(call.op) == 2) results.second = Tensor::meta(infer_dtype(call, 1), sizes);
  return results;
}

}  // namespace

OpResults run_op(Op op, std::span<const Tensor> tensors, std::span<const Scalar> scalars,
                 const OpAttributes& attributes) {
  using Driver = OpResults (*)(const OpCall&);
  static constexpr Driver kDrivers[] = {
      run_elementwise, run_elementwise, run_elementwise, run_create, run_view, run_move,
      run_index,       run_reduce,      run_scan,        run_sort,   run_contract,
      run_window};
  for (const Tensor& x : tensors)
    if (x.is_meta()) [[unlikely]] return run_without_memory({op, tensors, scalars, attributes});
  return kDrivers[static_cast<size_t>(op_row(op).family)]({op, tensors, scalars, attributes});
}

Tensor create_meta(Op op, std::span<const Scalar> scalars, const OpAttributes& attributes) {
  return run_without_memory({op, {}, scalars, attributes}).first;
}

void refuse_meta_copy(const Tensor& x) {
  if (x.is_meta()) throw Error(ErrorKind::NotImplementedError, "Cannot copy out of meta tensor; no data!");
}

Sizes infer_sizes(const OpCall& call) {
  std::vector<Sizes> shapes;
  for (const Tensor& x : call.tensors) shapes.push_back(x.sizes());
  return infer_sizes(call.op, shapes, call.scalars, call.attributes);
}

DType infer_dtype(const OpCall& call, int index) {
  SmallVector<DType, 8> dtypes;
  for (const Tensor& x : call.tensors) dtypes.push_back(x.dtype());
  return infer_dtype(call.op, dtypes, call.attributes, index);
}

Tensor empty_result(const OpCall& call) {
  DType dtype = infer_dtype(call);
  return Tensor::empty(dtype, infer_sizes(call));
}

}  // namespace tsc
