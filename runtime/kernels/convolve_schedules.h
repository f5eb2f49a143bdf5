#pragma once
// The ways to compute one convolution without gaps (convolve.h). All give the same bits; run_schedule chooses by shape
// and instruction set. Private to the convolve_*.cpp files.
#include <vector>

#include "runtime/kernels/convolve.h"
#include "runtime/kernels/convolve_kernels.h"
#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/scratch.h"
#include "runtime/tensor/small_floats.h"

namespace tsc {

// The places of the result (images first) or the taps (channels first) as positions of x.
struct WindowAxes {
  int64_t sizes[4];
  int64_t memory[4];
  int64_t steps[4];  // steps[0] is none
  WindowPoint origin;

  static WindowAxes places_of(const ConvolutionArgs& args);
  static WindowAxes taps_of(const ConvolutionArgs& args);
  int64_t count() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  WindowPoint point(int64_t index) const;
  // Of the indices [first, first + count): one by one, and as runs along the last axis.
  void points(int64_t first, int64_t count, std::vector<WindowPoint>* out) const;
  void runs(int64_t first, int64_t count, std::vector<WindowRun>* out) const;
  WindowSpace space(const ConvolutionArgs& args) const;
};

// What float schedules work with.
template <class T>
struct ConvolutionTools {
  const ConvolveKernels<T>& windows;
  const TileKernels<T>& tiles;
  PackKernel<T> pack;
};

// The weight of every group as rows of k elements: w itself where its memory is that, else a copy in `copy`.
template <class T>
class WeightRows {
 public:
  WeightRows(const ConvolutionArgs& args, CachingAllocator& allocator);
  const T* of(int64_t group, int64_t output) const { return data_ + group * group_ + output * row_; }
  int64_t stride() const { return row_; }

 private:
  static bool is_plain(const ConvolutionArgs& args);
  Scratch<T> copy_;
  const T* data_;
  int64_t group_, row_;
};

// One element of the result, rounded once.
template <class T>
void store_result(const ConvolutionArgs& args, int64_t offset, T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (args.dtype == DType::BF16) {
      static_cast<BFloat16*>(args.out)[offset] = float_to_bf16(value);
      return;
    }
    if (args.dtype == DType::F16) {
      static_cast<Float16*>(args.out)[offset] = float_to_f16(value);
      return;
    }
  }
  static_cast<T*>(args.out)[offset] = value;
}

template <class T>
void convolve_tiled(const ConvolutionArgs& args, const ConvolutionTools<T>& tools);
// Few outputs: from x straight into registers.
template <class T>
void convolve_direct(const ConvolutionArgs& args, const ConvolutionTools<T>& tools);
// One small result in each of many groups: a group a lane.
template <class T>
void convolve_lanes(const ConvolutionArgs& args, const ConvolutionTools<T>& tools);

void run_schedule(const ConvolutionArgs& args);

}  // namespace tsc
