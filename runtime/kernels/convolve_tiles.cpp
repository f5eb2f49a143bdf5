// Convolutions on the tiles of the matrix product. The windows are packed, a block of k at a time, straight from x:
// as panels of columns where places follow each other in memory, as rows where taps do (the gradient of a weight).
#include <algorithm>

#include "runtime/kernels/convolve_schedules.h"
#include "runtime/kernels/matmul.h"

namespace tsc {
namespace {

constexpr int64_t kRowStep = 24;           // a multiple of most tiles' rows
constexpr int64_t kLeftBytes = 256 << 10;  // of the rows that stay in the second-level cache
constexpr int64_t kPadding = 16;           // elements; keeps packed rows off one cache set

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// A part of the product that one thread computes: rows and columns of one group.
struct Part {
  int64_t group, row0, rows, column0, columns;
};

// What both orientations share: how the product of `rows` x `columns` is cut, and the tiles.
template <class T>
class TiledProduct {
 public:
  TiledProduct(const ConvolutionArgs& args, const ConvolutionTools<T>& tools, int64_t rows, int64_t columns,
               int64_t most_rows, int64_t most_panels)
      : args_(args), tools_(tools), device_(current_device()), rows_(rows), columns_(columns), depth_(args.depth()),
        size_(dtype_size(args.dtype)) {
    panel_ = static_cast<int64_t>(tools.tiles.lanes) * tools.tiles.vectors;
    task_rows_ = std::min(round_up(rows, kRowStep), most_rows);
    task_rows_ = round_up(ceil_div(rows, ceil_div(rows, task_rows_)), kRowStep);
    task_columns_ = std::min(round_up(columns, panel_), most_panels * panel_);
    const int threads = device_.threads.count();
    const double work = nanoseconds(static_cast<double>(args.groups * rows), static_cast<double>(columns));
    const auto wanted = static_cast<int64_t>(std::min(4.0 * threads, work / 10000));
    while (threads > 1 && task_count() < wanted) {
      if (task_columns_ > panel_) task_columns_ = round_up(task_columns_ / 2, panel_);
      else if (task_rows_ > kRowStep) task_rows_ = round_up(task_rows_ / 2, kRowStep);
      else break;
    }
  }

 protected:
  double nanoseconds(double rows, double columns) const {
    return rows * columns * static_cast<double>(std::max<int64_t>(depth_, 1)) / (5.0 * tools_.tiles.lanes);
  }
  int64_t task_count() const { return args_.groups * ceil_div(rows_, task_rows_) * ceil_div(columns_, task_columns_); }

  template <class Body>
  void for_each_part(const Body& body) const {
    const int64_t column_tasks = ceil_div(columns_, task_columns_), row_tasks = ceil_div(rows_, task_rows_);
    const double cost = nanoseconds(static_cast<double>(std::min(task_rows_, rows_)),
                                    static_cast<double>(std::min(task_columns_, columns_)));
    parallel_for(task_count(), grain_for(cost), [&](int64_t begin, int64_t end) {
      body([&](const auto& run) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row0 = task % row_tasks * task_rows_;
          const int64_t column0 = task / row_tasks % column_tasks * task_columns_;
          run(Part{task / row_tasks / column_tasks, row0, std::min(task_rows_, rows_ - row0), column0,
                   std::min(task_columns_, columns_ - column0)});
        }
      });
    });
  }

  // Rows [0, rows) x one panel of columns, for one block of k.
  void run_tiles(const T* left, int64_t left_stride, int64_t rows, const T* right, int64_t columns, T* result,
                 int64_t result_stride, int64_t depth, bool adds) const {
    const TileKernels<T>& tiles = tools_.tiles;
    const int64_t vectors = ceil_div(columns, tiles.lanes), step = tiles.rows[vectors];
    const int last_columns = static_cast<int>(columns - (vectors - 1) * tiles.lanes);
    for (int64_t row = 0; row < rows; row += step) {
      const int64_t count = std::min(step, rows - row);
      const T* from = left + row * left_stride;
      tiles.tile[vectors][count](from, left_stride, right, panel_, result + row * result_stride, result_stride, depth,
                                 last_columns, adds ? TileSum::Add : TileSum::Store,
                                 reinterpret_cast<const char*>(from), 0);
    }
  }

  const void* moved(const void* data, int64_t elements) const {
    return static_cast<const std::byte*>(data) + elements * size_;
  }

  const ConvolutionArgs& args_;
  const ConvolutionTools<T>& tools_;
  Device& device_;
  const int64_t rows_, columns_, depth_, size_;
  int64_t panel_, task_rows_, task_columns_;
};

