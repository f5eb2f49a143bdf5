#pragma once
// Maps and sets of a region's values. Values are numbered from 0 without gaps, so what a pass knows of
// each is found at a place of a table instead of by hashing. The interface is that of std::unordered_map
// and std::unordered_set, with two differences: iteration follows the order of insertion (erase() puts the
// last entry in the place of the erased one), and inserting moves the entries, as in a vector.
// A table takes four bytes for each value up to the largest it holds: one that lives for a small part of a
// region only is emptied with clear() and used again.
#include <stdexcept>
#include <utility>
#include <vector>

#include "jit/region/region.h"
#include "runtime/base/error.h"

namespace tsc::jit {

namespace value_map_detail {

// Which place an entry has among the entries; kNoValue for none.
class Places {
 public:
  uint32_t find(ValueId value) const { return value < places_.size() ? places_[value] : kNoValue; }
  void set(ValueId value, uint32_t place) {
    TSC_CHECK(value != kNoValue, "no value is none that can be known");
    if (value >= places_.size()) places_.resize(size_t{value} + value / 2 + 16, kNoValue);
    places_[value] = place;
  }

 private:
  std::vector<uint32_t> places_;
};

}  // namespace value_map_detail

template <class T>
class ValueMap {
 public:
  using Entry = std::pair<ValueId, T>;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  Entry* begin() { return entries_.data(); }
  Entry* end() { return entries_.data() + entries_.size(); }
  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + entries_.size(); }

  Entry* find(ValueId value) {
    const uint32_t place = places_.find(value);
    return place == kNoValue ? end() : entries_.data() + place;
  }
  const Entry* find(ValueId value) const { return const_cast<ValueMap*>(this)->find(value); }
  size_t count(ValueId value) const { return places_.find(value) != kNoValue; }
  const T& at(ValueId value) const {
    const Entry* found = find(value);
    if (found == end()) throw std::out_of_range("ValueMap::at");
    return found->second;
  }
  T& at(ValueId value) { return const_cast<T&>(std::as_const(*this).at(value)); }
  T& operator[](ValueId value) { return emplace(value).first->second; }

  // Does nothing when the value is there already.
  template <class... Arguments>
  std::pair<Entry*, bool> emplace(ValueId value, Arguments&&... arguments) {
    const uint32_t place = places_.find(value);
    if (place != kNoValue) return {entries_.data() + place, false};
    entries_.emplace_back(value, T(std::forward<Arguments>(arguments)...));
    places_.set(value, static_cast<uint32_t>(entries_.size() - 1));
    return {&entries_.back(), true};
  }

  size_t erase(ValueId value) {
    const uint32_t place = places_.find(value);
    if (place == kNoValue) return 0;
    places_.set(value, kNoValue);
    if (place + 1 != entries_.size()) {
      entries_[place] = std::move(entries_.back());
      places_.set(entries_[place].first, place);
    }
    entries_.pop_back();
    return 1;
  }
  // Keeps its memory; takes as long as there are entries.
  void clear() {
    for (const Entry& entry : entries_) places_.set(entry.first, kNoValue);
    entries_.clear();
  }

 private:
  value_map_detail::Places places_;
  std::vector<Entry> entries_;
};

class ValueSet {
 public:
  ValueSet() = default;
  ValueSet(std::initializer_list<ValueId> values) { insert(values.begin(), values.end()); }
  template <class It>
  ValueSet(It first, It last) {
    insert(first, last);
  }

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const ValueId* begin() const { return values_.data(); }
  const ValueId* end() const { return values_.data() + values_.size(); }
  size_t count(ValueId value) const { return places_.find(value) != kNoValue; }

  // Whether it was not there.
  bool insert(ValueId value) {
    if (count(value)) return false;
    places_.set(value, static_cast<uint32_t>(values_.size()));
    values_.push_back(value);
    return true;
  }
  template <class It>
  void insert(It first, It last) {
    for (; first != last; ++first) insert(*first);
  }
  size_t erase(ValueId value) {
    const uint32_t place = places_.find(value);
    if (place == kNoValue) return 0;
    places_.set(value, kNoValue);
    if (place + 1 != values_.size()) {
      values_[place] = values_.back();
      places_.set(values_[place], place);
    }
    values_.pop_back();
    return 1;
  }
  void clear() {
    for (ValueId value : values_) places_.set(value, kNoValue);
    values_.clear();
  }

 private:
  value_map_detail::Places places_;
  std::vector<ValueId> values_;
};

}  // namespace tsc::jit
