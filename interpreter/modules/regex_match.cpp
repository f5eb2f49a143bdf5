// The matcher: one loop over the program with an explicit stack of what to do on failure.
#include <algorithm>
#include <cstring>

#include "interpreter/heap/counted_memory.h"
#include "interpreter/modules/regex.h"

namespace tsc::interp::regex {
namespace {

// What a failure finds on the stack, latest first.
struct Choice {
  enum class Kind : uint8_t {
    Resume,   // go on at pc, position
    Restore,  // register `pc` had the value `position`
    Greedy,   // a Repeat at pc may give units back: position down to `limit`
    Lazy,     // a Repeat at pc may take one more unit: from position, up to `limit`
    Failed,   // everything tried since failed: remember (pc, position)
  };
  Kind kind;
  uint32_t pc;
  int64_t position;
  int64_t limit = 0;
};

constexpr uint64_t kStepsBetweenInterrupts = 1 << 14;
constexpr uint64_t kStepsBeforeMemory = 20000;
constexpr size_t kMostMemoryBits = size_t{1} << 30;  // 128 MiB

template <class Unit>
class Matcher {
 public:
  Matcher(const Program& program, const Unit* text, int64_t length, int64_t end, bool full,
          const std::function<void()>& interrupt, std::vector<int64_t>& registers)
      : program_(program), text_(text), length_(length), end_(end), full_(full), interrupt_(interrupt),
        registers_(registers) {}

  // Steps of any kind; now and then a stop is heard.
  void work(uint64_t steps) {
    steps_ += steps;
    if (steps_ < next_interrupt_) [[likely]]
      return;
    next_interrupt_ = steps_ + kStepsBetweenInterrupts;
    interrupt_();
  }

  bool match_at(int64_t position, int64_t not_empty_at) {
    registers_.assign(program_.registers, -1);
    registers_[0] = position;
    stack_.clear();
    not_empty_at_ = not_empty_at;
    int64_t ended = run(0, position, true);
    if (ended < 0) return false;
    registers_[1] = ended;
    return true;
  }

 private:
  uint32_t unit(int64_t i) const { return static_cast<uint32_t>(text_[i]); }

  bool fits(const Instruction& i, int64_t position) const {
    if (position >= end_) return false;
    uint32_t c = unit(position);
    switch (i.op) {
      case Op::Char: return c == i.a;
      case Op::CharFold: return fold(c, i.b) == i.a;
      case Op::Any: return c != '\n';
      case Op::AnyAll: return true;
      default: return program_.sets[i.a].contains(c);
    }
  }
  void set_register(uint32_t index, int64_t value) {
    stack_.push_back({Choice::Kind::Restore, index, registers_[index]});
    registers_[index] = value;
  }

  // --- remembered failures ---------------------------------------------------------------------------

  void count_step() {
    work(1);
    if (steps_ < kStepsBeforeMemory || remembers_ || program_.has_references) return;
    remembers_ = true;
    size_t bits = program_.code.size() * static_cast<size_t>(end_ + 1);
    if (bits <= kMostMemoryBits) failed_.assign(bits, false);
  }
  size_t state(uint32_t pc, int64_t position) const {
    return pc * static_cast<size_t>(end_ + 1) + static_cast<size_t>(position);
  }
  // False when it is known that going on there fails.
  bool worth_trying(uint32_t pc, int64_t position) {
    count_step();
    if (failed_.empty()) return true;
    if (failed_[state(pc, position)]) return false;
    stack_.push_back({Choice::Kind::Failed, pc, position});
    return true;
  }

  // --- the loop --------------------------------------------------------------------------------------

  // From (pc, position) to Accept: the end of the match, or -1. `whole`: the pattern itself, not the
  // body of a look-around or atomic group.
  int64_t run(uint32_t pc, int64_t position, bool whole) {
    size_t base = stack_.size();
    for (;;) {
      if (pc != kFail) pc = step(pc, position);
      if (pc == kAccept) {
        bool good =
            !whole || ((!full_ || position == end_) && (position != not_empty_at_ || registers_[0] != position));
        if (good) return keep_restores(base), position;
        pc = kFail;
      }
      if (pc == kFail && !retry(base, pc, position)) return -1;
    }
  }
  static constexpr uint32_t kFail = 0xffffffffu, kAccept = 0xfffffffeu;

  // A body that matched gives up its alternatives; registers can still be restored.
  void keep_restores(size_t base) {
    size_t kept = base;
    for (size_t i = base; i < stack_.size(); ++i)
      if (stack_[i].kind == Choice::Kind::Restore) stack_[kept++] = stack_[i];
    stack_.resize(kept);
  }
  void undo(size_t base) {
    while (stack_.size() > base) {
      if (stack_.back().kind == Choice::Kind::Restore) registers_[stack_.back().pc] = stack_.back().position;
      stack_.pop_back();
    }
  }

