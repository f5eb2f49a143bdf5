#include "runtime/kernels/matmul_strips.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/scratch.h"

namespace tsc {
namespace {

constexpr int64_t kPadding = 16;  // elements; keeps rows off one cache set

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

template <class T>
const T* element(const MatmulOperand& x, int64_t batch, int64_t row, int64_t column) {
  return static_cast<const T*>(x.data) + batch * x.batch_stride + row * x.row_stride +
         column * x.column_stride;
}

// The bits of floats, eight bytes at a time.
template <class T>
struct Bits;
template <>
struct Bits<float> {
  static constexpr uint64_t kExponent = 0x7F8000007F800000, kExponentUnit = 0x0080000000800000;
  static constexpr uint64_t kSign = 0x8000000080000000, kOne = 0x0000000100000001;
};
template <>
struct Bits<double> {
  static constexpr uint64_t kExponent = 0x7FF0000000000000, kExponentUnit = 0x0010000000000000;
  static constexpr uint64_t kSign = 0x8000000000000000, kOne = 1;
};

// Whether visit(word) leaves a sign bit for any word; a last single float stands twice in its word.
template <class T, class Visit>
bool any_sign(const T* x, int64_t n, Visit visit) {
  constexpr int64_t kStep = sizeof(uint64_t) / sizeof(T);
  uint64_t found = 0, word;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    std::memcpy(&word, x + i, sizeof word);
    found |= visit(word);
  }
  if (i < n) {
    T twice[kStep];
    std::fill(twice, twice + kStep, x[i]);
    std::memcpy(&word, twice, sizeof word);
    found |= visit(word);
  }
  return (found & Bits<T>::kSign) != 0;
}

// A full exponent, and nothing less, runs over into the sign.
template <class T>
bool all_finite(const T* x, int64_t n) {
  return !any_sign(x, n, [](uint64_t word) {
    return (word & Bits<T>::kExponent) + Bits<T>::kExponentUnit;
  });
}

// True when some element is -0, and seldom when none is (a borrow from a -0 below).
template <class T>
bool holds_negative_zero(const T* x, int64_t n) {
  return any_sign(x, n, [](uint64_t word) {
    const uint64_t flipped = word ^ Bits<T>::kSign;
    return (flipped - Bits<T>::kOne) & ~flipped;
  });
}

template <class T>
class Strips {
 public:
  Strips(const StripArgs& args, const TileKernels<T>& tiles, RowKernel row_kernel,
         PackKernel<T> pack, Device& device)
      : args_(args), tiles_(tiles), row_kernel_(row_kernel), pack_(pack), device_(device) {
    panel_ = tiles.lanes ? static_cast<int64_t>(tiles.lanes) * tiles.vectors : 0;
    pack_left_ = args.a.column_stride != 1;
    // A task packs its batch's B and V anew, so it has many rows unless threads would have nothing to do.
    const int64_t pieces = ceil_div(4 * device.threads.count(), args.batch);
    task_rows_ = round_up(std::max(ceil_div(args.rows, pieces), 4 * kStripRows), kStripRows);
  }

  void run() {
    const int64_t row_tasks = ceil_div(args_.rows, task_rows_);
    const double cells =
        static_cast<double>(std::min(task_rows_, args_.rows)) * static_cast<double>(args_.columns);
    const double nanoseconds = cells * (1 + static_cast<double>(args_.depth + args_.width) / 40);
    device_.threads.parallel_for(
        args_.batch * row_tasks, grain_for(nanoseconds), [&](int64_t begin, int64_t end) {
          const Buffers buffers(*this, *device_.allocator);
          for (int64_t task = begin; task < end; ++task)
            run_task(task / row_tasks, task % row_tasks * task_rows_, buffers);
        });
  }

 private:
  struct Buffers {
    Buffers(const Strips& s, CachingAllocator& allocator)
        : b(allocator, s.args_.depth * s.padded(s.args_.columns)),
          v(allocator, s.args_.columns * s.padded(s.args_.width)),
          products(allocator, kStripRows * s.strip_stride()),
          weights(allocator, kStripRows * s.strip_stride()),
          left(allocator, s.pack_left_ ? kStripRows * (s.args_.depth + kPadding) : 0) {}
    Scratch<T> b, v, products, weights, left;
  };
  // A right operand: for tiles in panels of columns, else in rows.
  struct Packed {
    T* data;
    int64_t depth, columns;
  };

  int64_t padded(int64_t columns) const { return panel_ ? round_up(columns, panel_) : columns; }
  int64_t strip_stride() const { return padded(args_.columns) + kPadding; }

