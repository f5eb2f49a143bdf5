// Row kernels that reduce over their rows too: the rows come by lanes of the canonical order. An item of work is
// a few lanes of one chunk, whose accumulators stay in the first-level cache while their rows pass; the lanes are
// combined afterwards, by the loops of the reference kernels. Any grouping of lanes gives the same bits.
#include <algorithm>
#include <bit>

#include "jit/runner/launch.h"
#include "runtime/device/device.h"
#include "runtime/kernels/kernel_table.h"

namespace tsc::jit {
namespace {

constexpr int64_t kLaneBytes = 8192;  // accumulators of one item, unless one lane has more
constexpr int64_t kMostLanes = 8;     // of one item: enough items for all threads
constexpr int64_t kCombineColumns = 512;

class LaneRun {
 public:
  LaneRun(const LoweredKernel& lowered, const CompiledKernels::Launch& launch)
      : lowered_(lowered), launch_(launch), rows_(launch.outer_count * launch.rows),
        chunks_((rows_ + kReductionChunk - 1) / kReductionChunk) {
    int64_t lane_bytes = 0;
    for (const RowReduction& reduction : lowered.row_reductions) {
      const int op = static_cast<int>(reduction.op) - static_cast<int>(Op::sum);
      loops_.push_back(&current_kernels().reduce[op][static_cast<int>(reduction.dtype)]);
      const int64_t bytes = checked_mul(launch.cols, loops_.back()->accumulator_size);
      memory_.push_back(Storage::allocate(checked_mul(chunks_ * kReductionLanes, bytes)));
      lane_bytes += bytes;
    }
    while (lanes_ < kMostLanes && 2 * lanes_ * lane_bytes <= kLaneBytes) lanes_ *= 2;
  }

  void run() {
    const int64_t per_chunk = kReductionLanes / lanes_;
    const int64_t item_rows = std::min(rows_, kReductionChunk) * lanes_ / kReductionLanes + 1;
    const double cost = lowered_.program.cost / 1000.0 / 8;
    const int64_t grain = grain_for(cost * static_cast<double>(launch_.cols * item_rows));
    parallel_for(chunks_ * per_chunk, grain, [&](int64_t begin, int64_t end) {
      Ref<Storage> scratch;
      if (launch_.has_scratch) scratch = Storage::allocate(scratch_bytes(lowered_.program, launch_.cols));
      std::vector<OperandArgument> arguments(launch_.arguments.size());
      for (int64_t item = begin; item < end; ++item)
        run_lanes({item / per_chunk, item % per_chunk * lanes_, arguments.data(), scratch ? scratch->data() : nullptr});
    });
    const int64_t blocks = (launch_.cols + kCombineColumns - 1) / kCombineColumns;
    parallel_for(blocks * static_cast<int64_t>(loops_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item)
        combine(static_cast<size_t>(item / blocks), item % blocks * kCombineColumns);
    });
  }

 private:
  struct Item {
    int64_t chunk, lane;  // lanes [lane, lane + lanes_)
    OperandArgument* arguments;
    std::byte* scratch;
  };

  // Lanes that take part in the tree of a chunk.
  int64_t used_lanes(int64_t chunk) const {
    const int64_t filled = std::min(kReductionLanes, rows_ - chunk * kReductionChunk);
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(filled)));
  }

  std::byte* accumulators(size_t reduction, int64_t chunk, int64_t lane, int64_t col) const {
    const int64_t element = (chunk * kReductionLanes + lane) * launch_.cols + col;
    return memory_[reduction]->data() + element * loops_[reduction]->accumulator_size;
  }

  void run_lanes(const Item& item) const {
    const int64_t lanes = std::min(lanes_, used_lanes(item.chunk) - item.lane);
    if (lanes <= 0) return;
    for (size_t i = 0; i < loops_.size(); ++i)
      loops_[i]->fill_identity(accumulators(i, item.chunk, item.lane, 0), lanes * launch_.cols);
    const int64_t begin = item.chunk * kReductionChunk;
    const int64_t end = std::min(rows_, begin + kReductionChunk);
    if (lanes_ == 1 && launch_.outer.empty()) {
      const int64_t count = (end - begin - item.lane + kReductionLanes - 1) / kReductionLanes;
      return launch(item, begin + item.lane, count, kReductionLanes);
    }
    for (int64_t group = begin; group < end; group += kReductionLanes) {
      int64_t row = group + item.lane;
      const int64_t last = std::min(end, row + lanes);
      while (row < last) {
        const int64_t plane_end = (row / launch_.rows + 1) * launch_.rows;
        const int64_t count = std::min(last, plane_end) - row;
        launch(item, row, count, 1);
        row += count;
      }
    }
  }

  // Rows `row`, `row + step`, ...: of as many lanes, or all of one lane.
  void launch(const Item& item, int64_t row, int64_t count, int64_t step) const {
    size_t reduction = 0;
    for (size_t o = 0; o < launch_.arguments.size(); ++o) {
      OperandArgument& argument = item.arguments[o];
      if (launch_.operands[o].source == OperandPlan::Source::Lanes) {
        const int64_t lane = row % kReductionLanes;
        argument = {accumulators(reduction++, item.chunk, lane, 0), step == 1 ? launch_.cols : 0, 1};
        continue;
      }
      argument = shifted_argument(lowered_, launch_, o, row / launch_.rows, row % launch_.rows, 0);
      argument.row_stride *= step;
    }
    launch_.kernel->function(item.arguments, launch_.parameters.data(), count, launch_.cols, item.scratch);
  }

  void combine(size_t reduction, int64_t col) const {
    const ReduceLoops& loops = *loops_[reduction];
    const int64_t width = std::min(kCombineColumns, launch_.cols - col);
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      for (int64_t half = used_lanes(chunk) / 2; half > 0; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane)
          loops.combine(accumulators(reduction, chunk, lane, col), accumulators(reduction, chunk, lane + half, col),
                        width);
      if (chunk > 0) loops.combine(accumulators(reduction, 0, 0, col), accumulators(reduction, chunk, 0, col), width);
    }
    const Tensor& result = launch_.reduced[reduction];
    loops.finish(result.data() + col * dtype_size(result.dtype()), accumulators(reduction, 0, 0, col), width);
  }

  const LoweredKernel& lowered_;
  const CompiledKernels::Launch& launch_;
  int64_t rows_, chunks_, lanes_ = 1;
  std::vector<const ReduceLoops*> loops_;  // per reduction
  std::vector<Ref<Storage>> memory_;       // per reduction: chunks x lanes x columns
};

}  // namespace

void CompiledKernels::run_lanes(const LoweredKernel& lowered, const Launch& launch) { LaneRun(lowered, launch).run(); }

}  // namespace tsc::jit
