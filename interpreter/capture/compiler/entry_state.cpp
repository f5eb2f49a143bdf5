#include <algorithm>

#include "interpreter/capture/compiler/entry.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

void EntryState::build(const RegionPlan& plan) {
  const auto pinned_tensor = [&](const EntrySource& source) {
    return source.form == Form::Pinned && source.check == Check::Tensor && !cast<TensorObject>(source.holder)->view;
  };
  constexpr size_t kKept = 4;
  idle_.reserve(kKept);  // the way back must not fail
  held_.resize(plan.sources.size());
  for (uint32_t i = 0; i < plan.sources.size(); ++i) {
    const EntrySource& source = plan.sources[i];
    // Two ways to the same object, neither of which can lead elsewhere, need no look at all.
    const bool settled =
        source.form == Form::Pinned && source.check == Check::Alias && plan.sources[source.length].form == Form::Pinned;
    held_[i].is_held = settled || pinned_tensor(source);
    if (!held_[i].is_held) {
      open_sources_.push_back(i);
    } else if (!settled) {
      held_sources_.push_back(i);
      note_change(i);
    }
  }
  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    Held& held = held_[plan.inputs[i].second];
    (held.is_held ? held_inputs_ : open_inputs_).push_back(i);
    held.input = i;
  }
  for (uint32_t source : plan.written_sources)
    if (!held_[source].is_held) open_written_.push_back(source);
  for (uint32_t source : plan.graded_sources) {
    if (held_[source].is_held) held_graded_.insert(plan.sources[source].holder.object());
    else open_graded_.push_back(source);
  }
}

namespace {

Storage* storage_of(const Value& v) { return cast<TensorObject>(v)->tensor.storage().get(); }

TensorObject* tensor_at(const RegionPlan& plan, uint32_t held_input) {
  return cast<TensorObject>(plan.sources[plan.inputs[held_input].second].holder);
}

}  // namespace

void EntryState::find_memory(const RegionPlan& plan) {
  held_memory_.clear();
  written_memory_.clear();
  held_overlap_ = false;
  size_t written = 0;
  for (uint32_t source : plan.written_sources) {
    if (!held_[source].is_held) continue;
    Storage* storage = storage_of(plan.sources[source].holder);
    storage->prepare_write();
    held_overlap_ |= !written_memory_.insert(storage).second;
    ++written;
  }
  size_t meeting = 0;
  for (uint32_t input : held_inputs_) {
    if (plan.sources[plan.inputs[input].second].unread) continue;
    const Storage* storage = tensor_at(plan, input)->tensor.storage().get();
    held_memory_.insert(storage);
    meeting += written_memory_.count(storage);
  }
  held_overlap_ |= meeting != written;
}

bool EntryState::overlaps(const RegionPlan& plan, const std::vector<Value>& values, uint64_t mark) const {
  if (plan.written_sources.empty()) return false;
  for (uint32_t source : open_written_) {
    Storage* storage = storage_of(values[source]);
    if (storage->mark == mark || held_memory_.count(storage)) return true;
    storage->mark = mark;
    storage->prepare_write();
  }
  size_t marked = 0;
  for (uint32_t input : open_inputs_) {
    const uint32_t source = plan.inputs[input].second;
    if (plan.sources[source].check != Check::Tensor || plan.sources[source].unread) continue;
    const Storage* storage = storage_of(values[source]);
    if (written_memory_.count(storage)) return true;
    marked += storage->mark == mark;
  }
  return marked != open_written_.size();
}

bool EntryState::has_twins(const RegionPlan& plan, const std::vector<Value>& values) const {
  for (uint32_t input : open_inputs_) {
    const uint32_t source = plan.inputs[input].second;
    if (plan.sources[source].check == Check::Tensor && held_graded_.count(values[source].object())) return true;
  }
  for (uint32_t graded : open_graded_)
    for (const auto& [id, source] : plan.inputs)
      if (source != graded && plan.sources[source].check == Check::Tensor && values[source].is(values[graded]))
        return true;
  return false;
}

EntryMemory EntryState::take_memory(const RegionPlan& plan) {
  if (!idle_.empty()) {
    EntryMemory memory = std::move(idle_.back());
    idle_.pop_back();
    return memory;
  }
  EntryMemory memory;
  memory.values.resize(plan.sources.size());
  memory.inputs.resize(plan.inputs.size());
  for (uint32_t i = 0; i < plan.sources.size(); ++i)
    if (held_[i].is_held) memory.values[i] = plan.sources[i].holder;
  for (uint32_t input : held_inputs_) memory.inputs[input].tensor = &tensor_at(plan, input)->tensor;
  return memory;
}

// Letting go of a value may run script code, which may enter the same variant again.
void EntryState::give_back(EntryMemory memory) {
  for (uint32_t source : open_sources_) memory.values[source].reset();
  if (idle_.size() < idle_.capacity()) idle_.push_back(std::move(memory));
}

}  // namespace tsc::interp
