#include "runtime/kernels/convolve_schedules.h"

#include <algorithm>

#include "runtime/kernels/typed.h"

namespace tsc {

WindowAxes WindowAxes::places_of(const ConvolutionArgs& args) {
  WindowAxes all{{args.images}, {args.x_image}, {0}, {}};
  for (int i = 0; i < kWindowAxes; ++i) {
    const ConvolutionAxis& axis = args.axes[i];
    all.sizes[i + 1] = axis.places;
    all.steps[i + 1] = axis.stride;
    all.memory[i + 1] = axis.stride * axis.x_stride;
  }
  return all;
}

WindowAxes WindowAxes::taps_of(const ConvolutionArgs& args) {
  WindowAxes all{{args.channels}, {args.x_channel}, {0}, {}};
  int64_t* const origin[] = {&all.origin.z, &all.origin.y, &all.origin.x};
  for (int i = 0; i < kWindowAxes; ++i) {
    const ConvolutionAxis& axis = args.axes[i];
    all.sizes[i + 1] = axis.taps;
    all.steps[i + 1] = axis.dilation;
    all.memory[i + 1] = axis.dilation * axis.x_stride;
    *origin[i] = -axis.low;
    all.origin.offset -= axis.low * axis.x_stride;
  }
  return all;
}

WindowPoint WindowAxes::point(int64_t index) const {
  WindowPoint at = origin;
  const int64_t x = index % sizes[3], y = index / sizes[3] % sizes[2];
  const int64_t z = index / (sizes[3] * sizes[2]) % sizes[1];
  const int64_t first = index / (sizes[3] * sizes[2] * sizes[1]);
  at.offset += first * memory[0] + z * memory[1] + y * memory[2] + x * memory[3];
  at.z += z * steps[1], at.y += y * steps[2], at.x += x * steps[3];
  return at;
}

void WindowAxes::points(int64_t first, int64_t count, std::vector<WindowPoint>* out) const {
  out->clear();
  for (int64_t i = first; i < first + count; ++i) out->push_back(point(i));
}

void WindowAxes::runs(int64_t first, int64_t count, std::vector<WindowRun>* out) const {
  out->clear();
  for (int64_t i = first; i < first + count;) {
    const int64_t length = std::min(sizes[3] - i % sizes[3], first + count - i);
    out->push_back({point(i), i - first, length});
    i += length;
  }
}

WindowSpace WindowAxes::space(const ConvolutionArgs& args) const {
  return {args.axes[0].size, args.axes[1].size, args.axes[2].size, steps[3], memory[3]};
}

namespace {

// Rows that are near each other in w are copied together: what one cache line holds belongs to several.
template <class S, class T>
void copy_weight_rows(const ConvolutionArgs& args, T* to, int64_t first, int64_t count, int64_t depth) {
  const auto& [az, ay, ax] = args.axes;
  const int64_t taps = depth / std::max<int64_t>(args.channels, 1), step = ax.w_stride;
  // As one line, forwards or (in the gradient of an input) backwards.
  const bool is_line =
      (ay.taps == 1 || ay.w_stride == step * ax.taps) && (az.taps == 1 || az.w_stride == step * ax.taps * ay.taps);
  for (int64_t c = 0; c < args.channels; ++c)
    for (int64_t row = first; row < first + count; ++row) {
      const S* from = static_cast<const S*>(args.w) + row / args.outputs * args.w_group +
                      row % args.outputs * args.w_output + c * args.w_channel;
      T* at = to + row * depth + c * taps;
      if (is_line) {
        for (int64_t i = 0; i < taps; ++i) at[i] = load_element(from + i * step);
        continue;
      }
      for (int64_t z = 0; z < az.taps; ++z)
        for (int64_t y = 0; y < ay.taps; ++y)
          for (int64_t x = 0; x < ax.taps; ++x)
            *at++ = load_element(from + z * az.w_stride + y * ay.w_stride + x * ax.w_stride);
    }
}

}  // namespace

template <class T>
bool WeightRows<T>::is_plain(const ConvolutionArgs& args) {
  if (is_small_float(args.dtype)) return false;
  int64_t expected = 1;
  for (int i = kWindowAxes; i-- > 0;) {
    if (args.axes[i].taps != 1 && args.axes[i].w_stride != expected) return false;
    expected *= args.axes[i].taps;
  }
  return args.channels == 1 || args.w_channel == expected;
}

template <class T>
WeightRows<T>::WeightRows(const ConvolutionArgs& args, CachingAllocator& allocator)
    : copy_(allocator, is_plain(args) ? 0 : args.groups * args.outputs * args.depth()) {
  data_ = static_cast<const T*>(args.w);
  group_ = args.w_group, row_ = args.w_output;
  if (is_plain(args)) return;
  const int64_t depth = args.depth(), rows = args.groups * args.outputs;
  constexpr int64_t kTogether = 16;
  parallel_for((rows + kTogether - 1) / kTogether, grain_for(kTogether * depth + 1.0), [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kTogether;
    for (int64_t row = first; row < std::min(rows, end * kTogether); row += kTogether) {
      const int64_t count = std::min(kTogether, rows - row);
      if constexpr (std::is_same_v<T, float>) {
        if (args.dtype == DType::BF16) {
          copy_weight_rows<BFloat16>(args, copy_.data(), row, count, depth);
          continue;
        }
        if (args.dtype == DType::F16) {
          copy_weight_rows<Float16>(args, copy_.data(), row, count, depth);
          continue;
        }
      }
      copy_weight_rows<T>(args, copy_.data(), row, count, depth);
    }
  });
  data_ = copy_.data();
  row_ = depth, group_ = args.outputs * depth;
}

template class WeightRows<float>;
template class WeightRows<double>;

namespace {

constexpr int64_t kMaxDirectTaps = 16384;  // whose positions are listed
constexpr int64_t kMaxLanePlaces = 144;

template <class T>
void run_floats(const ConvolutionArgs& args, const ConvolutionTools<T>& tools) {
  const bool one_result = args.images == 1 && args.outputs == 1 && args.places() <= kMaxLanePlaces;
  if (one_result && 2 * args.groups >= tools.windows.lanes && args.axes[2].taps > args.axes[2].places)
    return convolve_lanes(args, tools);
  const int64_t pieces = (args.axes[2].places + kMaxDirectColumns - 1) / kMaxDirectColumns;
  const int64_t direct_taps = pieces * args.depth();
  if (args.outputs <= kMaxDirectOutputs && direct_taps <= kMaxDirectTaps && args.axes[2].taps <= args.axes[2].places)
    return convolve_direct(args, tools);
  convolve_tiled(args, tools);
}

void run_plain(const ConvolutionArgs& args, PlainRow row) {
  const auto& [az, ay, ax] = args.axes;
  const double cost = 1.0 * static_cast<double>(ax.places) * std::max<int64_t>(args.depth(), 1);
  const StopFlag& stop = current_device().stop;
  const int64_t rows = args.images * args.groups * args.outputs * az.places * ay.places;
  parallel_for(rows, grain_for(cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      stop.poll();
      const int64_t y = i % ay.places, z = i / ay.places % az.places;
      const int64_t rest = i / (ay.places * az.places);
      const int64_t output = rest % args.outputs, group = rest / args.outputs % args.groups;
      row(args, rest / args.outputs / args.groups, group, output, z, y);
    }
  });
}

}  // namespace

void run_schedule(const ConvolutionArgs& args) {
  const Isa isa = current_device().isa;
  const ConvolveTables& tables = convolve_tables(isa);
  const MatmulKernels& matmul = matmul_kernels(isa);
  if (args.dtype == DType::F32 && tables.f32.lanes) run_floats<float>(args, {tables.f32, matmul.f32, matmul.pack_f32});
  else if (args.dtype == DType::BF16 && tables.bf16.lanes)
    run_floats<float>(args, {tables.bf16, matmul.f32, matmul.pack_bf16});
  else if (args.dtype == DType::F16 && tables.f16.lanes)
    run_floats<float>(args, {tables.f16, matmul.f32, matmul.pack_f16});
  else if (args.dtype == DType::F64 && tables.f64.lanes)
    run_floats<double>(args, {tables.f64, matmul.f64, matmul.pack_f64});
  else run_plain(args, tables.plain[static_cast<int>(args.dtype)]);
}

}  // namespace tsc
