// dot: the batched matrix product, on the one kernel family of matmul.h.
#include "runtime/kernels/families.h"
#include "runtime/kernels/matmul.h"

namespace tsc {
namespace {

MatmulOperand operand(const Tensor& t) { return {t.data(), t.stride(1), t.stride(2), t.stride(0)}; }

}  // namespace

OpResults run_contract(const OpCall& call) {
  Tensor out = empty_result(call);
  if (out.numel() == 0) return {std::move(out), {}};
  const Tensor &a = call.tensors[0], &b = call.tensors[1];
  MatmulArgs args;
  args.dtype = out.dtype();
  args.batch = out.size(0), args.m = out.size(1), args.n = out.size(2), args.k = a.size(2);
  args.a = operand(a);
  args.b = operand(b);
  args.c = out.data();
  args.c_row_stride = args.n;
  args.c_batch_stride = args.m * args.n;
  matmul(args);
  return {std::move(out), {}};
}

}  // namespace tsc
