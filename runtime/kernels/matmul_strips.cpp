#include "runtime/kernels/matmul_strips.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/scratch.h"

namespace tsc {
namespace {

constexpr int64_t kPadding = 16;  // elements; keeps rows off one cache set
// Right operands that stay in the second-level cache are read anew for each group, whose products and weights
// then stay in the first; larger ones serve more rows at a time.
constexpr int64_t kNearBytes = 768 << 10;
constexpr int64_t kMostGroups = 4;
constexpr int64_t kLeastTaskRows = 96;
// The third product loads and stores its sums for each strip, so strips are higher.
constexpr int64_t kAcrossRows = 48;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

template <class T>
const T* element(const MatmulOperand& x, int64_t batch, int64_t row, int64_t column) {
  return static_cast<const T*>(x.data) + batch * x.batch_stride + row * x.row_stride + column * x.column_stride;
}

template <class T>
class Strips {
 public:
  Strips(const StripArgs& args, const TileKernels<T>& tiles, RowKernel row_kernel, PackKernel<T> pack,
         const FloatChecks<T>& checks, Device& device)
      : args_(args), tiles_(tiles), row_kernel_(row_kernel), pack_(pack), checks_(checks), device_(device) {
    panel_ = tiles.lanes ? static_cast<int64_t>(tiles.lanes) * tiles.vectors : 0;
    pack_left_ = args.a.column_stride != 1;
    const int64_t right_bytes = args.columns * (args.depth + args.width) * static_cast<int64_t>(sizeof(T));
    strip_rows_ = kGroupRows * (right_bytes <= kNearBytes ? 1 : kMostGroups);
    if (args.across) strip_rows_ = kAcrossRows;
    // A task packs its batch's B and V anew, so it has many rows unless threads would have nothing to do.
    // The third product's sums go through all rows of a batch.
    const int64_t pieces = args.across ? 1 : ceil_div(4 * device.threads.count(), args.batch);
    task_rows_ = round_up(std::max(ceil_div(args.rows, pieces), kLeastTaskRows), strip_rows_);
  }

  void run() {
    const int64_t row_tasks = ceil_div(args_.rows, task_rows_);
    const double cells = static_cast<double>(std::min(task_rows_, args_.rows)) * static_cast<double>(args_.columns);
    const double nanoseconds = cells * (1 + static_cast<double>(args_.depth + args_.width) / 40);
    device_.threads.parallel_for(args_.batch * row_tasks, grain_for(nanoseconds), [&](int64_t begin, int64_t end) {
      const Buffers buffers(*this, *device_.allocator);
      for (int64_t task = begin; task < end; ++task) run_task(task / row_tasks, task % row_tasks * task_rows_, buffers);
    });
  }

 private:
  struct Buffers {
    Buffers(const Strips& s, CachingAllocator& allocator)
        : b(allocator, s.args_.depth * s.padded(s.args_.columns)),
          v(allocator, s.args_.columns * s.padded(s.args_.width)),
          products(allocator, s.strip_rows_ * s.strip_stride()),
          weights(allocator, s.args_.weights ? 0 : s.strip_rows_ * s.strip_stride()),
          left(allocator, s.pack_left_ ? s.strip_rows_ * (s.args_.depth + kPadding) : 0),
          across_left(allocator, s.args_.across ? s.args_.height * s.across_stride() : 0),
          chains(allocator, s.args_.across && s.args_.rows > kMatmulBlock ? s.args_.height * s.args_.columns : 0),
          scratch(allocator, s.args_.scratch_bytes) {}
    Scratch<T> b, v, products, weights, left, across_left, chains;
    Scratch<std::byte> scratch;
  };
  // Some rows of one batch: the groups' own ends, or all columns.
  struct Strip {
    int64_t batch, row0, rows;
    const int64_t* ends;  // of the first group; null: all columns
  };
  // A right operand: for tiles in panels of columns, else in rows.
  struct Packed {
    T* data;
    int64_t depth, columns;
  };

  int64_t padded(int64_t columns) const { return panel_ ? round_up(columns, panel_) : columns; }
  int64_t across_stride() const { return strip_rows_ + kPadding; }
  int64_t strip_stride() const { return padded(args_.columns) + kPadding; }

