// RegionBuilder: If and Loop with their nested blocks.
#include "jit/region/builder_tables.h"

namespace tsc::jit {

void RegionBuilder::open_block() {
  open_.back().body = std::make_unique<Block>();
  open_.back().assumed = region_.assumptions.size();
  tables_->marks.push_back(tables_->mark());
  block_ = open_.back().body.get();
}

// Its values and tables end with it. What has been appended outside is known there, and what has been assumed of values
// from outside holds there, too.
std::unique_ptr<Block> RegionBuilder::close_block() {
  std::unique_ptr<Block> body = std::move(open_.back().body);
  for (uint8_t& depth : depths_)
    if (depth != kGone && depth >= open_.size()) depth = kGone;
  tables_->restore(std::move(tables_->marks.back()), [&](ValueId value) { return depth_of(value) != kGone; });
  tables_->marks.pop_back();
  for (size_t i = open_.back().assumed; i < region_.assumptions.size(); ++i)
    if (const auto [a, b] = region_.assumptions[i]; depth_of(a) != kGone && depth_of(b) != kGone)
      tables_->equal.unite(a, b);
  return body;
}

// ---- If ----

// The type of a value that comes from either of two places: sizes that are not one value become fresh.
Type RegionBuilder::joined_type(ValueId a, ValueId b) {
  const Type first = region_.type(a), second = region_.type(b);
  TSC_CHECK(first.kind == second.kind && first.dtype == second.dtype && first.sizes.size() == second.sizes.size(),
            "the two branches of an if give different types");
  const auto is_visible = [&](ValueId size) { return depth_of(size) <= open_.size(); };
  Type joined = first;
  for (size_t k = 0; k < joined.sizes.size(); ++k) {
    const bool same = known_equal(first.sizes[k], second.sizes[k]);
    const ValueId size = is_visible(first.sizes[k]) ? first.sizes[k] : second.sizes[k];
    joined.sizes[k] = same && is_visible(size) ? size : add_result({ValueKind::Int, {}, {}}, open_.size());
  }
  return joined;
}

std::vector<ValueId> RegionBuilder::branch(ValueId condition, const Branch& then, const Branch& otherwise) {
  begin_branch();
  const std::vector<ValueId> first = then();
  next_branch();
  const std::vector<ValueId> second = otherwise();
  return end_branch(condition, first, second);
}

void RegionBuilder::begin_branch() {
  TSC_CHECK(open_.size() + 1 < kGone, "branches are nested too deeply");
  open_.push_back({block_, nullptr, nullptr, true});
  open_block();
}

void RegionBuilder::next_branch() {
  open_.back().first = close_block();
  open_block();
}

std::vector<ValueId> RegionBuilder::end_branch(ValueId condition, std::span<const ValueId> first,
                                               std::span<const ValueId> second) {
  for (ValueId value : second)
    if (depth_of(value) == kGone) value_is_gone();
  std::unique_ptr<Block> blocks[] = {nullptr, close_block()};
  blocks[0] = std::move(open_.back().first);
  block_ = open_.back().outer;
  open_.pop_back();
  const std::span<const ValueId> yielded[] = {first, second};
  bool leaves[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<Instruction>& code = blocks[i]->instructions;
    leaves[i] = !code.empty() && code.back().code == Code::Exit;
    if (leaves[i]) continue;
    Instruction& yield = code.emplace_back();
    yield.code = Code::Yield;
    yield.operands = ValueList(yielded[i]);
    yield.origin = known_origin();
  }
  std::vector<ValueId> results;
  if (!leaves[0] || !leaves[1]) {
    const std::span<const ValueId> one = leaves[0] ? second : first, other = leaves[1] ? first : second;
    TSC_CHECK(one.size() == other.size(), "the two branches of an if give different counts");
    for (size_t i = 0; i < one.size(); ++i) results.push_back(add_result(joined_type(one[i], other[i]), open_.size()));
  }
  Instruction& instruction = append(Code::If, {&condition, 1});
  instruction.results = SmallVector<ValueId, 2>(results.begin(), results.end());
  for (std::unique_ptr<Block>& block : blocks) instruction.blocks.push_back(std::move(block));
  return results;
}

// ---- Loop ----

std::vector<ValueId> RegionBuilder::loop(ValueId trips, std::span<const ValueId> initial, const LoopBody& emit) {
  std::vector<Type> types;
  for (ValueId value : initial) types.push_back(region_.type(value));
  const std::vector<ValueId> parameters = begin_loop(types);
  const std::vector<ValueId> next = emit(parameters[0], std::span(parameters).subspan(1));
  return end_loop(trips, initial, next, {});
}

std::vector<ValueId> RegionBuilder::begin_loop(std::span<const Type> carried) {
  TSC_CHECK(open_.size() + 1 < kGone, "loops are nested too deeply");
  open_.push_back({block_, nullptr, nullptr});
  open_block();
  const auto add = [&](Type type) { block_->parameters.push_back(add_result(std::move(type), open_.size())); };
  add({ValueKind::Int, {}, {}});
  for (const Type& type : carried) add(Type(type));
  return block_->parameters;
}

std::vector<ValueId> RegionBuilder::end_loop(ValueId trips, std::span<const ValueId> initial,
                                             std::span<const ValueId> next, std::span<const ValueId> stacked,
                                             LoopMode mode) {
  const std::vector<ValueId> parameters = block_->parameters;
  TSC_CHECK(next.size() == initial.size() && parameters.size() == initial.size() + 1,
            "a loop gives another number of values");
  for (size_t i = 0; i < next.size(); ++i) {
    const Type before = region_.type(parameters[i + 1]), after = region_.type(next[i]);
    TSC_CHECK(before.kind == after.kind && before.dtype == after.dtype && before.sizes.size() == after.sizes.size(),
              "a carried value changes its type");
    for (size_t k = 0; k < before.sizes.size(); ++k)
      TSC_CHECK(known_equal(before.sizes[k], after.sizes[k]), "a carried tensor changes its size");
  }
  std::vector<Type> types;
  for (ValueId parameter : std::span(parameters).subspan(1)) types.push_back(region_.type(parameter));
  const size_t outside = open_.size() - 1;
  for (ValueId value : stacked) {
    Type type = region_.type(value);
    for (ValueId size : type.sizes)
      TSC_CHECK(depth_of(size) <= outside, "a stacked tensor has a size that the loop computes");
    type.sizes.insert(0, trips);
    types.push_back(std::move(type));
  }
  std::vector<ValueId> yielded(next.begin(), next.end());
  yielded.insert(yielded.end(), stacked.begin(), stacked.end());
  append(Code::Yield, yielded);
  std::unique_ptr<Block> body = close_block();
  block_ = open_.back().outer;
  open_.pop_back();
  std::vector<ValueId> operands = {trips};
  operands.insert(operands.end(), initial.begin(), initial.end());
  Instruction& instruction = append(Code::Loop, operands);
  instruction.attributes.mode = mode;
  for (Type& type : types) instruction.results.push_back(add_result(std::move(type), outside));
  instruction.blocks.push_back(std::move(body));
  return {instruction.results.begin(), instruction.results.end()};
}

const ScalarKey* RegionBuilder::made_by(ValueId scalar) const {
  const auto found = tables_->definitions.find(scalar);
  return found == tables_->definitions.end() ? nullptr : &found->second;
}

}  // namespace tsc::jit
