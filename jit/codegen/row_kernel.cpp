// Row programs: for each row the stages one after the other, each a loop over the columns.
#include <algorithm>

#include "jit/codegen/control.h"
#include "jit/codegen/kernel_emitter.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

// Where masks cost little, one masked loop replaces a plain loop and its tail: half the code to
// compile. Below this many instructions the mask would be felt.
constexpr size_t kPeelBelow = 12;
// A reduction step of at most this many operations is unrolled over all lanes; where memory is
// masked, a step in the middle has a plain loop and a masked one, and a heavier step the masked
// loop alone.
constexpr int kMostUnrolledOperations = 24;
constexpr int kMostUnrolledWithMasks = 8;
// The extreme of floats becomes one of integers first.
constexpr int kExtremeOperations = 5;
// The accumulators of a stage stay in registers when they are at most this many.
constexpr int kMostRegisters = 8, kMostRegistersOf32 = 16;

}  // namespace

// A function of the math library is many operations.
int KernelEmitter::weight(const std::vector<NestInstruction>& part) {
  int operations = 0;
  for (const NestInstruction& in : part) {
    const bool cheap =
        in.code == NestCode::Apply && in.op != Op::rem && in.op != Op::remainder && in.op != Op::floor_div;
    bool math = false;
    for (const OpEmitter& row : math_emitters()) math = math || row.op == in.op;
    if (in.code == NestCode::Reduce || in.code == NestCode::Accumulate || in.code == NestCode::ScratchStore)
      operations += 1;
    else if (in.code == NestCode::Philox || (in.code == NestCode::Apply && (math || !cheap))) operations += 50;
    else if (in.code == NestCode::Apply) operations += 1;
  }
  return operations;
}

void KernelEmitter::emit_rows() {
  if (joins_rows()) return emit_joined_rows();
  emit_loop(b_, b_.getInt64(0), rows_, 1, "row", [&](Ir row) {
    access_.enter_row(row);
    for (size_t number = 0; number < program_.stages.size(); ++number) emit_stage(number);
  });
}

void KernelEmitter::emit_stage(size_t number) {
  const NestStage& stage = program_.stages[number];
  emit_part(stage.row, Point{scalar_, nullptr, nullptr}, true);
  if (number == asking_stage()) next_rows_ = rows_read(program_.stages[0]);
  if (!stage.element.empty()) emit_row_stage(stage);
  next_rows_.clear();
}

// The first stage waits for memory, the second computes on what the caches hold: it asks for the rows that the first
// stage of the next row will read. Where the first computes more than the second (the backward of a norm, which
// reduces rows and columns there), it asks itself: the requests have more time, and more of them are under way at once.
size_t KernelEmitter::asking_stage() const {
  const std::vector<NestStage>& stages = program_.stages;
  const bool both = stages.size() > 1 && !stages[1].element.empty();
  return both && weight(stages[0].element) > weight(stages[1].element) ? 0 : 1;
}

// What the first stage reads a row of.
std::vector<uint32_t> KernelEmitter::rows_read(const NestStage& stage) const {
  std::vector<uint32_t> slots;
  for (const NestInstruction& in : stage.element) {
    if (in.code != NestCode::Load) continue;
    const Operand& operand = program_.operands[in.slot];
    if (operand.kind == Operand::Kind::Input && operand.access == Access::Contiguous &&
        memory_bytes(operand.dtype) >= 4)
      slots.push_back(in.slot);
  }
  return slots;
}