  void run_task(int64_t batch, int64_t row0, const Buffers& buffers) const {
    const int64_t row_end = std::min(args_.rows, row0 + task_rows_);
    const Packed b = pack_right(buffers.b.data(), element<T>(args_.b, batch, 0, 0), args_.b.row_stride,
                                args_.b.column_stride, args_.depth, args_.columns);
    const Packed v = pack_right(buffers.v.data(), element<T>(args_.v, batch, 0, 0), args_.v.row_stride,
                                args_.v.column_stride, args_.columns, args_.width);
    const int64_t* ends = args_.ends && values_finite(batch) ? args_.ends : nullptr;
    run_rows(batch, row0, row_end, ends, b, v, buffers);
    const int64_t count = args_.height * args_.columns;
    if (args_.across && ends && checks_.holds_negative_zero(across_result(batch), count))
      run_rows(batch, row0, row_end, nullptr, b, v, buffers);
  }

  void run_rows(int64_t batch, int64_t row0, int64_t row_end, const int64_t* ends, const Packed& b, const Packed& v,
                const Buffers& buffers) const {
    for (int64_t row = row0; row < row_end; row += strip_rows_) {
      device_.stop.poll();
      const int64_t rows = std::min(strip_rows_, row_end - row);
      const Strip strip{batch, row, rows, ends ? ends + row / kGroupRows : nullptr};
      run_strip(strip, b, v, buffers);
      if (skips(strip) && checks_.holds_negative_zero(out_row(batch, row), rows * args_.width))
        run_strip({batch, row, rows, nullptr}, b, v, buffers);
      if (args_.across) add_across(strip, buffers);
    }
  }

  // The column behind the last that group `group` of the strip needs.
  int64_t end_of(const Strip& strip, int64_t group) const { return strip.ends ? strip.ends[group] : args_.columns; }
  // That any of its groups needs.
  int64_t last_end(const Strip& strip) const {
    int64_t last = 0;
    for (int64_t group = 0; group < group_count(strip.rows); ++group) last = std::max(last, end_of(strip, group));
    return last;
  }
  bool skips(const Strip& strip) const {
    for (int64_t group = 0; group < group_count(strip.rows); ++group)
      if (end_of(strip, group) < args_.columns) return true;
    return false;
  }

  bool values_finite(int64_t batch) const {
    for (int64_t row = 0; row < args_.columns; ++row) {
      const T* from = element<T>(args_.v, batch, row, 0);
      if (args_.v.column_stride == 1) {
        if (!checks_.all_finite(from, args_.width)) return false;
        continue;
      }
      for (int64_t i = 0; i < args_.width; ++i)
        if (!std::isfinite(from[i * args_.v.column_stride])) return false;
    }
    return true;
  }

  T* out_row(int64_t batch, int64_t row) const {
    return static_cast<T*>(args_.out) + (batch * args_.rows + row) * args_.width;
  }

  T* across_result(int64_t batch) const { return static_cast<T*>(args_.across) + batch * args_.height * args_.columns; }

  // A strip's weights, and the elements between its rows.
  T* weights_of(const Strip& strip, const Buffers& buffers) const {
    if (!args_.weights) return buffers.weights.data();
    return static_cast<T*>(args_.weights) + (strip.batch * args_.rows + strip.row0) * args_.columns;
  }
  int64_t weights_stride() const { return args_.weights ? args_.columns : strip_stride(); }

  Packed pack_right(T* to, const T* from, int64_t row_stride, int64_t column_stride, int64_t depth,
                    int64_t columns) const {
    if (!panel_) {
      pack_(to, columns, from, row_stride, column_stride, depth, columns);
      return {to, depth, columns};
    }
    for (int64_t column = 0; column < columns; column += panel_)
      pack_(to + depth * column, panel_, from + column * column_stride, row_stride, column_stride, depth,
            std::min(panel_, columns - column));
    return {to, depth, columns};
  }

