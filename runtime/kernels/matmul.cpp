// The driver of the tiled product: which operands are packed, how C is cut into tasks, and the loop
// over blocks of k. None of these choices can change a bit of the result: each element's chains are
// fixed.
#include "runtime/kernels/matmul.h"

#include <algorithm>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/matmul_turned.h"
#include "runtime/kernels/scratch.h"
#include "runtime/tensor/small_floats.h"

namespace tsc {
namespace {

constexpr int64_t kRowStep = 24;                   // a multiple of most tiles' rows
constexpr int64_t kLeftBytes = 256 << 10;          // of A that a task keeps in the second-level cache
constexpr int64_t kUnpackedRightBytes = 24 << 10;  // B this small stays in the first-level cache as it is
constexpr int64_t kPackedRightBytes = 32 << 20;    // most memory spent on a packed B at once
constexpr int64_t kPagePadding = 16;               // elements; keeps packed rows of A off one cache set
constexpr double kTaskNanoseconds = 10000;         // work below this is not worth cutting

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

enum class RightMode {
  Direct,  // tiles read B in place
  Local,   // each task packs the panel it is about to use
  Shared   // all of B is packed first, because several tasks use each panel
};

template <class T>
class TiledMatmul {
 public:
  TiledMatmul(const MatmulArgs& args, const TileKernels<T>& kernels, PackKernel<T> pack, Device& device)
      : args_(args), kernels_(kernels), pack_(pack), allocator_(*device.allocator), stop_(device.stop) {
    panel_ = static_cast<int64_t>(kernels.lanes) * kernels.vectors;
    element_size_ = dtype_size(args.dtype);
    converts_ = is_small_float(args.dtype);
    pack_left_ = converts_ || args.a.column_stride != 1;
    choose_task_size(device.threads.count());
    choose_right_mode();
  }

  void run() {
    // A very wide B is packed a range of columns at a time.
    int64_t range = args_.n;
    if (mode_ == RightMode::Shared) {
      int64_t bytes = args_.batch * std::max<int64_t>(args_.k, 1) * static_cast<int64_t>(sizeof(T));
      range = std::max(task_columns_, kPackedRightBytes / bytes / task_columns_ * task_columns_);
    }
    for (int64_t first = 0; first < args_.n; first += range) run_columns(first, std::min(args_.n, first + range));
  }

 private:
  struct Tile {
    int64_t batch, row0, rows, column0, columns;
  };
  struct Buffers {
    T* left;
    T* right;
    T* result;
  };

  double nanoseconds(double m, double n) const {
    return m * n * static_cast<double>(std::max<int64_t>(args_.k, 1)) * (1.0 / (32.0 * kernels_.lanes / 16.0) / 2.5);
  }

  void choose_task_size(int threads) {
    const int64_t block = std::min(std::max<int64_t>(args_.k, 1), kMatmulBlock);
    int64_t limit = kLeftBytes / (block * static_cast<int64_t>(sizeof(T)));
    limit = std::max(kRowStep, limit / kRowStep * kRowStep);
    task_rows_ = round_up(ceil_div(args_.m, ceil_div(args_.m, limit)), kRowStep);
    // Packing a piece of A is repeated for each task beside it, so such tasks are wide.
    task_columns_ = std::min(round_up(args_.n, panel_), panel_ * (pack_left_ ? 16 : 4));
    if (threads == 1) return;
    const double work = nanoseconds(args_.batch * args_.m, args_.n);
    const int64_t wanted = std::min<int64_t>(4 * threads, work / kTaskNanoseconds);
    while (task_count() < wanted) {
      if (task_columns_ > panel_) task_columns_ = round_up(task_columns_ / 2, panel_);
      else if (task_rows_ > kRowStep) task_rows_ = round_up(task_rows_ / 2, kRowStep);
      else break;
    }
  }

  int64_t task_count() const { return args_.batch * ceil_div(args_.m, task_rows_) * ceil_div(args_.n, task_columns_); }

  void choose_right_mode() {
    const bool readable = !converts_ && args_.b.column_stride == 1;
    const bool is_small = args_.k * args_.n * static_cast<int64_t>(sizeof(T)) <= kUnpackedRightBytes;
    const bool few_uses = args_.m <= 2 * kernels_.rows[kernels_.vectors];
    if (readable && (is_small || few_uses)) mode_ = RightMode::Direct;
    else mode_ = args_.m <= task_rows_ ? RightMode::Local : RightMode::Shared;
  }

