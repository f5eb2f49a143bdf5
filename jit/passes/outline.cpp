#include "jit/passes/outline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "jit/region/equal_sizes.h"
#include "jit/region/liveness.h"
#include "jit/region/raises.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

// Moves one block into a region.
class Outliner {
 public:
  // `outside`: the values that exist in front of the block. `constants`: the numbers of those that are known.
  Outliner(const Region& region, const EqualSizes& facts, const ValueSet& outside, const ValueMap<Scalar>& constants)
      : region_(region), facts_(facts), outside_(outside), constants_(constants) {}

  // `captured`: what the block, and others of its instruction, use from outside. Where `operands` is given, that gets
  // what goes into the block beside its parameters.
  OutlinedBlock run(Block body, const std::vector<ValueId>& captured, ValueList* operands) {
    out_.body.name = region_.name;
    if (!body.parameters.empty()) out_.carried = static_cast<uint32_t>(body.parameters.size() - 1);
    for (ValueId parameter : body.parameters) add_input(parameter);
    for (ValueId value : captured) take_constant(value);
    for (const bool tensors : {true, false})  // whose sizes are not to come a second time
      for (ValueId value : captured)
        if (tensors == (region_.type(value).kind == ValueKind::Tensor) && !renamed_.count(value) &&
            !is_known_size(value)) {
          add_input(value);
          if (operands) operands->push_back(value);
        }
    body.parameters.clear();
    rename(body);
    body.instructions.back().code = Code::Exit;
    std::vector<Instruction>& all = out_.body.body.instructions = std::move(constant_instructions_);
    std::move(body.instructions.begin(), body.instructions.end(), std::back_inserter(all));
    return std::move(out_);
  }
  // What is assumed of the body's own values is assumed there, of those that are equal to one from outside too, which
  // the body may have under another name or not at all.
  void take_assumptions(std::vector<std::pair<ValueId, ValueId>>* assumed, Region* body) {
    std::erase_if(*assumed, [&](const auto& pair) {
      const auto [a, b] = pair;
      if (!own_.count(a) && !own_.count(b)) return false;
      for (const ValueId value : {a, b})
        if (const auto name = renamed_.find(value); name != renamed_.end()) tie(value, name->second, body);
      return true;
    });
  }

 private:
  void tie(ValueId value, ValueId name, Region* body) {
    const std::optional<int64_t> known = facts_.constant(value);
    const ValueId first =
        known ? constant_of(*known, body) : sizes_.emplace(facts_.representative(value), name).first->second;
    if (first != name) body->assumptions.push_back({first, name});
  }
  // Constants stand in front of all else.
  static ValueId constant_of(int64_t number, Region* body) {
    std::vector<Instruction>& code = body->body.instructions;
    for (const Instruction& one : code) {
      if (one.code != Code::Const) break;
      if (one.number.kind == Scalar::Kind::Int && one.number.i == number) return one.results[0];
    }
    Instruction made;
    made.code = Code::Const;
    made.number = Scalar::of_int(number);
    made.results.push_back(body->add_value({ValueKind::Int, {}, {}}));
    return code.insert(code.begin(), std::move(made))->results[0];
  }
  // A tensor from outside brings its sizes, those that it shares with one before it under one name.
  void add_input(ValueId value) {
    Type type = region_.type(value);
    for (ValueId& size : type.sizes) size = input_size(size);
    const bool is_number = type.kind == ValueKind::Int;
    const ValueId input = out_.body.add_value(std::move(type));
    renamed_[value] = input;
    if (is_number && outside_.count(value)) sizes_.emplace(facts_.representative(value), input);
    out_.body.body.parameters.push_back(input);
  }
  // A number that is equal to one which the body has.
  bool is_known_size(ValueId value) {
    if (region_.type(value).kind != ValueKind::Int) return false;
    const ValueId name = facts_.representative(value);
    const auto found = sizes_.find(name);
    if (found != sizes_.end()) renamed_[value] = found->second;
    return found != sizes_.end();
  }
  ValueId input_size(ValueId size) {
    const ValueId name = facts_.representative(size);
    const std::optional<int64_t> known = facts_.constant(size);
    if (!known)
      if (const auto found = sizes_.find(name); found != sizes_.end()) return renamed_[size] = found->second;
    const ValueId fresh = out_.body.add_value({ValueKind::Int, {}, {}});
    if (known) out_.body.assumptions.push_back({fresh, constant(Scalar::of_int(*known))});
    else renamed_[size] = sizes_[name] = fresh;
    return fresh;
  }
  ValueId constant(Scalar number) {
    for (const Instruction& known : constant_instructions_)
      if (known.number.kind == number.kind && known.number.i == number.i) return known.results[0];
    Instruction& made = constant_instructions_.emplace_back();
    made.code = Code::Const;
    made.number = number;
    const ValueKind kind = number.kind == Scalar::Kind::Int     ? ValueKind::Int
                           : number.kind == Scalar::Kind::Float ? ValueKind::Float
                                                                : ValueKind::Bool;
    made.results.push_back(out_.body.add_value({kind, {}, {}}));
    return made.results[0];
  }

