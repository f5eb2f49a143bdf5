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

void KernelEmitter::emit_column_program() {
  const NestStage& stage = program_.stages[0];
  collect_reducers(stage);
  Ir memory = scratch_;
  auto take = [&](int64_t elements) {
    Ir place = memory;
    memory =
        b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), memory, static_cast<uint64_t>(elements) * 8);
    return place;
  };
  for (Reducer& reducer : reducers_) {
    reducer.lanes = take(kReductionLanes * kColumnBlock);
    reducer.total = take(kColumnBlock);
  }
  emit_loop(b_, b_.getInt64(0), cols_, kColumnBlock, "block", [&](Ir begin) {
    Ir past = b_.CreateAdd(begin, b_.getInt64(kColumnBlock));
    emit_column_block(stage, begin, scalar_.call(llvm::Intrinsic::smin, {past, cols_}));
  });
}

void KernelEmitter::emit_column_block(const NestStage& stage, Ir begin, Ir end) {
  Ir zero = b_.getInt64(0);
  const bool light = weight(stage.element) <= kLightWeight;
  for (const Reducer& reducer : reducers_)
    fill_column_identity(reducer, reducer.total, b_.getInt64(1));
  emit_loop(b_, zero, rows_, kReductionChunk, "chunk", [&](Ir first) {
    Ir past = b_.CreateAdd(first, b_.getInt64(kReductionChunk));
    Ir last = scalar_.call(llvm::Intrinsic::smin, {past, rows_});
    Ir used = scalar_.call(llvm::Intrinsic::smin,
                           {b_.CreateSub(last, first), b_.getInt64(kReductionLanes)});
    for (const Reducer& reducer : reducers_) fill_column_identity(reducer, reducer.lanes, used);
    emit_loop(b_, first, last, 1, "row", [&](Ir row) {
      access_.enter_row(row);
      column_row_ = row;
      column_begin_ = begin;
      emit_columns(stage.element, begin, end, light);
    });
    for (const Reducer& reducer : reducers_) combine_column_lanes(reducer, used);
  });
  access_.enter_row(zero);
  emit_loop(b_, begin, end, 1, "finish", [&](Ir col) {
    const Point point{scalar_, col, end};
    for (const Reducer& reducer : reducers_) {
      Ir place =
          access_.element_pointer(reducer.how.dtype(), reducer.total, b_.CreateSub(col, begin));
      Ir total = access_.load_row(reducer.how.dtype(), place, point);
      define(*reducer.instruction, reducer.how.leave(scalar_, reducer.instruction->dtype, total),
             true);
    }
    emit_part(stage.row, point, false);
  });
}

// Rows of accumulators are handled as one vector of a whole block: no inner loop, and what lies
// past the last column is computed and never read.
void KernelEmitter::fill_column_identity(const Reducer& reducer, Ir memory, Ir lanes) {
  const DType dtype = reducer.how.dtype();
  const Lanes block(b_, kColumnBlock);
  Ir count = b_.CreateMul(lanes, b_.getInt64(kColumnBlock));
  emit_loop(b_, b_.getInt64(0), count, kColumnBlock, "fill", [&](Ir i) {
    access_.store_row(dtype, access_.element_pointer(dtype, memory, i), Point{block, i, count},
                      reducer.how.identity(block));
  });
}

// The tree over the lanes that rows have reached. The others hold the identity, and combining with
// it changes no bit (a lane starts from the identity, so it is never -0 where that would matter).
void KernelEmitter::combine_column_lanes(const Reducer& reducer, Ir lanes) {
  const DType dtype = reducer.how.dtype();
  const Lanes block(b_, kColumnBlock);
  const Point point{block, nullptr, nullptr};
  auto at = [&](Ir lane) {
    return access_.element_pointer(dtype, reducer.lanes,
                                   b_.CreateMul(lane, b_.getInt64(kColumnBlock)));
  };
  auto combine_into = [&](Ir target, Ir source) {
    Ir x = access_.load_row(dtype, target, point), y = access_.load_row(dtype, source, point);
    access_.store_row(dtype, target, point, reducer.how.combine(block, x, y));
  };
  emit_halving_loop(b_, kReductionLanes / 2, [&](Ir distance) {
    Ir pairs = scalar_.call(llvm::Intrinsic::smin, {b_.CreateSub(lanes, distance), distance});
    emit_loop(b_, b_.getInt64(0), pairs, 1, "tree",
              [&](Ir lane) { combine_into(at(lane), at(b_.CreateAdd(lane, distance))); });
  });
  combine_into(reducer.total, reducer.lanes);
}

}  // namespace tsc::jit
