#include "jit/region/choices.h"

#include <map>

#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

// What hands on other values.
struct Source {
  enum class Form { None, Branch, Loop, Carried } form = Form::None;  // Carried: within the loop's block
  const Instruction* instruction = nullptr;
  size_t place = 0;  // among the results, or the carried values
};

class Sources {
 public:
  explicit Sources(const Region& region) { take(region.body); }
  Source of(ValueId value) const {
    const auto found = sources_.find(value);
    return found == sources_.end() ? Source() : found->second;
  }

 private:
  void take(const Block& block) {
    for (const Instruction& one : block.instructions) {
      if (one.code == Code::If && !one.blocks.empty())
        for (size_t i = 0; i < one.results.size(); ++i) sources_[one.results[i]] = {Source::Form::Branch, &one, i};
      if (one.code == Code::Loop && !one.blocks.empty())
        for (size_t i = 0; i + 1 < one.operands.size(); ++i) {
          sources_[one.results[i]] = {Source::Form::Loop, &one, i};
          sources_[one.blocks[0]->parameters[1 + i]] = {Source::Form::Carried, &one, i};
        }
      for (const auto& inner : one.blocks) take(*inner);
    }
  }

  ValueMap<Source> sources_;
};

ValueId yielded(const Instruction& instruction, size_t block, size_t place) {
  return instruction.blocks[block]->instructions.back().operands[place];
}

void collect(const Sources& sources, ValueId value, const NumberOf& number, ValueSet* seen, std::set<int64_t>* found) {
  if (!seen->insert(value)) return;
  const Source source = sources.of(value);
  if (source.form == Source::Form::None) {
    found->insert(number(value));
  } else if (source.form == Source::Form::Branch) {
    for (size_t way : {0, 1}) collect(sources, yielded(*source.instruction, way, source.place), number, seen, found);
  } else {
    collect(sources, source.instruction->operands[1 + source.place], number, seen, found);
    collect(sources, yielded(*source.instruction, 0, source.place), number, seen, found);
  }
}

class Adding {
 public:
  Adding(Region& region, const NumberOf& number) : region_(region), number_(number) {}

  ValueId run(ValueId value) {
    const ValueId result = add(value);
    std::vector<Instruction> front;
    for (const auto& [number, id] : constants_) {
      Instruction& one = front.emplace_back();
      one.number = Scalar::of_int(number);
      one.results.push_back(id);
    }
    auto& body = region_.body.instructions;
    body.insert(body.begin(), std::make_move_iterator(front.begin()), std::make_move_iterator(front.end()));
    return result;
  }

 private:
  ValueId add(ValueId value) {
    if (const auto known = numbers_.find(value); known != numbers_.end()) return known->second;
    const Sources sources(region_);
    const std::set<int64_t> found = choices_of(region_, value, number_);
    const Source source = sources.of(value);
    if (found.size() == 1 || source.form == Source::Form::None) return constant(*found.begin());
    Instruction& its = const_cast<Instruction&>(*source.instruction);
    if (source.form == Source::Form::Branch) add_to_branch(its, source.place);
    else add_to_loop(its);
    return numbers_.at(value);
  }

  // In front of all that the region does.
  ValueId constant(int64_t number) {
    const auto [known, fresh] = constants_.emplace(number, kNoValue);
    if (fresh) known->second = region_.add_value({ValueKind::Int, {}, {}});
    return known->second;
  }
  void add_to_branch(Instruction& branch, size_t place) {
    const ValueId value = branch.results[place], result = region_.add_value({ValueKind::Int, {}, {}});
    numbers_[value] = result;
    for (const auto& block : branch.blocks) {
      const ValueId its = add(block->instructions.back().operands[place]);
      block->instructions.back().operands.push_back(its);
    }
    branch.results.push_back(result);
  }
  // Of all tensors that it carries: one may become the other.
  void add_to_loop(Instruction& loop) {
    Block& body = *loop.blocks[0];
    const size_t carried = loop.operands.size() - 1;
    std::vector<size_t> places;
    for (size_t i = 0; i < carried; ++i)
      if (region_.type(loop.results[i]).kind == ValueKind::Tensor) places.push_back(i);
    std::vector<ValueId> begins, results;
    for (size_t place : places) begins.push_back(add(loop.operands[1 + place]));
    for (size_t place : places) {
      body.parameters.push_back(region_.add_value({ValueKind::Int, {}, {}}));
      numbers_[body.parameters[1 + place]] = body.parameters.back();
      results.push_back(region_.add_value({ValueKind::Int, {}, {}}));
      numbers_[loop.results[place]] = results.back();
    }
    std::vector<ValueId> next;
    for (size_t place : places) next.push_back(add(body.instructions.back().operands[place]));
    ValueList& ends = body.instructions.back().operands;
    for (size_t i = 0; i < places.size(); ++i) {
      loop.operands.push_back(begins[i]);
      ends.insert(carried + i, next[i]);
      loop.results.insert(carried + i, results[i]);
    }
    const auto more = static_cast<int64_t>(places.size());
    for (int64_t& place : loop.attributes.axes) place += place < 0 ? -more : more;  // the stacks are behind them
  }
  Region& region_;
  const NumberOf& number_;
  ValueMap<ValueId> numbers_;
  std::map<int64_t, ValueId> constants_;
};

}  // namespace

std::set<int64_t> choices_of(const Region& region, ValueId value, const NumberOf& number) {
  ValueSet seen;
  std::set<int64_t> found;
  collect(Sources(region), value, number, &seen, &found);
  return found;
}

ValueId add_choice(Region& region, ValueId value, const NumberOf& number) { return Adding(region, number).run(value); }

}  // namespace tsc::jit
