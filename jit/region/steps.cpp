#include "jit/region/steps.h"

#include <algorithm>

#include "jit/region/liveness.h"

namespace tsc::jit {
namespace {

void find_old_views(const Block& block, std::unordered_map<ValueId, ValueId>& bases,
                    OldViews& writes) {
  for (const Instruction& instruction : block.instructions) {
    for_each_use(instruction, [&](ValueId used) {
      const auto base = bases.find(used);
      if (base == bases.end() || instruction.code == Code::WriteBack) return;
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
  std::unordered_map<ValueId, ValueId> bases;
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

void find_steps(const Block& block, const LastUses& last_uses,
                std::unordered_map<const Block*, Steps>& all) {
  Steps steps;
  std::vector<std::pair<ValueId, uint32_t>> guarded;
  for (const Instruction& instruction : block.instructions) {
    for (const auto& nested : instruction.blocks) find_steps(*nested, last_uses, all);
    if (instruction.code == Code::Const) continue;
    const auto dying = last_uses.after(instruction);
    if (instruction.code == Code::Guard && dying.empty()) {
      const std::pair<ValueId, uint32_t> guard{instruction.operands[0], instruction.id};
      if (std::find(guarded.begin(), guarded.end(), guard) != guarded.end()) continue;
      guarded.push_back(guard);
    }
    steps.push_back({&instruction, {dying.begin(), dying.end()}, operands_differ(instruction)});
  }
  all.emplace(&block, std::move(steps));
}

}  // namespace

RegionSteps::RegionSteps(const Region& region)
    : region_(region),
      old_views_(find_old_views(region)),
      held_values_(region.value_count()),
      held_sizes_(region.value_count()) {
  find_steps(region.body, find_last_uses(region), blocks_);
  body_ = blocks_.at(&region.body);
  look_through(region.body);
}

void RegionSteps::look_through(const Block& block) {
  for (const Instruction& instruction : block.instructions) {
    has_host_ |= instruction.code == Code::Host;
    if (instruction.code == Code::Const)
      constants_.push_back({instruction.results[0], instruction.number});
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
    for (Step& step : steps) std::erase_if(step.dying, [&](ValueId value) { return held_values_[value]; });
  for (const auto& [value, number] : constants_) known[value] = true;
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
