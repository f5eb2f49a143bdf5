#pragma once
// The values of one run of a region. Made once per executable and used again by every run: constants stay,
// tensors are dropped when the run ends. An input is lent (a pointer to the caller's tensor), everything
// else is the registers' own.
// Keeps: between two runs no register owns a tensor; only those of kept values show one.
#include <vector>

#include "jit/region/region.h"
#include "runtime/tensor/tensor.h"

namespace tsc::jit {

class Registers {
 public:
  // drop_all() leaves the values with a true entry in `kept` as they are.
  explicit Registers(const Region& region, const std::vector<bool>& kept = {})
      : scalars(region.value_count()),
        objects(region.value_count()),
        own_(region.value_count()),
        seen_(region.value_count(), &none_) {
    for (ValueId value = 0; value < region.value_count(); ++value)
      if (region.type(value).kind == ValueKind::Tensor && (kept.empty() || !kept[value]))
        tensor_values_.push_back(value);
  }
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;

  // Undefined when the value has none (yet, or any more).
  const Tensor& tensor(ValueId value) const { return *seen_[value]; }
  // `tensor` stays the caller's, and stays where and what it is until the run ends.
  void lend(ValueId value, const Tensor& tensor) { seen_[value] = &tensor; }
  void put(ValueId value, Tensor tensor) {
    own_[value] = std::move(tensor);
    seen_[value] = &own_[value];
  }
  void drop(ValueId value) {
    if (seen_[value] == &own_[value]) own_[value] = Tensor();
    seen_[value] = &none_;
  }
  // The value leaves; an input, which is the caller's, as a copy.
  Tensor take(ValueId value) {
    if (seen_[value] != &own_[value]) return tensor(value);
    seen_[value] = &none_;
    return std::move(own_[value]);
  }
  void drop_all() {
    for (ValueId value : tensor_values_)
      if (seen_[value] != &none_) drop(value);
  }

  std::vector<Scalar> scalars;
  std::vector<void*> objects;

 private:
  Tensor none_;  // what an empty register shows
  std::vector<Tensor> own_;
  std::vector<const Tensor*> seen_;
  std::vector<ValueId> tensor_values_;
};

}  // namespace tsc::jit
