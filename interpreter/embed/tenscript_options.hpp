// The part of the C++ wrapper that describes: what an engine is made with, and tensors and ops of the
// host. Include tenscript.hpp.
#pragma once
#include <chrono>
#include <complex>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenscript_values.hpp"

namespace tenscript {

// What a loader gives.
struct Source {
  std::string text;
  bool is_package = false;
};

struct Options {
  unsigned threads = 0;
  bool jit = true;
  bool background = true;       // kernels are compiled beside the program; otherwise calls wait for them
  bool check_shapes = false;    // calls are compared with the Tensor[...] annotations of what they call
  unsigned verify_percent = 0;  // so many of the compiled calls are interpreted too, and the bits compared
  bool has_seed = false;
  uint64_t seed = 0;
  unsigned max_depth = 0;
  std::vector<std::string> arguments, search_paths;
  std::string disabled_passes, logs;
  bool stress_break = false, strict_compiler = false, untimed = false, poison_memory = false;
  bool signals = false;  // scripts may handle the signals of the process
  uint32_t grants = 0;   // tsc_grant bits: nothing outside the script unless asked for
  std::vector<std::string> read_roots, write_roots;
  uint64_t memory_limit = 0;                  // bytes of objects and tensors together; 0: none
  std::chrono::nanoseconds time_limit{0};     // of each call from the host; 0: none
  uint64_t step_limit = 0;                    // loop turns and calls of each call from the host; 0: none
  std::function<void(std::string_view)> log;  // a line of the channels in `logs`
  // The source of a module by its dotted name, asked before the search paths.
  std::function<std::optional<Source>(const std::string&)> loader;
  std::string cache_dir;     // where compiled kernels are kept; empty: no file is touched
  std::string cuda;          // what torch.cuda is: empty: not there; "simulated" and settings behind it
  uint64_t cache_bytes = 0;  // at most so many of them; 0: 1 GiB
  std::function<void(tsc_stream, std::string_view)> output;  // empty: the process's own
};

struct Limits {
  uint64_t memory = 0;
  std::chrono::nanoseconds time{0};
  uint64_t steps = 0;
  unsigned depth = 0;  // 0: unchanged
};

template <class T>
struct DtypeOf {
  static_assert(sizeof(T) == 0,
                "tensors hold float, double, int8_t to int64_t, uint8_t, bool and std::complex of float and "
                "double; memory of another type is converted first");
};
template <>
struct DtypeOf<int8_t> {
  static constexpr tsc_dtype value = TSC_INT8;
};
template <>
struct DtypeOf<int16_t> {
  static constexpr tsc_dtype value = TSC_INT16;
};
template <>
struct DtypeOf<std::complex<float>> {
  static constexpr tsc_dtype value = TSC_COMPLEX64;
};
template <>
struct DtypeOf<std::complex<double>> {
  static constexpr tsc_dtype value = TSC_COMPLEX128;
};
template <>
struct DtypeOf<bool> {
  static constexpr tsc_dtype value = TSC_BOOL8;
};
template <>
struct DtypeOf<float> {
  static constexpr tsc_dtype value = TSC_FLOAT32;
};
template <>
struct DtypeOf<double> {
  static constexpr tsc_dtype value = TSC_FLOAT64;
};
template <>
struct DtypeOf<int32_t> {
  static constexpr tsc_dtype value = TSC_INT32;
};
template <>
struct DtypeOf<int64_t> {
  static constexpr tsc_dtype value = TSC_INT64;
};
template <>
struct DtypeOf<uint8_t> {
  static constexpr tsc_dtype value = TSC_UINT8;
};

// A tensor that an op of the host sees, as typed memory.
template <class T>
struct View {
  T* data;
  std::vector<int64_t> sizes;
  size_t count;
  T& operator[](size_t i) const { return data[i]; }
  T* begin() const { return data; }
  T* end() const { return data + count; }
};

// An op of the host for Engine::define_op. `run` and, where given, `shape` and `gradient` get as many
// tensors as `arguments` says.
struct Op {
  std::string module, name, doc;
  unsigned arguments = 1;
  using Infos = std::vector<tsc_tensor_info>;
  struct Shape {
    tsc_dtype dtype;
    std::vector<int64_t> sizes;
  };
  std::function<Shape(const Infos&)> shape;  // empty: as the first argument
  std::function<void(const Infos&, const tsc_tensor_info& result)> run;
  // Gradients of the arguments (an empty Value: none) from that of the result.
  std::function<std::vector<Value>(const Value& gradient, const std::vector<Value>& arguments, const Value& result)>
      gradient;
};

template <class T>
View<T> view(const tsc_tensor_info& info) {
  if (info.dtype != DtypeOf<std::remove_const_t<T>>::value)
    throw std::invalid_argument("the tensor has another dtype than the op reads");
  std::vector<int64_t> sizes(info.sizes, info.sizes + info.rank);
  size_t count = 1;
  for (int64_t size : sizes) count *= static_cast<size_t>(size);
  return {static_cast<T*>(info.data), std::move(sizes), count};
}

}  // namespace tenscript
