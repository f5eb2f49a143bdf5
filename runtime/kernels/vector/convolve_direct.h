#pragma once
// Convolutions whose products are too thin for tiles: the chain of each element walked in registers.
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/vector/convolve_windows.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

// kOutputs rows of w over kVectors vectors of places. A block's sums start from zero; from the second one on they are
// added to what `result` holds.
template <class S, class T, int kOutputs, int kVectors>
void direct(T* result, int64_t result_stride, const S* data, const WindowSpace& space, const DirectTap* taps,
            int64_t depth, const T* w, int64_t w_stride, const WindowPoint& at, int64_t first, int64_t columns) {
  using L = Lanes<T>;
  const auto mask = L::first(static_cast<int>(columns - (kVectors - 1) * L::kCount));
  int64_t block = 0;
  do {  // once even for no taps: zeros are stored
    typename L::V sum[kOutputs][kVectors];
#pragma GCC unroll 4
    for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[o][j] = L::zero();
    const int64_t end = std::min(depth, block + kMatmulBlock);
    for (int64_t k = block; k < end; ++k) {
      const DirectTap& tap = taps[k];
      const uint64_t inside = meets_row(space, tap.z + at.z, tap.y + at.y) ? tap.inside >> first : 0;
      const S* x = data + tap.offset + at.offset;
      typename L::V right[kVectors];
      load_columns<S, T, kVectors>(x, space.memory_step, inside, [&](int j, typename L::V v) { right[j] = v; });
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) {
        const auto left = L::broadcast(w + o * w_stride + k);
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[o][j] = L::fma(left, right[j], sum[o][j]);
      }
    }
#pragma GCC unroll 4
    for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        T* to = result + o * result_stride + j * L::kCount;
        const bool last = j + 1 == kVectors;
        auto total = sum[o][j];
        if (block > 0) total = L::add(last ? L::load(to, mask) : L::load(to), total);
        last ? L::store(to, total, mask) : L::store(to, total);
      }
    block = end;
  } while (block < depth);
}

template <class S, class T>
void direct_columns(T* result, int64_t result_stride, const void* x, const WindowSpace& space, const DirectTap* taps,
                    int64_t depth, const T* w, int64_t w_stride, int outputs, const WindowPoint& at, int64_t columns) {
  using L = Lanes<T>;
  using Function = void (*)(T*, int64_t, const S*, const WindowSpace&, const DirectTap*, int64_t, const T*, int64_t,
                            const WindowPoint&, int64_t, int64_t);
  static constexpr Function kTable[4][4] = {
      {direct<S, T, 1, 1>, direct<S, T, 1, 2>, direct<S, T, 1, 3>, direct<S, T, 1, 4>},
      {direct<S, T, 2, 1>, direct<S, T, 2, 2>, direct<S, T, 2, 3>, direct<S, T, 2, 4>},
      {direct<S, T, 3, 1>, direct<S, T, 3, 2>, direct<S, T, 3, 3>, direct<S, T, 3, 4>},
      {direct<S, T, 4, 1>, direct<S, T, 4, 2>, direct<S, T, 4, 3>, direct<S, T, 4, 4>}};
  constexpr int64_t kMost = L::kCount * 4;
  WindowPoint from = at;
  for (int64_t first = 0; first < columns; first += kMost) {
    const int64_t width = std::min(kMost, columns - first);
    const int64_t vectors = (width + L::kCount - 1) / L::kCount;
    kTable[outputs - 1][vectors - 1](result + first, result_stride, static_cast<const S*>(x), space, taps, depth, w,
                                     w_stride, from, first, width);
    from.offset += kMost * space.memory_step;
  }
}

template <class T, int kTaps>
void lane_taps(T* sums, const T* x, const int64_t* offsets, int64_t x_step, const T* g, int64_t count) {
  using L = Lanes<T>;
  typename L::V sum[kTaps];
#pragma GCC unroll 12
  for (int j = 0; j < kTaps; ++j) sum[j] = L::load(sums + j * L::kCount);
  for (int64_t i = 0; i < count; ++i, x += x_step * L::kCount, g += L::kCount) {
    const auto right = L::load(g);
#pragma GCC unroll 12
    for (int j = 0; j < kTaps; ++j) sum[j] = L::fma(L::load(x + offsets[j] * L::kCount), right, sum[j]);
  }
#pragma GCC unroll 12
  for (int j = 0; j < kTaps; ++j) L::store(sums + j * L::kCount, sum[j]);
}

template <class T>
void lane_tap_groups(T* sums, int taps, const T* x, const int64_t* offsets, int64_t x_step, const T* g, int64_t count) {
  using Function = void (*)(T*, const T*, const int64_t*, int64_t, const T*, int64_t);
  static constexpr Function kTable[kMaxLaneTaps + 1] = {
      nullptr,          lane_taps<T, 1>,  lane_taps<T, 2>, lane_taps<T, 3>, lane_taps<T, 4>,
      lane_taps<T, 5>,  lane_taps<T, 6>,  lane_taps<T, 7>, lane_taps<T, 8>, lane_taps<T, 9>,
      lane_taps<T, 10>, lane_taps<T, 11>, lane_taps<T, 12>};
  kTable[taps](sums, x, offsets, x_step, g, count);
}

template <class S, class T>
ConvolveKernels<T> convolve_kernels() {
  return {Lanes<T>::kCount, pack_windows<S, T>, pack_pattern<S, T>, direct_columns<S, T>, lane_tap_groups<T>};
}

#endif

}  // namespace tsc::TSC_ISA
