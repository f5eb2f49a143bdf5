#pragma once
// Shared by the tests of jit: tensors from lists, random tensors, bitwise comparison, running a region.
#include <cstring>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "jit/autodiff/tape.h"
#include "jit/compile.h"
#include "jit/region/builder.h"
#include "jit/region/executor.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit::test {

// Takes whatever sizes are demanded to be equal, as capture does when it records a guard.
class TrustingBuilder final : public RegionBuilder {
 public:
  using RegionBuilder::RegionBuilder;
  bool require_equal(ValueId, ValueId) override { return true; }
};

inline OpAttributes axes(Sizes list) {
  OpAttributes attributes;
  attributes.axes = std::move(list);
  return attributes;
}
inline OpAttributes to_dtype(DType dtype, Sizes list = {}) {
  OpAttributes attributes = axes(std::move(list));
  attributes.dtype = dtype;
  return attributes;
}
inline std::vector<Scalar> ints(std::initializer_list<int64_t> values) {
  std::vector<Scalar> scalars;
  for (int64_t value : values) scalars.push_back(Scalar::of_int(value));
  return scalars;
}

template <class T>
Tensor tensor_of(DType dtype, const Sizes& sizes, const std::vector<T>& values) {
  Tensor tensor = Tensor::empty(dtype, sizes);
  if (!values.empty()) std::memcpy(tensor.data(), values.data(), values.size() * sizeof(T));
  return tensor;
}
inline Tensor doubles(const Sizes& sizes, const std::vector<double>& values) {
  return tensor_of(DType::F64, sizes, values);
}
inline Tensor floats(const Sizes& sizes, const std::vector<float>& values) {
  return tensor_of(DType::F32, sizes, values);
}
inline Tensor longs(const Sizes& sizes, const std::vector<int64_t>& values) {
  return tensor_of(DType::I64, sizes, values);
}

inline Tensor fresh(const Tensor& x) { return run_op(Op::copy, {&x, 1}, {}, {}).first; }

template <class T>
std::vector<T> list_of(const Tensor& x) {
  const Tensor flat = fresh(x);
  const T* data = flat.data_as<T>();
  return std::vector<T>(data, data + flat.numel());
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return false;
  const Tensor x = fresh(a), y = fresh(b);
  const size_t bytes = static_cast<size_t>(x.numel() * dtype_size(x.dtype()));
  return bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0;
}

inline Tensor random_doubles(const Sizes& sizes, double low, double high, std::mt19937_64& rng) {
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(static_cast<size_t>(numel_of(sizes)));
  for (double& value : values) value = uniform(rng);
  return doubles(sizes, values);
}

inline RunExit run_with(Executable& executable, const std::vector<Tensor>& tensors, Host* host = nullptr,
                        RngState* rng = nullptr) {
  std::vector<RunInput> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back({&tensor, {}, nullptr});
  RunContext context{host, rng};
  return executable.run(inputs, context);
}

inline RunExit run_region(const Region& region, const std::vector<Tensor>& tensors, Host* host = nullptr,
                          RngState* rng = nullptr) {
  return run_with(*make_region_executor(region.clone()), tensors, host, rng);
}

inline CompileOptions options_of(std::shared_ptr<KernelCache> cache) {
  CompileOptions options;
  options.cache = std::move(cache);
  return options;
}

inline void same_exits(const RunExit& a, const RunExit& b) {
  CHECK(a.id == b.id);
  REQUIRE(a.live.size() == b.live.size());
  for (size_t i = 0; i < a.live.size(); ++i) {
    if (a.live[i].kind == ValueKind::Tensor) CHECK(same_bits(a.live[i].tensor, b.live[i].tensor));
    else CHECK(a.live[i].scalar.i == b.live[i].scalar.i);
  }
}

}  // namespace tsc::jit::test
