// A tensor of one element as a scalar.
#include "jit/region/executor.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {

Scalar read_scalar(const Tensor& tensor, ValueKind kind) {
  if (tensor.numel() != 1) {
    throw Error(ErrorKind::RuntimeError,
                "a Tensor with " + std::to_string(tensor.numel()) + " elements cannot be converted to Scalar");
  }
  OpAttributes to;
  to.dtype = kind == ValueKind::Float ? DType::F64 : kind == ValueKind::Bool ? DType::Bool : DType::I64;
  const Tensor item = run_op(Op::cast, {&tensor, 1}, {}, to).first;
  if (kind == ValueKind::Float) return Scalar::of_float(*item.data_as<double>());
  if (kind == ValueKind::Bool) return Scalar::of_bool(*item.data_as<uint8_t>() != 0);
  return Scalar::of_int(*item.data_as<int64_t>());
}

}  // namespace tsc::jit
