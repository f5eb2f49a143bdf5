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
  TSC_CHECK(first.kind == second.kind && first.dtype == second.dtype &&
                first.sizes.size() == second.sizes.size(),
            "the two branches of an if give different types");
  Type joined = first;
  for (size_t k = 0; k < joined.sizes.size(); ++k) {
    const bool same = known_equal(first.sizes[k], second.sizes[k]);
    const ValueId size = first.sizes[k] < visible ? first.sizes[k] : second.sizes[k];
    joined.sizes[k] = same && size < visible ? size : region_.add_value({ValueKind::Int, {}, {}});
  }
  return joined;
}

std::vector<ValueId> RegionBuilder::branch(ValueId condition, const Branch& then,
                                           const Branch& otherwise) {
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
      results.push_back(region_.add_value(std::move(type)));
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

std::vector<ValueId> RegionBuilder::loop(ValueId trips, std::span<const ValueId> initial,
                                         const LoopBody& emit) {
  const uint32_t place = origin;
  auto body = std::make_unique<Block>();
  const ValueId iteration = region_.add_value({ValueKind::Int, {}, {}});
  body->parameters.push_back(iteration);
  std::vector<ValueId> carried, results;
  for (ValueId value : initial) {
    Type type = region_.type(value);
    carried.push_back(region_.add_value(std::move(type)));
    body->parameters.push_back(carried.back());
  }
  fill_block(*body, [&] {
    const std::vector<ValueId> next = emit(iteration, carried);
    TSC_CHECK(next.size() == carried.size(), "a loop gives another number of values");
    for (size_t i = 0; i < next.size(); ++i) {
      const Type before = region_.type(carried[i]), after = region_.type(next[i]);
      TSC_CHECK(before.kind == after.kind && before.dtype == after.dtype &&
                    before.sizes.size() == after.sizes.size(),
                "a carried value changes its type");
      for (size_t k = 0; k < before.sizes.size(); ++k)
        TSC_CHECK(known_equal(before.sizes[k], after.sizes[k]),
                  "a carried tensor changes its size");
    }
    return next;
  });
  for (ValueId value : initial) {
    Type type = region_.type(value);
    results.push_back(region_.add_value(std::move(type)));
  }
  Instruction& instruction = append(Code::Loop, {});
  instruction.origin = place;
  instruction.operands.push_back(trips);
  for (ValueId value : initial) instruction.operands.push_back(value);
  instruction.results = SmallVector<ValueId, 2>(results.begin(), results.end());
  instruction.blocks.push_back(std::move(body));
  return results;
}

}  // namespace tsc::jit
