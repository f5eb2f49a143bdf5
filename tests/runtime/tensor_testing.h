#pragma once
// Helpers of the runtime's tests: tensors of edge values in every layout, and comparison by bits (every
// nan equal to every other).
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/kernels/run_op.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::testing {

inline Tensor run(Op op, const std::vector<Tensor>& tensors, const std::vector<Scalar>& scalars = {},
                  const OpAttributes& attributes = {}) {
  return run_op(op, tensors, scalars, attributes).first;
}

inline OpAttributes with_axes(const Sizes& axes) {
  OpAttributes attributes;
  attributes.axes = axes;
  return attributes;
}
inline OpAttributes with_dtype(DType dtype) {
  OpAttributes attributes;
  attributes.dtype = dtype;
  return attributes;
}
inline std::vector<Scalar> ints(const std::vector<int64_t>& values) {
  std::vector<Scalar> scalars;
  for (int64_t value : values) scalars.push_back(Scalar::of_int(value));
  return scalars;
}

inline Tensor cast(const Tensor& x, DType dtype) { return run(Op::cast, {x}, {}, with_dtype(dtype)); }

inline Tensor f64_tensor(const Sizes& sizes, const std::vector<double>& values) {
  Tensor x = Tensor::empty(DType::F64, sizes);
  std::copy(values.begin(), values.end(), x.data_as<double>());
  return x;
}
inline Tensor i64_tensor(const Sizes& sizes, const std::vector<int64_t>& values) {
  Tensor x = Tensor::empty(DType::I64, sizes);
  std::copy(values.begin(), values.end(), x.data_as<int64_t>());
  return x;
}
inline Tensor tensor(DType dtype, const Sizes& sizes, const std::vector<double>& values) {
  return cast(f64_tensor(sizes, values), dtype);
}

// All elements as doubles (exact for every dtype but large i64).
inline std::vector<double> values(const Tensor& x) {
  Tensor flat = cast(x, DType::F64);
  return {flat.data_as<double>(), flat.data_as<double>() + flat.numel()};
}
inline std::vector<int64_t> int_values(const Tensor& x) {
  Tensor flat = cast(x, DType::I64);
  return {flat.data_as<int64_t>(), flat.data_as<int64_t>() + flat.numel()};
}

inline bool is_nan_at(const Tensor& x, int64_t i) {
  switch (x.dtype()) {
    case DType::F16: return std::isnan(f16_to_float(x.data_as<Float16>()[i]));
    case DType::BF16: return std::isnan(bf16_to_float(x.data_as<BFloat16>()[i]));
    case DType::F32: return std::isnan(x.data_as<float>()[i]);
    case DType::F64: return std::isnan(x.data_as<double>()[i]);
    default: return false;
  }
}

// The index of the first element whose bits differ; -1 when all agree.
inline int64_t first_difference(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return 0;
  if (is_complex(a.dtype())) return first_difference(view_as_real(a), view_as_real(b));
  Tensor x = run(Op::copy, {a}), y = run(Op::copy, {b});
  int64_t size = dtype_size(a.dtype());
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (is_nan_at(x, i) && is_nan_at(y, i)) continue;
    if (std::memcmp(x.data() + i * size, y.data() + i * size, size) != 0) return i;
  }
  return -1;
}
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && first_difference(a, b) == -1;
}

