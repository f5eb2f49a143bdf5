#include "runtime/kernels/run_op.h"

#include "runtime/base/error.h"
#include "runtime/kernels/families.h"

namespace tsc {

OpResults run_op(Op op, std::span<const Tensor> tensors, std::span<const Scalar> scalars,
                 const OpAttributes& attributes) {
  using Driver = OpResults (*)(const OpCall&);
  static constexpr Driver kDrivers[] = {
      run_elementwise, run_elementwise, run_elementwise, run_create, run_view, run_move,
      run_index,       run_reduce,      run_scan,        run_sort,   run_contract,
      run_window};
  return kDrivers[static_cast<size_t>(op_row(op).family)]({op, tensors, scalars, attributes});
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
