// Module `_draws`: draws by rejection and their derivatives (runtime/random/draws.h), on contiguous
// float64 tensors; torch's functions and distributions are written over it. Keeps: nothing is
// recorded for gradients; a draw takes one offset of the engine's random state. Of meta tensors, which have no numbers,
// nothing is drawn.
#include "runtime/random/draws.h"

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/host_access.h"
#include "interpreter/tensor/native_math.h"
#include "interpreter/tensor/placement.h"
#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

std::span<const double> numbers_of(Vm& vm, const Value& v, const char* what) {
  const Tensor& x = expect_tensor(vm, v, what)->tensor;
  if (x.dtype() != DType::F64 || !x.is_contiguous())
    raise_type_error(vm, std::string("'") + what + "' must be a contiguous float64 tensor");
  if (x.is_meta()) return {};
  return {x.data_as<double>(), static_cast<size_t>(x.numel())};
}

std::span<const double> as_many(Vm& vm, const Value& v, const char* what, size_t count) {
  std::span<const double> numbers = numbers_of(vm, v, what);
  if (numbers.size() != count)
    raise_value_error(vm, std::string("'") + what + "' must have as many elements as the others");
  return numbers;
}

RandomKey next_key(Vm& vm, const Value& like) {
  jit::RngState& rng = rng_of(tensor_state(vm), expect_tensor(vm, like, "x")->tensor.place());
  return {rng.seed, rng.offset++};
}

// A tensor like the first argument, for `fill` to write its elements.
template <class Fill>
Value made_like(Vm& vm, const Value& v, Fill fill) {
  const Tensor& x = expect_tensor(vm, v, "x")->tensor;
  if (x.is_meta()) return make_tensor(vm, Tensor::meta(DType::F64, x.sizes())).take();
  Tensor out = Tensor::empty(DType::F64, x.sizes());
  fill(std::span<double>(out.data_as<double>(), static_cast<size_t>(out.numel())));
  return make_tensor(vm, std::move(out)).take();
}

Value standard_gamma(Vm& vm, Args& args) {
  const std::span<const double> shape = numbers_of(vm, args[0], "shape");
  return made_like(vm, args[0], [&](std::span<double> out) { draw_standard_gamma(out, shape, next_key(vm, args[0])); });
}

Value poisson(Vm& vm, Args& args) {
  const std::span<const double> rate = numbers_of(vm, args[0], "rate");
  return made_like(vm, args[0], [&](std::span<double> out) { draw_poisson(out, rate, next_key(vm, args[0])); });
}

Value binomial(Vm& vm, Args& args) {
  const std::span<const double> count = numbers_of(vm, args[0], "count");
  const std::span<const double> probability = as_many(vm, args[1], "probability", count.size());
  return made_like(vm, args[0],
                   [&](std::span<double> out) { draw_binomial(out, count, probability, next_key(vm, args[0])); });
}

template <class F>
Value map_elements(Vm& vm, const Value& first, F f) {
  return made_like(vm, first, [&](std::span<double> to) {
    parallel_for(static_cast<int64_t>(to.size()), 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = f(i);
    });
  });
}

Value gamma_derivative(Vm& vm, Args& args) {
  const std::span<const double> shape = numbers_of(vm, args[0], "shape");
  const std::span<const double> x = as_many(vm, args[1], "x", shape.size());
  return map_elements(vm, args[0], [&](int64_t i) { return standard_gamma_derivative(shape[i], x[i]); });
}

Value dirichlet_marginal_derivative(Vm& vm, Args& args) {
  const std::span<const double> x = numbers_of(vm, args[0], "x");
  const std::span<const double> a = as_many(vm, args[1], "a", x.size());
  const std::span<const double> total = as_many(vm, args[2], "total", x.size());
  return map_elements(vm, args[0], [&](int64_t i) { return dirichlet_derivative(x[i], a[i], total[i]); });
}

Local<ModuleObject> make_draws(Vm& vm) {
  ModuleBuilder module(vm, "_draws");
  module.function("standard_gamma", "shape", with_access<standard_gamma>)
      .function("poisson", "rate", with_access<poisson>)
      .function("binomial", "count, probability", with_access<binomial>)
      .function("standard_gamma_derivative", "shape, x", with_access<gamma_derivative>)
      .function("dirichlet_derivative", "x, a, total", with_access<dirichlet_marginal_derivative>);
  return module.finish();
}

}  // namespace

void register_draws(Vm& vm) { register_native_module(vm, "_draws", make_draws); }

}  // namespace tsc::interp
