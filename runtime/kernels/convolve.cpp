// A convolution as convolutions without gaps: where the elements of x lie `gap` apart, places that differ by a period
// meet the same taps, and each such phase is a convolution of its own over parts of w and of the result.
#include "runtime/kernels/convolve.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/kernels/convolve_schedules.h"

namespace tsc {
namespace {

// Along one axis: places first_place + i * place_period meet taps first_tap + j * tap_period.
struct Phase {
  ConvolutionAxis axis;  // without a gap; taps 0: these places meet nothing
  int64_t first_place = 0, first_tap = 0;
};

int64_t count_from(int64_t first, int64_t end, int64_t step) { return first < end ? (end - first - 1) / step + 1 : 0; }

std::vector<Phase> phases_of(const ConvolutionAxis& axis) {
  if (axis.gap == 1) return {{axis, 0, 0}};
  const int64_t place_period = axis.gap / std::gcd(axis.stride, axis.gap);
  const int64_t tap_period = axis.gap / std::gcd(axis.dilation, axis.gap);
  std::vector<Phase> phases;
  for (int64_t place = 0; place < std::min(place_period, axis.places); ++place) {
    Phase phase{axis, place, 0};
    ConvolutionAxis& part = phase.axis;
    part.gap = 1;
    part.places = count_from(place, axis.places, place_period);
    part.stride = axis.stride * place_period / axis.gap;
    part.dilation = axis.dilation * tap_period / axis.gap;
    part.out_stride *= place_period;
    part.w_stride *= tap_period;
    part.taps = 0;
    for (int64_t tap = 0; tap < std::min(tap_period, axis.taps); ++tap) {
      const int64_t position = place * axis.stride + tap * axis.dilation - axis.low;
      if (position % axis.gap != 0) continue;
      phase.first_tap = tap;
      part.taps = count_from(tap, axis.taps, tap_period);
      part.low = -(position / axis.gap);
      break;
    }
    phases.push_back(phase);
  }
  return phases;
}

const void* moved(const void* data, int64_t elements, int64_t size) {
  return static_cast<const std::byte*>(data) + elements * size;
}

// Two neighbouring axes are one where each place, or each tap, of them is an element of x in order.
void join_axes(ConvolutionArgs& args, int outer, int inner) {
  ConvolutionAxis &a = args.axes[outer], &b = args.axes[inner];
  const bool over_places =
      a.taps == 1 && b.taps == 1 && a.stride == 1 && b.stride == 1 && a.places == a.size && b.places == b.size;
  const bool over_taps =
      a.places == 1 && b.places == 1 && a.dilation == 1 && b.dilation == 1 && a.taps == a.size && b.taps == b.size;
  const auto follows = [&](int64_t outer_stride, int64_t inner_stride, int64_t inner_size) {
    return outer_stride == inner_stride * inner_size;
  };
  if (a.low != 0 || b.low != 0 || !follows(a.x_stride, b.x_stride, b.size)) return;
  if (over_places && follows(a.out_stride, b.out_stride, b.places)) {
    b.size = b.places = a.size * b.size;
  } else if (over_taps && follows(a.w_stride, b.w_stride, b.taps)) {
    b.size = b.taps = a.size * b.size;
  } else {
    return;
  }
  a = ConvolutionAxis{};
}

void convolve_phase(ConvolutionArgs args) {
  if (args.places() == 0) return;
  join_axes(args, 1, 2);
  if (args.axes[1].size == 1 && args.axes[1].taps == 1 && args.axes[1].places == 1 && args.axes[1].low == 0)
    std::swap(args.axes[0], args.axes[1]), join_axes(args, 1, 2);
  run_schedule(args);
}

}  // namespace

void convolve(const ConvolutionArgs& args) {
  if (args.images == 0 || args.groups == 0 || args.outputs == 0 || args.places() == 0) return;
  std::vector<Phase> phases[kWindowAxes];
  for (int i = 0; i < kWindowAxes; ++i) phases[i] = phases_of(args.axes[i]);
  const int64_t size = dtype_size(args.dtype);
  for (const Phase& z : phases[0])
    for (const Phase& y : phases[1])
      for (const Phase& x : phases[2]) {
        ConvolutionArgs part = args;
        int i = 0;
        for (const Phase* phase : {&z, &y, &x}) {
          const ConvolutionAxis& whole = args.axes[i];
          part.axes[i++] = phase->axis;
          part.w = moved(part.w, phase->first_tap * whole.w_stride, size);
          part.out = const_cast<void*>(moved(part.out, phase->first_place * whole.out_stride, size));
        }
        convolve_phase(part);
      }
}

}  // namespace tsc
