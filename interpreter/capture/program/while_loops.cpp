#include "interpreter/capture/program/while_loops.h"

#include <algorithm>
#include <limits>

#include "interpreter/capture/compiler/branches.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/turn_values.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"

namespace tsc::interp {

namespace {

// Turns that are followed in front of the one that stands for the rest, where one does not show what changes.
constexpr uint32_t kMostFirstTurns = 2;
constexpr uint32_t kNoRegister = ~0u;
// Carried values of the region's loop in front of the program's: whether there is another turn, and how many there
// were.
constexpr size_t kOwnValues = 2;

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

}  // namespace

// What the test decides: the truth of the condition with which the loop goes on, and where it goes without.
struct WhileLoops::Test {
  LoopPlace place;
  bool stays = false;
  uint32_t exit = 0;
};

struct WhileLoops::Loop : TurnState {
  Test test;
  size_t depth = 0;          // of its frame, from 1
  size_t forks = 0;          // that are open while its turns are followed
  uint32_t first_turns = 0;  // that have begun
  // While one turn is followed for many.
  ValueId goes_on = kNoValue;  // in front of the first
  size_t history = 0;          // entries of the gradient history in front of the turn
  Modes modes;
  uint32_t handlers = 0;
};

std::optional<bool> WhileLoops::test(const Av& condition) {
  const AFrame& frame = frames_.frame();
  const lang::CodeObject& code = *frame.code->code;
  Test test{{frame.code.get(), frame.pc}, false, 0};
  const std::optional<Span> around = loop_around(code, frame.pc);
  if (!around || frame.generator || code.instructions[around->head].op == lang::Op::ForIter) return std::nullopt;
  const auto stays = [&](bool way) { return comes_back(code, *around, way_of_branch(code, frame.pc, way)); };
  if (stays(true) == stays(false)) return std::nullopt;
  test.stays = stays(true);
  test.exit = way_of_branch(code, frame.pc, !test.stays);
  forget_left();
  ValueId goes_on = kNoValue;
  const auto take_condition = [&] {
    goes_on = numbers_.truth_in_region(condition);
    if (!test.stays) goes_on = builder_.scalar(jit::ScalarOp::logical_not, {&goes_on, 1});
  };
  Loop* loop = loops_.empty() ? nullptr : loops_.back().get();
  const bool is_next = loop && loop->test.place == test.place && loop->depth == frames_.frame_count();
  if (!is_next) {
    if (!forks_.may_begin(test.place)) return std::nullopt;
    take_condition();
    return begin(test, goes_on) ? std::optional(test.stays) : std::nullopt;
  }
  take_condition();
  turn_values_.forget_dead(kNoRegister);
  if (loop->rolling) {
    close(*loop, goes_on);
    return !test.stays;
  }
  const auto& late = memory_.late_loops;
  const bool is_late = std::find(late.begin(), late.end(), test.place) != late.end();
  if (is_late && loop->first_turns < kMostFirstTurns) {
    forks_.begin_loop(test.place, goes_on, test.exit);
    next_turn(*loop);
  } else {
    open(*loop, goes_on);
  }
  return test.stays;
}

bool WhileLoops::is_rolling() const {
  return std::any_of(loops_.begin(), loops_.end(), [](const auto& loop) { return loop->rolling; });
}

// Loops that the program has left in a turn that was followed by itself.
void WhileLoops::forget_left() {
  while (!loops_.empty() && forks_.open_count() < loops_.back()->forks) loops_.pop_back();
}

void WhileLoops::give_up(const Loop& loop, std::string why) {
  if (loop.first_turns >= kMostFirstTurns) forks_.refuse(loop.test.place, std::move(why));
  memory_.late_loops.push_back(loop.test.place);
  memory_.keep_alive.push_back(Value(const_cast<CodeObject*>(loop.test.place.code)));
  throw CaptureRestart{};
}

void WhileLoops::take_gradient() {
  for (const auto& loop : loops_)
    if (loop->rolling) forks_.refuse(loop->test.place, "gradients go back through a loop of unknown length");
}

void WhileLoops::note(const Virtual& object) {
  forget_left();
  for (const auto& loop : loops_) {
    if (object.number > loop->objects) continue;
    if (turn_values_.note_change(*loop, object) && loop->rolling && !loop->is_slot(object))
      give_up(*loop, "a turn changes an object that the first ones do not change");
  }
}

bool WhileLoops::begin(const Test& test, ValueId goes_on) {
  turn_values_.forget_dead(kNoRegister);
  if (!forks_.begin_loop(test.place, goes_on, test.exit)) return false;
  auto loop = std::make_shared<Loop>();
  loop->test = test;
  loop->depth = frames_.frame_count();
  next_turn(*loop);
  loops_.push_back(std::move(loop));
  return true;
}

void WhileLoops::next_turn(Loop& loop) {
  if (loop.first_turns++ == 0) loop.objects_before = objects_made_;
  loop.forks = forks_.open_count();
  loop.before = frames_.frame().registers;
  loop.changed.clear();
  loop.had.clear();
  loop.objects = objects_made_;
}

void WhileLoops::open(Loop& loop, ValueId goes_on) {
  try {
    turn_values_.take(loop, nullptr, [](const auto&) { throw NotCarried{"a turn changes a list"}; });
  } catch (const NotCarried& reason) {
    give_up(loop, reason.why);
  }
  std::vector<jit::Type> types = {{jit::ValueKind::Bool, {}, {}}, {jit::ValueKind::Int, {}, {}}};
  for (const CarriedValue& value : loop.carried) types.push_back(value.type);
  loop.inputs = builder_.begin_loop(types);
  loop.goes_on = goes_on;
  loop.rolling = true;
  turn_values_.begin(loop);
  loop.before = frames_.frame().registers;
  loop.changed.clear();
  loop.had.clear();
  loop.objects = objects_made_;
  loop.history = gradients_.history_size();
  loop.modes = modes_;
  loop.handlers = frames_.frame().handlers;
}

void WhileLoops::close(Loop& loop, ValueId goes_on) {
  if (!(modes_ == loop.modes) || frames_.frame().handlers != loop.handlers)
    give_up(loop, "its turns end in different modes");
  std::vector<ValueId> next;
  try {
    next = turn_values_.ends(loop);
  } catch (const NotCarried& reason) {
    give_up(loop, reason.why);
  }
  std::vector<ValueId> initial = {loop.goes_on, builder_.constant(int64_t{0})};
  for (const CarriedValue& value : loop.carried) initial.push_back(value.initial);
  const ValueId one = builder_.constant(int64_t{1});
  next.insert(next.begin(), {goes_on, conditions_.combined(jit::ScalarOp::add, loop.inputs[0], one)});
  builder_.origin = frames_.origin_at(loop.test.place.head);
  const ValueId most = builder_.constant(std::numeric_limits<int64_t>::max());
  const std::vector<ValueId> results = builder_.end_loop(most, initial, next, {}, jit::kWhile);
  loop.rolling = false;
  conditions_.set_nonnegative(results[1]);
  for (ValueId result : results)
    if (region_.type(result).kind == jit::ValueKind::Tensor) gradients_.end_history(result);
  gradients_.close_block(loop.history, {});
  turn_values_.leave_behind(loop, std::span(results).subspan(kOwnValues), results[1]);
  loops_.pop_back();
}

}  // namespace tsc::interp
