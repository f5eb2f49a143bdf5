#include "jit/passes/rewrite.h"

#include <algorithm>

namespace tsc::jit {

ValueId Replacements::resolve(ValueId value) const {
  for (auto found = with_.find(value); found != with_.end(); found = with_.find(value)) value = found->second;
  return value;
}

void Replacements::apply_to(Instruction& instruction) const {
  for (ValueId& operand : instruction.operands) operand = resolve(operand);
}

void Replacements::apply_to(Block& block) const {
  for (Instruction& instruction : block.instructions) {
    apply_to(instruction);
    for (const auto& inner : instruction.blocks) apply_to(*inner);
  }
}

void Replacements::apply_to(Region& region) const {
  if (empty()) return;
  apply_to(region.body);
  for (ValueId value = 0; value < region.value_count(); ++value)
    for (ValueId& size : region.type(value).sizes) size = resolve(size);
  for (auto& [a, b] : region.assumptions) {
    a = resolve(a);
    b = resolve(b);
  }
  std::erase_if(region.assumptions, [](const auto& pair) { return pair.first == pair.second; });
}

Escapes::Escapes(const Region& region) { visit(region, region.body); }

void Escapes::visit(const Region& region, const Block& block) {
  for (size_t i = block.instructions.size(); i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    for (const auto& inner : instruction.blocks) visit(region, *inner);
    const Code code = instruction.code;
    const bool view = code == Code::Op && op_row(instruction.op).flags & kView;
    if (view && escaping_.count(instruction.results[0])) escaping_.insert(instruction.operands[0]);
    if (code == Code::Op || code == Code::Const || code == Code::Scalar || code == Code::Read ||
        code == Code::WriteBack)
      continue;
    for (ValueId operand : instruction.operands)
      if (region.type(operand).kind == ValueKind::Tensor) escaping_.insert(operand);
  }
}

void Insertions::put_into(std::vector<Instruction>& code) {
  if (list_.empty()) return;
  std::vector<Instruction> out;
  out.reserve(code.size() + list_.size());
  size_t next = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    for (; next < list_.size() && list_[next].first == i; ++next) out.push_back(std::move(list_[next].second));
    out.push_back(std::move(code[i]));
  }
  code = std::move(out);
  list_.clear();
}

void for_each_block(Region& region, const std::function<void(Block&)>& visit) {
  std::vector<Block*> pending = {&region.body};
  while (!pending.empty()) {
    Block& block = *pending.back();
    pending.pop_back();
    visit(block);
    for (Instruction& instruction : block.instructions)
      for (const auto& inner : instruction.blocks) pending.push_back(inner.get());
  }
}

}  // namespace tsc::jit
