#include "jit/autodiff/block_region.h"

#include <algorithm>
#include <map>

#include "jit/region/equal_sizes.h"

namespace tsc::jit {

namespace {

// What is known of the sizes that occur in there, by themselves: others stand for them no longer.
void keep_own_facts(Region& region) {
  const EqualSizes facts(region);
  std::map<ValueId, ValueId> first;  // of each class
  std::map<int64_t, ValueId> numbers;
  std::vector<std::pair<ValueId, ValueId>> assumed;
  ValueSet seen;
  for (const Instruction& one : region.body.instructions)
    if (one.code == Code::Const && one.number.kind == Scalar::Kind::Int) numbers.emplace(one.number.i, one.results[0]);
  const auto note = [&](ValueId value) {
    if (region.type(value).kind != ValueKind::Int || !seen.insert(value)) return;
    const auto number = facts.constant(value);
    const auto known = number ? numbers.find(*number) : numbers.end();
    const ValueId other =
        known != numbers.end() ? known->second : first.emplace(facts.representative(value), value).first->second;
    if (other != value) assumed.push_back({other, value});
  };
  const auto note_all = [&](ValueId value) {
    note(value);
    for (ValueId size : region.type(value).sizes) note(size);
  };
  for (ValueId parameter : region.body.parameters) note_all(parameter);
  for (const Instruction& instruction : region.body.instructions) {
    for (ValueId operand : instruction.operands) note(operand);
    for (ValueId result : instruction.results) note_all(result);
  }
  region.assumptions = std::move(assumed);
}

}  // namespace

// Numbers from outside come in front of the tensors, whose sizes some of them are.
BlockRegion region_of_block(RegionBuilder& builder, const Block& block) {
  BlockRegion out;
  Region& region = out.region = builder.region().clone();
  region.body = Block();
  const auto add_outer = [&](ValueId value) {
    if (!out.own.count(value) && std::find(out.outer.begin(), out.outer.end(), value) == out.outer.end())
      out.outer.push_back(value);
  };
  out.own.insert(block.parameters.begin(), block.parameters.end());
  for (ValueId parameter : block.parameters)
    for (ValueId size : region.type(parameter).sizes) add_outer(size);
  for (const Instruction& instruction : block.instructions) {
    const bool plain = instruction.code == Code::Op || instruction.code == Code::Const ||
                       instruction.code == Code::Scalar || instruction.code == Code::Yield;
    if (!plain) throw Error(ErrorKind::NotImplementedError, "gradients through a block that is more than operations");
    for (ValueId operand : instruction.operands) add_outer(operand);
    out.own.insert(instruction.results.begin(), instruction.results.end());
    for (ValueId result : instruction.results)
      for (ValueId size : region.type(result).sizes) add_outer(size);
  }
  const auto is_tensor = [&](ValueId value) { return region.type(value).kind == ValueKind::Tensor; };
  const std::vector<ValueId>& parameters = block.parameters;
  const size_t first = std::min<size_t>(parameters.size(), 1);  // the number of a turn
  region.body.parameters.assign(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(first));
  for (ValueId value : out.outer) {
    if (is_tensor(value)) continue;
    const auto known = builder.is_constant(value) ? builder.known(value) : std::nullopt;
    if (!known) {
      region.body.parameters.push_back(value);
      continue;
    }
    Instruction& constant = region.body.instructions.emplace_back();
    constant.number = *known;
    constant.results.push_back(value);
  }
  region.body.parameters.insert(region.body.parameters.end(), parameters.begin() + static_cast<std::ptrdiff_t>(first),
                                parameters.end());
  for (ValueId value : out.outer)
    if (is_tensor(value)) region.body.parameters.push_back(value);
  for (const Instruction& instruction : block.instructions)
    region.body.instructions.push_back(clone_instruction(instruction));
  region.body.instructions.back().code = Code::Exit;
  keep_own_facts(region);
  return out;
}

std::vector<ValueId> replay(RegionBuilder& builder, const Region& region, std::span<const ValueId> inputs) {
  ValueMap<ValueId> names;
  const Block& body = region.body;
  for (size_t i = 0; i < inputs.size(); ++i) {
    names[body.parameters[i]] = inputs[i];
    const ValueList& sizes = region.type(body.parameters[i]).sizes;
    for (size_t k = 0; k < sizes.size(); ++k) names.emplace(sizes[k], builder.size(inputs[i], static_cast<int>(k)));
  }
  // What is known of the region's sizes is known of those that stand for them, as soon as these are there.
  std::vector<std::pair<ValueId, ValueId>> facts = region.assumptions;
  const auto take_facts = [&] {
    std::erase_if(facts, [&](const auto& pair) {
      const auto a = names.find(pair.first), b = names.find(pair.second);
      if (a == names.end() || b == names.end()) return false;
      builder.assume_equal(a->second, b->second);
      return true;
    });
  };
  take_facts();
  std::vector<ValueId> out;
  for (const Instruction& instruction : body.instructions) {
    builder.origin = instruction.origin;
    std::vector<ValueId> operands;
    for (ValueId operand : instruction.operands) operands.push_back(names.at(operand));
    if (instruction.code == Code::Exit) {
      out = std::move(operands);
    } else if (instruction.code == Code::Const) {
      const Scalar& number = instruction.number;
      names[instruction.results[0]] = number.kind == Scalar::Kind::Int     ? builder.constant(number.i)
                                      : number.kind == Scalar::Kind::Float ? builder.constant(number.f)
                                                                           : builder.constant_bool(number.i != 0);
      take_facts();
    } else if (instruction.code == Code::Scalar) {
      names[instruction.results[0]] = builder.scalar(instruction.scalar_op, operands);
      take_facts();
    } else {
      TSC_CHECK(instruction.code == Code::Op, "a turn's backward is more than operations");
      const size_t count = tensor_count(instruction);
      const std::vector<ValueId> results = builder.op_results(
          instruction.op, std::span(operands).first(count), std::span(operands).subspan(count), instruction.attributes);
      for (size_t i = 0; i < results.size(); ++i) names[instruction.results[i]] = results[i];
    }
  }
  return out;
}

}  // namespace tsc::jit
