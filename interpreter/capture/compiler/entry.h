#pragma once
// What a variant keeps from call to call, so that entering it costs what its arguments cost, however many
// tensors of the program its region holds. A tensor that is known by identity (EntrySource::Pinned) is
// looked at again only after a store has touched it: stores to watched objects tell the Compiler, which
// notes them here. Views are looked at in every call, because a write to their base changes their history.
// Knows the plan; must not know how stores are noticed.
#include <unordered_set>

#include "interpreter/capture/plan.h"

namespace tsc::interp {

// One value per entry source and one input per input of the region. Between calls only those of held
// sources are there.
struct EntryMemory {
  std::vector<Value> values;
  std::vector<jit::RunInput> inputs;
};

class EntryState {
 public:
  static constexpr uint32_t kNone = ~0u;

  void build(const RegionPlan& plan);
  // By number of the source; in order, as later ones are found in earlier ones.
  const std::vector<uint32_t>& open_sources() const { return open_sources_; }
  const std::vector<uint32_t>& held_sources() const { return held_sources_; }
  // Numbers in plan.inputs.
  const std::vector<uint32_t>& open_inputs() const { return open_inputs_; }
  const std::vector<uint32_t>& held_inputs() const { return held_inputs_; }
  uint32_t input_of(uint32_t held_source) const { return held_[held_source].input; }
  bool is_held(uint32_t source) const { return held_[source].is_held; }

  // A store touches the tensor of this held source.
  void note_change(uint32_t source) {
    if (!std::exchange(held_[source].changed, true)) changed_.push_back(source);
  }
  bool has_changes() const { return !changed_.empty(); }
  // Looks at what has changed: fits(source) says whether what was assumed of it holds.
  template <class Fits>
  void look_again(const RegionPlan& plan, Fits&& fits) {
    for (uint32_t source : changed_) {
      const bool misfit = !fits(source);
      misfits_ += static_cast<size_t>(misfit) - static_cast<size_t>(held_[source].misfit);
      held_[source].misfit = misfit;
    }
    if (!plan.written_sources.empty()) find_memory(plan);
    // Whoever fails half way looks at all of them again.
    for (uint32_t source : changed_) held_[source].changed = false;
    changed_.clear();
  }
  bool held_fit() const { return misfits_ == 0 && !held_overlap_; }
  // Whether an input that is written shares memory with another input. `mark`: one that no storage has.
  bool overlaps(const RegionPlan& plan, const std::vector<Value>& values, uint64_t mark) const;

  // Whether a tensor whose .grad is set came in twice.
  bool has_twins(const RegionPlan& plan, const std::vector<Value>& values) const;

  EntryMemory take_memory(const RegionPlan& plan);
  void give_back(EntryMemory memory);

 private:
  void find_memory(const RegionPlan& plan);
  struct Held {
    bool is_held = false, changed = false, misfit = false;
    uint32_t input = kNone;
  };
  std::vector<Held> held_;  // by source
  std::vector<uint32_t> open_sources_, held_sources_, open_inputs_, held_inputs_, open_written_, open_graded_;
  std::unordered_set<const Object*> held_graded_;
  std::vector<uint32_t> changed_;
  size_t misfits_ = 0;
  // When the region writes any input: where the held ones lie, and those of them that are written.
  std::unordered_set<const Storage*> held_memory_, written_memory_;
  bool held_overlap_ = false;
  std::vector<EntryMemory> idle_;  // more than one after the region ran inside itself
};

// The entry memory of one call.
class EntryOfCall {
 public:
  EntryOfCall(EntryState& state, const RegionPlan& plan) : state_(state), memory_(state.take_memory(plan)) {}
  ~EntryOfCall() { state_.give_back(std::move(memory_)); }
  EntryOfCall(const EntryOfCall&) = delete;
  std::vector<Value>& values() { return memory_.values; }
  std::vector<jit::RunInput>& inputs() { return memory_.inputs; }

 private:
  EntryState& state_;
  EntryMemory memory_;
};

}  // namespace tsc::interp