// Rows are outputs, columns the places of all images.
template <class T>
class PlacesAsColumns : TiledProduct<T> {
  using Base = TiledProduct<T>;
  using Base::args_, Base::tools_, Base::device_, Base::depth_, Base::panel_, Base::task_rows_, Base::task_columns_;
  static constexpr int64_t kTaskPanels = 4, kPatternChannels = 3, kPatternTaps = 512;

 public:
  PlacesAsColumns(const ConvolutionArgs& args, const ConvolutionTools<T>& tools)
      : Base(args, tools, args.outputs, args.images * args.places(), args.outputs + kRowStep, kTaskPanels),
        weights_(args, *device_.allocator), places_(WindowAxes::places_of(args)), taps_(WindowAxes::taps_of(args)),
        space_(places_.space(args)) {
    rows_together_ = kLeftBytes / (kMatmulBlock * static_cast<int64_t>(sizeof(T))) / kRowStep * kRowStep;
    const auto& [az, ay, ax] = args.axes;
    in_place_ = (ax.places == 1 || ax.out_stride == 1) && (ay.places == 1 || ay.out_stride == ax.places) &&
                (az.places == 1 || az.out_stride == ax.places * ay.places);
    uses_pattern_ = depth_ > 0 && args.channels >= kPatternChannels && taps_.count() / args.channels <= kPatternTaps;
  }

  void run() {
    this->for_each_part([&](const auto& each) {
      const int64_t block = std::min(depth_, kMatmulBlock);
      Scratch<T> right(*device_.allocator, block * task_columns_ + kPackSlack);
      Scratch<T> result(*device_.allocator, task_rows_ * task_columns_);
      Panel panels[kTaskPanels];
      each([&](const Part& part) {
        for (int64_t p = 0; p * panel_ < part.columns; ++p) prepare(part, p, &panels[p]);
        for (int64_t k = 0; k == 0 || k < depth_; k += kMatmulBlock) {
          device_.stop.poll();
          run_block(part, k, panels, right.data(), result.data());
        }
      });
    });
  }

 private:
  // Columns that are beside each other in the result too, or ax.out_stride apart.
  struct Piece {
    int64_t from, length, out;
  };
  struct Panel {
    std::vector<WindowRun> runs;
    WindowPattern pattern;  // of every tap in space; none where too few channels would use it
    std::vector<Piece> pieces;
  };

  void prepare(const Part& part, int64_t p, Panel* panel) const {
    const int64_t first = part.column0 + p * panel_, columns = std::min(panel_, part.columns - p * panel_);
    places_.runs(first, columns, &panel->runs);
    panel->pieces.clear();
    for (int64_t i = 0; i < columns;) {
      const Piece piece = piece_at(part.group, first + i);
      panel->pieces.push_back({i, std::min(piece.length, columns - i), piece.out});
      i += piece.length;
    }
    if (uses_pattern_) make_pattern(panel);
  }

  // The columns from `index` on that follow it in the result.
  Piece piece_at(int64_t group, int64_t index) const {
    const auto& [az, ay, ax] = args_.axes;
    const int64_t places = args_.places(), place = index % places;
    int64_t out = group * args_.out_group + index / places * args_.out_image;
    if (in_place_) return {0, places - place, out + place};
    const int64_t x = place % ax.places, y = place / ax.places % ay.places;
    out += place / (ax.places * ay.places) * az.out_stride + y * ay.out_stride + x * ax.out_stride;
    return {0, ax.places - x, out};
  }

  void make_pattern(Panel* panel) const {
    const int64_t taps = taps_.count() / args_.channels, most = 4 * tools_.tiles.lanes;
    WindowPattern& pattern = panel->pattern;
    pattern.pieces.clear();
    pattern.first.assign(1, 0);
    for (int64_t t = 0; t < taps; ++t) {
      const WindowPoint tap = taps_.point(t);
      for (const WindowRun& run : panel->runs) {
        const bool meets = meets_axis(tap.z + run.at.z, space_.size_z) && meets_axis(tap.y + run.at.y, space_.size_y);
        const Inside inside = meets ? inside_of(space_, tap.x + run.at.x, run.length) : Inside{};
        for (int64_t i = 0; i < run.length; i += most) {
          const int64_t count = std::min(most, run.length - i);
          pattern.pieces.push_back({tap.offset + run.at.offset + i * space_.memory_step, run.to + i,
                                    ceil_div(count, tools_.tiles.lanes), inside_bits(inside, i, count)});
        }
      }
      pattern.first.push_back(pattern.pieces.size());
    }
  }
  static bool meets_axis(int64_t position, int64_t size) { return position >= 0 && position < size; }

