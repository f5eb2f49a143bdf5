#include "jit/region/equal_sizes.h"

namespace tsc::jit {

EqualSizes::EqualSizes(const Region& region) {
  for (const auto& [a, b] : region.assumptions) unite(a, b);
  collect_constants(region.body);
  add_guards(region.body);
}

void EqualSizes::collect_constants(const Block& block) {
  for (const Instruction& instruction : block.instructions) {
    if (instruction.code == Code::Const && instruction.number.kind == Scalar::Kind::Int)
      set_constant(instruction.results[0], instruction.number.i);
    for (const auto& inner : instruction.blocks) collect_constants(*inner);
  }
}

void EqualSizes::add_guards(const Block& block) {
  for (const Instruction& instruction : block.instructions) {
    if (instruction.code == Code::Scalar && instruction.scalar_op == ScalarOp::eq)
      comparisons_[instruction.results[0]] = {instruction.operands[0], instruction.operands[1]};
    if (instruction.code != Code::Guard) continue;
    const auto found = comparisons_.find(instruction.operands[0]);
    if (found != comparisons_.end()) unite(found->second.first, found->second.second);
  }
}

ValueId EqualSizes::representative(ValueId value) const {
  auto found = parent_.find(value);
  if (found == parent_.end()) return value;
  const ValueId root = representative(found->second);
  parent_[value] = root;
  return root;
}

void EqualSizes::set_constant(ValueId value, int64_t number) {
  constants_[representative(value)] = number;
}

void EqualSizes::unite(ValueId a, ValueId b) {
  a = representative(a);
  b = representative(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  const auto number = constants_.find(b);
  if (number != constants_.end()) {
    constants_.emplace(a, number->second);
    constants_.erase(b);
  }
  parent_[b] = a;
}

bool EqualSizes::equal(ValueId a, ValueId b) const {
  a = representative(a);
  b = representative(b);
  if (a == b) return true;
  const auto x = constants_.find(a), y = constants_.find(b);
  return x != constants_.end() && y != constants_.end() && x->second == y->second;
}

std::optional<int64_t> EqualSizes::constant(ValueId value) const {
  const auto found = constants_.find(representative(value));
  if (found == constants_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tsc::jit
