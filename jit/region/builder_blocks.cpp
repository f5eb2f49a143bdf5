// RegionBuilder: If and Loop with their nested blocks.
#include "jit/region/builder_tables.h"

namespace tsc::jit {

void RegionBuilder::fill_block(Block& block, const Branch& emit) {
  Block* const outer = block_;
  auto mark = tables_->mark();
  block_ = &block;
  const std::vector<ValueId> yielded = emit();
  const bool left = !block.instructions.empty() && block.instructions.back().code == Code::Exit;
  if (!left) append(Code::Yield, yielded);
  block_ = outer;
  tables_->restore(std::move(mark));
}

// The type of a value that comes from either of two places: sizes that are not one value become fresh.
// `visible` values exist outside the blocks.
Type RegionBuilder::joined_type(ValueId a, ValueId b, size_t visible) {
  const Type first = region_.type(a), second = region_.type(b);
  TSC_CHECK(first.kind == second.kind && first.dtype == second.dtype && first.sizes.size() == second.sizes.size(),
            "the two branches of an if give different types");
  Type joined = first;
  for (size_t k = 0; k < joined.sizes.size(); ++k) {
    const bool same = known_equal(first.sizes[k], second.sizes[k]);
    const ValueId size = first.sizes[k] < visible ? first.sizes[k] : second.sizes[k];
    joined.sizes[k] = same && size < visible ? size : add_result({ValueKind::Int, {}, {}}, open_.size());
  }
  return joined;
}

std::vector<ValueId> RegionBuilder::branch(ValueId condition, const Branch& then, const Branch& otherwise) {
  const size_t visible = region_.value_count();
  const uint32_t place = origin;
  auto first = std::make_unique<Block>(), second = std::make_unique<Block>();
  fill_block(*first, then);
  fill_block(*second, otherwise);
  const Instruction& end = first->instructions.back();
  const Instruction& other_end = second->instructions.back();
  const bool first_leaves = end.code == Code::Exit, second_leaves = other_end.code == Code::Exit;
  const ValueList& from = first_leaves ? other_end.operands : end.operands;
  const ValueList& also = second_leaves ? end.operands : other_end.operands;
  std::vector<ValueId> results;
  if (!first_leaves || !second_leaves) {
    TSC_CHECK(from.size() == also.size(), "the two branches of an if give different counts");
    for (size_t i = 0; i < from.size(); ++i) {
      Type type = joined_type(from[i], also[i], visible);
      results.push_back(add_result(std::move(type), open_.size()));
    }
  }
  const ValueId operands[] = {condition};
  Instruction& instruction = append(Code::If, operands);
  instruction.origin = place;
  instruction.results = SmallVector<ValueId, 2>(results.begin(), results.end());
  instruction.blocks.push_back(std::move(first));
  instruction.blocks.push_back(std::move(second));
  return results;
}

std::vector<ValueId> RegionBuilder::loop(ValueId trips, std::span<const ValueId> initial, const LoopBody& emit) {
  std::vector<Type> types;
  for (ValueId value : initial) types.push_back(region_.type(value));
  const std::vector<ValueId> parameters = begin_loop(types);
  const std::vector<ValueId> next = emit(parameters[0], std::span(parameters).subspan(1));
  return end_loop(trips, initial, next, {});
}

std::vector<ValueId> RegionBuilder::begin_loop(std::span<const Type> carried) {
  TSC_CHECK(open_.size() + 1 < kGone, "loops are nested too deeply");
  open_.push_back({block_, std::make_unique<Block>()});
  tables_->marks.push_back(tables_->mark());
  block_ = open_.back().body.get();
  const auto add = [&](Type type) { block_->parameters.push_back(add_result(std::move(type), open_.size())); };
  add({ValueKind::Int, {}, {}});
  for (const Type& type : carried) add(Type(type));
  return block_->parameters;
}

std::vector<ValueId> RegionBuilder::end_loop(ValueId trips, std::span<const ValueId> initial,
                                             std::span<const ValueId> next, std::span<const ValueId> stacked,
                                             bool counts_down) {
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
  std::unique_ptr<Block> body = std::move(open_.back().body);
  block_ = open_.back().outer;
  open_.pop_back();
  tables_->restore(std::move(tables_->marks.back()));
  tables_->marks.pop_back();
  for (uint8_t& depth : depths_)
    if (depth != kGone && depth > outside) depth = kGone;
  std::vector<ValueId> operands = {trips};
  operands.insert(operands.end(), initial.begin(), initial.end());
  Instruction& instruction = append(Code::Loop, operands);
  instruction.attributes.mode = counts_down;
  for (Type& type : types) instruction.results.push_back(add_result(std::move(type), outside));
  instruction.blocks.push_back(std::move(body));
  return {instruction.results.begin(), instruction.results.end()};
}

const ScalarKey* RegionBuilder::made_by(ValueId scalar) const {
  const auto found = tables_->definitions.find(scalar);
  return found == tables_->definitions.end() ? nullptr : &found->second;
}

}  // namespace tsc::jit
