// The definition of convolve.h, one row of places at a time.
#include "runtime/kernels/convolve_kernels.h"
#include "runtime/kernels/vector/loops.h"
#include "runtime/kernels/vector/matmul_rows.h"

namespace tsc::TSC_ISA {
namespace {

bool is_inside(int64_t position, int64_t size) { return position >= 0 && position < size; }

// Taps in the order of k, each given to visit(element of x in the row, or null outside, element of w).
template <class S, class Visit>
void for_each_tap(const ConvolutionArgs& args, const S* x, const S* w, int64_t z, int64_t y, const Visit& visit) {
  const auto& [az, ay, ax] = args.axes;
  for (int64_t c = 0; c < args.channels; ++c)
    for (int64_t tz = 0; tz < az.taps; ++tz)
      for (int64_t ty = 0; ty < ay.taps; ++ty) {
        const int64_t pz = z * az.stride + tz * az.dilation - az.low;
        const int64_t py = y * ay.stride + ty * ay.dilation - ay.low;
        const bool meets = is_inside(pz, az.size) && is_inside(py, ay.size);
        const S* row = x + c * args.x_channel + pz * az.x_stride + py * ay.x_stride;
        const S* weights = w + c * args.w_channel + tz * az.w_stride + ty * ay.w_stride;
        for (int64_t tx = 0; tx < ax.taps; ++tx)
          visit(meets ? row : nullptr, tx * ax.dilation - ax.low, weights[tx * ax.w_stride]);
      }
}

template <class S>
void convolve_row(const ConvolutionArgs& args, int64_t image, int64_t group, int64_t output, int64_t z, int64_t y) {
  using T = decltype(to_compute(S()));
  constexpr int64_t kStrip = 64;
  const auto& [az, ay, ax] = args.axes;
  auto* x = static_cast<const S*>(args.x) + image * args.x_image + group * args.x_group;
  auto* w = static_cast<const S*>(args.w) + group * args.w_group + output * args.w_output;
  auto* out = static_cast<S*>(args.out) + image * args.out_image + group * args.out_group + output * args.out_output +
              z * az.out_stride + y * ay.out_stride;
  for (int64_t first = 0; first < ax.places; first += kStrip) {
    const int64_t width = std::min(kStrip, ax.places - first);
    T total[kStrip] = {}, block[kStrip] = {};
    int64_t k = 0;
    const auto add_block = [&] {
      for (int64_t j = 0; j < width; ++j) total[j] = k <= kMatmulBlock ? block[j] : total[j] + block[j];
      std::fill(block, block + kStrip, T(0));
    };
    for_each_tap(args, x, w, z, y, [&](const S* row, int64_t start, S weight) {
      const T left = to_compute(weight);
      for (int64_t j = 0; j < width; ++j) {
        const int64_t position = (first + j) * ax.stride + start;
        const bool inside = row && is_inside(position, ax.size);
        block[j] = multiply_add(left, inside ? to_compute(row[position * ax.x_stride]) : T(0), block[j]);
      }
      if (++k % kMatmulBlock == 0) add_block();
    });
    if (k % kMatmulBlock != 0) {
      k = (k / kMatmulBlock + 1) * kMatmulBlock;
      add_block();
    }
    for (int64_t j = 0; j < width; ++j) out[(first + j) * ax.out_stride] = narrow<S>(total[j]);
  }
}

}  // namespace

void fill_convolve_rows(ConvolveTables& tables) {
  for_dtypes<DTypeRule::Number>(
      [&]<DType kDType>() { tables.plain[static_cast<int>(kDType)] = convolve_row<StorageOf<kDType>>; });
}

}  // namespace tsc::TSC_ISA
