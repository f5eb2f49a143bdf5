// The first maximum of each window, for a strip of places at a time: one tap after the other in row-major order.
#include <algorithm>

#include "runtime/kernels/convolve_kernels.h"
#include "runtime/kernels/vector/matmul_rows.h"

namespace tsc::TSC_ISA {
namespace {

constexpr int64_t kStrip = 64;

template <class S>
auto to_compared(S x) {
  if constexpr (std::is_same_v<S, BFloat16> || std::is_same_v<S, Float16>) return widen(x);
  else if constexpr (std::is_same_v<S, bool>) return static_cast<uint8_t>(x);
  else return x;
}

// Columns [from, to) of a strip, `step` elements apart. nan wins, and what was found first stays.
template <class S, class T, class I>
void take_larger(const S* x, int64_t step, int64_t from, int64_t to, I at, T* best, I* places) {
  T row[kStrip];
  if (step == 1) {
    for (int64_t j = from; j < to; ++j) row[j] = to_compared(x[j]);
  } else if (step == 2) {
    for (int64_t j = from; j < to; ++j) row[j] = to_compared(x[2 * j]);
  } else {
    for (int64_t j = from; j < to; ++j) row[j] = to_compared(x[j * step]);
  }
  const I by = static_cast<I>(step);
  for (int64_t j = from; j < to; ++j) {
    const T element = row[j], largest = best[j];
    const bool takes = (places[j] < 0) | (element > largest) | ((element != element) & (largest == largest));
    best[j] = takes ? element : largest;
    places[j] = takes ? static_cast<I>(at + static_cast<I>(j) * by) : places[j];
  }
}

template <class S, class I>
bool argmax_strip(const S* x, const PoolAxis* axes, int64_t z, int64_t y, int64_t first, int64_t count, int64_t* out) {
  using T = decltype(to_compared(S()));
  const PoolAxis &az = axes[0], &ay = axes[1], &ax = axes[2];
  T best[kStrip] = {};
  I places[kStrip];
  std::fill(places, places + kStrip, I(-1));
  const WindowSpace space{1, 1, ax.size, ax.stride, 1};
  for (int64_t tz = az.first(z); tz < az.end(z); ++tz)
    for (int64_t ty = ay.first(y); ty < ay.end(y); ++ty) {
      const int64_t row = (az.position(z, tz) * ay.size + ay.position(y, ty)) * ax.size;
      for (int64_t tx = 0; tx < ax.taps; ++tx) {
        const int64_t position = ax.position(first, tx);
        const Inside inside = inside_of(space, position, count);
        take_larger<S, T, I>(x + row + position, ax.stride, inside.from, inside.to, static_cast<I>(row + position),
                             best, places);
      }
    }
  bool found = true;
  for (int64_t j = 0; j < count; ++j) {
    out[j] = places[j];
    found = found && places[j] >= 0;
  }
  return found;
}

template <class S>
bool argmax_row(const void* data, const PoolAxis* axes, int64_t z, int64_t y, int64_t* out) {
  const S* x = static_cast<const S*>(data);
  const int64_t space = axes[0].size * axes[1].size * axes[2].size, places = axes[2].places;
  const bool is_small = space + kStrip * axes[2].stride < INT32_MAX;
  bool found = true;
  for (int64_t first = 0; first < places; first += kStrip) {
    const int64_t count = std::min(kStrip, places - first);
    found &= is_small ? argmax_strip<S, int32_t>(x, axes, z, y, first, count, out + first)
                      : argmax_strip<S, int64_t>(x, axes, z, y, first, count, out + first);
  }
  return found;
}

}  // namespace

void fill_window_argmax(ConvolveTables& tables) {
  auto set = [&](DType dtype, ArgmaxRow row) { tables.argmax[static_cast<int>(dtype)] = row; };
  set(DType::Bool, argmax_row<bool>);
  set(DType::U8, argmax_row<uint8_t>);
  set(DType::I8, argmax_row<int8_t>);
  set(DType::I16, argmax_row<int16_t>);
  set(DType::I32, argmax_row<int32_t>);
  set(DType::I64, argmax_row<int64_t>);
  set(DType::F16, argmax_row<Float16>);
  set(DType::BF16, argmax_row<BFloat16>);
  set(DType::F32, argmax_row<float>);
  set(DType::F64, argmax_row<double>);
}

}  // namespace tsc::TSC_ISA