  // Where a panel's elements go: the result itself where its places are beside each other there.
  struct Target {
    T* data;
    int64_t stride;
    bool in_place;
  };
  Target target(const Part& part, int64_t p, const Panel& panel, T* scratch) const {
    if (!in_place_ || is_small_float(args_.dtype) || panel.pieces.size() > 1)
      return {scratch + p * panel_, task_columns_, false};
    return {static_cast<T*>(args_.out) + panel.pieces[0].out + part.row0 * args_.out_output, args_.out_output, true};
  }

  void pack(const Part& part, int64_t k, int64_t depth, const Panel* panels, int64_t count, T* right) const {
    const void* x = this->moved(args_.x, part.group * args_.x_group);
    std::vector<WindowPoint> taps;
    if (!uses_pattern_) taps_.points(k, depth, &taps);
    for (int64_t p = 0; p < count; ++p, right += panel_ * depth) {
      if (uses_pattern_)
        tools_.windows.pack_pattern(right, panel_, x, space_.memory_step, args_.x_channel, panels[p].pattern, k, depth);
      else
        tools_.windows.pack(right, panel_, x, space_, panels[p].runs.data(),
                            static_cast<int64_t>(panels[p].runs.size()), taps.data(), depth);
    }
  }

  void run_block(const Part& part, int64_t k, const Panel* panels, T* right, T* scratch) const {
    const int64_t depth = std::min(depth_ - k, kMatmulBlock), count = ceil_div(part.columns, panel_);
    pack(part, k, depth, panels, count, right);
    for (int64_t row = 0; row < part.rows; row += rows_together_) {
      const int64_t rows = std::min(rows_together_, part.rows - row);
      const T* left = weights_.of(part.group, part.row0 + row) + k;
      for (int64_t p = 0; p < count; ++p) {
        const Target to = target(part, p, panels[p], scratch);
        this->run_tiles(left, weights_.stride(), rows, right + p * panel_ * depth,
                        std::min(panel_, part.columns - p * panel_), to.data + row * to.stride, to.stride, depth,
                        k > 0);
      }
    }
    if (k + kMatmulBlock < depth_) return;
    for (int64_t p = 0; p < count; ++p) {
      const Target from = target(part, p, panels[p], scratch);
      if (!from.in_place) scatter(part, panels[p], from.data);
    }
  }

  void scatter(const Part& part, const Panel& panel, const T* from) const {
    const int64_t step = in_place_ ? 1 : args_.axes[2].out_stride;
    for (int64_t row = 0; row < part.rows; ++row, from += task_columns_)
      for (const Piece& piece : panel.pieces) {
        const int64_t out = piece.out + (part.row0 + row) * args_.out_output;
        if (is_small_float(args_.dtype)) {
          for (int64_t j = 0; j < piece.length; ++j) store_result(args_, out + j * step, from[piece.from + j]);
          continue;
        }
        T* to = static_cast<T*>(args_.out) + out;
        for (int64_t j = 0; j < piece.length; ++j) to[j * step] = from[piece.from + j];
      }
  }

  WeightRows<T> weights_;
  const WindowAxes places_, taps_;
  const WindowSpace space_;
  int64_t rows_together_;
  bool in_place_, uses_pattern_;  // in_place_: the places of an image are beside each other in the result
};

// Rows are places, columns outputs: w, whose taps are long, is packed as panels.
template <class T>
class PlacesAsRows : TiledProduct<T> {
  using Base = TiledProduct<T>;
  using Base::args_, Base::tools_, Base::device_, Base::depth_, Base::panel_, Base::task_rows_, Base::task_columns_;

 public:
  PlacesAsRows(const ConvolutionArgs& args, const ConvolutionTools<T>& tools)
      : Base(args, tools, args.images * args.places(), args.outputs,
             kLeftBytes / (kMatmulBlock * static_cast<int64_t>(sizeof(T))) / kRowStep * kRowStep, 4),
        places_(WindowAxes::places_of(args)), taps_(WindowAxes::taps_of(args)), space_(taps_.space(args)) {
    linear_ = args.axes[2].taps;
    for (int i = 1; i >= 0 && args.axes[i].w_stride == args.axes[2].w_stride * linear_; --i)
      linear_ *= args.axes[i].taps;
  }

