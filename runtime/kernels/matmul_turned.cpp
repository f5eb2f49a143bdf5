#include "runtime/kernels/matmul_turned.h"

#include <algorithm>
#include <utility>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/scratch.h"
#include "runtime/tensor/small_floats.h"

namespace tsc {
namespace {

constexpr int64_t kTaskWidth = 4;  // wide groups of columns that a task makes
// Columns at such distances share few sets of the nearest cache: it does not hold many of them at a time.
constexpr int64_t kSetBytes = 2048;
constexpr double kElementsPerNanosecond = 4;  // of the matrix, from a near cache

template <class T>
class Turned {
 public:
  // `flipped`: what is made is C', from B' and A'.
  Turned(const MatmulArgs& args, bool flipped, const TurnedKernels<T>& kernels, PackKernel<T> pack, Device& device)
      : args_(args), flipped_(flipped), kernels_(kernels), pack_(pack), device_(device),
        element_size_(dtype_size(args.dtype)), converts_(is_small_float(args.dtype)),
        packs_left_(converts_ || args.a.column_stride != 1),
        wide_(args.m <= kTurnedWideRows && args.b.column_stride * element_size_ % kSetBytes != 0),
        task_columns_(kTaskWidth * kernels.wide_columns) {}

  void run() const {
    const int64_t tasks = (args_.n + task_columns_ - 1) / task_columns_;
    const Scratch<T> left(*device_.allocator, packs_left_ ? args_.batch * args_.m * args_.k : 0);
    if (packs_left_)
      for (int64_t batch = 0; batch < args_.batch; ++batch)
        pack_(left.data() + batch * args_.m * args_.k, args_.k, at(args_.a, batch, 0, 0), args_.a.row_stride,
              args_.a.column_stride, args_.m, args_.k);
    const double cost =
        static_cast<double>(std::min(args_.n, task_columns_)) * static_cast<double>(args_.k) / kElementsPerNanosecond;
    device_.threads.parallel_for(args_.batch * tasks, grain_for(cost), [&](int64_t begin, int64_t end) {
      const Scratch<T> result(*device_.allocator, args_.m * (task_columns_ + kernels_.columns));
      for (int64_t task = begin; task < end; ++task)
        run_task(task / tasks, task % tasks * task_columns_, left.data(), result.data());
    });
  }

 private:
  const std::byte* at(const MatmulOperand& x, int64_t batch, int64_t row, int64_t column) const {
    return static_cast<const std::byte*>(x.data) +
           (batch * x.batch_stride + row * x.row_stride + column * x.column_stride) * element_size_;
  }

  // One block of k of some columns.
  struct Piece {
    const T* left;
    int64_t left_stride;
    T* result;
    int64_t stride, depth;
    bool add;
  };

  // Some columns of C: made beside it, then copied, since the last group may be wider than what is left.
  void run_task(int64_t batch, int64_t column0, const T* packed, T* result) const {
    const int64_t columns = std::min(task_columns_, args_.n - column0), stride = task_columns_ + kernels_.columns;
    const T* left =
        packs_left_ ? packed + batch * args_.m * args_.k : reinterpret_cast<const T*>(at(args_.a, batch, 0, 0));
    const int64_t left_stride = packs_left_ ? args_.k : args_.a.row_stride;
    for (int64_t column = 0, width = 0; column < columns; column += width) {
      device_.stop.poll();
      width = wide_ && columns - column >= kernels_.wide_columns ? kernels_.wide_columns : kernels_.columns;
      int64_t k = 0;
      do {  // once even for an empty k, which gives zeros
        const int64_t depth = std::min(kMatmulBlock, args_.k - k);
        const Piece piece{left + k, left_stride, result + column, stride, depth, k > 0};
        const std::byte* right = at(args_.b, batch, k, column0 + column);
        if (columns - column >= width) run_group(piece, width, right, args_.b.column_stride);
        else run_single(piece, right, columns - column);
        k += kMatmulBlock;
      } while (k < args_.k);
    }
    finish(batch, column0, columns, result, stride);
  }

