#pragma once
// What the captures of one function tell the next ones. Knows script values. Must not know capture.
#include <string>
#include <unordered_set>
#include <vector>

#include "interpreter/capture/plan.h"

namespace tsc::interp {

// Remembered between captures of one function: cells that changed and are read at every entry instead of
// being assumed, and places where virtual objects must not be created.
struct CaptureMemory {
  struct Cell {
    Object* holder;
    Object* name;  // interned str; null: cell content; or element index below
    int64_t index;
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> dynamic;
  // Instructions at which the region is left: one ran script code that had to leave, or made an iterator
  // that outlived the region.
  struct Refusal {
    const CodeObject* code;
    uint32_t pc;
    BreakReason reason;
    std::string detail;
  };
  std::vector<Refusal> refused;
  const Refusal* refusal(const CodeObject* code, uint32_t pc) const;
  // Places (source_place) of lists and dicts whose items something reads; of objects that must be taken by
  // identity; of instances that differ from call to call and are taken apart; of strings that do and are
  // only carried along.
  std::unordered_set<std::string> read, whole, apart, text;
  std::unordered_set<std::string> shared;  // places of tensors whose memory is another one's too: not written in a region
  // Functions of which no call is repeated (call_record.h): one was, and came out differently; or of none.
  std::unordered_set<const Object*> followed;
  bool follows_calls = false;
  bool specialises = false;  // sizes and ints are facts
  bool only_call = false;    // the region ends behind its first instruction, a call
  bool has_effects = false;  // an operation that raises inside try or with cannot be run a second time
  std::vector<Value> keep_alive;
  bool is_dynamic(const Cell& cell) const;
  void make_dynamic(const Cell& cell, const Value& holder);
};

}  // namespace tsc::interp
