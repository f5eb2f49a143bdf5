// Which loops those are, and which turns of them are followed.
#include "interpreter/capture/program/while_loops.h"

#include <algorithm>
#include <utility>

#include "interpreter/capture/compiler/branches.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/guesses.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/while_loop.h"
#include "interpreter/capture/values/numbers.h"

namespace tsc::interp {

using jit::ScalarOp;

namespace {

// Turns that are followed in front of the one that stands for the rest, where one does not show what changes.
constexpr uint32_t kMostFirstTurns = 2;

// The innermost loop around the place: from its head to the last jump back to it. Empty: it stands in none.
struct Span {
  uint32_t head = 0, end = 0;
};
std::optional<Span> loop_around(const lang::CodeObject& code, uint32_t place) {
  std::optional<Span> found;
  for (uint32_t pc = place; pc < code.instructions.size(); ++pc) {
    if (!lang::is_jump(code.instructions[pc].op)) continue;
    const uint32_t target = lang::jump_target(code.instructions[pc], pc);
    if (target <= place && (!found || target >= found->head)) found = Span{target, pc};
  }
  return found;
}

// Whether what begins there may come to another turn.
bool comes_back(const lang::CodeObject& code, Span loop, uint32_t from) {
  std::vector<bool> seen(code.instructions.size());
  std::vector<uint32_t> work = {from};
  while (!work.empty()) {
    const uint32_t pc = work.back();
    work.pop_back();
    if (pc < loop.head || pc > loop.end || seen[pc]) continue;
    if (pc == loop.head) return true;
    seen[pc] = true;
    const lang::Instruction& i = code.instructions[pc];
    if (lang::is_jump(i.op)) work.push_back(lang::jump_target(i, pc));
    if (!lang::ends_block(i.op)) work.push_back(pc + 1);
  }
  return false;
}

bool contains(const std::vector<LoopPlace>& places, const LoopPlace& place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

}  // namespace

// ---- which loops ----

// Of the current instruction, a conditional jump.
std::optional<WhileLoops::Test> WhileLoops::find_test() const {
  const AFrame& frame = frames_.frame();
  const lang::CodeObject& code = *frame.code->code;
  const std::optional<Span> around = loop_around(code, frame.pc);
  if (!around || frame.generator) return std::nullopt;
  const auto stays = [&](bool way) { return comes_back(code, *around, way_of_branch(code, frame.pc, way)); };
  if (stays(true) == stays(false)) return std::nullopt;
  Test test{{frame.code.get(), frame.pc}, {frame.code.get(), around->head}, around->end, stays(true), 0, 0};
  test.turn = way_of_branch(code, frame.pc, test.stays);
  test.exit = way_of_branch(code, frame.pc, !test.stays);
  return test;
}

// Those inside of it have been left.
WhileLoops::Loop* WhileLoops::loop_of(const Test& test) {
  const auto found = std::find_if(loops_.rbegin(), loops_.rend(), [&](const auto& loop) {
    return loop->test.head == test.head && loop->depth == frames_.frame_count();
  });
  if (found == loops_.rend()) return nullptr;
  while (loops_.back() != *found) {
    if (loops_.back()->rolling) refuse(*loops_.back(), "a turn leaves it");
    loops_.pop_back();
  }
  return loops_.back().get();
}

std::optional<bool> WhileLoops::test(const Av& condition) {
  const std::optional<Test> found = find_test();
  if (!found) return std::nullopt;
  const Test& test = *found;
  forget_left();
  const auto goes_on = [&] {
    const ValueId holds = numbers_.truth_in_region(condition);
    return test.stays ? holds : builder_.scalar(ScalarOp::logical_not, {&holds, 1});
  };
  Loop* loop = loop_of(test);
  const lang::Op head = test.head.code->code->instructions[test.head.head].op;
  if (!loop && head == lang::Op::ForIter) {
    find_counted(test);
    return std::nullopt;
  }
  if (!loop) {
    if (!forks_.may_begin(test.place)) return std::nullopt;
    return begin(test, goes_on()) ? std::optional(test.stays) : std::nullopt;
  }
  if (loop->test.place != test.place) {
    if (!(loop->rolling ? is_in_turn(*loop) : forks_.may_begin(test.place))) return std::nullopt;
    leave(*loop, test, goes_on());
    return test.stays;
  }
  const ValueId another = goes_on();
  forget_dead(*loop);
  if (loop->rolling) {
    close(*loop, another);
    return !test.stays;
  }
  if (loop->first_turns < turns_in_front(*loop)) {
    if (!goes_on_by(*loop, test, another)) return std::nullopt;
    next_turn(*loop);
  } else {
    open(*loop, another);
  }
  return test.stays;
}

bool WhileLoops::begin(const Test& test, ValueId goes_on) {
  const AFrame& frame = frames_.frame();
  auto loop = std::make_shared<Loop>();
  loop->test = test;
  loop->depth = frames_.frame_count();
  loop->exits = known_exits(test.head);
  const std::optional<uint32_t> join = Forks::join_of_loop(*frame.code, test.head.head, {test.turn, test.exit});
  if (!join) return false;
  loop->join = *join;
  forget_dead(*loop);
  if (!goes_on_by(*loop, test, goes_on)) return false;
  next_turn(*loop);
  loops_.push_back(std::move(loop));
  return true;
}

// One of the first turns goes on behind that test: on the way of a branch, or for certain.
bool WhileLoops::goes_on_by(Loop& loop, const Test& test, ValueId goes_on) {
  if (contains(memory_.certain_turns, test.place) && guesses_.assume_turn(goes_on)) return loop.is_certain = true;
  return forks_.begin_turn(test.place, goes_on, loop.join, test.exit);
}

// ---- those that count ----

// A test leaves a `for` loop: it is one of these from its next capture on.
void WhileLoops::find_counted(const Test& test) {
  if (contains(memory_.left_loops, test.head) || !forks_.may_begin(test.head)) return;
  memory_.add(memory_.left_loops, test.head);
  throw CaptureRestart{};
}

Av WhileLoops::counted(const Av& iterable, const LoopPlace& place) {
  if (!contains(memory_.left_loops, place) || !forks_.may_begin(place)) return Av();
  forget_left();
  const lang::CodeObject& code = *place.code->code;
  auto loop = std::make_shared<Loop>();
  loop->test = {place, place, 0, false, place.head + 1, lang::jump_target(code.instructions[place.head], place.head)};
  loop->test.end = loop_around(code, place.head)->end;
  loop->depth = frames_.frame_count();
  loop->exits = known_exits(place);
  const std::optional<uint32_t> join = Forks::join_of_loop(*place.code, place.head, {loop->test.turn, loop->test.exit});
  if (!join || !turn_items_.take(loop->sources, iterable)) return Av();
  loop->join = *join;
  if (!count_turns(*loop)) return Av();
  repeats_.spoil_record();
  loop->iterator = make<VIterator>();
  loop->iterator->form = VIterator::Form::Counted;
  std::erase_if(loops_, [&](const auto& one) { return one->test.head == place && one->depth == loop->depth; });
  loops_.push_back(std::move(loop));
  return Av::of(loops_.back()->iterator);
}

// Whether there are more turns than those in front, or else how many there are, is a condition at entry.
bool WhileLoops::count_turns(Loop& loop) {
  const std::optional<Scalar> turns = conditions_.hint(loop.sources.count);
  if (!turns) return false;
  const ValueId in_front = builder_.constant(int64_t{turns_in_front(loop)});
  const auto assume = [&](ScalarOp op, ValueId a, ValueId b) {
    const ValueId condition = conditions_.combined(op, a, b);
    return builder_.known(condition) ? builder_.known(condition)->i != 0 : conditions_.assume_at_entry(condition);
  };
  if (turns->i > turns_in_front(loop)) return assume(ScalarOp::lt, in_front, loop.sources.count);
  loop.few_turns = static_cast<uint32_t>(std::max(int64_t{0}, turns->i));
  const ValueId few = builder_.constant(int64_t{*loop.few_turns});
  return assume(turns->i > 0 ? ScalarOp::eq : ScalarOp::le, loop.sources.count, few);
}

bool WhileLoops::turn(const lang::Instruction& for_iter, const std::shared_ptr<VIterator>& iterator) {
  const auto found =
      std::find_if(loops_.begin(), loops_.end(), [&](const auto& loop) { return loop->iterator == iterator; });
  if (found == loops_.end()) return false;
  Loop& loop = *loop_of((*found)->test);
  forget_dead(loop);
  const ValueId always = builder_.constant_bool(true);
  if (loop.rolling) {
    close(loop, always);
    return true;
  }
  if (loop.few_turns == loop.first_turns) {
    const std::shared_ptr<Loop> left = loops_.back();
    loops_.pop_back();
    go_on_behind(loop, kNoValue);
    return true;
  }
  ValueId number = builder_.constant(int64_t{loop.first_turns});
  if (loop.first_turns < turns_in_front(loop)) {
    next_turn(loop);
  } else {
    open(loop, always);
    number = conditions_.combined(ScalarOp::add, loop.inputs[0], number);
  }
  frames_.write(for_iter.a, turn_items_.item(loop.sources, number));
  return true;
}

void WhileLoops::follow(const VIterator& iterator) {
  for (const auto& loop : loops_)
    if (loop->iterator.get() == &iterator) refuse(*loop, "the region ends in the loop");
}

// ---- turns in front ----

uint32_t WhileLoops::turns_in_front(const Loop& loop) const {
  return contains(memory_.late_loops, loop.test.place) ? kMostFirstTurns : 1;
}

std::vector<uint32_t> WhileLoops::known_exits(const LoopPlace& head) const {
  std::vector<uint32_t> found;
  for (const auto& [loop, target] : memory_.loop_exits)
    if (loop == head) found.push_back(target);
  return found;
}

void WhileLoops::note_exit(Loop& loop, uint32_t target) {
  if (std::find(loop.exits.begin(), loop.exits.end(), target) != loop.exits.end()) return;
  loop.exits.push_back(target);
  memory_.loop_exits.push_back({loop.test.head, target});
  memory_.keep(loop.test.head);
  if (loop.rolling) throw CaptureRestart{};  // its variables had to be known where the turn began
}

void WhileLoops::next_turn(Loop& loop) {
  if (loop.first_turns++ == 0) loop.objects_before = objects_made_;
  loop.forks = forks_.open_count();
  loop.before = frames_.frame().registers;
  loop.changed.clear();
  loop.had.clear();
  loop.objects = objects_made_;
}

// ---- loops that are left otherwise, or are none ----

bool WhileLoops::is_rolling() const {
  return std::any_of(loops_.begin(), loops_.end(), [](const auto& loop) { return loop->rolling; });
}

// Loops that the program has left in a turn that was followed by itself.
void WhileLoops::forget_left() {
  while (!loops_.empty() && forks_.open_count() < loops_.back()->forks) loops_.pop_back();
}

// In the turn that is followed for many, outside of branches in it.
bool WhileLoops::is_in_turn(const Loop& loop) const {
  return forks_.open_count() == loop.forks && builder_.open_blocks() == loop.blocks + loop.leavings.size();
}

void WhileLoops::check_inside() {
  // The current instruction is one of the loop, or of what that calls.
  const auto is_at = [&](const Loop& loop) {
    if (frames_.frame_count() != loop.depth) return frames_.frame_count() > loop.depth;
    const AFrame& frame = frames_.frame();
    return frame.code.get() == loop.test.head.code && frame.pc >= loop.test.head.head && frame.pc <= loop.test.end;
  };
  std::erase_if(loops_, [&](const auto& loop) { return !loop->rolling && loop->is_certain && !is_at(*loop); });
  for (const auto& loop : loops_)
    if (loop->rolling && !is_at(*loop)) refuse(*loop, "a turn leaves it by what is known");
}

void WhileLoops::will_return() {
  for (const auto& loop : loops_)
    if (loop->rolling && loop->depth == frames_.frame_count()) refuse(*loop, "a turn leaves it by what is known");
}

void WhileLoops::abandon(const std::string& why) {
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop)
    if ((*loop)->rolling && forks_.open_count() == (*loop)->forks) refuse(**loop, why);
}

void WhileLoops::give_up(const Loop& loop, std::string why) {
  if (loop.first_turns >= kMostFirstTurns) refuse(loop, why);
  memory_.add(memory_.late_loops, loop.test.place);
  throw CaptureRestart{};
}

// The tests that leave a `for` are where the region ends then.
void WhileLoops::refuse(const Loop& loop, const std::string& why) {
  if (loop.iterator)
    for (const LoopPlace& place : loop.tests)
      if (!forks_.refusal(place.code, place.head)) memory_.refused_forks.push_back({place, why});
  forks_.refuse(loop.test.place, why);
}

void WhileLoops::note(const Virtual& object) {
  forget_left();
  for (const auto& loop : loops_) {
    if (object.number > loop->objects || &object == loop->iterator.get()) continue;
    if (turn_values_.note_change(*loop, object) && loop->rolling && !loop->is_slot(object))
      give_up(*loop, "a turn changes an object that the first ones do not change");
  }
}

}  // namespace tsc::interp