  void run_strip(const Strip& strip, const Packed& b, const Packed& v, const Buffers& buffers) const {
    const T* left = element<T>(args_.a, strip.batch, strip.row0, 0);
    int64_t left_stride = args_.a.row_stride;
    if (pack_left_) {
      left_stride = args_.depth + kPadding;
      pack_(buffers.left.data(), left_stride, left, args_.a.row_stride, args_.a.column_stride, strip.rows, args_.depth);
      left = buffers.left.data();
    }
    const int64_t stride = strip_stride();
    T *products = buffers.products.data(), *weights = weights_of(strip, buffers);
    const int64_t weights_stride = this->weights_stride();
    for (int64_t column = 0; column < args_.columns; column += step_columns(args_.columns))
      for_each_group(strip, [&](int64_t row, int64_t rows, int64_t end) {
        product(left + row * left_stride, left_stride, rows, b, args_.depth, column,
                std::min(args_.whole_products ? args_.columns : end, column + step_columns(args_.columns)),
                products + row * stride, stride);
      });
    for_each_group(strip, [&](int64_t row, int64_t rows, int64_t end) {
      const int64_t columns = args_.whole_rows || args_.across ? args_.columns : end;
      args_.weigh(args_.context,
                  {products + row * stride, weights + row * weights_stride, stride, weights_stride, strip.batch,
                   strip.row0 + row, rows, columns},
                  buffers.scratch.data());
    });
    T* out = out_row(strip.batch, strip.row0);
    for (int64_t column = 0; column < args_.width; column += step_columns(args_.width))
      for_each_group(strip, [&](int64_t row, int64_t rows, int64_t end) {
        product(weights + row * weights_stride, weights_stride, rows, v, end, column,
                std::min(args_.width, column + step_columns(args_.width)), out + row * args_.width, args_.width);
      });
  }

  // The strip's piece of the third product, cut where a block of rows ends.
  void add_across(const Strip& strip, const Buffers& buffers) const {
    const T* weights = weights_of(strip, buffers);
    for (int64_t row = 0, rows = 0; row < strip.rows; row += rows) {
      rows = std::min(strip.rows - row, kMatmulBlock - (strip.row0 + row) % kMatmulBlock);
      add_piece(strip, strip.row0 + row, rows, weights + row * weights_stride(), buffers);
    }
  }

  // The chains of the rows' block go on; those of the first block are the result, others are added to it when
  // their block ends. Columns that no row needs keep their chains.
  void add_piece(const Strip& strip, int64_t row0, int64_t rows, const T* weights, const Buffers& buffers) const {
    const MatmulOperand& l = args_.l;
    T* left = buffers.across_left.data();
    pack_(left, across_stride(), element<T>(l, strip.batch, 0, row0), l.row_stride, l.column_stride, args_.height,
          rows);
    int64_t end = last_end(strip);
    for (int64_t h = 0; end < args_.columns && h < args_.height; ++h)
      if (!checks_.all_finite(left + h * across_stride(), rows)) end = args_.columns;
    const bool first_block = row0 < kMatmulBlock;
    T* sums = first_block ? across_result(strip.batch) : buffers.chains.data();
    const bool begins = row0 % kMatmulBlock == 0;
    for (int64_t column = 0; column < end; column += panel_)
      tile_columns(left, across_stride(), args_.height, weights + column, weights_stride(), sums + column,
                   args_.columns, rows, std::min(panel_, end - column), begins ? TileSum::Store : TileSum::Continue);
    for (int64_t h = 0; begins && h < args_.height; ++h)
      std::fill(sums + h * args_.columns + end, sums + (h + 1) * args_.columns, T(0));
    const bool finished = (row0 + rows) % kMatmulBlock == 0 || row0 + rows == args_.rows;
    if (first_block || !finished) return;
    T* result = across_result(strip.batch);
    for (int64_t i = 0; i < args_.height * args_.columns; ++i) result[i] = result[i] + sums[i];
  }

  // visit(first row, rows, end) for each group of the strip; rows count from the strip's first.
  template <class Visit>
  void for_each_group(const Strip& strip, Visit visit) const {
    for (int64_t row = 0; row < strip.rows; row += kGroupRows)
      visit(row, std::min(kGroupRows, strip.rows - row), end_of(strip, row / kGroupRows));
  }

