#pragma once
// What few strings have beside their text. A long one that is not ASCII, once somebody has indexed it: where every 64th
// character stands, so that an index costs no walk from the beginning. One that grows at its end (`s += t`): how much
// room it has. A string knows its entry by its number (StrObject::extra). Knows: numbers and sizes. Must not know: what
// the text says.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interpreter/heap/heap.h"

namespace tsc::interp {

class TextPlaces {
 public:
  static constexpr int64_t kStep = 64;  // characters between two places
  struct Entry {
    std::vector<size_t> places;  // places[k]: the offset of character k * kStep; empty: not known
    MemoryCharge charge;         // of these
    size_t room = 0;             // bytes behind the object's head; 0: as many as the text has and its end
  };

  TextPlaces() : entries_(1) {}
  // A new entry: its number, which is not 0.
  uint32_t add() {
    if (free_.empty()) {
      free_.reserve(entries_.size() + 1);  // drop() needs no memory
      entries_.emplace_back();
      return static_cast<uint32_t>(entries_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  Entry& operator[](uint32_t number) { return entries_[number]; }
  void drop(uint32_t number) noexcept {
    entries_[number] = {};
    free_.push_back(number);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

}  // namespace tsc::interp