  void run_columns(int64_t first, int64_t last) {
    const int64_t width = round_up(last - first, panel_);
    Scratch<T> shared(allocator_, mode_ == RightMode::Shared ? args_.batch * args_.k * width : 0);
    shared_ = shared.data();
    first_column_ = first;
    last_column_ = last;
    if (mode_ == RightMode::Shared) pack_shared();
    const int64_t row_tasks = ceil_div(args_.m, task_rows_);
    const int64_t column_tasks = ceil_div(last - first, task_columns_);
    const double cost = nanoseconds(std::min(task_rows_, args_.m), std::min(task_columns_, args_.n));
    parallel_for(args_.batch * row_tasks * column_tasks, grain_for(cost), [&](int64_t begin, int64_t end) {
      const int64_t block = std::min(args_.k, kMatmulBlock);
      Scratch<T> left(allocator_, pack_left_ ? task_rows_ * (block + kPagePadding) : 0);
      Scratch<T> right(allocator_, mode_ == RightMode::Local ? block * panel_ : 0);
      Scratch<T> result(allocator_, converts_ ? task_rows_ * task_columns_ : 0);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t rest = task / column_tasks;
        run_task(rest / row_tasks, rest % row_tasks * task_rows_, first + task % column_tasks * task_columns_,
                 {left.data(), right.data(), result.data()});
      }
    });
  }

  const std::byte* right_at(int64_t batch, int64_t k, int64_t column) const {
    const int64_t offset = batch * args_.b.batch_stride + k * args_.b.row_stride + column * args_.b.column_stride;
    return static_cast<const std::byte*>(args_.b.data) + offset * element_size_;
  }
  const std::byte* left_at(int64_t batch, int64_t row, int64_t k) const {
    const int64_t offset = batch * args_.a.batch_stride + row * args_.a.row_stride + k * args_.a.column_stride;
    return static_cast<const std::byte*>(args_.a.data) + offset * element_size_;
  }

  // The packed panel that starts at `column`: k rows of panel_ elements.
  T* shared_panel(int64_t batch, int64_t column) const {
    const int64_t width = round_up(last_column_ - first_column_, panel_);
    return shared_ + args_.k * (batch * width + (column - first_column_));
  }

  void pack_right(T* to, int64_t batch, int64_t k, int64_t depth, int64_t column, int64_t columns) const {
    pack_(to, panel_, right_at(batch, k, column), args_.b.row_stride, args_.b.column_stride, depth, columns);
  }

  void pack_shared() {
    const int64_t panels = ceil_div(last_column_ - first_column_, panel_);
    const int64_t blocks = ceil_div(args_.k, kMatmulBlock);
    const double cost = 0.3 * panel_ * std::min(args_.k, kMatmulBlock);
    parallel_for(args_.batch * panels * blocks, grain_for(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t k = i % blocks * kMatmulBlock, rest = i / blocks;
        const int64_t batch = rest / panels, column = first_column_ + rest % panels * panel_;
        pack_right(shared_panel(batch, column) + k * panel_, batch, k, std::min(kMatmulBlock, args_.k - k), column,
                   std::min(panel_, last_column_ - column));
      }
    });
  }

  void run_task(int64_t batch, int64_t row0, int64_t column0, const Buffers& buffers) const {
    const int64_t rows = std::min(task_rows_, args_.m - row0);
    const int64_t column_end = std::min(column0 + task_columns_, last_column_);
    int64_t k = 0;
    do {  // once even for an empty k: the tiles then store zeros
      stop_.poll();
      const int64_t depth = std::min(kMatmulBlock, args_.k - k);
      const T* left = reinterpret_cast<const T*>(left_at(batch, row0, k));
      int64_t left_stride = args_.a.row_stride;
      if (pack_left_) {
        left_stride = depth + kPagePadding;
        pack_(buffers.left, left_stride, left, args_.a.row_stride, args_.a.column_stride, rows, depth);
        left = buffers.left;
      }
      for (int64_t column = column0; column < column_end; column += panel_) {
        const int64_t columns = std::min(panel_, column_end - column);
        const Tile tile{batch, row0, rows, column, columns};
        T* result = converts_ ? buffers.result + (column - column0)
                              : static_cast<T*>(args_.c) + result_offset(batch, row0, column);
        const int64_t result_stride = converts_ ? task_columns_ : args_.c_row_stride;
        run_panel(tile, k, depth, left, left_stride, buffers.right, result, result_stride);
        if (k + kMatmulBlock >= args_.k) finish(tile, result, result_stride);
      }
      k += kMatmulBlock;
    } while (k < args_.k);
  }

