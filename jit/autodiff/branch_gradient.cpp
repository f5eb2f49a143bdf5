#include "jit/autodiff/branch_gradient.h"

#include <algorithm>
#include <optional>

#include "jit/autodiff/block_region.h"
#include "jit/autodiff/rules.h"
#include "jit/autodiff/rules_support.h"
#include "jit/autodiff/split.h"

namespace tsc::jit {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Error(ErrorKind::NotImplementedError, std::string("gradients through this branch are not compiled: ") + why);
}

class BranchBackward {
 public:
  BranchBackward(RegionBuilder& builder, size_t branch, const ValueSet& stops,
                 const std::function<bool(ValueId)>& needed)
      : builder_(builder), region_(builder.region()), emit_(builder), branch_(branch), stops_(stops) {
    for (size_t i = 0; i < instruction().results.size(); ++i)
      if (needed(instruction().results[i])) outputs_.push_back(i);
    for (int way : {0, 1}) ways_[way].block = region_of_block(builder, block(way));
    for (int way : {0, 1})
      for (ValueId value : ways_[way].block.outer)
        if (is_differentiable_tensor(value) && needed(value) &&
            std::find(targets_.begin(), targets_.end(), value) == targets_.end())
          targets_.push_back(value);
    if (outputs_.empty() || targets_.empty()) return;
    check_outputs();
    find_saved();
  }

  void append(GradientSums& sums, std::vector<ValueId>* saving) {
    if (outputs_.empty() || targets_.empty()) return;
    std::vector<bool> present;
    std::vector<ValueId> arrived;
    for (size_t place : outputs_) {
      arrived.push_back(sums.so_far(instruction().results[place]));
      present.push_back(arrived.back() != kNoValue);
    }
    if (std::none_of(present.begin(), present.end(), [](bool each) { return each; })) return;
    const std::vector<bool> leading[] = {leading_outputs(0, present), leading_outputs(1, present)};
    const SplitBackward backwards[] = {backward(0, leading[0]), backward(1, leading[1])};
    find_reached(backwards, leading, sums);
    builder_.origin = instruction().origin;
    const ValueId condition = instruction().operands[0];
    std::vector<ValueId> before;
    for (const Reached& one : reached_) before.push_back(sums.so_far(one.target));
    builder_.begin_branch();
    const std::vector<ValueId> first = go_back(0, backwards[0], of(arrived, leading[0]), before);
    builder_.next_branch();
    const std::vector<ValueId> second = go_back(1, backwards[1], of(arrived, leading[1]), before);
    builder_.origin = instruction().origin;
    const std::vector<ValueId> after = builder_.end_branch(condition, first, second);
    size_t next = reached_.size();
    for (size_t i = 0; i < reached_.size(); ++i) {
      const Reached& one = reached_[i];
      const ValueId found = one.is_found ? after[next++] : kNoValue;
      const bool always = sums.has_arrived(one.target) || (one.ways == 3 && !one.is_found);
      sums.set(one.target, after[i], always ? kNoValue : arrives_by(one, found, condition, sums));
    }
    for (const SplitBackward& one : backwards)
      if (saving) saving->insert(saving->end(), one.saving.begin(), one.saving.end());
  }

 private:
  struct Way {
    BlockRegion block;
    std::vector<ValueId> keep;  // what its backwards read, the block's own values first
    ValueMap<ValueId> results;  // those, and the results that hold them
  };

  Instruction& instruction() { return region_.body.instructions[branch_]; }
  const Instruction& instruction() const { return region_.body.instructions[branch_]; }
  const Block& block(int way) const { return *instruction().blocks[static_cast<size_t>(way)]; }
  ValueId yielded(int way, size_t place) const { return block(way).instructions.back().operands[place]; }
  bool is_own(int way, ValueId value) const { return ways_[way].block.own.count(value) != 0; }
  bool is_differentiable_tensor(ValueId value) const {
    const Type& type = region_.type(value);
    return type.kind == ValueKind::Tensor && is_differentiable(type.dtype);
  }
  // The places of the results that backwards read, those of the first block in front: once they are known, `mode` is
  // one more than how many these are.
  size_t saved_of_first() const { return static_cast<size_t>(instruction().attributes.mode - 1); }
  bool are_saved() const { return instruction().attributes.mode != 0; }

  void check_outputs() const {
    const Sizes& saved = instruction().attributes.axes;
    for (size_t i : outputs_) {
      if (std::find(saved.begin(), saved.end(), static_cast<int64_t>(i)) != saved.end()) continue;
      const Type& type = region_.type(instruction().results[i]);
      for (int way : {0, 1}) {
        const Type& given = region_.type(yielded(way, i));
        for (size_t k = 0; k < type.sizes.size(); ++k)
          if (!builder_.known_equal(type.sizes[k], given.sizes[k])) refuse("a tensor has another size on one way");
        for (size_t other : outputs_)
          if (other != i && yielded(way, other) == yielded(way, i)) refuse("two tensors are one on one way");
      }
    }
  }

