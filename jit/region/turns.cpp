#include "jit/region/turns.h"

#include "runtime/kernels/run_op.h"

namespace tsc::jit {

namespace {

// The first rows, in the same memory.
Tensor first_rows(const Tensor& whole, int64_t rows) {
  Sizes sizes = whole.sizes();
  sizes[0] = rows;
  return Tensor(whole.storage(), whole.dtype(), sizes, whole.strides(), whole.offset());
}

Tensor with_more_rows(const Tensor& whole) {
  constexpr int64_t kFewestRows = 8;
  const int64_t rows = whole.size(0);
  Sizes sizes = whole.sizes();
  sizes[0] = std::max(kFewestRows, 2 * rows);
  Tensor grown = Tensor::empty(whole.dtype(), sizes);
  if (rows > 0) copy_into(first_rows(grown, rows), whole);
  return grown;
}

}  // namespace

Tensor Stacks::take(size_t number, int64_t rows) {
  const Tensor whole = std::move(wholes_[number]);
  return whole.size(0) == rows ? whole : first_rows(whole, rows);
}

void Stacks::put(int64_t trip, std::span<const RunValue> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (trip >= wholes_[i].size(0)) wholes_[i] = with_more_rows(wholes_[i]);
    const Tensor& whole = wholes_[i];
    const Sizes sizes(whole.sizes().begin() + 1, whole.sizes().end()),
        strides(whole.strides().begin() + 1, whole.strides().end());
    copy_into(Tensor(whole.storage(), whole.dtype(), sizes, strides, whole.offset() + trip * whole.stride(0)),
              rows[i].tensor);
  }
}

std::vector<RunValue> run_turns(const BlockRun& loop, int64_t trips, LoopMode mode, std::vector<RunValue> carried,
                                std::vector<RunInput> inputs, Stacks& stacks, RunContext& context) {
  RunExit turn;
  turn.live = std::move(carried);
  for (int64_t turn_number = 0; turn_number < trips; ++turn_number) {
    if (mode == kWhile && !turn.live[0].scalar.i) break;
    if (context.host) context.host->poll();
    const int64_t trip = mode == kCountsDown ? trips - 1 - turn_number : turn_number;
    std::vector<RunValue> before = std::move(turn.live);
    inputs[0].scalar = Scalar::of_int(trip);
    for (size_t i = 0; i < loop.carried; ++i)
      inputs[1 + i] = {nullptr, before[i].scalar, before[i].object, &before[i].tensor};
    turn = loop.body->run(inputs, context);
    stacks.put(trip, std::span(turn.live).subspan(loop.carried));
    turn.live.resize(loop.carried);
  }
  return std::move(turn.live);
}

}  // namespace tsc::jit