  int64_t result_offset(int64_t batch, int64_t row, int64_t column) const {
    return batch * args_.c_batch_stride + row * args_.c_row_stride + column;
  }

  void run_panel(const Tile& tile, int64_t k, int64_t depth, const T* left, int64_t left_stride, T* local, T* result,
                 int64_t result_stride) const {
    const T* right = local;
    int64_t right_stride = panel_;
    if (mode_ == RightMode::Direct) {
      right = reinterpret_cast<const T*>(right_at(tile.batch, k, tile.column0));
      right_stride = args_.b.row_stride;
    } else if (mode_ == RightMode::Local) {
      pack_right(local, tile.batch, k, depth, tile.column0, tile.columns);
    } else {
      right = shared_panel(tile.batch, tile.column0) + k * panel_;
    }
    const int64_t vectors = ceil_div(tile.columns, kernels_.lanes);
    const int last_columns = static_cast<int>(tile.columns - (vectors - 1) * kernels_.lanes);
    const int64_t step = kernels_.rows[vectors];
    // While this panel is used, the next one moves up into the second-level cache.
    const char* next = reinterpret_cast<const char*>(left);
    int64_t next_step = 0;
    if (mode_ == RightMode::Shared) {
      const int64_t after = tile.column0 + panel_;
      next = reinterpret_cast<const char*>(shared_panel(tile.batch, after < last_column_ ? after : first_column_) +
                                           k * panel_);
      next_step = panel_ * static_cast<int64_t>(sizeof(T)) / ceil_div(tile.rows, step);
    }
    for (int64_t row = 0; row < tile.rows; row += step) {
      const int64_t count = std::min(step, tile.rows - row);
      kernels_.tile[vectors][count](left + row * left_stride, left_stride, right, right_stride,
                                    result + row * result_stride, result_stride, depth, last_columns,
                                    k > 0 ? TileSum::Add : TileSum::Store, next, next_step);
      next += next_step * depth;
    }
  }

  template <class S>
  void store_rounded(const Tile& tile, const float* result, int64_t result_stride) const {
    for (int64_t i = 0; i < tile.rows; ++i) {
      S* out = static_cast<S*>(args_.c) + result_offset(tile.batch, tile.row0 + i, tile.column0);
      for (int64_t j = 0; j < tile.columns; ++j) out[j] = narrow<S>(result[i * result_stride + j]);
    }
  }

  void finish(const Tile& tile, const T* result, int64_t result_stride) const {
    if constexpr (std::is_same_v<T, float>) {
      if (args_.dtype == DType::BF16) store_rounded<BFloat16>(tile, result, result_stride);
      if (args_.dtype == DType::F16) store_rounded<Float16>(tile, result, result_stride);
    }
    if (args_.epilogue.run)
      args_.epilogue.run(args_.epilogue.context, tile.batch, tile.row0, tile.rows, tile.column0, tile.columns);
  }

  const MatmulArgs& args_;
  const TileKernels<T>& kernels_;
  PackKernel<T> pack_;
  CachingAllocator& allocator_;
  const StopFlag& stop_;
  int64_t panel_, element_size_;
  bool converts_,  // A, B and C are of a small float, tiles of floats
      pack_left_;
  RightMode mode_;
  int64_t task_rows_, task_columns_;
  T* shared_ = nullptr;
  int64_t first_column_ = 0, last_column_ = 0;
};

