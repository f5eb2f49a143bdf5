// Column programs: a reduction over the rows, a block of columns at a time. The 64 lane
// accumulators of a block lie in the caller's scratch memory: lane l, column c at [l * kColumnBlock
// + c].
#include "jit/codegen/control.h"
#include "jit/codegen/kernel_emitter.h"

namespace tsc::jit {
namespace {

// Steps of at most this weight feel the mask of a masked loop.
constexpr int kLightWeight = 6;

}  // namespace

// The totals of a block lie in front of its lanes, so that one loop fills both.
void KernelEmitter::emit_column_program() {
  const NestStage& stage = program_.stages[0];
  collect_reducers(stage);
  Ir memory = scratch_;
  for (Reducer& reducer : reducers_) {
    reducer.total = memory;
    reducer.lanes = access_.element_pointer(reducer.how.dtype(), memory, b_.getInt64(kColumnBlock));
    constexpr uint64_t kBytes = (kReductionLanes + 1) * kColumnBlock * 8;
    memory = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), memory, kBytes);
  }
  emit_loop(b_, b_.getInt64(0), cols_, kColumnBlock, "block", [&](Ir begin) {
    Ir past = b_.CreateAdd(begin, b_.getInt64(kColumnBlock));
    emit_column_block(stage, begin, scalar_.call(llvm::Intrinsic::smin, {past, cols_}));
  });
}

// Without rows there is still a chunk: it leaves the identity in the totals.
void KernelEmitter::emit_column_block(const NestStage& stage, Ir begin, Ir end) {
  Ir zero = b_.getInt64(0), one = b_.getInt64(1);
  const bool light = weight(stage.element) <= kLightWeight;
  const auto chunk = [&](Ir first) {
    Ir past = b_.CreateAdd(first, b_.getInt64(kReductionChunk));
    Ir last = scalar_.call(llvm::Intrinsic::smin, {past, rows_});
    Ir rows = scalar_.call(llvm::Intrinsic::smax, {b_.CreateSub(last, first), one});
    Ir used = scalar_.call(llvm::Intrinsic::smin, {rows, b_.getInt64(kReductionLanes)});
    Ir is_first = b_.CreateICmpEQ(first, zero);
    for (const Reducer& reducer : reducers_) fill_column_identity(reducer, is_first, used);
    emit_loop(b_, first, last, 1, "row", [&](Ir row) {
      enter_column_row(row, begin);
      emit_columns(stage.element, begin, end, light);
    });
    for (const Reducer& reducer : reducers_) combine_column_lanes(reducer, used);
  };
  emit_loop(b_, zero, rows_, kReductionChunk, "chunk", chunk, true);
  access_.enter_first_row();
  emit_loop(b_, begin, end, 1, "finish", [&](Ir col) {
    const Point point{scalar_, col, end};
    for (const Reducer& reducer : reducers_) {
      Ir place = access_.element_pointer(reducer.how.dtype(), reducer.total, b_.CreateSub(col, begin));
      Ir total = access_.load_row(reducer.how.dtype(), place, point);
      define(*reducer.instruction, reducer.how.leave(scalar_, reducer.instruction->dtype, total), true);
    }
    emit_part(stage.row, point, false);
  });
}

void KernelEmitter::enter_column_row(Ir row, Ir begin) {
  access_.enter_row(row);
  Ir lane = b_.CreateAnd(row, b_.getInt64(kReductionLanes - 1));
  Ir offset = b_.CreateSub(b_.CreateMul(lane, b_.getInt64(kColumnBlock)), begin);
  for (Reducer& reducer : reducers_) reducer.row = access_.element_pointer(reducer.how.dtype(), reducer.lanes, offset);
}

// Blocks of accumulators are whole registers: what lies past the last column is computed and never
// read.
void KernelEmitter::fill_column_identity(const Reducer& reducer, Ir is_first, Ir lanes) {
  const DType dtype = reducer.how.dtype();
  Ir begin = b_.CreateSelect(is_first, b_.getInt64(0), b_.getInt64(kColumnBlock));
  Ir end = b_.CreateMul(b_.CreateAdd(lanes, b_.getInt64(1)), b_.getInt64(kColumnBlock));
  Ir identity = wide_.in_memory(reducer.how.identity(wide_));
  const auto fill = [&](Ir i) {
    access_.store_row(dtype, access_.element_pointer(dtype, reducer.total, i), Point{wide_, nullptr, nullptr},
                      identity);
  };
  emit_loop(b_, begin, end, wide_.count(), "fill", fill, true);
}

// The tree over the lanes that rows have reached. The others hold the identity, and combining with
// it changes no bit (a lane starts from the identity, so it is never -0 where that would matter).
// At each distance the lanes below it take those from it on, which lie in one piece; at distance 0
// the totals take the first lane.
void KernelEmitter::combine_column_lanes(const Reducer& reducer, Ir lanes) {
  const DType dtype = reducer.how.dtype();
  const Point point{wide_, nullptr, nullptr};
  const auto items = [&](Ir count) { return b_.CreateMul(count, b_.getInt64(kColumnBlock)); };
  emit_halving_loop(b_, kReductionLanes / 2, [&](Ir distance) {
    Ir last = b_.CreateICmpEQ(distance, b_.getInt64(0));
    Ir pairs = scalar_.call(llvm::Intrinsic::smin, {b_.CreateSub(lanes, distance), distance});
    Ir count = items(b_.CreateSelect(last, b_.getInt64(1), pairs));
    Ir target = b_.CreateSelect(last, reducer.total, reducer.lanes);
    Ir source = access_.element_pointer(dtype, reducer.lanes, items(distance));
    emit_loop(b_, b_.getInt64(0), count, wide_.count(), "tree", [&](Ir i) {
      Ir place = access_.element_pointer(dtype, target, i);
      Ir x = access_.load_row(dtype, place, point);
      Ir y = access_.load_row(dtype, access_.element_pointer(dtype, source, i), point);
      access_.store_row(dtype, place, point, reducer.how.combine(wide_, x, y));
    });
  });
}

}  // namespace tsc::jit