  void take_constant(ValueId value) {
    const auto found = constants_.find(value);
    if (found != constants_.end()) renamed_[value] = constant(found->second);
    else if (const auto known = facts_.constant(value); known && region_.type(value).kind == ValueKind::Int)
      renamed_[value] = constant(Scalar::of_int(*known));
  }

  // What exists outside has a name by now; everything else is the body's own.
  ValueId name_of(ValueId value) {
    const auto found = renamed_.find(value);
    return found != renamed_.end() ? found->second : add_name(value);
  }
  ValueId add_name(ValueId value) {
    Type type = region_.type(value);
    for (ValueId& size : type.sizes) size = name_of(size);
    own_.insert(value);
    return renamed_[value] = out_.body.add_value(std::move(type));
  }
  void rename(Block& block) {
    for (ValueId& parameter : block.parameters) parameter = add_name(parameter);
    for (Instruction& instruction : block.instructions) {
      for (ValueId& operand : instruction.operands) operand = name_of(operand);
      for (const auto& inner : instruction.blocks) rename(*inner);
      for (ValueId& result : instruction.results) result = add_name(result);
    }
  }

  const Region& region_;
  const EqualSizes& facts_;
  const ValueSet& outside_;
  const ValueMap<Scalar>& constants_;
  OutlinedBlock out_;
  ValueMap<ValueId> renamed_, sizes_;  // sizes_: by the first of those that are equal
  ValueSet own_;
  std::vector<Instruction> constant_instructions_;
};

// What the blocks of the instruction use of `outside`.
std::vector<ValueId> find_captured(const Region& region, const Instruction& instruction, const ValueSet& outside) {
  std::vector<ValueId> captured;
  ValueSet seen;
  const auto visit = [&](ValueId value) {
    if (outside.count(value) && seen.insert(value)) captured.push_back(value);
  };
  const auto see_block = [&](const auto& self, const Block& one) -> void {
    for (const Instruction& instruction : one.instructions) {
      for (ValueId operand : instruction.operands) visit(operand);
      for (ValueId result : instruction.results)
        for (ValueId size : region.type(result).sizes) visit(size);
      for (const auto& inner : instruction.blocks) {
        for (ValueId parameter : inner->parameters)
          for (ValueId size : region.type(parameter).sizes) visit(size);
        self(self, *inner);
      }
    }
  };
  for (const auto& block : instruction.blocks) see_block(see_block, *block);
  return captured;
}

// Moves what does not change from turn to turn in front of the loop: every loop has a turn.
void hoist(Instruction& loop, const Raises& raises, const ValueSet& outside, std::vector<Instruction>* before,
           ValueSet* moved) {
  std::vector<Instruction>& body = loop.blocks[0]->instructions;
  const auto is_outside = [&](ValueId value) { return outside.count(value) || moved->count(value); };
  std::vector<Instruction> stays;
  for (Instruction& instruction : body) {
    const bool pure =
        instruction.code == Code::Op || instruction.code == Code::Const || instruction.code == Code::Scalar;
    const bool fixed = pure && !raises.may_raise(instruction) &&
                       std::all_of(instruction.operands.begin(), instruction.operands.end(), is_outside);
    if (!fixed) {
      stays.push_back(std::move(instruction));
      continue;
    }
    for (ValueId result : instruction.results) moved->insert(result);
    before->push_back(std::move(instruction));
  }
  body = std::move(stays);
}

}  // namespace

std::vector<OutlinedBlock> outline_blocks(Region& region) {
  std::vector<OutlinedBlock> blocks;
  std::vector<Instruction>& code = region.body.instructions;
  const auto nests = [](const Instruction& one) { return one.code == Code::Loop || one.code == Code::If; };
  if (std::none_of(code.begin(), code.end(), nests)) return blocks;
  const EqualSizes facts(region);
  const Raises raises(region, facts);
  ValueSet outside;
  ValueMap<Scalar> constants;
  const auto define = [&](ValueId value) {
    outside.insert(value);
    for (ValueId size : region.type(value).sizes) outside.insert(size);
  };
  const auto define_results = [&](const Instruction& instruction) {
    for (ValueId result : instruction.results) define(result);
    if (instruction.code == Code::Const) constants[instruction.results[0]] = instruction.number;
  };
  for (ValueId input : region.body.parameters) define(input);
  std::vector<Instruction> all;
  for (Instruction& instruction : code) {
    if (instruction.code == Code::Loop) {
      ValueSet moved;
      const size_t first = all.size();
      hoist(instruction, raises, outside, &all, &moved);
      for (size_t i = first; i < all.size(); ++i) define_results(all[i]);
    }
    if (nests(instruction)) {
      instruction.id = static_cast<uint32_t>(blocks.size());
      const std::vector<ValueId> captured = find_captured(region, instruction, outside);
      ValueList* operands = &instruction.operands;
      for (const auto& block : std::exchange(instruction.blocks, {})) {
        Outliner outliner(region, facts, outside, constants);
        blocks.push_back(outliner.run(std::move(*block), captured, std::exchange(operands, nullptr)));
        outliner.take_assumptions(&region.assumptions, &blocks.back().body);
      }
      instruction.attributes.axes.clear();
      if (instruction.code == Code::If) instruction.attributes.mode = 0;
    }
    define_results(instruction);
    all.push_back(std::move(instruction));
  }
  code = std::move(all);
  return blocks;
}

}  // namespace tsc::jit