void KernelEmitter::emit_row_stage(const NestStage& stage) {
  prepare_splats(stage.element, false);
  collect_reducers(stage);
  if (reducers_.empty()) {
    const bool light = program_.stages.size() == 1 && stage.element.size() < kPeelBelow &&
                       weight(stage.element) < static_cast<int>(kPeelBelow);
    const bool peel = light || (traits_.streams && streams(stage));
    return emit_columns(stage.element, b_.getInt64(0), cols_, peel);
  }
  std::vector<Ir*> totals;
  for (Reducer& reducer : reducers_) {
    if (!fits_registers() || !traits_.masked_memory) reducer.lanes = stack_array(reducer.how.dtype(), kReductionLanes);
    reducer.total = reducer.how.identity(scalar_);
    totals.push_back(&reducer.total);
  }
  const auto chunk = [&](Ir begin) {
    Ir past = b_.CreateAdd(begin, b_.getInt64(kReductionChunk));
    reduce_chunk(stage, begin, scalar_.call(llvm::Intrinsic::smin, {past, cols_}));
  };
  emit_carrying_loop(b_, b_.getInt64(0), cols_, kReductionChunk, "chunk", totals, chunk);
  for (Reducer& reducer : reducers_)
    define(*reducer.instruction, reducer.how.leave(scalar_, reducer.instruction->dtype, reducer.total), false);
}

// Masked stores never go past the caches.
bool KernelEmitter::streams(const NestStage& stage) const {
  for (const NestInstruction& in : stage.element)
    if (in.code == NestCode::Store && program_.operands[in.slot].streamed) return true;
  return false;
}

// The columns of one chunk, and its part of the totals.
void KernelEmitter::reduce_chunk(const NestStage& stage, Ir begin, Ir end) {
  const size_t steps = static_cast<size_t>(kReductionLanes) / static_cast<size_t>(wide_.count());
  for (Reducer& reducer : reducers_) reducer.registers.assign(steps, reducer.how.identity(wide_));
  const int work = weight(stage.element);
  TSC_CHECK(!joined_ || fits_registers(), "the accumulators of two rows at once are registers");
  if (!fits_registers()) {
    reduce_in_memory(stage, begin, end);
  } else if (joined_) {
    emit_turning(stage, emit_whole_registers(stage, begin, end), end, false);
  } else if (traits_.masked_memory) {
    const int extremes = static_cast<int>(std::count_if(
        reducers_.begin(), reducers_.end(), [](const Reducer& reducer) { return reducer.how.ordered_as_integers(); }));
    const int masked_work = work + extremes * kExtremeOperations;
    const bool streamed = traits_.streams && streams(stage) && work <= kMostUnrolledOperations;
    const bool unrolled = streamed || masked_work * static_cast<int>(steps) <= kMostUnrolledWithMasks;
    if (unrolled) begin = emit_unrolled(stage, begin, end);
    emit_turning(stage, begin, end, !unrolled);
  } else {
    if (work * static_cast<int>(steps) <= kMostUnrolledOperations) begin = emit_unrolled(stage, begin, end);
    reduce_in_memory(stage, begin, end);
  }
  for (Reducer& reducer : reducers_)
    reducer.total = reducer.how.combine(scalar_, reducer.total, combine_lanes(reducer));
}

bool KernelEmitter::fits_registers() const {
  int registers = 0;
  for (const Reducer& reducer : reducers_) {
    const int bytes = std::max(memory_bytes(reducer.how.dtype()), 4);
    registers += static_cast<int>(kReductionLanes) * bytes / (wide_.count() * 4);
  }
  // Masked memory means AVX-512, which has 32 registers.
  return registers <= (traits_.masked_memory ? kMostRegistersOf32 : kMostRegisters);
}

// What a loop carries whose body updates the accumulators in registers; those of its last turn are left.
std::vector<Ir*> KernelEmitter::enter_lane_loop() {
  std::vector<Ir*> carried;
  for (Reducer& reducer : reducers_) {
    for (Ir& value : reducer.registers) carried.push_back(&value);
    reducer.turn = 0;
  }
  return carried;
}

