#pragma once
// Blocks that are outlined (jit/passes/outline.h), which are regions of their own, and the turns of a loop: runs of its
// block, one after the other. Each is given the carried tensors, whose memory it may write; of each, parts are stacked.
// Knows executables, and how a loop goes from turn to turn; must not know what else a region is.
#include "jit/executable.h"
#include "jit/region/region.h"

namespace tsc::jit {

struct BlockRun {
  std::unique_ptr<Executable> body;
  uint32_t carried = 0;  // of a loop: the first inputs behind the number of the turn, and the first values of the exit
};

// Tensors of which each turn gives a row. Where only the run knows how many turns there are they grow.
class Stacks {
 public:
  void add(DType dtype, const Sizes& sizes) { wholes_.push_back(Tensor::empty(dtype, sizes)); }
  void put(int64_t trip, std::span<const RunValue> rows);
  // The first `rows` of them: all that were put.
  Tensor take(size_t number, int64_t rows);

 private:
  std::vector<Tensor> wholes_;
};

// The carried values behind the last turn, whose number is 0 where they count down. `inputs` of a turn are filled from
// behind the carried values on.
std::vector<RunValue> run_turns(const BlockRun& loop, int64_t trips, LoopMode mode, std::vector<RunValue> carried,
                                std::vector<RunInput> inputs, Stacks& stacks, RunContext& context);

}  // namespace tsc::jit
