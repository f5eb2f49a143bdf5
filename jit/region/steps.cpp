#include "jit/region/steps.h"

#include <algorithm>

#include "jit/region/liveness.h"
#include "jit/region/stores.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

// The input of a write_back, unless its memory gets what it held at first.
bool is_only_written(const Instruction& instruction, ValueId used) {
  return instruction.code == Code::WriteBack && used == instruction.operands[0] && used != instruction.operands[1];
}

void find_old_views(const Block& block, ValueMap<ValueId>& bases, OldViews& writes) {
  for (const Instruction& instruction : block.instructions) {
    for_each_use(instruction, [&](ValueId used) {
      const auto base = bases.find(used);
      if (base == bases.end() || is_only_written(instruction, used)) return;
      for (auto& [write, values] : writes) {
        if (write->operands[0] != base->second) continue;
        if (std::find(values.begin(), values.end(), used) == values.end()) values.push_back(used);
      }
    });
    if (instruction.code == Code::WriteBack) writes[&instruction];
    const bool view = instruction.code == Code::Op && op_row(instruction.op).flags & kView;
    if (view) {
      const auto base = bases.find(instruction.operands[0]);
      if (base != bases.end()) bases[instruction.results[0]] = base->second;
    }
    for (const auto& nested : instruction.blocks) find_old_views(*nested, bases, writes);
  }
}

OldViews find_old_views(const Region& region) {
  ValueMap<ValueId> bases;
  for (ValueId input : region.body.parameters)
    if (region.type(input).kind == ValueKind::Tensor) bases[input] = input;
  OldViews writes;
  find_old_views(region.body, bases, writes);
  return writes;
}

bool operands_differ(const Instruction& instruction) {
  if (instruction.code != Code::Exit) return false;
  std::vector<ValueId> operands(instruction.operands.begin(), instruction.operands.end());
  std::sort(operands.begin(), operands.end());
  return std::adjacent_find(operands.begin(), operands.end()) == operands.end();
}

void find_steps(const Block& block, const LastUses& last_uses, const StoresIntoInputs& stores,
                std::unordered_map<const Block*, Steps>& all) {
  Steps steps;
  steps.reserve(block.instructions.size());
  const LastUses::OfBlock& uses = last_uses.of(block);
  std::vector<std::pair<ValueId, uint32_t>> guarded;
  for (size_t i = 0; i < block.instructions.size(); ++i) {
    const Instruction& instruction = block.instructions[i];
    for (const auto& nested : instruction.blocks) find_steps(*nested, last_uses, stores, all);
    if (instruction.code == Code::Const) continue;
    const auto dying = uses.after(i);
    if (instruction.code == Code::Guard && dying.empty()) {
      const std::pair<ValueId, uint32_t> guard{instruction.operands[0], instruction.id};
      if (std::find(guarded.begin(), guarded.end(), guard) != guarded.end()) continue;
      guarded.push_back(guard);
    }
    const auto store = stores.find(&instruction);
    steps.push_back({&instruction, SmallVector<ValueId, 2>(dying), operands_differ(instruction),
                     store == stores.end() ? kNoValue : store->second});
  }
  all.emplace(&block, std::move(steps));
}

}  // namespace

RegionSteps::RegionSteps(const Region& region)
    : region_(region), old_views_(find_old_views(region)), held_values_(region.value_count()),
      held_sizes_(region.value_count()) {
  find_steps(region.body, find_last_uses(region), find_stores_into_inputs(region), blocks_);
  look_through(region.body);
}

void RegionSteps::look_through(const Block& block) {
  for (const Instruction& instruction : block.instructions) {
    has_host_ |= instruction.code == Code::Host;
    if (instruction.code == Code::Const) constants_.push_back({instruction.results[0], instruction.number});
    for (const auto& nested : instruction.blocks) look_through(*nested);
  }
}

void RegionSteps::hold(const std::vector<bool>& held) {
  std::vector<bool> known(region_.value_count());
  for (size_t i = 0; i < held.size(); ++i) {
    if (!held[i]) continue;
    const ValueId input = region_.body.parameters[i];
    held_values_[input] = true;
    for (ValueId size : region_.type(input).sizes) held_sizes_[size] = known[size] = true;
  }
  for (auto& [block, steps] : blocks_)
    for (Step& step : steps)
      for (size_t i = step.dying.size(); i-- > 0;)
        if (held_values_[step.dying[i]]) step.dying.erase(i);
  for (const auto& [value, number] : constants_) known[value] = true;
  holds_ = true;
  body_.clear();
  bool prologue = true;
  for (const Step& step : blocks_.at(&region_.body)) {
    const Instruction& instruction = *step.instruction;
    const bool scalar = instruction.code == Code::Scalar, guard = instruction.code == Code::Guard;
    prologue &= scalar || guard;
    const bool follows = (scalar || (guard && prologue)) && step.dying.empty() &&
                         std::all_of(instruction.operands.begin(), instruction.operands.end(),
                                     [&](ValueId operand) { return known[operand]; });
    (follows ? settled_ : body_).push_back(step);
    if (follows)
      for (ValueId result : instruction.results) known[result] = true;
  }
}

}  // namespace tsc::jit
