// Convolutions whose products are too thin for tiles: few outputs (depthwise ones above all), and the gradient of a
// depthwise weight, which is a few sums in each of many groups.
#include <algorithm>

#include "runtime/kernels/convolve_schedules.h"
#include "runtime/kernels/matmul.h"

namespace tsc {
namespace {

template <class T>
class DirectRows {
 public:
  DirectRows(const ConvolutionArgs& args, const ConvolutionTools<T>& tools)
      : args_(args), tools_(tools), places_(WindowAxes::places_of(args)), device_(current_device()),
        weights_(args, *device_.allocator) {
    space_ = places_.space(args);
    list_taps();
    in_place_ = !is_small_float(args.dtype) && args.axes[2].out_stride == 1;
  }

  void run() {
    const auto& [az, ay, ax] = args_.axes;
    const int64_t rows = args_.images * args_.groups * az.places * ay.places;
    const double cost = 0.05 * static_cast<double>(ax.places * (args_.depth() + 1) * args_.outputs);
    parallel_for(rows, grain_for(cost), [&](int64_t begin, int64_t end) {
      std::vector<T> result(in_place_ ? 0 : kMaxDirectOutputs * kMaxDirectColumns);
      Row row;
      for (int64_t i = begin; i < end; ++i) {
        device_.stop.poll();
        if (i == begin || ++row.y == ay.places) {
          row = row_at(i);
        } else {
          row.out += ay.out_stride;
          row.at.offset += places_.memory[2];
          row.at.y += ay.stride;
        }
        run_row(row, result.data());
      }
    });
  }

 private:
  // For each piece of a row: what its columns meet does not depend on the row.
  void list_taps() {
    const WindowAxes axes = WindowAxes::taps_of(args_);
    const int64_t places = args_.axes[2].places;
    for (int64_t first = 0; first < places; first += kMaxDirectColumns) {
      const int64_t columns = std::min(kMaxDirectColumns, places - first);
      for (int64_t k = 0; k < axes.count(); ++k) {
        const WindowPoint at = axes.point(k);
        const Inside inside = inside_of(space_, at.x + first * space_.step, columns);
        taps_.push_back({at.offset, at.z, at.y, inside_bits(inside, 0, columns)});
      }
    }
  }

  // A row of places: of the result, and as positions of x.
  struct Row {
    int64_t group = 0, y = 0, out = 0;
    WindowPoint at;
  };
  Row row_at(int64_t index) const {
    const auto& [az, ay, ax] = args_.axes;
    Row row;
    row.y = index % ay.places;
    const int64_t z = index / ay.places % az.places, rest = index / (ay.places * az.places);
    row.group = rest % args_.groups;
    const int64_t image = rest / args_.groups;
    row.out = image * args_.out_image + row.group * args_.out_group + z * az.out_stride + row.y * ay.out_stride;
    row.at = places_.point(((image * az.places + z) * ay.places + row.y) * ax.places);
    return row;
  }

  void run_row(const Row& row, T* result) const {
    const ConvolutionAxis& ax = args_.axes[2];
    const void* x = static_cast<const std::byte*>(args_.x) + row.group * args_.x_group * dtype_size(args_.dtype);
    WindowPoint at = row.at;
    const int64_t depth = args_.depth();
    const DirectTap* taps = taps_.data();
    for (int64_t first = 0; first < ax.places; first += kMaxDirectColumns, taps += depth) {
      const int64_t columns = std::min(kMaxDirectColumns, ax.places - first);
      T* to = in_place_ ? static_cast<T*>(args_.out) + row.out + first : result;
      const int64_t stride = in_place_ ? args_.out_output : kMaxDirectColumns;
      tools_.windows.direct(to, stride, x, space_, taps, depth, weights_.of(row.group, 0), weights_.stride(),
                            static_cast<int>(args_.outputs), at, columns);
      at.offset += kMaxDirectColumns * space_.memory_step;
      if (in_place_) continue;
      for (int64_t o = 0; o < args_.outputs; ++o)
        for (int64_t j = 0; j < columns; ++j)
          store_result(args_, row.out + o * args_.out_output + (first + j) * ax.out_stride,
                       result[o * kMaxDirectColumns + j]);
    }
  }