  // The latest choice that is left: sets pc and position. False: none above `base`.
  bool retry(size_t base, uint32_t& pc, int64_t& position) {
    while (stack_.size() > base) {
      Choice& top = stack_.back();
      switch (top.kind) {
        case Choice::Kind::Restore: registers_[top.pc] = top.position; break;
        case Choice::Kind::Failed:
          if (!failed_.empty()) failed_[state(top.pc, top.position)] = true;
          break;
        case Choice::Kind::Resume: {
          Choice choice = top;
          stack_.pop_back();
          if (!worth_trying(choice.pc, choice.position)) continue;
          pc = choice.pc;
          position = choice.position;
          return true;
        }
        case Choice::Kind::Greedy:
          if (give_back(pc, position)) return true;
          continue;
        case Choice::Kind::Lazy:
          if (take_more(pc, position)) return true;
          continue;
      }
      stack_.pop_back();
    }
    return false;
  }
  bool give_back(uint32_t& pc, int64_t& position) {
    Choice& top = stack_.back();
    if (top.position <= top.limit) return stack_.pop_back(), false;
    // When a literal follows, places where it does not stand are skipped.
    const Instruction& next = program_.code[top.pc + 2];
    int64_t at = top.position - 1;
    if (next.op == Op::Char)
      while (at > top.limit && (at >= end_ || unit(at) != next.a)) --at;
    work(static_cast<uint64_t>(top.position - at) / 64);
    top.position = at;
    uint32_t target = top.pc + 2;
    if (at <= top.limit) stack_.pop_back();
    if (!worth_trying(target, at)) return false;
    pc = target;
    position = at;
    return true;
  }
  bool take_more(uint32_t& pc, int64_t& position) {
    Choice& top = stack_.back();
    if (top.limit <= 0 || !fits(program_.code[top.pc + 1], top.position)) return stack_.pop_back(), false;
    int64_t at = ++top.position;
    --top.limit;
    uint32_t target = top.pc + 2;
    if (!worth_trying(target, at)) return false;
    pc = target;
    position = at;
    return true;
  }

  // Runs instructions until one fails or accepts.
  uint32_t step(uint32_t pc, int64_t& position) {
    for (;;) {
      const Instruction& i = program_.code[pc];
      switch (i.op) {
        case Op::Char:
        case Op::CharFold:
        case Op::Any:
        case Op::AnyAll:
        case Op::Set:
          if (!fits(i, position)) return kFail;
          ++position;
          ++pc;
          break;
        case Op::Split:
          if (!worth_trying(pc, position)) return kFail;
          stack_.push_back({Choice::Kind::Resume, i.b, position});
          pc = i.a;
          break;
        case Op::Jump: pc = i.a; break;
        case Op::Save:
          set_register(i.a, position);
          if (i.a & 1) set_register(program_.last_group_register(), i.a / 2);
          ++pc;
          break;
        case Op::LoopEnter:
          set_register(i.a, position);
          ++pc;
          break;
        case Op::LoopCheck: pc = registers_[i.a] == position ? i.b : pc + 1; break;
        case Op::Repeat:
          if (!repeat(pc, position)) return kFail;
          pc += 2;
          break;
        case Op::Accept: return kAccept;
        case Op::Fail: return kFail;
        default:
          pc = rare(pc, position);
          if (pc == kFail) return kFail;
      }
    }
  }
  bool repeat(uint32_t pc, int64_t& position) {
    const Instruction& i = program_.code[pc];
    const Instruction& what = program_.code[pc + 1];
    Greed greed = static_cast<Greed>(i.b);
    int64_t most = i.a == kUnlimited ? end_ - position : std::min<int64_t>(i.a, end_ - position);
    int64_t wanted = greed == Greed::Lazy ? std::min<int64_t>(i.c, most) : most;
    int64_t start = position;
    while (position - start < wanted && fits(what, position)) ++position;
    work(static_cast<uint64_t>(position - start) / 64);
    if (position - start < static_cast<int64_t>(i.c)) return false;
    if (greed == Greed::Greedy && position > start + i.c)
      stack_.push_back({Choice::Kind::Greedy, pc, position, start + i.c});
    else if (greed == Greed::Lazy && most > i.c) stack_.push_back({Choice::Kind::Lazy, pc, position, most - i.c});
    return true;
  }
  uint32_t rare(uint32_t pc, int64_t& position) {
    const Instruction& i = program_.code[pc];
    switch (i.op) {
      case Op::Assert: return holds(i, position) ? pc + 1 : kFail;
      case Op::Reference: return reference(i, position) ? pc + 1 : kFail;
      case Op::Conditional: return registers_[2 * i.a + 1] >= 0 ? pc + 1 : i.b;
      case Op::Atomic: {
        int64_t ended = run(pc + 1, position, false);
        if (ended < 0) return kFail;
        position = ended;
        return i.a;
      }
      default: {  // Look
        int64_t from = i.c ? position - (i.c - 1) : position;
        if (from < 0) return i.b ? i.a : kFail;
        size_t base = stack_.size();
        bool matched = run(pc + 1, from, false) >= 0;
        if (matched && i.b) undo(base);
        return matched != static_cast<bool>(i.b) ? i.a : kFail;
      }
    }
  }
  bool word_at(int64_t i, bool ascii) const { return i >= 0 && i < end_ && is_word(unit(i), ascii); }
  bool holds(const Instruction& i, int64_t position) const {
    switch (i.a) {
      case 'A': return position == 0;
      case '^': return position == 0 || unit(position - 1) == '\n';
      case 'Z': return position == end_;
      case 'z': return position == end_ || (position == end_ - 1 && unit(position) == '\n');
      case '$': return position == end_ || unit(position) == '\n';
      case 'b': return word_at(position - 1, i.b) != word_at(position, i.b);
      default: return end_ > 0 && word_at(position - 1, i.b) == word_at(position, i.b);  // B
    }
  }
  bool reference(const Instruction& i, int64_t& position) const {
    int64_t begin = registers_[2 * i.a], end = registers_[2 * i.a + 1];
    if (begin < 0 || end < begin || position + (end - begin) > end_) return false;
    for (int64_t k = begin; k < end; ++k) {
      uint32_t a = unit(k), b = unit(position + (k - begin));
      if (a != b && !(i.b && fold(a, i.c) == fold(b, i.c))) return false;
    }
    position += end - begin;
    return true;
  }

