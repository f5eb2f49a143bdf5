// The turn of a while loop that stands for many, its exits, and what is behind it.
#include <algorithm>
#include <limits>

#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/turn_conditions.h"
#include "interpreter/capture/program/while_loop.h"
#include "interpreter/capture/values/gradients.h"

namespace tsc::interp {

using jit::ScalarOp;

namespace {

// Carried values of the region's loop in front of the program's: whether there is another turn, how many there were,
// and, of a loop that other tests leave, by which of them it was left, from 1; 0: by none.
enum Own : size_t { kGoesOn, kTurns, kExit };

bool contains(const std::vector<ValueId>& values, ValueId value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

// ---- which variables ----

// Whether somebody reads it in another turn, or behind the loop where that ends between two turns.
bool WhileLoops::is_read_on(const Loop& loop, uint32_t reg) {
  if (loop.iterator) return is_tracked(frames_.frame(), reg);  // the item is another one in each turn
  return is_read_at(loop.test.turn, reg) || is_read_at(loop.test.exit, reg);
}

// In the current frame.
bool WhileLoops::is_read_at(uint32_t pc, uint32_t reg) {
  AFrame& frame = frames_.frame();
  const uint32_t here = std::exchange(frame.pc, pc);
  const bool is_read = is_tracked(frame, reg);
  frame.pc = here;
  return is_read;
}

bool WhileLoops::is_read_at_exits(const Loop& loop, uint32_t reg) {
  return std::any_of(loop.exits.begin(), loop.exits.end(), [&](uint32_t exit) { return is_read_at(exit, reg); });
}

void WhileLoops::forget_dead(const Loop& loop) {
  turn_values_.forget_dead([&](uint32_t reg) { return is_read_on(loop, reg) || is_read_at_exits(loop, reg); });
}

// A variable that is read at one of the exits alone: the turn begins with any value of its type.
void WhileLoops::set_exit_values(Loop& loop) {
  AFrame& frame = frames_.frame();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    if (is_read_on(loop, reg) || !is_read_at_exits(loop, reg)) continue;
    loop.before[reg] = turn_values_.stand_in(frame.registers[reg], true);
    frame.registers[reg] = turn_values_.stand_in(frame.registers[reg], false);
  }
}

// ---- the turn ----

void WhileLoops::open(Loop& loop, ValueId goes_on) {
  set_exit_values(loop);
  try {
    turn_values_.take(loop, loop.iterator.get(), [](const auto&) { throw NotCarried{"a turn changes a list"}; });
  } catch (const NotCarried& reason) {
    give_up(loop, reason.why);
  }
  for (const auto& tensor : loop.elements) forks_.note_write(*tensor);  // while its elements are those in front
  std::vector<jit::Type> types = {{jit::ValueKind::Bool, {}, {}}, {jit::ValueKind::Int, {}, {}}};
  if (!loop.exits.empty()) types.push_back({jit::ValueKind::Int, {}, {}});
  for (const CarriedValue& value : loop.carried) types.push_back(value.type);
  loop.inputs = builder_.begin_loop(types);
  loop.goes_on = goes_on;
  loop.rolling = true;
  loop.blocks = builder_.open_blocks();
  loop.forks = forks_.open_count();
  conditions_.set_nonnegative(loop.inputs[0]);
  if (loop.iterator) turn_conditions_.open(loop.inputs[0], most_turns(loop));
  const auto& unsteady = memory_.unsteady_loops;
  loop.may_be_steady = std::find(unsteady.begin(), unsteady.end(), loop.test.head) == unsteady.end();
  turn_values_.begin(loop);
  loop.before = frames_.frame().registers;
  loop.changed.clear();
  loop.had.clear();
  loop.objects = objects_made_;
  loop.history = gradients_.history_size();
  loop.modes = modes_;
  loop.handlers = frames_.frame().handlers;
}

// Of those that are left.
ValueId WhileLoops::most_turns(const Loop& loop) {
  if (!loop.iterator) return builder_.constant(std::numeric_limits<int64_t>::max());
  return conditions_.combined(ScalarOp::sub, loop.sources.count, builder_.constant(int64_t{loop.first_turns}));
}

// What the variables are where the turn ends, or where the current test leaves it.
WhileLoops::Ending WhileLoops::ends(Loop& loop) {
  if (!(modes_ == loop.modes) || frames_.frame().handlers != loop.handlers)
    give_up(loop, "its turns end in different modes");
  Ending ending;
  try {
    ending.next = turn_values_.ends(loop);
  } catch (const NotCarried& reason) {
    give_up(loop, reason.why);
  }
  if (loop.is_unsteady) {
    memory_.add(memory_.unsteady_loops, loop.test.head);
    throw CaptureRestart{};
  }
  ending.last_writes = loop.last_writes;
  for (size_t i = 0; i < loop.elements.size(); ++i) {
    ending.writes.push_back(int64_t{loop.elements[i]->writes} - loop.writes[i]);
    ending.writes_of_loops.push_back(loop.elements[i]->writes_of_loops);
  }
  return ending;
}

// A test that leaves it: what follows is the way on which the loop goes on.
void WhileLoops::leave(Loop& loop, const Test& test, ValueId goes_on) {
  loop.tests.push_back(test.place);
  note_exit(loop, test.exit);
  if (!loop.rolling) {
    goes_on_by(loop, test, goes_on);
    return;
  }
  AFrame& frame = frames_.frame();
  const uint32_t here = std::exchange(frame.pc, test.exit);
  loop.leavings.push_back(ends(loop));
  frame.pc = here;
  loop.leavings.back().test = test.place;
  loop.leavings.back().target = test.exit;
  loop.leavings.back().stays = goes_on;
  builder_.begin_branch();
}

void WhileLoops::close(Loop& loop, ValueId goes_on) {
  const Ending whole = ends(loop);
  const std::vector<ValueId> next = join_exits(loop, goes_on, whole);
  std::vector<ValueId> initial = {loop.goes_on, builder_.constant(int64_t{0})};
  if (!loop.exits.empty()) initial.push_back(builder_.constant(int64_t{0}));
  const size_t own = initial.size();
  for (const CarriedValue& value : loop.carried) initial.push_back(value.initial);
  if (loop.iterator) turn_conditions_.close();
  const std::vector<ValueId> results = builder_.end_loop(most_turns(loop), initial, next, {}, jit::kWhile);
  loop.rolling = false;
  conditions_.set_nonnegative(results[kTurns]);
  std::vector<ValueId> recorded;
  for (size_t i = own; i < results.size(); ++i) {
    if (contains(loop.with_gradients, whole.next[i - own])) recorded.push_back(results[i]);
    else if (region_.type(results[i]).kind == jit::ValueKind::Tensor) gradients_.end_history(results[i]);
  }
  gradients_.close_block(loop.history, recorded);
  if (std::string why; !recorded.empty() && !gradients_.prepare_block_backward(recorded, &why)) refuse(loop, why);
  turn_values_.leave_behind(loop, std::span(results).subspan(own), results[kTurns]);
  const std::shared_ptr<Loop> closed = loops_.back();
  loops_.pop_back();
  take_back_writes(loop, whole, own > kExit ? results[kExit] : kNoValue);
  go_on_behind(loop, own > kExit ? results[kExit] : kNoValue);
}

// What goes on to the next turn: what the variables are where the turn ends, or at the test that has left it.
std::vector<ValueId> WhileLoops::join_exits(Loop& loop, ValueId goes_on, const Ending& whole) {
  builder_.origin = frames_.origin_at(loop.test.place.head);
  const ValueId turns = conditions_.combined(ScalarOp::add, loop.inputs[0], builder_.constant(int64_t{1}));
  const auto own = [&](ValueId another, size_t exit) {
    std::vector<ValueId> values = {another, turns};
    if (!loop.exits.empty()) values.push_back(builder_.constant(static_cast<int64_t>(exit)));
    return values;
  };
  std::vector<ValueId> next = own(goes_on, 0);
  next.insert(next.end(), whole.next.begin(), whole.next.end());
  for (size_t exit = loop.leavings.size(); exit > 0; --exit) {
    const Ending& leaving = loop.leavings[exit - 1];
    if (leaving.last_writes != whole.last_writes || leaving.writes_of_loops != whole.writes_of_loops)
      give_up(loop, "a tensor is written in some turns alone");
    builder_.next_branch();
    std::vector<ValueId> left = own(builder_.constant_bool(false), exit);
    left.insert(left.end(), leaving.next.begin(), leaving.next.end());
    const size_t first = left.size() - leaving.next.size();
    next = builder_.end_branch(leaving.stays, next, left);
    for (size_t i = first; i < next.size(); ++i)
      if (region_.type(next[i]).kind == jit::ValueKind::Tensor && !contains(loop.with_gradients, whole.next[i - first]))
        gradients_.end_history(next[i]);
  }
  return next;
}

// ---- behind it ----

// By the test of that number.
ValueId WhileLoops::is_left_by(ValueId exit, size_t leaving) {
  return conditions_.combined(ScalarOp::eq, exit, builder_.constant(static_cast<int64_t>(leaving + 1)));
}

// Each turn has written a tensor as often as a whole one does, but for one that was left before its end.
void WhileLoops::take_back_writes(const Loop& loop, const Ending& whole, ValueId exit) {
  for (size_t i = 0; i < loop.elements.size(); ++i)
    for (size_t k = 0; k < loop.leavings.size(); ++k) {
      const int64_t fewer = whole.writes[i] - loop.leavings[k].writes[i];
      if (fewer == 0) continue;
      const ValueId left = is_left_by(exit, k);
      ValueId number = builder_.scalar(ScalarOp::bool_to_int, {&left, 1});
      number = conditions_.combined(ScalarOp::mul, number, builder_.constant(fewer));
      VTensor& tensor = *loop.elements[i];
      tensor.writes_of_loops = conditions_.combined(ScalarOp::sub, tensor.writes_of_loops, number);
    }
}

// The program goes on at the exit by which the loop was left: each but that between two turns is the way of a branch.
void WhileLoops::go_on_behind(const Loop& loop, ValueId exit) {
  AFrame& frame = frames_.frame();
  if (loop.iterator) {
    for (Av& av : frame.registers)
      if (av.kind == Av::Kind::Virtual && av.object == loop.iterator) av = Av();
    frame.pc = loop.test.exit;
  }
  struct Other {
    LoopPlace test;
    ValueId left;
  };
  std::map<uint32_t, Other> others;
  for (size_t i = 0; i < loop.leavings.size(); ++i) {
    const Ending& leaving = loop.leavings[i];
    if (leaving.target == loop.test.exit) continue;
    const ValueId left = is_left_by(exit, i);
    const auto [found, fresh] = others.emplace(leaving.target, Other{leaving.test, left});
    if (!fresh) found->second.left = conditions_.combined(ScalarOp::logical_or, found->second.left, left);
  }
  for (const auto& [target, other] : others)
    if (!forks_.begin_turn(other.test, builder_.scalar(ScalarOp::logical_not, {&other.left, 1}), loop.join, target))
      refuse(loop, "one of its exits is no branch of the region");
}

}  // namespace tsc::interp