  const ConvolutionArgs& args_;
  const ConvolutionTools<T>& tools_;
  const WindowAxes places_;
  Device& device_;
  WeightRows<T> weights_;
  std::vector<DirectTap> taps_;
  WindowSpace space_;
  bool in_place_;
};

// x of one image, for as many groups as a vector has lanes, with its padding: [z][y][x][lane]. The taps (the gradient
// of a depthwise convolution's result) stand as [k][lane].
template <class T>
class LaneGroups {
 public:
  LaneGroups(const ConvolutionArgs& args, const ConvolutionTools<T>& tools)
      : args_(args), tools_(tools), lanes_(tools.windows.lanes), size_(dtype_size(args.dtype)) {
    for (int i = 0; i < kWindowAxes; ++i) {
      const ConvolutionAxis& axis = args.axes[i];
      extent_[i] = (axis.places - 1) * axis.stride + std::max<int64_t>(axis.taps - 1, 0) * axis.dilation + 1;
      taps_ *= axis.taps;
    }
    for (int64_t z = 0; z < args.axes[0].places; ++z)
      for (int64_t y = 0; y < args.axes[1].places; ++y)
        for (int64_t x = 0; x < args.axes[2].places; ++x)
          offsets_.push_back(position(z * args.axes[0].stride, y * args.axes[1].stride, x * args.axes[2].stride));
  }

  void run() {
    Device& device = current_device();
    const auto sums = static_cast<int64_t>(offsets_.size()) * lanes_;
    const int64_t blocks = (args_.groups + lanes_ - 1) / lanes_;
    const int64_t elements = extent_[0] * extent_[1] * extent_[2] * lanes_;
    const double cost = 0.5 * static_cast<double>(args_.depth() + 1) * static_cast<double>(offsets_.size());
    parallel_for(blocks, grain_for(cost), [&](int64_t begin, int64_t end) {
      Scratch<T> x(*device.allocator, elements), taps(*device.allocator, taps_ * lanes_),
          memory(*device.allocator, 2 * sums);
      for (int64_t block = begin; block < end; ++block) {
        std::fill_n(x.data(), elements, T(0));
        std::fill_n(taps.data(), taps_ * lanes_, T(0));
        std::fill_n(memory.data(), 2 * sums, T(0));
        Sums state{memory.data(), memory.data() + sums, 0};
        const int64_t group = block * lanes_, count = std::min<int64_t>(lanes_, args_.groups - group);
        for (int64_t c = 0; c < args_.channels; ++c) {
          device.stop.poll();
          load_x(x.data(), group, count, c);
          load_taps(taps.data(), group, count, c);
          walk(x.data(), taps.data(), &state);
        }
        finish(state, group, count);
      }
    });
  }

 private:
  struct Sums {
    T *total, *block;
    int64_t k;
  };

  int64_t position(int64_t z, int64_t y, int64_t x) const { return (z * extent_[1] + y) * extent_[2] + x; }

  void load_x(T* to, int64_t group, int64_t count, int64_t channel) const {
    const auto& [az, ay, ax] = args_.axes;
    const auto* from = static_cast<const std::byte*>(args_.x);
    const int64_t start = std::max<int64_t>(ax.low, 0), skipped = std::max<int64_t>(-ax.low, 0);
    const int64_t columns = std::min(ax.size - skipped, extent_[2] - start);
    if (columns <= 0) return;
    for (int64_t z = 0; z < az.size; ++z)
      for (int64_t y = 0; y < ay.size; ++y) {
        const int64_t row_z = z + az.low, row_y = y + ay.low;
        if (row_z < 0 || row_z >= extent_[0] || row_y < 0 || row_y >= extent_[1]) continue;
        const int64_t offset = group * args_.x_group + channel * args_.x_channel + z * az.x_stride + y * ay.x_stride +
                               skipped * ax.x_stride;
        tools_.pack(to + position(row_z, row_y, start) * lanes_, lanes_, from + offset * size_, ax.x_stride,
                    args_.x_group, columns, count);
      }
  }