  const Program& program_;
  const Unit* text_;
  int64_t length_, end_;
  bool full_;
  const std::function<void()>& interrupt_;
  std::vector<int64_t>& registers_;
  std::vector<Choice, Counted<Choice>> stack_;
  std::vector<bool, Counted<bool>> failed_;
  uint64_t steps_ = 0, next_interrupt_ = kStepsBetweenInterrupts;
  bool remembers_ = false;
  int64_t not_empty_at_ = -1;
};

// The first place from `at` on where a match may begin, or `end + 1`.
template <class Unit>
int64_t next_start(const Program& program, const Unit* text, int64_t at, int64_t end) {
  if (!program.prefix.empty()) {
    const auto& prefix = program.prefix;
    int64_t last = end - static_cast<int64_t>(prefix.size());
    for (; at <= last; ++at) {
      if constexpr (sizeof(Unit) == 1) {
        if (prefix[0] > 255) return end + 1;
        auto* found = static_cast<const Unit*>(
            std::memchr(text + at, static_cast<int>(prefix[0]), static_cast<size_t>(last - at + 1)));
        if (!found) return end + 1;
        at = found - text;
      }
      size_t k = 0;
      while (k < prefix.size() && static_cast<uint32_t>(text[at + static_cast<int64_t>(k)]) == prefix[k]) ++k;
      if (k == prefix.size()) return at;
    }
    return end + 1;
  }
  if (!program.has_first) return at;
  while (at < end) {
    uint32_t c = static_cast<uint32_t>(text[at]);
    if (c >= 256 || program.first[c]) return at;
    ++at;
  }
  return end + 1;
}

template <class Unit>
bool execute_on(const Program& program, const Unit* text, int64_t length, int64_t start, int64_t end, Mode mode,
                int64_t not_empty_at, const std::function<void()>& interrupt, std::vector<int64_t>& registers) {
  Matcher<Unit> matcher(program, text, length, end, mode == Mode::FullMatch, interrupt, registers);
  if (mode != Mode::Search) return matcher.match_at(start, not_empty_at);
  for (int64_t at = start; at <= end; ++at) {
    at = next_start(program, text, at, end);
    if (at > end) return false;
    matcher.work(1);
    if (matcher.match_at(at, not_empty_at)) return true;
  }
  return false;
}

}  // namespace

bool execute(const Program& program, const Subject& subject, int64_t start, int64_t end, Mode mode,
             int64_t not_empty_at, const std::function<void()>& interrupt, std::vector<int64_t>& registers) {
  if (subject.wide)
    return execute_on(program, subject.wide, subject.length, start, end, mode, not_empty_at, interrupt, registers);
  return execute_on(program, subject.narrow, subject.length, start, end, mode, not_empty_at, interrupt, registers);
}

}  // namespace tsc::interp::regex
