// Row programs: for each row the stages one after the other, each a loop over the columns.
#include "jit/codegen/control.h"
#include "jit/codegen/kernel_emitter.h"

namespace tsc::jit {
namespace {

// Where masks cost little, one masked loop replaces a plain loop and its tail: half the code to compile.
// Below this many instructions the mask would be felt.
constexpr size_t kPeelBelow = 12;

}  // namespace

void KernelEmitter::emit_rows() {
  emit_loop(b_, b_.getInt64(0), rows_, 1, "row", [&](Ir row) {
    access_.enter_row(row);
    for (const NestStage& stage : program_.stages) {
      emit_part(stage.row, Point{scalar_, nullptr, nullptr}, true);
      if (!stage.element.empty()) emit_row_stage(stage);
    }
  });
}

void KernelEmitter::emit_row_stage(const NestStage& stage) {
  prepare_splats(stage.element, false);
  collect_reducers(stage);
  if (reducers_.empty()) return emit_columns(stage.element, b_.getInt64(0), cols_);

  for (Reducer& reducer : reducers_) {
    reducer.lanes = stack_array(reducer.how.dtype(), kReductionLanes);
    reducer.total = stack_array(reducer.how.dtype(), 1);
    access_.store_row(reducer.how.dtype(), reducer.total, Point{scalar_, nullptr, nullptr},
                      reducer.how.identity(scalar_));
  }
  emit_loop(b_, b_.getInt64(0), cols_, kReductionChunk, "chunk", [&](Ir begin) {
    Ir past = b_.CreateAdd(begin, b_.getInt64(kReductionChunk));
    Ir end = scalar_.call(llvm::Intrinsic::smin, {past, cols_});
    for (Reducer& reducer : reducers_)
      for (int lane = 0; lane < kReductionLanes; lane += wide_.count())
        access_.store_row(
            reducer.how.dtype(),
            access_.element_pointer(reducer.how.dtype(), reducer.lanes,
                                    b_.getInt64(static_cast<uint64_t>(lane))),
            Point{wide_, nullptr, nullptr},
            reducer.how.identity(wide_));
    emit_columns(stage.element, begin, end);
    for (Reducer& reducer : reducers_) finish_row_reducer(reducer);
  });
  for (Reducer& reducer : reducers_) {
    Ir total = access_.load_row(reducer.how.dtype(), reducer.total, Point{scalar_, nullptr, nullptr});
    define(*reducer.instruction, reducer.how.leave(scalar_, reducer.instruction->dtype, total), false);
  }
}

void KernelEmitter::finish_row_reducer(Reducer& reducer) {
  const Point point{scalar_, nullptr, nullptr};
  Ir total = access_.load_row(reducer.how.dtype(), reducer.total, point);
  total = reducer.how.combine(scalar_, total, combine_lanes(reducer));
  access_.store_row(reducer.how.dtype(), reducer.total, point, total);
}

// The fixed tree: lane l with l + 32, then + 16, + 8, + 4, + 2, + 1.
Ir KernelEmitter::combine_lanes(const Reducer& reducer) {
  const Lanes half(b_, kReductionLanes / 2);
  const Point point{half, nullptr, nullptr};
  const DType dtype = reducer.how.dtype();
  Ir low = access_.load_row(dtype, reducer.lanes, point);
  Ir high = access_.load_row(
      dtype, access_.element_pointer(dtype, reducer.lanes, b_.getInt64(kReductionLanes / 2)), point);
  Ir lanes = reducer.how.combine(half, low, high);
  for (int count = kReductionLanes / 4; count >= 1; count /= 2) {
    low = half.part(lanes, 0, count);
    high = half.part(lanes, count, count);
    lanes = reducer.how.combine(Lanes(b_, count), low, high);
  }
  return lanes;
}

Point KernelEmitter::masked_point(Ir col, Ir end) {
  Ir rest = b_.CreateSub(end, col);
  Ir width = b_.getInt64(static_cast<uint64_t>(wide_.count()));
  Ir count = b_.CreateTrunc(scalar_.call(llvm::Intrinsic::smin, {rest, width}), b_.getInt32Ty());
  return {wide_, col, end, b_.CreateICmpULT(wide_.iota(32), wide_.splat(count))};
}

void KernelEmitter::emit_columns(const std::vector<NestInstruction>& part, Ir begin, Ir end) {
  const int width = wide_.count();
  if (traits_.masked_memory && part.size() >= kPeelBelow) {
    emit_loop(b_, begin, end, width, "columns",
              [&](Ir col) { emit_part(part, masked_point(col, end), false); });
    return;
  }
  Ir count = b_.CreateSub(end, begin);
  Ir whole = b_.CreateAnd(count, b_.getInt64(~static_cast<uint64_t>(width - 1)));
  Ir tail = b_.CreateAdd(begin, whole);
  emit_loop(b_, begin, tail, width, "columns",
            [&](Ir col) { emit_part(part, Point{wide_, col, end}, false); });
  if (traits_.masked_memory) {
    emit_if(b_, b_.CreateICmpSLT(tail, end),
            [&] { emit_part(part, masked_point(tail, end), false); });
    return;
  }
  if (width == 1) return;
  emit_loop(b_, tail, end, 1, "tail",
            [&](Ir col) { emit_part(part, Point{scalar_, col, end}, false); });
}

}  // namespace tsc::jit