inline std::vector<double> edge_values(DType dtype) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  switch (dtype) {
    case DType::Bool: return {0, 1};
    case DType::U8: return {0, 1, 2, 3, 7, 8, 9, 100, 127, 128, 254, 255};
    case DType::I32: return {0, 1, -1, 2, -2, 3, -7, 31, 32, 33, 1000003, -2147483648.0, 2147483647.0};
    case DType::I64: return {0, 1, -1, 2, -2, 3, -7, 63, 64, 65, 1000003, -0x1p63, 0x1.fffffffffffffp62};
    case DType::I8: return {0, 1, -1, 2, -2, 3, 7, 8, 9, 100, 127, -128};
    case DType::I16: return {0, 1, -1, 2, -2, 3, -7, 15, 16, 17, 10003, -32768, 32767};
    case DType::F16:
    case DType::BF16:
    case DType::F32:
      return {0.0, -0.0, 1,    -1,   2.5,   -2.5,     0.5,      -0.5,      1.5,    3,         -7,   0.1,   1e-3,
              100, 88.5, -103, 3e38, -3e38, 0x1p-126, 0x1p-140, -0x1p-149, 0x1p23, 8388609.0, kInf, -kInf, kNan};
    default:
      return {0.0, -0.0,  1,    -1,    2.5,    -2.5,      0.5,       -0.5,       1.5,    3,      -7,   0.1,   1e-3,
              100, 709.5, -745, 1e308, -1e308, 0x1p-1022, 0x1p-1060, -0x1p-1074, 0x1p52, 0x1p53, kInf, -kInf, kNan};
  }
}

// The edge values in order, repeated to fill the shape, starting at `first`.
inline Tensor edges(DType dtype, const Sizes& sizes, size_t first = 0, size_t step = 1) {
  std::vector<double> base = edge_values(dtype), all;
  for (int64_t i = 0; i < numel_of(sizes); ++i) all.push_back(base[(first + i * step) % base.size()]);
  return tensor(dtype, sizes, all);
}

// Every pair of edge values: element i * count + j of the two results is (value i, value j).
inline std::pair<Tensor, Tensor> edge_pairs(DType dtype) {
  std::vector<double> base = edge_values(dtype), left, right;
  for (double a : base)
    for (double b : base) {
      left.push_back(a);
      right.push_back(b);
    }
  Sizes sizes{static_cast<int64_t>(left.size())};
  return {tensor(dtype, sizes, left), tensor(dtype, sizes, right)};
}

// Numbers between -1 and 1 whose products are not exact; of a floating or complex dtype.
inline Tensor fractions(DType dtype, const Sizes& sizes, uint32_t seed) {
  Tensor x = Tensor::empty(dtype, sizes);
  const auto fill = [&](auto* numbers, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      numbers[i] = static_cast<std::remove_reference_t<decltype(*numbers)>>(static_cast<int32_t>(seed) * 0x1p-31);
    }
  };
  if (dtype == DType::C64) {
    fill(reinterpret_cast<float*>(x.data()), 2 * x.numel());
  } else if (dtype == DType::C128) {
    fill(reinterpret_cast<double*>(x.data()), 2 * x.numel());
  } else {
    Tensor wide = Tensor::empty(DType::F64, sizes);
    fill(wide.data_as<double>(), wide.numel());
    x = cast(wide, dtype);
  }
  return x;
}

inline DType dtype_at(int i) { return static_cast<DType>(i); }

// Does the dtype rule of an elementwise op admit operands of this dtype?
inline bool admitted(Op op, DType dtype) {
  std::vector<DType> operands(op_row(op).tensors, dtype);
  if (op == Op::select) operands[0] = DType::Bool;
  try {
    infer_dtype(op, operands, with_dtype(dtype));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Operands of an elementwise op, with divisors and exponents that integers accept.
inline std::vector<Tensor> elementwise_operands(Op op, DType dtype, const Sizes& sizes) {
  std::vector<Tensor> operands;
  for (int i = 0; i < op_row(op).tensors; ++i) operands.push_back(edges(dtype, sizes, i * 5, i + 1));
  if (op == Op::select) operands[0] = edges(DType::Bool, sizes, 1);
  if ((op_row(op).flags & kMayRaise) && !is_floating(dtype)) {
    Tensor ones = tensor(dtype, sizes, std::vector<double>(numel_of(sizes), 3));
    operands[1] = ones;
  }
  return operands;
}

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error_kind_name(error.kind())) + ": " + error.message();
  }
  return "no error";
}

}  // namespace tsc::testing