  // A product makes so many columns at a time: a panel, or without tiles all.
  int64_t step_columns(int64_t all) const { return panel_ ? panel_ : all; }

  // Columns [column, column_end) of out = left (rows x depth) * the first `depth` rows of `right`, within one
  // panel; none where the end is not behind the first.
  void product(const T* left, int64_t left_stride, int64_t rows, const Packed& right, int64_t depth, int64_t column,
               int64_t column_end, T* out, int64_t out_stride) const {
    const int64_t width = column_end - column;
    if (width <= 0) return;
    if (!panel_) {
      for (int64_t i = 0; i < rows; ++i)
        row_kernel_(out + i * out_stride, left + i * left_stride, 1, right.data, right.columns, 1, depth, width);
      return;
    }
    for (int64_t k = 0; k < depth; k += kMatmulBlock)
      tile_columns(left + k, left_stride, rows, right.data + right.depth * column + k * panel_, panel_, out + column,
                   out_stride, std::min(kMatmulBlock, depth - k), width, k > 0 ? TileSum::Add : TileSum::Store);
  }

  // All rows of at most a panel's columns, for at most a block of k.
  void tile_columns(const T* left, int64_t left_stride, int64_t rows, const T* right, int64_t right_stride, T* out,
                    int64_t out_stride, int64_t k, int64_t width, TileSum mode) const {
    int64_t vectors = tiles_.vectors;
    int last = tiles_.lanes;
    if (width < panel_) {
      vectors = ceil_div(width, tiles_.lanes);
      last = static_cast<int>(width - (vectors - 1) * tiles_.lanes);
    }
    const int64_t step = tiles_.rows[vectors];
    for (int64_t row = 0; row < rows; row += step) {
      const T* from = left + row * left_stride;
      tiles_.tile[vectors][std::min(step, rows - row)](from, left_stride, right, right_stride, out + row * out_stride,
                                                       out_stride, k, last, mode, reinterpret_cast<const char*>(from),
                                                       0);
    }
  }

  const StripArgs& args_;
  const TileKernels<T>& tiles_;
  const RowKernel row_kernel_;
  const PackKernel<T> pack_;
  const FloatChecks<T>& checks_;
  Device& device_;
  int64_t panel_, strip_rows_, task_rows_;
  bool pack_left_;
};

}  // namespace

namespace {

template <class T>
void run_strips(const StripArgs& args, const TileKernels<T>& tiles, PackKernel<T> pack, const FloatChecks<T>& checks,
                Device& device) {
  const RowKernel row_kernel = matmul_kernels(device.isa).row[static_cast<int>(args.dtype)];
  if (!args.across || (tiles.lanes && args.batch >= device.threads.count()))
    return Strips<T>(args, tiles, row_kernel, pack, checks, device).run();
  // Without tiles no sum can go on, and with few batches threads would have nothing to do: the third product
  // follows, on weights that stay until then.
  StripArgs two = args;
  two.across = nullptr;
  const Scratch<T> weights(*device.allocator, args.weights ? 0 : args.batch * args.rows * args.columns);
  if (!two.weights) two.weights = weights.data();
  two.whole_rows = true;
  Strips<T>(two, tiles, row_kernel, pack, checks, device).run();
  MatmulArgs third;
  third.dtype = args.dtype;
  third.batch = args.batch, third.m = args.height, third.n = args.columns, third.k = args.rows;
  third.a = args.l;
  third.b = {two.weights, args.columns, 1, args.rows * args.columns};
  third.c = args.across;
  third.c_row_stride = args.columns, third.c_batch_stride = args.height * args.columns;
  matmul(third);
}

}  // namespace

void matmul_strips(const StripArgs& args) {
  Device& device = current_device();
  const MatmulKernels& kernels = matmul_kernels(device.isa);
  if (args.dtype == DType::F32) run_strips<float>(args, kernels.f32, kernels.pack_f32, kernels.checks_f32, device);
  else run_strips<double>(args, kernels.f64, kernels.pack_f64, kernels.checks_f64, device);
}

}  // namespace tsc
