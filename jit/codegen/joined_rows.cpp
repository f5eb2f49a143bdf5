// Row programs at two rows at once. Stores past the caches leave a core slower than it computes, so a last stage of
// nothing but such stores would wait for memory while the stages in front of it compute without storing. Here the last
// stage of a row runs beside the stage in front of it of the next row, on scratch rows and values of its own.
#include <algorithm>
#include <utility>

#include "jit/codegen/control.h"
#include "jit/codegen/kernel_emitter.h"

namespace tsc::jit {

// There is one turn more than rows: the last stage of the first turn stores meaningless values to the first row, which
// the second turn overwrites, and the last turn computes the last row's first stages again. So a row's inputs must be
// there until the end: no output is one of them.
bool KernelEmitter::joins_rows() {
  if (!traits_.masked_memory || !traits_.streams || !program_.two_rows) return false;
  for (const Operand& operand : program_.operands)
    if (operand.kind == Operand::Kind::Output && operand.access != Access::Broadcast && !operand.streamed) return false;
  const auto has_broadcast = [&](Operand::Kind kind) {
    return std::any_of(program_.operands.begin(), program_.operands.end(), [&](const Operand& operand) {
      return operand.kind == kind && operand.access == Access::Broadcast;
    });
  };
  if (has_broadcast(Operand::Kind::Output) && has_broadcast(Operand::Kind::Input)) return false;
  collect_reducers(program_.stages[program_.stages.size() - 2]);
  return fits_registers() && streams(program_.stages.back());
}

// What the last stage reads of the stages in front of it: scalars of the row.
std::vector<const NestInstruction*> KernelEmitter::handed_over() const {
  std::vector<bool> read(bindings_.size());
  const NestStage& last = program_.stages.back();
  for (const auto* part : {&last.row, &last.element})
    for (const NestInstruction& in : *part)
      for (NestValue input : in.inputs) read[input] = true;
  std::vector<const NestInstruction*> found;
  for (size_t number = 0; number + 1 < program_.stages.size(); ++number)
    for (const auto* part : {&program_.stages[number].row, &program_.stages[number].element})
      for (const NestInstruction& in : *part)
        if (defines_value(in) && read[in.result] && !uniform_[in.result]) found.push_back(&in);
  return found;
}

// The operands and scratch rows of one of the two rows; `set` is 0 or 1.
void KernelEmitter::enter_joined_row(Ir row, Ir set) {
  access_.enter_row(row);
  Ir offset = b_.CreateMul(set, scratch_end_);
  for (size_t i = 0; i < scratch_rows_.size(); ++i)
    scratch_rows_[i] = b_.CreateGEP(b_.getInt8Ty(), scratch_base_[i], offset);
}

void KernelEmitter::exchange_rows() {
  access_.places().swap(joined_places_);
  bindings_.swap(joined_bindings_);
  scratch_rows_.swap(joined_scratch_);
}

void KernelEmitter::emit_joined_rows() {
  const NestStage& last = program_.stages.back();
  const size_t beside = program_.stages.size() - 2;
  joined_places_ = access_.places();
  joined_bindings_ = bindings_;
  joined_scratch_ = scratch_base_ = scratch_rows_;
  const std::vector<const NestInstruction*> handed = handed_over();
  std::vector<Ir> values;
  for (const NestInstruction* in : handed)
    values.push_back(llvm::Constant::getNullValue(scalar_.value_type(in->dtype)));
  std::vector<Ir*> carried;
  for (Ir& value : values) carried.push_back(&value);
  Ir zero = b_.getInt64(0), one = b_.getInt64(1);
  Ir turns = b_.CreateSelect(b_.CreateICmpSGT(rows_, zero), b_.CreateAdd(rows_, one), zero);
  emit_carrying_loop(b_, zero, turns, 1, "row", carried, [&](Ir turn) {
    Ir set = b_.CreateAnd(turn, one);
    enter_joined_row(scalar_.call(llvm::Intrinsic::smin, {turn, b_.CreateSub(rows_, one)}), set);
    exchange_rows();
    enter_joined_row(scalar_.call(llvm::Intrinsic::smax, {b_.CreateSub(turn, one), zero}), b_.CreateXor(set, one));
    for (size_t i = 0; i < handed.size(); ++i) define(*handed[i], values[i], false);
    emit_part(last.row, Point{scalar_, nullptr, nullptr}, true);
    prepare_splats(last.element, false);
    exchange_rows();
    for (size_t number = 0; number < beside; ++number) emit_stage(number);
    joined_ = &last;
    emit_stage(beside);
    joined_ = nullptr;
    for (size_t i = 0; i < handed.size(); ++i) values[i] = bindings_[handed[i]->result].value;
  });
}

// Both rows' loads stand in front of both rows' stores (see stores_).
void KernelEmitter::emit_element(const NestStage& stage, const Point& point) {
  if (!joined_) return emit_part(stage.element, point, false);
  exchange_rows();
  emit_instructions(joined_->element, point, false);
  std::vector<std::function<void()>> later = std::exchange(stores_, {});
  exchange_rows();
  emit_part(stage.element, point, false);
  exchange_rows();
  for (const auto& store : later) store();
  exchange_rows();
}

}  // namespace tsc::jit
