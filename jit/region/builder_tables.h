#pragma once
// What RegionBuilder remembers of the scalars it emitted. Private to builder*.cpp.
#include <algorithm>
#include <unordered_map>

#include "jit/region/builder.h"
#include "jit/region/equal_sizes.h"
#include "runtime/base/hash.h"

namespace tsc::jit {

struct NumberKey {
  Scalar::Kind kind;
  int64_t bits;
  bool operator==(const NumberKey&) const = default;
};
struct KeyHash {
  size_t operator()(const ScalarKey& key) const {
    return hash_mix(hash_mix(static_cast<uint64_t>(key.op) + 1, key.operands[0]),
                    hash_mix(key.operands[1] + 1ull, key.operands[2] + 2ull));
  }
  size_t operator()(const NumberKey& key) const {
    return hash_mix(static_cast<uint64_t>(key.kind) + 1, static_cast<uint64_t>(key.bits));
  }
};

inline ScalarKey key_of(ScalarOp op, std::span<const ValueId> operands) {
  ScalarKey key{op, {kNoValue, kNoValue, kNoValue}};
  std::copy(operands.begin(), operands.end(), key.operands);
  return key;
}

// Entries of a nested block are taken back when it closes, but for values that were appended outside.
struct RegionBuilder::Tables {
  struct Mark {
    size_t numbers, scalars;
    EqualSizes equal;
  };
  std::unordered_map<NumberKey, ValueId, KeyHash> numbers;
  std::unordered_map<ScalarKey, ValueId, KeyHash> scalars;
  ValueMap<Scalar> constants;
  ValueMap<ScalarKey> definitions;
  std::vector<NumberKey> number_order;
  std::vector<ScalarKey> scalar_order;
  std::vector<Mark> marks;  // of the open loops
  EqualSizes equal;

  void add_number(const Scalar& number, ValueId value) {
    const NumberKey key{number.kind, number.i};
    if (!numbers.emplace(key, value).second) return;
    number_order.push_back(key);
    constants.emplace(value, number);
    if (number.kind == Scalar::Kind::Int) equal.set_constant(value, number.i);
  }
  void add_scalar(const ScalarKey& key, ValueId value) {
    if (!scalars.emplace(key, value).second) return;
    scalar_order.push_back(key);
    definitions.emplace(value, key);
  }

  Mark mark() const { return {number_order.size(), scalar_order.size(), equal}; }
  // `stays`: whether a value that was made since is visible outside.
  template <class Stays>
  void restore(Mark mark, const Stays& stays) {
    std::vector<std::pair<Scalar, ValueId>> kept_numbers;
    std::vector<std::pair<ScalarKey, ValueId>> kept_scalars;
    for (; number_order.size() > mark.numbers; number_order.pop_back()) {
      const auto found = numbers.find(number_order.back());
      if (stays(found->second)) kept_numbers.push_back({constants.at(found->second), found->second});
      constants.erase(found->second);
      numbers.erase(found);
    }
    for (; scalar_order.size() > mark.scalars; scalar_order.pop_back()) {
      const auto found = scalars.find(scalar_order.back());
      if (stays(found->second)) kept_scalars.push_back({found->first, found->second});
      definitions.erase(found->second);
      scalars.erase(found);
    }
    equal = std::move(mark.equal);
    for (auto one = kept_numbers.rbegin(); one != kept_numbers.rend(); ++one) add_number(one->first, one->second);
    for (auto one = kept_scalars.rbegin(); one != kept_scalars.rend(); ++one) add_scalar(one->first, one->second);
  }
};

}  // namespace tsc::jit
