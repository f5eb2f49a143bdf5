#pragma once
// Conditional jumps on what only the run knows: the value of a tensor, or a number that the region reads out of one. A
// region that stands at such a jump is left, and the interpreter goes on. What is remembered here is which way it went:
// most of these branches are checks that always come out the same (`if not mask.all(): ...`, `if loss.isnan(): ...`).
// Where one has gone the same way a few times, capture follows that way and the region asks when it is there
// (program/guesses.h); where it then goes the other way the call is interpreted, and where that is not rare the branch
// is a place where regions end again.
// Knows branches by their code, which it keeps alive. Must not know what capture does at one.
#include <memory>
#include <optional>
#include <unordered_map>

#include "interpreter/capture/capture_memory.h"
#include "interpreter/vm/frames.h"
#include "runtime/base/hash.h"

namespace tsc::interp {

struct Variant;

// Where a conditional jump goes on when its condition is `holds`.
uint32_t way_of_branch(const lang::CodeObject& code, uint32_t pc, bool holds);

class Branches {
 public:
  // Which way the jump is expected to go: true, the condition holds. Empty: nothing is expected.
  std::optional<bool> expected(const CodeObject* code, uint32_t pc) const;
  // The way that the conditional jump goes where the other one can only raise; empty: neither does, or both.
  static std::optional<bool> without_raise(const CodeObject* code, uint32_t pc);
  // Whether it has gone both ways.
  bool varies(const CodeObject* code, uint32_t pc) const;
  // Goes up whenever an answer of `expected` has changed.
  uint64_t version() const { return version_; }

  // A region was left in front of the frame's instruction, which the interpreter runs next.
  void leave_at(const Frame& frame, const std::shared_ptr<Variant>& variant);
  // The frame runs on. The variant that ended at the branch behind it, if capture would now follow that.
  std::shared_ptr<Variant> arrive_at(const Frame& frame);
  void forget_frame(const Frame* frame) {
    if (waiting_.frame == frame) waiting_ = {};
  }
  // A region has guessed the branch wrong, after it had run so often. True: it is not to be guessed again. `is_turn`:
  // it is the test of a loop, and guessed was that the first turn goes on.
  bool was_wrong(const CodeObject* code, uint32_t pc, uint64_t runs, bool is_turn);
  bool has_first_turn(const CodeObject* code, uint32_t pc) const;
  void reset() { *this = {}; }

 private:
  struct Place {
    const CodeObject* code;
    uint32_t pc;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    size_t operator()(const Place& place) const { return hash_mix(reinterpret_cast<uint64_t>(place.code), place.pc); }
  };
  struct Record {
    uint32_t went[2] = {0, 0};  // so often not, and so often as the condition said
    uint32_t wrong = 0;
    bool varies = false, first_turn_varies = false;
    Local<CodeObject> keeps_alive;
  };
  struct Waiting {
    const Frame* frame = nullptr;
    const CodeObject* code = nullptr;
    uint32_t pc = 0;
    std::weak_ptr<Variant> variant;
  };
  std::unordered_map<Place, Record, PlaceHash> records_;
  Waiting waiting_;
  uint64_t version_ = 0;
};

}  // namespace tsc::interp
