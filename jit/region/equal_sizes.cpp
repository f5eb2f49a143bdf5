#include "jit/region/equal_sizes.h"

#include <numeric>

namespace tsc::jit {

EqualSizes::EqualSizes(const Region& region) : EqualSizes(at_entry(region)) { add_guards(region.body); }

EqualSizes EqualSizes::at_entry(const Region& region) {
  EqualSizes facts;
  if (const size_t count = region.value_count()) facts.grow(static_cast<ValueId>(count - 1));
  for (const auto& [a, b] : region.assumptions) facts.unite(a, b);
  facts.collect_constants(region.body);
  return facts;
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

void EqualSizes::grow(ValueId value) {
  const size_t known = parent_.size();
  if (value < known) return;
  parent_.resize(size_t{value} + 1);
  std::iota(parent_.begin() + static_cast<std::ptrdiff_t>(known), parent_.end(), static_cast<ValueId>(known));
  number_.resize(parent_.size(), -1);
}

void EqualSizes::set_constant(ValueId value, int64_t number) {
  grow(value);
  number_[representative(value)] = static_cast<int32_t>(numbers_.size());
  numbers_.push_back(number);
}

void EqualSizes::unite(ValueId a, ValueId b) {
  grow(a < b ? b : a);
  a = representative(a);
  b = representative(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  if (number_[a] < 0) number_[a] = number_[b];
  parent_[b] = a;
}

bool EqualSizes::equal(ValueId a, ValueId b) const {
  a = representative(a);
  b = representative(b);
  if (a == b) return true;
  const auto x = constant(a), y = constant(b);
  return x && y && *x == *y;
}

std::optional<int64_t> EqualSizes::constant(ValueId value) const {
  value = representative(value);
  if (value >= number_.size() || number_[value] < 0) return std::nullopt;
  return numbers_[number_[value]];
}

namespace {

void rename(Block& block, const std::vector<ValueId>& names) {
  for (Instruction& instruction : block.instructions) {
    for (ValueId& operand : instruction.operands) operand = names[operand];
    for (const auto& inner : instruction.blocks) rename(*inner, names);
  }
}

}  // namespace

bool share_input_sizes(Region& region) {
  std::vector<bool> is_input_size(region.value_count());
  for (ValueId input : region.body.parameters)
    for (ValueId size : region.type(input).sizes) is_input_size[size] = true;
  const EqualSizes assumed = EqualSizes::at_entry(region);
  std::vector<ValueId> names(region.value_count());
  std::vector<ValueId> first(region.value_count(), kNoValue);  // of a class: its first size of an input
  bool shares = false;
  for (ValueId value = 0; value < names.size(); ++value) {
    names[value] = value;
    if (!is_input_size[value]) continue;
    ValueId& name = first[assumed.representative(value)];
    if (name == kNoValue) name = value;
    shares |= name != value;
    names[value] = name;
  }
  if (!shares) return false;
  for (ValueId value = 0; value < names.size(); ++value)
    for (ValueId& size : region.type(value).sizes) size = names[size];
  rename(region.body, names);
  for (auto& [a, b] : region.assumptions) a = names[a], b = names[b];
  std::erase_if(region.assumptions, [](const auto& pair) { return pair.first == pair.second; });
  return true;
}

}  // namespace tsc::jit