  void run_task(int64_t batch, int64_t row0, const Buffers& buffers) const {
    const int64_t row_end = std::min(args_.rows, row0 + task_rows_);
    const Packed b = pack_right(buffers.b.data(), element<T>(args_.b, batch, 0, 0),
                                args_.b.row_stride, args_.b.column_stride, args_.depth, args_.columns);
    const Packed v = pack_right(buffers.v.data(), element<T>(args_.v, batch, 0, 0),
                                args_.v.row_stride, args_.v.column_stride, args_.columns, args_.width);
    const bool may_skip = args_.ends && values_finite(batch);
    for (int64_t row = row0; row < row_end; row += kStripRows) {
      device_.stop.poll();
      const int64_t count = std::min(kStripRows, row_end - row);
      const int64_t end = may_skip ? args_.ends[row / kStripRows] : args_.columns;
      run_strip(batch, row, count, end, b, v, buffers);
      if (end < args_.columns && holds_negative_zero(out_row(batch, row), count * args_.width))
        run_strip(batch, row, count, args_.columns, b, v, buffers);
    }
  }

  bool values_finite(int64_t batch) const {
    for (int64_t row = 0; row < args_.columns; ++row) {
      const T* from = element<T>(args_.v, batch, row, 0);
      if (args_.v.column_stride == 1) {
        if (!all_finite(from, args_.width)) return false;
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

  Packed pack_right(T* to, const T* from, int64_t row_stride, int64_t column_stride, int64_t depth,
                    int64_t columns) const {
    if (!panel_) {
      pack_(to, columns, from, row_stride, column_stride, depth, columns);
      return {to, depth, columns};
    }
    for (int64_t column = 0; column < columns; column += panel_)
      pack_(to + depth * column, panel_, from + column * column_stride, row_stride, column_stride,
            depth, std::min(panel_, columns - column));
    return {to, depth, columns};
  }

  void run_strip(int64_t batch, int64_t row0, int64_t count, int64_t end, const Packed& b,
                 const Packed& v, const Buffers& buffers) const {
    const T* left = element<T>(args_.a, batch, row0, 0);
    int64_t left_stride = args_.a.row_stride;
    if (pack_left_) {
      left_stride = args_.depth + kPadding;
      pack_(buffers.left.data(), left_stride, left, args_.a.row_stride, args_.a.column_stride, count,
            args_.depth);
      left = buffers.left.data();
    }
    product(left, left_stride, count, b, args_.depth, end, buffers.products.data(), strip_stride());
    args_.weigh(args_.context, buffers.products.data(), buffers.weights.data(), strip_stride(), batch,
                row0, count, end);
    product(buffers.weights.data(), strip_stride(), count, v, end, args_.width,
            out_row(batch, row0), args_.width);
  }

  // out = left (rows x depth) * the first `columns` columns of the first `depth` rows of `right`.
  void product(const T* left, int64_t left_stride, int64_t rows, const Packed& right, int64_t depth,
               int64_t columns, T* out, int64_t out_stride) const {
    if (!panel_) {
      for (int64_t i = 0; i < rows; ++i)
        row_kernel_(out + i * out_stride, left + i * left_stride, 1, right.data, right.columns, 1,
                    depth, columns);
      return;
    }
    for (int64_t column = 0; column < columns; column += panel_) {
      const int64_t width = std::min(panel_, columns - column);
      const int64_t vectors = ceil_div(width, tiles_.lanes);
      const int last = static_cast<int>(width - (vectors - 1) * tiles_.lanes);
      const int64_t step = tiles_.rows[vectors];
      for (int64_t k = 0; k < depth; k += kMatmulBlock) {
        const T* panel = right.data + right.depth * column + k * panel_;
        const int64_t block = std::min(kMatmulBlock, depth - k);
        for (int64_t row = 0; row < rows; row += step) {
          const T* from = left + row * left_stride + k;
          tiles_.tile[vectors][std::min(step, rows - row)](
              from, left_stride, panel, panel_, out + row * out_stride + column, out_stride, block,
              last, k > 0, reinterpret_cast<const char*>(from), 0);
        }
      }
    }
  }

  const StripArgs& args_;
  const TileKernels<T>& tiles_;
  const RowKernel row_kernel_;
  const PackKernel<T> pack_;
  Device& device_;
  int64_t panel_, task_rows_;
  bool pack_left_;
};

}  // namespace

void matmul_strips(const StripArgs& args) {
  Device& device = current_device();
  const MatmulKernels& kernels = matmul_kernels(device.isa);
  const RowKernel row_kernel = kernels.row[static_cast<int>(args.dtype)];
  if (args.dtype == DType::F32)
    Strips<float>(args, kernels.f32, row_kernel, kernels.pack_f32, device).run();
  else
    Strips<double>(args, kernels.f64, row_kernel, kernels.pack_f64, device).run();
}

}  // namespace tsc