  // Those of the outputs that come from a target on that way: what it yields in the place of what the other one saves
  // does not, and is of another size.
  std::vector<bool> leading_outputs(int way, std::vector<bool> present) const {
    const ValueSet leading = computed_from(ways_[way].block.region, ValueSet(targets_.begin(), targets_.end()), stops_);
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (!leading.count(yielded(way, outputs_[i]))) present[i] = false;
    return present;
  }
  static std::vector<ValueId> of(const std::vector<ValueId>& arrived, const std::vector<bool>& present) {
    std::vector<ValueId> found;
    for (size_t i = 0; i < present.size(); ++i)
      if (present[i]) found.push_back(arrived[i]);
    return found;
  }

  SplitBackward backward(int way, const std::vector<bool>& present) const {
    std::vector<ValueId> outputs;
    for (size_t i : outputs_) outputs.push_back(yielded(way, i));
    // What leaves the branch may leave the region: a write to it is an error if it is saved, as interpreted.
    const ValueSet leaving(outputs.begin(), outputs.end());
    const Way& its = ways_[way];
    return split_backward(its.block.region, outputs, targets_, stops_, present, are_saved() ? &its.keep : nullptr,
                          &leaving);
  }

  // ---- what the blocks save ----

  void find_saved() {
    if (!are_saved()) {
      const std::vector<bool> all(outputs_.size(), true);
      std::vector<ValueId> saved[2];
      for (int way : {0, 1})
        for (ValueId value : backward(way, all).saved) {
          if (!is_own(way, value)) continue;
          saved[way].push_back(value);
        }
      for (int way : {0, 1})
        for (ValueId value : saved[way]) instruction().attributes.axes.push_back(place_of_saved(way, value));
      instruction().attributes.mode = static_cast<int>(1 + saved[0].size());
    }
    const Sizes& places = instruction().attributes.axes;
    for (size_t i = 0; i < places.size(); ++i) {
      const int way = i < saved_of_first() ? 0 : 1;
      const auto place = static_cast<size_t>(places[i]);
      ways_[way].keep.push_back(yielded(way, place));
      ways_[way].results[yielded(way, place)] = instruction().results[place];
    }
    for (Way& way : ways_)
      for (ValueId value : way.block.region.body.parameters) way.keep.push_back(value);
  }

  int64_t place_of_saved(int way, ValueId value) {
    for (size_t i = 0; i < instruction().results.size(); ++i)
      if (yielded(way, i) == value) return static_cast<int64_t>(i);
    Type type = region_.type(value), elsewhere = type;
    for (size_t i = 0; i < type.sizes.size(); ++i) {
      if (!is_own(way, type.sizes[i])) continue;  // one that the way finds
      type.sizes[i] = region_.add_value({ValueKind::Int, {}, {}});
      elsewhere.sizes[i] = kNoValue;
    }
    const ValueId result = region_.add_value(std::move(type));
    instruction().results.push_back(result);
    Block& block = *instruction().blocks[static_cast<size_t>(way)];
    Block& other = *instruction().blocks[static_cast<size_t>(1 - way)];
    block.instructions.back().operands.push_back(value);
    const ValueId nothing = add_nothing(region_, other, elsewhere);
    other.instructions.back().operands.push_back(nothing);
    return static_cast<int64_t>(instruction().results.size() - 1);
  }

  // ---- the way back ----

  struct Reached {
    ValueId target;
    int ways;       // 1: by the first block, 2: by the second
    bool is_found;  // a block itself finds out whether it does
  };
  // What holds where a gradient has arrived behind the branch. `found`: what the block that was taken has found out.
  ValueId arrives_by(const Reached& one, ValueId found, ValueId condition, GradientSums& sums) {
    const ValueId way = one.is_found    ? found
                        : one.ways == 1 ? condition
                                        : builder_.scalar(ScalarOp::logical_not, {&condition, 1});
    const ValueId before = sums.condition(one.target);
    return before == kNoValue ? way : emit_.scalar(ScalarOp::logical_or, before, way);
  }

