#include "jit/autodiff/turn_ways.h"

#include <algorithm>

#include "jit/autodiff/block_region.h"

namespace tsc::jit {
namespace {

// The If at the end of the block that ends a turn in the middle; null: there is none. `first`: what the block gives as
// the loop's condition.
Instruction* test_of(const RegionBuilder& builder, Block& block, ValueId first) {
  for (Instruction& one : block.instructions) {
    if (one.code != Code::If || one.blocks.empty()) continue;
    const auto place = std::find(one.results.begin(), one.results.end(), first) - one.results.begin();
    if (static_cast<size_t>(place) == one.results.size()) continue;
    const ValueId goes_on = one.blocks[1]->instructions.back().operands[static_cast<size_t>(place)];
    const auto known = builder.known(goes_on);
    if (known && known->kind == Scalar::Kind::Bool && !known->i) return &one;
    const auto& code = one.blocks[1]->instructions;
    const auto maker = std::find_if(code.begin(), code.end(), [&](const Instruction& inner) {
      return inner.code == Code::Const && inner.results[0] == goes_on;
    });
    if (maker != code.end() && !maker->number.i) return &one;
  }
  return nullptr;
}

// The blocks that way 0 goes through, and the tests between them.
struct Levels {
  std::vector<Block*> blocks;
  std::vector<Instruction*> tests;
};
Levels levels_of(const RegionBuilder& builder, Instruction& loop) {
  Levels found;
  found.blocks.push_back(loop.blocks[0].get());
  while (loop.attributes.mode == kWhile) {
    Block& block = *found.blocks.back();
    Instruction* test = test_of(builder, block, block.instructions.back().operands[0]);
    if (!test) break;
    found.tests.push_back(test);
    found.blocks.push_back(test->blocks[0].get());
  }
  return found;
}

// A number as a tensor: an instruction of the block, in front of `before`.
ValueId tensor_of(Region& region, Block& block, const Instruction* before, ValueId number) {
  const ValueKind kind = region.type(number).kind;
  const DType dtype = kind == ValueKind::Int ? DType::I64 : kind == ValueKind::Float ? DType::F64 : DType::Bool;
  Instruction full;
  full.code = Code::Op;
  full.op = Op::full;
  full.origin = block.instructions.back().origin;
  full.attributes.dtype = dtype;
  full.operands = {number};
  const ValueId tensor = region.add_value({ValueKind::Tensor, dtype, {}});
  full.results.push_back(tensor);
  block.instructions.insert(block.instructions.begin() + (before - block.instructions.data()), std::move(full));
  return tensor;
}

bool defines(const Block& block, ValueId value) {
  const auto has = [&](const auto& values) { return std::find(values.begin(), values.end(), value) != values.end(); };
  return has(block.parameters) || std::any_of(block.instructions.begin(), block.instructions.end(),
                                              [&](const Instruction& one) { return has(one.results); });
}

}  // namespace

size_t count_ways(const RegionBuilder& builder, const Instruction& loop) {
  return levels_of(builder, const_cast<Instruction&>(loop)).blocks.size();
}

WayOfTurn way_of_turn(const RegionBuilder& builder, Instruction& loop, size_t way) {
  const Levels levels = levels_of(builder, loop);
  WayOfTurn out;
  out.block.parameters = levels.blocks[0]->parameters;
  ValueMap<ValueId> given;  // for results of the tests
  const auto take = [&](Block& block, const Instruction* without) {
    for (Instruction& one : block.instructions) {
      if (&one == without || one.code == Code::Yield) continue;
      out.block.instructions.push_back(clone_instruction(one));
      out.sources.push_back(&one);
    }
  };
  for (size_t depth = 0;; ++depth) {
    Instruction* test = depth < levels.tests.size() ? levels.tests[depth] : nullptr;
    take(*levels.blocks[depth], test);
    if (!test) break;
    const bool leaves = depth + 1 == way;
    Block& next = *test->blocks[leaves ? 1 : 0];
    const ValueList& yielded = next.instructions.back().operands;
    for (size_t i = 0; i < yielded.size(); ++i) given[test->results[i]] = yielded[i];
    if (leaves) {
      take(next, nullptr);
      break;
    }
  }
  out.block.instructions.push_back(clone_instruction(levels.blocks[0]->instructions.back()));
  for (ValueId& value : out.block.instructions.back().operands)
    for (auto found = given.find(value); found != given.end(); found = given.find(value)) value = found->second;
  return out;
}

size_t yield_from_turn(RegionBuilder& builder, size_t loop, ValueId value) {
  Region& region = builder.region();
  const Levels levels = levels_of(builder, region.body.instructions[loop]);
  size_t depth = 0;
  while (depth < levels.blocks.size() && !defines(*levels.blocks[depth], value)) ++depth;
  if (depth == levels.blocks.size())
    throw Error(ErrorKind::NotImplementedError, "gradients read what a turn that ends in the middle has made there");
  Block& block = *levels.blocks[depth];
  const Instruction* test = depth < levels.tests.size() ? levels.tests[depth] : &block.instructions.back();
  if (region.type(value).kind != ValueKind::Tensor) value = tensor_of(region, block, test, value);
  // An instruction more has moved the tests of this block, but none of those around it.
  while (depth > 0) {
    Instruction& around = *levels.tests[depth - 1];
    around.blocks[0]->instructions.back().operands.push_back(value);
    const ValueId nothing = add_nothing(region, *around.blocks[1], region.type(value));
    around.blocks[1]->instructions.back().operands.push_back(nothing);
    value = region.add_value(Type(region.type(value)));
    around.results.push_back(value);
    --depth;
  }
  ValueList& yielded = levels.blocks[0]->instructions.back().operands;
  yielded.push_back(value);
  return yielded.size() - 1;
}

}  // namespace tsc::jit
