#pragma once
// The inner loops of convolutions, as tables that kernels/vector/convolve_*.cpp fill once per instruction set and the
// schedules choose from. Knows raw memory only.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/kernels/convolve.h"

namespace tsc {

// A position of x: of an element in memory, and along the windowed axes, where it may lie outside.
struct WindowPoint {
  int64_t offset = 0, z = 0, y = 0, x = 0;
};
// Positions beside each other along the last axis, which go to `to` and what follows it.
struct WindowRun {
  WindowPoint at;
  int64_t to = 0, length = 0;
};
// What bounds positions, and how far those of a run are apart.
struct WindowSpace {
  int64_t size_z = 1, size_y = 1, size_x = 1;
  int64_t step = 1, memory_step = 1;
};

// Which columns of a run lie inside: [from, to).
struct Inside {
  int64_t from = 0, to = 0;
};
inline Inside inside_of(const WindowSpace& space, int64_t x, int64_t length) {
  if (space.step == 1) {
    const int64_t to = std::clamp<int64_t>(space.size_x - x, 0, length);
    return {std::min(std::max<int64_t>(-x, 0), to), to};
  }
  const auto reached = [&](int64_t distance) {  // columns in front of that distance
    return distance <= 0 ? 0 : std::min((distance + space.step - 1) / space.step, length);
  };
  const int64_t to = reached(space.size_x - x);
  return {std::min(reached(-x), to), to};
}
// A bit for each of `count` columns, at most 64, from `first` on.
inline uint64_t inside_bits(const Inside& inside, int64_t first, int64_t count) {
  const auto below = [](int64_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
  const int64_t from = std::clamp<int64_t>(inside.from - first, 0, count);
  const int64_t to = std::clamp<int64_t>(inside.to - first, 0, count);
  return below(to) & ~below(from);
}

// dst[i * dst_stride + run.to + t] = x at rows[i] + run.at + t steps, zero outside, converted; for all rows and runs.
// The runs ascend in `to`. Up to kPackSlack elements behind the end of a run are written too.
template <class T>
using PackWindows = void (*)(T* dst, int64_t dst_stride, const void* x, const WindowSpace& space, const WindowRun* runs,
                             int64_t run_count, const WindowPoint* rows, int64_t row_count);
inline constexpr int64_t kPackSlack = 16;

// The runs of one panel as each tap in space meets them, which is the same in every channel: pieces of at most four
// vectors, with a bit for each column that lies inside.
struct PatternPiece {
  int64_t offset = 0, to = 0, vectors = 0;
  uint64_t inside = 0;
};
struct WindowPattern {
  std::vector<PatternPiece> pieces;
  std::vector<size_t> first;  // of each tap, and the end
};
// The same as PackWindows for the rows k, k + 1, ... of (channel, tap).
template <class T>
using PackPattern = void (*)(T* dst, int64_t dst_stride, const void* x, int64_t memory_step, int64_t channel_stride,
                             const WindowPattern& pattern, int64_t k, int64_t depth);

inline constexpr int kMaxDirectOutputs = 4;
inline constexpr int64_t kMaxDirectColumns = 64;
// A tap as the columns of one piece of a row meet it: a bit for each column that lies inside.
struct DirectTap {
  int64_t offset = 0, z = 0, y = 0;
  uint64_t inside = 0;
};
// result[o * result_stride + t] = the whole chain over `depth` taps of w[o * w_stride + k] times x at taps[k] + at + t
// steps, for `outputs` rows of at most kMaxDirectColumns columns.
template <class T>
using DirectKernel = void (*)(T* result, int64_t result_stride, const void* x, const WindowSpace& space,
                              const DirectTap* taps, int64_t depth, const T* w, int64_t w_stride, int outputs,
                              const WindowPoint& at, int64_t columns);

// sums[j][lane] += x[offsets[j] + i * x_step][lane] * g[i][lane], each one chain over i < count; vectors of lanes.
inline constexpr int kMaxLaneTaps = 12;
template <class T>
using LaneKernel = void (*)(T* sums, int taps, const T* x, const int64_t* offsets, int64_t x_step, const T* g,
                            int64_t count);

// One row of places of the result, by the definition: integers, and floats where the instruction set has no tiles.
using PlainRow = void (*)(const ConvolutionArgs& args, int64_t image, int64_t group, int64_t output, int64_t z,
                          int64_t y);

// One axis of pooling windows.
struct PoolAxis {
  int64_t size = 1, places = 1, taps = 1, stride = 1, dilation = 1, low = 0;
  // The taps [first, end) of a place that lie inside.
  int64_t first(int64_t place) const {
    const int64_t at = place * stride - low;
    return at >= 0 ? 0 : (-at + dilation - 1) / dilation;
  }
  int64_t end(int64_t place) const {
    const int64_t left = size - (place * stride - low);
    return left <= 0 ? 0 : std::min(taps, (left + dilation - 1) / dilation);
  }
  int64_t position(int64_t place, int64_t tap) const { return place * stride - low + tap * dilation; }
};
// out[i] = where in x the first maximum of the window at place (z, y, i) stands, for a row of places; the first nan
// wins. False where a window meets nothing. `axes` are kWindowAxes, x is row-major.
using ArgmaxRow = bool (*)(const void* x, const PoolAxis* axes, int64_t z, int64_t y, int64_t* out);

// By the dtype in memory; T is what it computes in.
template <class T>
struct ConvolveKernels {
  int lanes = 0;  // 0: this instruction set has none
  PackWindows<T> pack = nullptr;
  PackPattern<T> pack_pattern = nullptr;
  DirectKernel<T> direct = nullptr;
  LaneKernel<T> lane_taps = nullptr;
};

struct ConvolveTables {
  ConvolveKernels<float> f32, bf16, f16;
  ConvolveKernels<double> f64;
  PlainRow plain[kDTypeCount];  // null for bool and complex numbers
  ArgmaxRow argmax[kDTypeCount];
};

const ConvolveTables& convolve_tables(Isa isa);

}  // namespace tsc