// Whole groups of 64 columns. Returns the first column that is left.
Ir KernelEmitter::emit_unrolled(const NestStage& stage, Ir begin, Ir end) {
  Ir whole = b_.CreateAnd(b_.CreateSub(end, begin), b_.getInt64(~uint64_t{kReductionLanes - 1}));
  Ir stop = b_.CreateAdd(begin, whole);
  emit_carrying_loop(b_, begin, stop, kReductionLanes, "lanes", enter_lane_loop(), [&](Ir col) {
    for (int64_t step = 0; step < kReductionLanes; step += wide_.count()) {
      Ir at = step ? b_.CreateAdd(col, b_.getInt64(static_cast<uint64_t>(step))) : col;
      emit_part(stage.element, Point{wide_, at, end}, false);
    }
  });
  return stop;
}

// The same a register a turn (see emit_turning), for what is too long to stand there four times and stores past the
// caches.
Ir KernelEmitter::emit_whole_registers(const NestStage& stage, Ir begin, Ir end) {
  const auto width = static_cast<uint64_t>(wide_.count());
  Ir stop = b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(end, begin), b_.getInt64(~(width - 1))));
  emit_carrying_loop(b_, begin, stop, wide_.count(), "whole", enter_lane_loop(), [&](Ir col) {
    emit_element(stage, Point{wide_, col, end});
    turn_registers();
  });
  return stop;
}

void KernelEmitter::turn_registers() {
  for (Reducer& reducer : reducers_)
    std::rotate(reducer.registers.begin(), reducer.registers.begin() + 1, reducer.registers.end());
}

// One register of columns a turn, after which the accumulators change places: the first is always
// the one whose columns come. The tree that combines them does not see by how many places they have
// turned: it pairs every register with the one half the circle away, and then again. The loop does
// all of the chunk's columns or those that are left; lines of the next row are then asked for
// already.
void KernelEmitter::emit_turning(const NestStage& stage, Ir begin, Ir end, bool all) {
  if (!all) next_rows_.clear();
  emit_masked_loop(begin, end, kReductionChunk, enter_lane_loop(), [&](const Point& point) {
    emit_element(stage, point);
    turn_registers();
  });
}

// Too many accumulators for the registers, or a tail column by column.
void KernelEmitter::reduce_in_memory(const NestStage& stage, Ir begin, Ir end) {
  for (Reducer& reducer : reducers_) store_lanes(reducer);
  emit_columns(stage.element, begin, end, false);
  for (Reducer& reducer : reducers_) load_lanes(reducer);
}

void KernelEmitter::store_lanes(Reducer& reducer) {
  const DType dtype = reducer.how.dtype();
  int64_t lane = 0;
  for (Ir value : reducer.registers) {
    Ir place = access_.element_pointer(dtype, reducer.lanes, b_.getInt64(static_cast<uint64_t>(lane)));
    access_.store_row(dtype, place, Point{wide_, nullptr, nullptr}, value);
    lane += wide_.count();
  }
  reducer.registers.clear();
}

void KernelEmitter::load_lanes(Reducer& reducer) {
  const DType dtype = reducer.how.dtype();
  for (int64_t lane = 0; lane < kReductionLanes; lane += wide_.count()) {
    Ir place = access_.element_pointer(dtype, reducer.lanes, b_.getInt64(static_cast<uint64_t>(lane)));
    reducer.registers.push_back(access_.load_row(dtype, place, Point{wide_, nullptr, nullptr}));
  }
}

// The fixed tree: lane l with l + 32, then + 16, + 8, + 4, + 2, + 1.
Ir KernelEmitter::combine_lanes(Reducer& reducer) {
  std::vector<Ir>& lanes = reducer.registers;
  for (size_t half = lanes.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i) lanes[i] = reducer.how.combine(wide_, lanes[i], lanes[i + half]);
  Ir combined = lanes[0];
  for (int count = wide_.count() / 2; count >= 1; count /= 2) {
    Ir low = wide_.part(combined, 0, count), high = wide_.part(combined, count, count);
    combined = reducer.how.combine(Lanes(b_, count), low, high);
  }
  lanes.clear();
  return combined;
}

