// Module `_fft`: the discrete Fourier transform (runtime/fft) of pairs of numbers; torch.fft is
// written over it. Keeps: nothing is recorded for gradients.
#include "runtime/fft/fft.h"

#include <span>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/native_math.h"
#include "runtime/device/device.h"
#include "runtime/fft/stages.h"

namespace tsc::interp {
namespace {

// transform(x, inverse): along the last axis but one of a contiguous float64 tensor, whose last
// axis has the real and the imaginary part. Not scaled.
Value transform(Vm& vm, Args& args) {
  const Tensor& x = expect_tensor(vm, args[0], "x")->tensor;
  const int64_t rank = x.rank();
  if (x.dtype() != DType::F64 || !x.is_contiguous() || rank < 2 || x.size(rank - 1) != 2 ||
      x.size(rank - 2) < 1)
    raise_type_error(vm, "'x' must be contiguous pairs of float64");
  if (x.is_meta()) return make_tensor(vm, Tensor::meta(DType::F64, x.sizes())).take();
  const bool inverse = truth(vm, args[1]);
  const int64_t length = x.size(rank - 2), count = x.numel() / (2 * length);
  Tensor out = Tensor::empty(DType::F64, x.sizes());
  if (count == 0) return make_tensor(vm, std::move(out)).take();
  const fft::Plan plan(length);
  const auto* from = x.data_as<fft::Complex>();
  auto* to = out.data_as<fft::Complex>();
  const double nanoseconds = 4.0 * static_cast<double>(length);
  const int64_t grain = (grain_for(nanoseconds) + fft::kSide - 1) / fft::kSide * fft::kSide;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    plan.transform(from + begin * length, to + begin * length, end - begin, inverse);
  });
  return make_tensor(vm, std::move(out)).take();
}

Local<ModuleObject> make_fft(Vm& vm) {
  ModuleBuilder module(vm, "_fft");
  module.function("transform", "x, inverse", transform);
  return module.finish();
}

}  // namespace

void register_fft(Vm& vm) { register_native_module(vm, "_fft", make_fft); }

}  // namespace tsc::interp
