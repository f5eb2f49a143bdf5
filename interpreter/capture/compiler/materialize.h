#pragma once
// Builds script values from recipes while a region runs or leaves. One Materializer serves one run: an
// object of the region is built once, however many instructions mention it.
#include <unordered_map>
#include <unordered_set>

#include "interpreter/capture/plan.h"

namespace tsc::interp {

// The objects of a run by number. Most runs make a few: those are found one by one.
class BuiltObjects {
 public:
  const Value* find(uint32_t number) const {
    if (!places_.empty()) {
      const auto found = places_.find(number);
      return found == places_.end() ? nullptr : &items_[found->second].second;
    }
    for (const auto& item : items_)
      if (item.first == number) return &item.second;
    return nullptr;
  }
  void add(uint32_t number, Value value) {
    constexpr size_t kFew = 16;
    items_.push_back({number, std::move(value)});
    if (items_.size() <= kFew) return;
    for (size_t i = places_.size(); i < items_.size(); ++i) places_[items_[i].first] = i;
  }
  const std::vector<std::pair<uint32_t, Value>>& items() const { return items_; }

 private:
  std::vector<std::pair<uint32_t, Value>> items_;
  std::unordered_map<uint32_t, size_t> places_;  // empty while there are few
};

class Materializer {
 public:
  // `entry`: the value of every entry source in this run.
  // `object_count`: the region's objects have smaller numbers.
  Materializer(Vm& vm, const std::vector<Value>& entry, uint32_t object_count)
      : vm_(vm), entry_(entry), first_number_(jit::next_sequence(object_count + 1)) {}

  Value build(const Recipe& recipe, const Materials& materials, std::span<const jit::RunValue> live);
  // In front of anything that is built: memory of tensors that the region has made and written has a version, which
  // gradients that save it remember.
  void count_writes(const Materials& materials, std::span<const jit::RunValue> live);
  // Tensors built from now on get their history from `node`, output i for object numbers[i].
  void set_history(Ref<jit::TapeNode> node, const std::vector<uint32_t>& numbers);
  const Ref<jit::TapeNode>& history() const { return node_; }
  // The object with this number, if it has been built.
  Value built(uint32_t number) const {
    const Value* found = objects_.find(number);
    return found ? *found : Value();
  }

 private:
  Value build_object(uint32_t index, const Materials& materials, std::span<const jit::RunValue> live);
  Value build_tensor(const ObjectRecipe& recipe, const Materials& materials, std::span<const jit::RunValue> live);
  Value finish_tensor(Local<TensorObject> made, const ObjectRecipe& recipe);
  Value build_plain(const ObjectRecipe& recipe, const Materials& materials, std::span<const jit::RunValue> live);
  Value build_function(const ObjectRecipe& recipe, const std::vector<Value>& parts);
  Value build_partial(const ObjectRecipe& recipe, const std::vector<Value>& parts);
  Value build_iterator(const ObjectRecipe& recipe, const std::vector<Value>& parts);
  Value build_text(const ObjectRecipe& recipe, const std::vector<Value>& parts);
  // Containers that may contain themselves: made first, filled after.
  Value build_container(const ObjectRecipe& recipe, const Materials& materials, std::span<const jit::RunValue> live);

  // Whether an input or an object built before lies in the same memory.
  bool is_shared(const Tensor& elements);
  Value remember(const ObjectRecipe& recipe, Value built) {
    objects_.add(recipe.number, built);
    return built;
  }

  Vm& vm_;
  const std::vector<Value>& entry_;
  uint64_t first_number_;  // views are numbered in the order in which the region made them
  BuiltObjects objects_;
  std::unordered_set<const Storage*> memory_;  // of entry_ and of the first `looked_at_` objects, once asked for
  size_t looked_at_ = 0;
  Ref<jit::TapeNode> node_;
  std::unordered_map<uint32_t, uint32_t> outputs_;
};

Value run_value_to_script(Vm& vm, const jit::RunValue& v);

}  // namespace tsc::interp