  void run() {
    this->for_each_part([&](const auto& each) {
      const int64_t block = std::min(depth_, kMatmulBlock), left_stride = block + kPadding;
      Scratch<T> left(*device_.allocator, task_rows_ * left_stride + kPackSlack);
      Scratch<T> right(*device_.allocator, block * panel_);
      Scratch<T> result(*device_.allocator, task_rows_ * task_columns_);
      std::vector<WindowPoint> rows;
      std::vector<WindowRun> runs;
      each([&](const Part& part) {
        places_.points(part.row0, part.rows, &rows);
        const void* x = this->moved(args_.x, part.group * args_.x_group);
        for (int64_t k = 0; k == 0 || k < depth_; k += kMatmulBlock) {
          device_.stop.poll();
          const int64_t depth = std::min(depth_ - k, kMatmulBlock);
          taps_.runs(k, depth, &runs);
          tools_.windows.pack(left.data(), left_stride, x, space_, runs.data(), static_cast<int64_t>(runs.size()),
                              rows.data(), part.rows);
          for (int64_t column = 0; column < part.columns; column += panel_) {
            const int64_t columns = std::min(panel_, part.columns - column);
            pack_taps(right.data(), part.group, part.column0 + column, columns, k, depth);
            this->run_tiles(left.data(), left_stride, part.rows, right.data(), columns, result.data() + column,
                            task_columns_, depth, k > 0);
          }
        }
        finish(part, result.data());
      });
    });
  }

 private:
  void pack_taps(T* to, int64_t group, int64_t output, int64_t columns, int64_t k, int64_t depth) const {
    const auto& [az, ay, ax] = args_.axes;
    for (const int64_t end = k + depth; k < end;) {
      const int64_t x = k % ax.taps, y = k / ax.taps % ay.taps, z = k / (ax.taps * ay.taps) % az.taps;
      const int64_t channel = k / (ax.taps * ay.taps * az.taps);
      const int64_t length = std::min(linear_ - k % linear_, end - k);
      const int64_t offset = group * args_.w_group + output * args_.w_output + channel * args_.w_channel +
                             z * az.w_stride + y * ay.w_stride + x * ax.w_stride;
      tools_.pack(to, panel_, this->moved(args_.w, offset), ax.w_stride, args_.w_output, length, columns);
      to += length * panel_;
      k += length;
    }
  }

  // Whether the rows, places of one image after the other, are beside each other in the result.
  bool is_linear() const {
    const auto& [az, ay, ax] = args_.axes;
    return ax.out_stride == 1 && (ay.places == 1 || ay.out_stride == ax.places) &&
           (az.places == 1 || az.out_stride == ax.places * ay.places) &&
           (args_.images == 1 || args_.out_image == args_.places());
  }

  void finish(const Part& part, const T* result) const {
    const auto& [az, ay, ax] = args_.axes;
    if (!is_small_float(args_.dtype) && is_linear()) {
      const int64_t out = part.group * args_.out_group + part.column0 * args_.out_output + part.row0;
      tools_.pack(static_cast<T*>(args_.out) + out, args_.out_output, result, 1, task_columns_, part.columns,
                  part.rows);
      return;
    }
    for (int64_t i = 0; i < part.rows;) {
      const int64_t index = part.row0 + i;
      const int64_t x = index % ax.places, y = index / ax.places % ay.places;
      const int64_t z = index / (ax.places * ay.places) % az.places, image = index / args_.places();
      const int64_t length = std::min(ax.places - x, part.rows - i);
      const int64_t out = part.group * args_.out_group + image * args_.out_image + z * az.out_stride +
                          y * ay.out_stride + x * ax.out_stride;
      for (int64_t o = 0; o < part.columns; ++o)
        for (int64_t j = 0; j < length; ++j)
          store_result(args_, out + (part.column0 + o) * args_.out_output + j * ax.out_stride,
                       result[(i + j) * task_columns_ + o]);
      i += length;
    }
  }

  const WindowAxes places_, taps_;
  const WindowSpace space_;
  int64_t linear_;  // neighbours in k that are one stride apart in w
};

}  // namespace

template <class T>
void convolve_tiled(const ConvolutionArgs& args, const ConvolutionTools<T>& tools) {
  if (args.axes[2].taps > args.axes[2].places) PlacesAsRows<T>(args, tools).run();
  else PlacesAsColumns<T>(args, tools).run();
}

template void convolve_tiled(const ConvolutionArgs&, const ConvolutionTools<float>&);
template void convolve_tiled(const ConvolutionArgs&, const ConvolutionTools<double>&);

}  // namespace tsc