  // The targets that either block leads to, in the order of the targets.
  void find_reached(const SplitBackward (&backwards)[2], const std::vector<bool> (&present)[2], GradientSums& sums) {
    std::vector<int> by(targets_.size());
    std::vector<bool> is_found(targets_.size());
    for (int way : {0, 1}) {
      for (size_t part : backwards[way].parts) by[part] |= 1 << way;
      for (const auto& [part, holds] : backwards[way].conditions) {
        const size_t target = backwards[way].parts[part];
        if (!leads_always(backwards[way], target)) is_found[target] = true;
      }
    }
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (by[i] == 0) continue;
      // What a way hands on as it was gets the terms of both one by one on the tape. A sum of two is the same in any
      // order. Behind the region the two are one tensor then, and what comes from there arrives at the other.
      for (size_t k = 0; k < outputs_.size(); ++k)
        for (int way : {0, 1}) {
          const ValueId result = instruction().results[outputs_[k]];
          if (!present[way][k] || yielded(way, outputs_[k]) != targets_[i] || sums.is_from_behind(result) ||
              sums.so_far(targets_[i]) == kNoValue)
            continue;
          if (!sums.is_one_term(targets_[i]) || !sums.is_one_term(result))
            refuse("on one way a tensor is one that is used elsewhere");
        }
      reached_.push_back({targets_[i], by[i], is_found[i]});
    }
  }

  std::vector<ValueId> go_back(int way, const SplitBackward& backward, const std::vector<ValueId>& arrived,
                               std::vector<ValueId> sums) {
    std::vector<ValueId> inputs;
    for (ValueId value : backward.saved) inputs.push_back(is_own(way, value) ? ways_[way].results.at(value) : value);
    inputs.insert(inputs.end(), arrived.begin(), arrived.end());
    for (size_t part : backward.taking) {
      const size_t place = place_of(targets_[part]);
      const bool is_reached = place < reached_.size();  // else it was asked about, and gets nothing
      const ValueId taken = is_reached && sums[place] != kNoValue ? sums[place] : emit_.like(targets_[part], -0.0);
      if (is_reached) sums[place] = taken;
      inputs.push_back(taken);
    }
    const uint32_t origin = builder_.origin;
    const std::vector<ValueId> terms = replay(builder_, backward.backward, inputs);
    builder_.origin = origin;
    for (size_t i = 0; i < backward.parts.size(); ++i) {
      const ValueId target = targets_[backward.parts[i]];
      ValueId& sum = sums[place_of(target)];
      const bool is_whole = std::find(backward.taking.begin(), backward.taking.end(), backward.parts[i]) !=
                            backward.taking.end();  // a branch or loop in the block has gone on from the sum
      const ValueId both = sum == kNoValue || is_whole ? terms[i] : emit_.add(sum, terms[i]);
      const std::optional<size_t> holds = condition_of(backward, i);
      if (!holds || is_whole) sum = both;
      else sum = in_some_runs(terms[*holds], both, sum == kNoValue ? emit_.like(target, -0.0) : sum, target);
    }
    for (size_t i = 0; i < reached_.size(); ++i) {
      if (sums[i] == kNoValue) sums[i] = emit_.like(reached_[i].target, -0.0);
      keep_sizes(sums[i], reached_[i].target);
    }
    for (size_t i = 0; i < reached_.size(); ++i)
      if (reached_[i].is_found) sums.push_back(found_by(backward, terms, reached_[i].target));
    return sums;
  }
  size_t place_of(ValueId target) const {
    const auto place =
        std::find_if(reached_.begin(), reached_.end(), [&](const Reached& one) { return one.target == target; });
    return static_cast<size_t>(place - reached_.begin());
  }
  ValueId in_some_runs(ValueId holds, ValueId one, ValueId other, ValueId like) {
    keep_sizes(one, like);
    keep_sizes(other, like);
    builder_.begin_branch();
    builder_.next_branch();
    return builder_.end_branch(holds, {&one, 1}, {&other, 1})[0];
  }
  // Where the Bool is by which part number `part` arrives; empty: it always does.
  static std::optional<size_t> condition_of(const SplitBackward& backward, size_t part) {
    for (const auto& [its, holds] : backward.conditions)
      if (its == part) return holds;
    return std::nullopt;
  }
  static bool leads_always(const SplitBackward& backward, size_t target) {
    for (size_t i = 0; i < backward.parts.size(); ++i)
      if (backward.parts[i] == target && !condition_of(backward, i)) return true;
    return false;
  }
  // Whether that block has led a gradient to the target.
  ValueId found_by(const SplitBackward& backward, const std::vector<ValueId>& terms, ValueId target) {
    ValueId found = builder_.constant_bool(false);
    for (size_t i = 0; i < backward.parts.size(); ++i) {
      if (targets_[backward.parts[i]] != target) continue;
      const std::optional<size_t> holds = condition_of(backward, i);
      if (!holds) return builder_.constant_bool(true);
      found = emit_.scalar(ScalarOp::logical_or, found, terms[*holds]);
    }
    return found;
  }

  // A gradient has the sizes of what it is one of, whatever they are computed by.
  void keep_sizes(ValueId gradient, ValueId of) {
    for (size_t k = 0; k < region_.type(of).sizes.size(); ++k)
      builder_.assume_equal(region_.type(gradient).sizes[k], region_.type(of).sizes[k]);
  }

  RegionBuilder& builder_;
  Region& region_;
  Emit emit_;
  const size_t branch_;
  const ValueSet& stops_;
  std::vector<size_t> outputs_;   // places of results that gradients may arrive at
  std::vector<ValueId> targets_;  // from outside, which the blocks read
  std::vector<Reached> reached_;
  Way ways_[2];
};

}  // namespace

void append_branch_backward(RegionBuilder& builder, size_t branch, const ValueSet& stops, GradientSums& sums,
                            std::vector<ValueId>* saving) {
  BranchBackward(builder, branch, stops, [&](ValueId value) { return sums.needed(value); }).append(sums, saving);
}

void add_saved_results(RegionBuilder& builder, size_t branch, const ValueSet& stops,
                       const std::function<bool(ValueId)>& needed) {
  BranchBackward(builder, branch, stops, needed);
}

}  // namespace tsc::jit
