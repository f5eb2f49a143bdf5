#include "jit/region/liveness.h"

#include <unordered_set>

namespace tsc::jit {

void for_each_use(const Instruction& instruction, const std::function<void(ValueId)>& visit) {
  for (ValueId operand : instruction.operands) visit(operand);
  for (const auto& block : instruction.blocks)
    for (const Instruction& inner : block->instructions) for_each_use(inner, visit);
}

namespace {

using Dying = std::unordered_map<const Instruction*, std::vector<ValueId>>;

void visit_block(const Region& region, const Block& block, Dying* dying) {
  std::unordered_set<ValueId> own(block.parameters.begin(), block.parameters.end());
  for (const Instruction& instruction : block.instructions)
    own.insert(instruction.results.begin(), instruction.results.end());
  for (size_t i = block.instructions.size(); i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    const auto last_use = [&](ValueId value) {
      if (region.type(value).kind == ValueKind::Tensor && own.erase(value))
        (*dying)[&instruction].push_back(value);
    };
    for (ValueId result : instruction.results) last_use(result);
    for_each_use(instruction, last_use);
    for (const auto& inner : instruction.blocks) visit_block(region, *inner, dying);
  }
}

}  // namespace

LastUses find_last_uses(const Region& region) {
  LastUses uses;
  visit_block(region, region.body, &uses.dying_);
  return uses;
}

}  // namespace tsc::jit
