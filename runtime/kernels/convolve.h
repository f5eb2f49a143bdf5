#pragma once
// The convolution of every tier: out = windows of x times w, any strides of the operands, any number of threads,
// any instruction set, always the same bits. The windows are read through an affine view and never stand in
// memory. Element (image n, group g, channel o, place i) is by definition the chain of matmul.h (fused
// multiply-adds from zero, in blocks of 512, blocks added in order) over k = (channel c, tap j), row-major, of
//   w[g][o][c][j] * x[n][g][c][(i * stride + j * dilation - low) / gap]     for each windowed axis.
// A position outside of x reads zero, which is multiplied; where the division leaves a rest there is no term, and k
// does not count it. Knows raw memory only; shapes, dtypes and checks are the callers' work.
#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace tsc {

inline constexpr int kWindowAxes = 3;  // fewer are led by axes of one place and one tap

struct ConvolutionAxis {
  int64_t size = 1, taps = 1, places = 1;  // of x, of w, of the result
  int64_t stride = 1, dilation = 1, gap = 1, low = 0;
  int64_t x_stride = 0, w_stride = 0, out_stride = 0;  // elements
};

// Strides in memory are in elements and may be zero or negative (those of `out` are those of a fresh tensor).
struct ConvolutionArgs {
  DType dtype = DType::F32;  // any but bool
  int64_t images = 1, groups = 1, outputs = 1, channels = 1;
  ConvolutionAxis axes[kWindowAxes];
  const void* x = nullptr;
  int64_t x_image = 0, x_group = 0, x_channel = 0;
  const void* w = nullptr;
  int64_t w_group = 0, w_output = 0, w_channel = 0;
  void* out = nullptr;
  int64_t out_image = 0, out_group = 0, out_output = 0;

  int64_t places() const { return axes[0].places * axes[1].places * axes[2].places; }
  int64_t depth() const { return channels * axes[0].taps * axes[1].taps * axes[2].taps; }
};

// Uses the current device's threads, allocator and instruction set.
void convolve(const ConvolutionArgs& args);

}  // namespace tsc
