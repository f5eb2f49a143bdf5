#pragma once
// The values of one run of a region. Made once per executable and used again by every run: constants stay,
// tensors are dropped when the run ends. An input is lent (a pointer to the caller's tensor), everything
// else is the registers' own.
// Keeps: between two runs no register owns a tensor; only those of kept values show one.
#include <deque>
#include <vector>

#include "jit/region/region.h"
#include "runtime/tensor/tensor.h"

namespace tsc::jit {

class Registers {
 public:
  // drop_all() leaves the values with a true entry in `kept` as they are.
  explicit Registers(const Region& region, const std::vector<bool>& kept = {})
      : scalars(region.value_count()), objects(region.value_count()), places_(region.value_count()),
        seen_(region.value_count(), &none_) {
    find_tensors(region, region.body, kept);
  }
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;

  // Undefined when the value has none (yet, or any more).
  const Tensor& tensor(ValueId value) const { return *seen_[value]; }
  // `tensor` stays the caller's, and stays where and what it is until the run ends.
  void lend(ValueId value, const Tensor& tensor) { seen_[value] = &tensor; }
  void put(ValueId value, Tensor tensor) {
    Tensor& own = place_of(value);
    own = std::move(tensor);
    seen_[value] = &own;
  }
  void drop(ValueId value) {
    if (is_own(value)) own_[places_[value] - 1] = Tensor();
    seen_[value] = &none_;
  }
  // The value leaves; an input, which is the caller's, as a copy.
  Tensor take(ValueId value) {
    if (!is_own(value)) return tensor(value);
    seen_[value] = &none_;
    return std::move(own_[places_[value] - 1]);
  }
  void drop_all() {
    for (ValueId value : tensor_values_)
      if (seen_[value] != &none_) drop(value);
  }

  std::vector<Scalar> scalars;
  std::vector<void*> objects;

 private:
  bool is_own(ValueId value) const { return places_[value] != 0 && seen_[value] == &own_[places_[value] - 1]; }
  // Given when it is needed first: what a compiled kernel computes inside is never put anywhere.
  Tensor& place_of(ValueId value) {
    if (places_[value] == 0) {
      own_.emplace_back();
      places_[value] = static_cast<uint32_t>(own_.size());
    }
    return own_[places_[value] - 1];
  }

  void find_tensors(const Region& region, const Block& block, const std::vector<bool>& kept) {
    const auto visit = [&](ValueId value) {
      if (region.type(value).kind == ValueKind::Tensor && (kept.empty() || !kept[value]))
        tensor_values_.push_back(value);
    };
    for (ValueId parameter : block.parameters) visit(parameter);
    for (const Instruction& instruction : block.instructions) {
      for (ValueId result : instruction.results) visit(result);
      for (const auto& inner : instruction.blocks) find_tensors(region, *inner, kept);
    }
  }

  Tensor none_;                      // what an empty register shows
  std::vector<uint32_t> places_;     // by value: of its tensor among own_, from 1
  std::deque<Tensor> own_;           // which stay where they are
  std::vector<const Tensor*> seen_;  // by value
  std::vector<ValueId> tensor_values_;
};

}  // namespace tsc::jit
