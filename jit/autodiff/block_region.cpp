#include "jit/autodiff/block_region.h"

#include <algorithm>
#include <map>

#include "jit/region/equal_sizes.h"

namespace tsc::jit {

namespace {

// What is known of the sizes that occur in there, by themselves: others stand for them no longer. `outer`: what the
// block stands in.
void keep_own_facts(Region& region, const Region& outer) {
  const EqualSizes facts(region), around(outer);
  std::map<ValueId, ValueId> first;  // of each class
  std::map<int64_t, ValueId> numbers;
  std::vector<std::pair<ValueId, ValueId>> assumed;
  std::vector<Instruction> added;
  ValueSet seen;
  for (const Instruction& one : region.body.instructions)
    if (one.code == Code::Const && one.number.kind == Scalar::Kind::Int) numbers.emplace(one.number.i, one.results[0]);
  const auto note = [&](ValueId value) {
    if (region.type(value).kind != ValueKind::Int || !seen.insert(value)) return;
    const auto own = facts.constant(value), number = own ? own : around.constant(value);
    if (number && !numbers.count(*number)) {
      Instruction constant;
      constant.number = Scalar::of_int(*number);
      constant.results.push_back(region.add_value({ValueKind::Int, {}, {}}));
      numbers[*number] = constant.results[0];
      added.push_back(std::move(constant));
    }
    const ValueId other = number ? numbers[*number] : first.emplace(facts.representative(value), value).first->second;
    if (other != value) assumed.push_back({other, value});
  };
  const auto note_all = [&](ValueId value) {
    note(value);
    for (ValueId size : region.type(value).sizes) note(size);
  };
  const auto note_instruction = [&](const Instruction& instruction) {
    for (ValueId operand : instruction.operands) note(operand);
    for (ValueId result : instruction.results) note_all(result);
  };
  const auto note_block = [&](const auto& self, const Block& block) -> void {
    for (ValueId parameter : block.parameters) note_all(parameter);
    for (const Instruction& instruction : block.instructions) note_instruction(instruction);
    for (const Instruction& instruction : block.instructions)  // behind those that are there for all of them
      for (const auto& inner : instruction.blocks) self(self, *inner);
  };
  note_block(note_block, region.body);
  region.assumptions = std::move(assumed);
  auto& body = region.body.instructions;
  body.insert(body.begin(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

// Computes, and nothing else: its gradient does.
bool is_plain(const Instruction& instruction) {
  switch (instruction.code) {
    case Code::Op:
    case Code::Const:
    case Code::Scalar:
    case Code::Read:
    case Code::Yield: return true;
    case Code::If:
    case Code::Loop:
      return !instruction.blocks.empty() &&
             std::all_of(instruction.blocks.begin(), instruction.blocks.end(), [](const auto& block) {
               return std::all_of(block->instructions.begin(), block->instructions.end(), is_plain);
             });
    default: return false;
  }
}

// What is defined in a block, and what it uses of others.
class Names {
 public:
  Names(const Region& region, BlockRegion& out) : region_(region), out_(out) {
    const auto define = [&](ValueId value) {
      outside_.insert(value);
      for (ValueId size : region.type(value).sizes) outside_.insert(size);
    };
    for (ValueId parameter : region.body.parameters) define(parameter);
    for (const Instruction& instruction : region.body.instructions)
      for (ValueId result : instruction.results) define(result);
  }
  void take(const Block& block) {
    out_.own.insert(block.parameters.begin(), block.parameters.end());
    for (ValueId parameter : block.parameters) define(parameter);
    for (const Instruction& instruction : block.instructions) {
      for (ValueId operand : instruction.operands) use(operand);
      for (const auto& inner : instruction.blocks) take(*inner);
      for (ValueId result : instruction.results) define(result);
    }
  }

 private:
  void use(ValueId value) {
    if (!out_.own.count(value) && std::find(out_.outer.begin(), out_.outer.end(), value) == out_.outer.end())
      out_.outer.push_back(value);
  }
  // A size that nothing outside has is found with the tensor.
  void define(ValueId value) {
    for (ValueId size : region_.type(value).sizes) {
      if (!out_.own.count(size) && !outside_.count(size)) out_.own.insert(size);
      use(size);
    }
    out_.own.insert(value);
  }

  const Region& region_;
  BlockRegion& out_;
  ValueSet outside_;
};

}  // namespace

// Numbers from outside come in front of the tensors, whose sizes some of them are.
BlockRegion region_of_block(RegionBuilder& builder, const Block& block) {
  if (!std::all_of(block.instructions.begin(), block.instructions.end(), is_plain))
    throw Error(ErrorKind::NotImplementedError, "gradients through a block that does more than compute");
  BlockRegion out;
  Region& region = out.region = builder.region().clone();
  Names(builder.region(), out).take(block);
  region.body = Block();
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
  keep_own_facts(region, builder.region());
  return out;
}

ValueId add_nothing(Region& region, Block& block, const Type& like) {
  const Type type = like;
  const auto add = [&](Code code, Type made) -> Instruction& {
    Instruction one;
    one.code = code;
    one.origin = block.instructions.back().origin;
    one.results.push_back(region.add_value(std::move(made)));
    return *block.instructions.insert(block.instructions.end() - 1, std::move(one));
  };
  const bool is_tensor = type.kind == ValueKind::Tensor;
  const bool is_float = is_tensor ? is_floating(type.dtype) || is_complex(type.dtype) : type.kind == ValueKind::Float;
  if (type.kind == ValueKind::Bool) {
    Instruction& no = add(Code::Const, {ValueKind::Bool, {}, {}});
    no.number = Scalar::of_bool(false);
    return no.results[0];
  }
  Instruction& zero = add(Code::Const, {is_float ? ValueKind::Float : ValueKind::Int, {}, {}});
  zero.number = is_float ? Scalar::of_float(0) : Scalar::of_int(0);
  const ValueId value = zero.results[0];
  if (!is_tensor) return value;
  const bool is_empty = std::find(type.sizes.begin(), type.sizes.end(), kNoValue) != type.sizes.end();
  Instruction& size = add(Code::Const, {ValueKind::Int, {}, {}});
  size.number = Scalar::of_int(is_empty ? 0 : 1);
  const ValueId number = size.results[0];
  Type small = type;
  for (ValueId& one : small.sizes)
    if (!is_empty || one == kNoValue) one = number;
  Instruction& full = add(Code::Op, Type(small));
  full.op = Op::full;
  full.attributes.dtype = type.dtype;
  full.operands.push_back(value);
  for (ValueId one : small.sizes) full.operands.push_back(one);
  const ValueId made = full.results[0];
  if (is_empty) return made;
  Instruction& all = add(Code::Op, Type(type));
  all.op = Op::broadcast;
  all.operands.push_back(made);
  for (ValueId one : type.sizes) all.operands.push_back(one);
  return all.results[0];
}

namespace {

class Replay {
 public:
  Replay(RegionBuilder& builder, const Region& region)
      : builder_(builder), region_(region), facts_(region.assumptions) {}

  std::vector<ValueId> run(std::span<const ValueId> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) name(region_.body.parameters[i], inputs[i]);
    take_facts();
    return run(region_.body);
  }

 private:
  void name(ValueId from, ValueId to) {
    names_[from] = to;
    const ValueList& sizes = region_.type(from).sizes;
    for (size_t k = 0; k < sizes.size(); ++k) names_.emplace(sizes[k], builder_.size(to, static_cast<int>(k)));
  }
  // What is known of the region's sizes is known of those that stand for them, as soon as these are there.
  void take_facts() {
    std::erase_if(facts_, [&](const auto& pair) {
      const auto a = names_.find(pair.first), b = names_.find(pair.second);
      if (a == names_.end() || b == names_.end()) return false;
      builder_.assume_equal(a->second, b->second);
      return true;
    });
  }
  std::vector<ValueId> named(std::span<const ValueId> values) const {
    std::vector<ValueId> out;
    for (ValueId value : values) out.push_back(names_.at(value));
    return out;
  }

  // What the block ends with.
  std::vector<ValueId> run(const Block& block) {
    for (const Instruction& instruction : block.instructions) {
      if (instruction.code == Code::Exit || instruction.code == Code::Yield) return named(instruction.operands);
      const std::vector<ValueId> results = emit(instruction);
      for (size_t i = 0; i < results.size(); ++i) name(instruction.results[i], results[i]);
      if (instruction.code != Code::Op) take_facts();
    }
    return {};
  }

  std::vector<ValueId> emit(const Instruction& instruction) {
    builder_.origin = instruction.origin;
    const std::vector<ValueId> operands = named(instruction.operands);
    const Scalar& number = instruction.number;
    switch (instruction.code) {
      case Code::Const:
        return {number.kind == Scalar::Kind::Int     ? builder_.constant(number.i)
                : number.kind == Scalar::Kind::Float ? builder_.constant(number.f)
                                                     : builder_.constant_bool(number.i != 0)};
      case Code::Scalar: return {builder_.scalar(instruction.scalar_op, operands)};
      case Code::Read: return {builder_.read(operands[0], region_.type(instruction.results[0]).kind)};
      case Code::If: return emit_if(instruction, operands[0]);
      case Code::Loop: return emit_loop(instruction, operands);
      default: break;
    }
    TSC_CHECK(instruction.code == Code::Op, "a block's backward does more than compute");
    const size_t count = tensor_count(instruction);
    return builder_.op_results(instruction.op, std::span(operands).first(count), std::span(operands).subspan(count),
                               instruction.attributes);
  }
  std::vector<ValueId> emit_if(const Instruction& branch, ValueId condition) {
    builder_.begin_branch();
    const std::vector<ValueId> first = run(*branch.blocks[0]);
    builder_.next_branch();
    const std::vector<ValueId> second = run(*branch.blocks[1]);
    builder_.origin = branch.origin;
    return builder_.end_branch(condition, first, second);
  }
  std::vector<ValueId> emit_loop(const Instruction& loop, std::span<const ValueId> operands) {
    const Block& body = *loop.blocks[0];
    const std::span<const ValueId> initial = operands.subspan(1);
    std::vector<Type> types;
    for (ValueId value : initial) types.push_back(builder_.region().type(value));
    const std::vector<ValueId> parameters = builder_.begin_loop(types);
    for (size_t i = 0; i < parameters.size(); ++i) name(body.parameters[i], parameters[i]);
    take_facts();
    const std::vector<ValueId> yielded = run(body);
    builder_.origin = loop.origin;
    return builder_.end_loop(operands[0], initial, std::span(yielded).first(initial.size()),
                             std::span(yielded).subspan(initial.size()), static_cast<LoopMode>(loop.attributes.mode));
  }

  RegionBuilder& builder_;
  const Region& region_;
  ValueMap<ValueId> names_;
  std::vector<std::pair<ValueId, ValueId>> facts_;
};

}  // namespace

std::vector<ValueId> replay(RegionBuilder& builder, const Region& region, std::span<const ValueId> inputs) {
  return Replay(builder, region).run(inputs);
}

}  // namespace tsc::jit