  void load_taps(T* to, int64_t group, int64_t count, int64_t channel) const {
    const auto& [az, ay, ax] = args_.axes;
    const auto* from = static_cast<const std::byte*>(args_.w);
    for (int64_t z = 0; z < az.taps; ++z)
      for (int64_t y = 0; y < ay.taps; ++y) {
        const int64_t offset = group * args_.w_group + channel * args_.w_channel + z * az.w_stride + y * ay.w_stride;
        tools_.pack(to + (z * ay.taps + y) * ax.taps * lanes_, lanes_, from + offset * size_, ax.w_stride,
                    args_.w_group, ax.taps, count);
      }
  }

  void walk(const T* x, const T* taps, Sums* sums) const {
    const auto& [az, ay, ax] = args_.axes;
    for (int64_t z = 0; z < az.taps; ++z)
      for (int64_t y = 0; y < ay.taps; ++y)
        for (int64_t first = 0; first < ax.taps;) {
          const int64_t count = std::min(ax.taps - first, kMatmulBlock - sums->k % kMatmulBlock);
          const T* row = x + position(z * az.dilation, y * ay.dilation, first * ax.dilation) * lanes_;
          add_run(row, taps + ((z * ay.taps + y) * ax.taps + first) * lanes_, count, sums);
          first += count;
        }
  }

  void add_run(const T* x, const T* taps, int64_t count, Sums* sums) const {
    const auto places = static_cast<int64_t>(offsets_.size());
    const int64_t parts = (places + kMaxLaneTaps - 1) / kMaxLaneTaps;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t from = part * places / parts, to = (part + 1) * places / parts;
      tools_.windows.lane_taps(sums->block + from * lanes_, static_cast<int>(to - from), x, offsets_.data() + from,
                               args_.axes[2].dilation, taps, count);
    }
    sums->k += count;
    if (sums->k % kMatmulBlock == 0) add_block(sums, sums->k == kMatmulBlock);
  }

  void add_block(Sums* sums, bool is_first) const {
    const int64_t count = static_cast<int64_t>(offsets_.size()) * lanes_;
    for (int64_t i = 0; i < count; ++i) {
      sums->total[i] = is_first ? sums->block[i] : sums->total[i] + sums->block[i];
      sums->block[i] = 0;
    }
  }

  void finish(Sums& sums, int64_t group, int64_t count) const {
    if (sums.k % kMatmulBlock != 0) add_block(&sums, sums.k < kMatmulBlock);
    const auto& [az, ay, ax] = args_.axes;
    const T* from = sums.total;
    for (int64_t z = 0; z < az.places; ++z)
      for (int64_t y = 0; y < ay.places; ++y)
        for (int64_t x = 0; x < ax.places; ++x, from += lanes_)
          for (int64_t lane = 0; lane < count; ++lane)
            store_result(args_,
                         (group + lane) * args_.out_group + z * az.out_stride + y * ay.out_stride + x * ax.out_stride,
                         from[lane]);
  }

  const ConvolutionArgs& args_;
  const ConvolutionTools<T>& tools_;
  const int64_t lanes_, size_;
  int64_t extent_[kWindowAxes], taps_ = 1;
  std::vector<int64_t> offsets_;
};

}  // namespace

template <class T>
void convolve_direct(const ConvolutionArgs& args, const ConvolutionTools<T>& tools) {
  DirectRows<T>(args, tools).run();
}

template <class T>
void convolve_lanes(const ConvolutionArgs& args, const ConvolutionTools<T>& tools) {
  LaneGroups<T>(args, tools).run();
}

template void convolve_direct(const ConvolutionArgs&, const ConvolutionTools<float>&);
template void convolve_direct(const ConvolutionArgs&, const ConvolutionTools<double>&);
template void convolve_lanes(const ConvolutionArgs&, const ConvolutionTools<float>&);
template void convolve_lanes(const ConvolutionArgs&, const ConvolutionTools<double>&);

}  // namespace tsc