  void run_group(const Piece& piece, int64_t width, const std::byte* right, int64_t right_stride) const {
    const auto kernel = width == kernels_.columns ? kernels_.narrow[args_.m] : kernels_.wide[args_.m];
    kernel(piece.left, piece.left_stride, right, right_stride, piece.result, piece.stride, piece.depth, piece.add);
  }

  // Fewer columns than a vector holds: a copy of them, filled up.
  void run_single(const Piece& piece, const std::byte* right, int64_t columns) const {
    alignas(32) std::byte copy[8 * kMatmulBlock * sizeof(T)];
    const int64_t bytes = piece.depth * element_size_, from_stride = args_.b.column_stride * element_size_;
    for (int64_t j = 0; j < kernels_.columns; ++j)
      std::copy_n(right + std::min(j, columns - 1) * from_stride, bytes, copy + j * kMatmulBlock * element_size_);
    run_group(piece, kernels_.columns, copy, kMatmulBlock);
  }

  void finish(int64_t batch, int64_t column0, int64_t columns, const T* result, int64_t stride) const {
    const int64_t row_step = flipped_ ? 1 : args_.c_row_stride, column_step = flipped_ ? args_.c_row_stride : 1;
    for (int64_t i = 0; i < args_.m; ++i) {
      const int64_t offset = batch * args_.c_batch_stride + i * row_step + column0 * column_step;
      const T* from = result + i * stride;
      if (converts_) {
        auto* to = static_cast<BFloat16*>(args_.c) + offset;
        for (int64_t j = 0; j < columns; ++j) to[j * column_step] = narrow<BFloat16>(static_cast<float>(from[j]));
      } else {
        T* to = static_cast<T*>(args_.c) + offset;
        for (int64_t j = 0; j < columns; ++j) to[j * column_step] = from[j];
      }
    }
    if (!args_.epilogue.run) return;
    if (flipped_) args_.epilogue.run(args_.epilogue.context, batch, column0, columns, 0, args_.m);
    else args_.epilogue.run(args_.epilogue.context, batch, 0, args_.m, column0, columns);
  }

  const MatmulArgs& args_;
  const bool flipped_;
  const TurnedKernels<T>& kernels_;
  const PackKernel<T> pack_;
  Device& device_;
  const int64_t element_size_;
  const bool converts_, packs_left_, wide_;
  const int64_t task_columns_;
};

template <class T>
bool run(const MatmulArgs& args, bool flipped, const TurnedKernels<T>& kernels, PackKernel<T> pack, Device& device) {
  if (kernels.columns == 0) return false;
  Turned<T>(args, flipped, kernels, pack, device).run();
  return true;
}

bool is_turned(const MatmulArgs& args) {
  return args.m <= kTurnedRows && args.b.row_stride == 1 && args.b.column_stride != 1;
}

// The product that makes C' = B' A': the factors of each step change places.
MatmulArgs flip(const MatmulArgs& args) {
  MatmulArgs out = args;
  std::swap(out.m, out.n);
  out.a = {args.b.data, args.b.column_stride, args.b.row_stride, args.b.batch_stride};
  out.b = {args.a.data, args.a.column_stride, args.a.row_stride, args.a.batch_stride};
  return out;
}

}  // namespace

bool matmul_turned(const MatmulArgs& given, Device& device) {
  const bool flipped = !is_turned(given);
  const MatmulArgs args = flipped ? flip(given) : given;
  // (Only a column is better off: the tiles hold the matrix's few columns at once.)
  if (flipped && (args.m != 1 || !is_turned(args))) return false;
  const MatmulKernels& kernels = matmul_kernels(device.isa);
  switch (args.dtype) {
    case DType::F32: return run(args, flipped, kernels.turned_f32, kernels.pack_f32, device);
    case DType::BF16: return run(args, flipped, kernels.turned_bf16, kernels.pack_bf16, device);
    case DType::F64: return run(args, flipped, kernels.turned_f64, kernels.pack_f64, device);
    default: return false;
  }
}

}  // namespace tsc