// Rows one by one: integers, and floats where the instruction set has no tiles.
void run_rows(const MatmulArgs& args, RowKernel row_kernel) {
  const int64_t size = dtype_size(args.dtype);
  const double cost = 1.0 * static_cast<double>(args.n) * std::max<int64_t>(args.k, 1);
  // A row in pieces of a few milliseconds, so that a stop is heard between them.
  const int64_t columns = std::max<int64_t>(64, (int64_t{1} << 22) / std::max<int64_t>(args.k, 1));
  const StopFlag& stop = current_device().stop;
  parallel_for(args.batch * args.m, grain_for(cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / args.m, row = i % args.m;
      auto at = [&](const void* data, int64_t offset) { return static_cast<const std::byte*>(data) + offset * size; };
      const int64_t c_offset = batch * args.c_batch_stride + row * args.c_row_stride;
      for (int64_t column = 0; column < args.n; column += columns) {
        stop.poll();
        row_kernel(static_cast<std::byte*>(args.c) + (c_offset + column) * size,
                   at(args.a.data, batch * args.a.batch_stride + row * args.a.row_stride), args.a.column_stride,
                   at(args.b.data, batch * args.b.batch_stride + column * args.b.column_stride), args.b.row_stride,
                   args.b.column_stride, args.k, std::min(columns, args.n - column));
      }
      if (args.epilogue.run) args.epilogue.run(args.epilogue.context, batch, row, 1, 0, args.n);
    }
  });
}

// Complex numbers: a strip of B's columns becomes planes, which a task's rows share.
void run_complex(const MatmulArgs& args, const ComplexKernels& kernels, Device& device) {
  constexpr int64_t kLeastRows = 16;
  const int64_t size = dtype_size(args.dtype), strips = ceil_div(args.n, kPlaneColumns);
  const int64_t wanted = ceil_div(4 * device.threads.count(), args.batch * strips);
  const int64_t rows = std::max(kLeastRows, ceil_div(args.m, wanted)), pieces = ceil_div(args.m, rows);
  const double cost = 0.5 * static_cast<double>(std::min(rows, args.m) * kPlaneColumns) *
                      static_cast<double>(std::max<int64_t>(args.k, 1));
  parallel_for(args.batch * strips * pieces, grain_for(cost), [&](int64_t begin, int64_t end) {
    const Scratch<std::byte> planes(*device.allocator, args.k * kPlaneColumns * size);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t batch = task / (strips * pieces), column = task / pieces % strips * kPlaneColumns;
      const int64_t width = std::min(kPlaneColumns, args.n - column), first = task % pieces * rows;
      const auto at = [&](const MatmulOperand& x, int64_t row, int64_t along) {
        return static_cast<const std::byte*>(x.data) +
               (batch * x.batch_stride + row * x.row_stride + along * x.column_stride) * size;
      };
      kernels.split(planes.data(), at(args.b, 0, column), args.b.row_stride, args.b.column_stride, args.k, width);
      for (int64_t row = first; row < std::min(args.m, first + rows); ++row) {
        device.stop.poll();
        auto* c =
            static_cast<std::byte*>(args.c) + (batch * args.c_batch_stride + row * args.c_row_stride + column) * size;
        kernels.row(c, at(args.a, row, 0), args.a.column_stride, planes.data(), args.k, width);
        if (args.epilogue.run) args.epilogue.run(args.epilogue.context, batch, row, 1, column, width);
      }
    }
  });
}

}  // namespace

void matmul(const MatmulArgs& args) {
  if (args.batch == 0 || args.m == 0 || args.n == 0) return;
  Device& device = current_device();
  if (matmul_turned(args, device)) return;
  const MatmulKernels& kernels = matmul_kernels(device.isa);
  if (args.dtype == DType::F32 && kernels.f32.lanes)
    TiledMatmul<float>(args, kernels.f32, kernels.pack_f32, device).run();
  else if (args.dtype == DType::BF16 && kernels.f32.lanes)
    TiledMatmul<float>(args, kernels.f32, kernels.pack_bf16, device).run();
  else if (args.dtype == DType::F16 && kernels.f32.lanes)
    TiledMatmul<float>(args, kernels.f32, kernels.pack_f16, device).run();
  else if (args.dtype == DType::F64 && kernels.f64.lanes)
    TiledMatmul<double>(args, kernels.f64, kernels.pack_f64, device).run();
  else if (is_complex(args.dtype) && args.m >= 4)
    run_complex(args, args.dtype == DType::C64 ? kernels.c64 : kernels.c128, device);
  else run_rows(args, kernels.row[static_cast<int>(args.dtype)]);
}

}  // namespace tsc