Point KernelEmitter::masked_point(Ir col, Ir end, int64_t most) {
  Ir rest = b_.CreateSub(end, col);
  Ir width = b_.getInt64(static_cast<uint64_t>(wide_.count()));
  if (most > INT32_MAX) rest = scalar_.call(llvm::Intrinsic::smin, {rest, width});
  Ir count = b_.CreateTrunc(rest, b_.getInt32Ty());
  return {wide_, col, end, b_.CreateICmpULT(lane_numbers_, wide_.splat(count))};
}

// The columns a register at a time, the last one masked. The mask is made where the loop is entered, and once
// more for a last register that is not whole: a turn over a whole one goes straight to the next. `carried` is
// emit_carrying_loop's.
template <class Body>
void KernelEmitter::emit_masked_loop(Ir begin, Ir end, int64_t most, const std::vector<Ir*>& carried, Body&& body) {
  Ir width = b_.getInt64(static_cast<uint64_t>(wide_.count()));
  Ir last_whole = b_.CreateSub(end, width);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b_, "mask");
  llvm::BasicBlock* turn = new_block(b_, "columns");
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "end");
  b_.CreateBr(head);
  std::vector<llvm::PHINode*> in_head, in_turn;
  const auto phi = [&](std::vector<llvm::PHINode*>& phis, Ir first, llvm::BasicBlock* from) {
    phis.push_back(b_.CreatePHI(first->getType(), 2));
    phis.back()->addIncoming(first, from);
    return phis.back();
  };
  b_.SetInsertPoint(head);
  Ir first = phi(in_head, begin, before);
  for (Ir* place : carried) phi(in_head, *place, before);
  Ir mask = masked_point(first, end, most).mask;
  b_.CreateCondBr(b_.CreateICmpSLT(first, end), turn, after);

  b_.SetInsertPoint(turn);
  Ir col = phi(in_turn, first, head);
  for (size_t k = 0; k < carried.size(); ++k) *carried[k] = phi(in_turn, in_head[k + 1], head);
  body(Point{wide_, col, end, mask});
  Ir next = b_.CreateNSWAdd(col, width);
  for (const auto* phis : {&in_head, &in_turn}) {
    (*phis)[0]->addIncoming(next, b_.GetInsertBlock());
    for (size_t k = 0; k < carried.size(); ++k) (*phis)[k + 1]->addIncoming(*carried[k], b_.GetInsertBlock());
  }
  b_.CreateCondBr(b_.CreateICmpSLE(next, last_whole), turn, head);
  for (size_t k = 0; k < carried.size(); ++k) *carried[k] = in_head[k + 1];
  after->insertInto(head->getParent());
  b_.SetInsertPoint(after);
}

void KernelEmitter::emit_columns(const std::vector<NestInstruction>& part, Ir begin, Ir end, bool peel) {
  const int width = wide_.count();
  if (traits_.masked_memory && !peel) {
    emit_masked_loop(begin, end, INT64_MAX, {}, [&](const Point& point) { emit_part(part, point, false); });
    return;
  }
  Ir count = b_.CreateSub(end, begin);
  Ir whole = b_.CreateAnd(count, b_.getInt64(~static_cast<uint64_t>(width - 1)));
  Ir tail = b_.CreateAdd(begin, whole);
  emit_loop(b_, begin, tail, width, "columns", [&](Ir col) { emit_part(part, Point{wide_, col, end}, false); });
  if (traits_.masked_memory) {
    emit_if(b_, b_.CreateICmpSLT(tail, end), [&] { emit_part(part, masked_point(tail, end, width), false); });
    return;
  }
  if (width == 1) return;
  emit_loop(b_, tail, end, 1, "tail", [&](Ir col) { emit_part(part, Point{scalar_, col, end}, false); });
}

}  // namespace tsc::jit
