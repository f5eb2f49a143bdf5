// sum, prod, amax, amin, any, all in the canonical order. Work is cut into items (a tile of results x a
// chunk of reduced elements) that are independent; each item keeps its lanes in the first-level cache.
#include "runtime/kernels/reduce.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "runtime/kernels/families.h"
#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/strided.h"

namespace tsc {

OpResults run_arg_reduce(const OpCall& call, const Tensor& out);

namespace {

constexpr int64_t kTileBytes = 512;  // accumulators of one lane: 64 lanes are then 32 KiB
constexpr double kReduceNanoseconds = 0.3;

struct Axes {
  Sizes sizes, strides;
};

void split_axes(const Tensor& x, const Sizes& reduced_axes, Axes& kept, Axes& reduced) {
  size_t next = 0;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    bool is_reduced = next < reduced_axes.size() && reduced_axes[next] == axis;
    next += is_reduced;
    Axes& side = is_reduced ? reduced : kept;
    side.sizes.push_back(x.size(axis));
    side.strides.push_back(x.stride(axis));
  }
}

class Reducer {
 public:
  Reducer(const ReduceLoops& loops, const Tensor& x, const Axes& kept, const Axes& reduced, int64_t result_size)
      : loops_(loops), kept_(kept.sizes, kept.strides, dtype_size(x.dtype())),
        reduced_(reduced.sizes, reduced.strides, dtype_size(x.dtype())), data_(x.data()),
        outputs_(numel_of(kept.sizes)), count_(numel_of(reduced.sizes)),
        chunks_((count_ + kReduceChunk - 1) / kReduceChunk), result_size_(result_size) {
    // A tile runs along the innermost kept axis. Many results side by side use the column loop; a
    // result whose own elements lie closest together uses the row loop.
    int64_t width = kept_.sizes().back();
    int64_t kept_stride = std::abs(kept_.strides().back());
    int64_t reduced_stride = std::abs(reduced_.strides().back());
    bool columns = width >= 16 && (kept_stride < reduced_stride || count_ < kReduceLanes / 2);
    tile_ = columns ? std::min(width, kTileBytes / loops.accumulator_size) : 1;
    tiles_per_row_ = (width + tile_ - 1) / tile_;
    items_ = outputs_ / width * tiles_per_row_;
  }

  void run(std::byte* out) {
    int64_t accumulator = loops_.accumulator_size;
    std::vector<std::byte> partial(chunks_ == 1 ? 0 : chunks_ * outputs_ * accumulator);
    double item_cost = kReduceNanoseconds * tile_ * std::min(count_, kReduceChunk) + 20;
    parallel_for(items_ * chunks_, grain_for(item_cost), [&](int64_t begin, int64_t end) {
      alignas(64) std::byte lanes[kReduceLanes * kTileBytes];
      for (int64_t work = begin; work < end; ++work) {
        int64_t chunk = work / items_;
        Tile tile = tile_at(work % items_);
        reduce_tile(lanes, tile, chunk);
        if (chunks_ == 1) loops_.finish(out + tile.output * result_size_, lanes, tile.width);
        else
          std::copy_n(lanes, tile.width * accumulator, partial.data() + (chunk * outputs_ + tile.output) * accumulator);
      }
    });
    if (chunks_ == 1) return;
    for (int64_t chunk = 1; chunk < chunks_; ++chunk)
      loops_.combine(partial.data(), partial.data() + chunk * outputs_ * accumulator, outputs_);
    loops_.finish(out, partial.data(), outputs_);
  }

 private:
  struct Tile {
    int64_t output, width;  // results [output, output + width)
    const std::byte* data;  // element 0 of result `output`
  };

  Tile tile_at(int64_t item) const {
    int64_t width = kept_.sizes().back();
    int64_t first = item % tiles_per_row_ * tile_;
    int64_t output = item / tiles_per_row_ * width + first;
    return {output, std::min(tile_, width - first), data_ + kept_.offset_of(output)};
  }

  // The lanes of one chunk, combined into lane 0.
  void reduce_tile(std::byte* lanes, const Tile& tile, int64_t chunk) const {
    int64_t begin = chunk * kReduceChunk, end = std::min(count_, begin + kReduceChunk);
    int64_t filled = std::min(kReduceLanes, end - begin);
    int64_t used = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(filled)));
    loops_.fill_identity(lanes, used * tile.width);
    if (tile_ == 1) add_row(lanes, tile, begin, end);
    else add_columns(lanes, tile, begin, end);
    for (int64_t half = used / 2; half > 0; half /= 2)
      loops_.combine(lanes, lanes + half * tile.width * loops_.accumulator_size, half * tile.width);
  }

  void add_row(std::byte* lanes, const Tile& tile, int64_t begin, int64_t end) const {
    if (reduced_.contiguous()) {
      loops_.row(lanes, tile.data + begin * reduced_.element_size(), end - begin, 0);
      return;
    }
    alignas(64) std::byte buffer[kBlock * kMaxElementSize];
    for (int64_t first = begin; first < end; first += kBlock) {
      int64_t n = std::min(kBlock, end - first);
      reduced_.pack(buffer, tile.data, first, n);
      loops_.row(lanes, buffer, n, 0);  // kBlock and kReduceChunk are multiples of kReduceLanes
    }
  }

  void add_columns(std::byte* lanes, const Tile& tile, int64_t begin, int64_t end) const {
    int64_t element = kept_.element_size(), stride = kept_.strides().back();
    int64_t row_bytes = tile.width * loops_.accumulator_size;
    StridedMap columns(Sizes{tile.width}, Sizes{stride / element}, element);
    alignas(64) std::byte buffer[kTileBytes * kMaxElementSize];
    StridedWalk walk(reduced_, begin);
    for (int64_t r = begin; r < end; ++r, walk.next()) {
      const std::byte* row = tile.data + walk.offset();
      if (!columns.contiguous()) {
        columns.pack(buffer, row, 0, tile.width);
        row = buffer;
      }
      loops_.column(lanes + (r - begin) % kReduceLanes * row_bytes, row, tile.width);
    }
  }

  const ReduceLoops& loops_;
  StridedMap kept_, reduced_;
  const std::byte* data_;
  int64_t outputs_, count_, chunks_, result_size_;
  int64_t tile_, tiles_per_row_, items_;
};

}  // namespace

OpResults run_reduce(const OpCall& call) {
  Tensor out = empty_result(call);
  if (out.numel() == 0) return {std::move(out), {}};
  if (call.op == Op::argmax || call.op == Op::argmin) return run_arg_reduce(call, out);
  const Tensor& x = call.tensors[0];
  const ReduceLoops& loops =
      current_kernels().reduce[static_cast<int>(call.op) - static_cast<int>(Op::sum)][static_cast<int>(x.dtype())];
  if (x.numel() == 0) {
    std::vector<std::byte> lanes(out.numel() * loops.accumulator_size);
    loops.fill_identity(lanes.data(), out.numel());
    loops.finish(out.data(), lanes.data(), out.numel());
    return {std::move(out), {}};
  }
  Axes kept, reduced;
  split_axes(x, call.attributes.axes, kept, reduced);
  Reducer reducer(loops, x, kept, reduced, dtype_size(out.dtype()));
  reducer.run(out.data());
  return {std::move(out), {}};
}

}  // namespace tsc
