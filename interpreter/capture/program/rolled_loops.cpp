#include "interpreter/capture/program/rolled_loops.h"

#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loop.h"
#include "interpreter/capture/program/turn_conditions.h"
#include "interpreter/capture/program/while_loops.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/writes.h"

namespace tsc::interp {

using jit::ScalarOp;
using jit::ValueKind;

namespace {

// A loop of fewer turns is followed turn by turn: that is the fastest code, and takes little time.
constexpr int64_t kFewestTurns = 16;
// Turns that are followed in front of the one that stands for the rest.
constexpr uint32_t kFirstTurns = 2;
// A loop that gradients come back to has so many turns, and more: the last ones are written out
// (jit/autodiff/loop_gradient.h), and two at least are left.
constexpr int64_t kFewestTurnsBack = 4;
// After so many loops that could not be rolled no more are tried: each costs a capture.
constexpr size_t kMostFailures = 8;

}  // namespace

// ---- which loops ----

// An iterator that somebody else may ask for its items, too: the program has it in a variable that is read again, or in
// an object.
bool RolledLoops::is_kept(const Av& iterable, const lang::Instruction& get_iter) const {
  if (!is_virtual(iterable, VirtualKind::Iterator)) return false;
  const AFrame& frame = frames_.frame();
  const bool is_read_again =
      get_iter.a != get_iter.b && (lang::live_registers(*frame.code->code, frame.pc + 1).contains(get_iter.b) ||
                                   shows_variables(*frame.code->code));
  return is_read_again || iterable.object.use_count() > 2;  // in the register, and here
}

Av RolledLoops::counted(const Av& iterable, const lang::Instruction& get_iter) {
  AFrame& frame = frames_.frame();
  const lang::Instruction& next = frame.code->code->instructions[frame.pc + 1];
  const LoopPlace place{frame.code.get(), frame.pc + 1};
  const bool is_for =
      next.op == lang::Op::ForIter && next.b == get_iter.a && !frame.generator && !is_kept(iterable, get_iter);
  if (!is_for) return Av();
  if (const Av left = whiles_.counted(iterable, place); !left.is_undefined()) return left;
  if (forks_.is_open() || whiles_.is_rolling() || vm_.sees_ends() || memory_.only_call || memory_.breaks_everywhere ||
      memory_.follows_loops || memory_.followed_loops.size() >= kMostFailures)
    return Av();
  if (std::find(memory_.followed_loops.begin(), memory_.followed_loops.end(), place) != memory_.followed_loops.end())
    return Av();
  forget_left();
  auto loop = std::make_shared<Loop>();
  loop->place = place;
  loop->code = frame.code;
  loop->depth = frames_.frame_count();
  if (!turn_items_.take(loop->sources, iterable)) return Av();
  const std::optional<Scalar> turns = conditions_.hint(loop->sources.count);
  if (!turns || turns->i < kFewestTurns) return Av();
  loop->last_turns =
      std::find(memory_.different_ends.begin(), memory_.different_ends.end(), place) != memory_.different_ends.end();
  const ValueId fewest[] = {builder_.constant(int64_t{kFirstTurns + 1 + loop->last_turns}), loop->sources.count};
  const ValueId enough = builder_.scalar(ScalarOp::le, fewest);
  if (!builder_.known(enough) && !conditions_.assume_at_entry(enough)) return Av();
  repeats_.spoil_record();
  loop->iterator = make<VIterator>();
  loop->iterator->form = VIterator::Form::Counted;
  loops_.push_back(std::move(loop));
  return Av::of(loops_.back()->iterator);
}

// ---- turns ----

void RolledLoops::turn(const lang::Instruction& for_iter, const std::shared_ptr<VIterator>& iterator) {
  if (whiles_.turn(for_iter, iterator)) return;
  while (!loops_.empty() && loops_.back()->iterator != iterator) {
    if (loops_.back()->rolling) abandon();
    loops_.pop_back();
  }
  TSC_CHECK(!loops_.empty(), "the iterator of a rolled loop outlives it");
  Loop& loop = *loops_.back();
  turn_values_.forget_dead([&](uint32_t reg) { return is_tracked(frames_.frame(), reg); });
  if (loop.rolling) close(loop);
  if (loop.is_behind) return turn_behind(for_iter, loop);
  ValueId number = builder_.constant(int64_t{loop.turns});
  if (loop.turns == kFirstTurns) {
    open(loop);
    number = conditions_.combined(ScalarOp::add, loop.number, number);
  }
  if (loop.turns++ == 0) loop.objects_before = objects_made_;
  loop.before = frames_.frame().registers;
  loop.changed.clear();
  loop.had.clear();
  loop.objects = objects_made_;
  frames_.write(for_iter.a, turn_items_.item(loop.sources, number));
}

// A last turn, or the end of the loop.
void RolledLoops::turn_behind(const lang::Instruction& for_iter, Loop& loop) {
  if (loop.last_turns > 0) {
    const ValueId left = builder_.constant(int64_t{loop.last_turns--});
    frames_.write(for_iter.a,
                  turn_items_.item(loop.sources, conditions_.combined(ScalarOp::sub, loop.sources.count, left)));
    return;
  }
  loops_.pop_back();
  frames_.write(for_iter.b, Av());
  frames_.frame().pc = lang::jump_target(for_iter, frames_.frame().pc);
}

// A loop that the program has left by break or return, or by an exception.
void RolledLoops::forget_left() {
  const auto is_left = [&](const Loop& loop) {
    if (loop.depth > frames_.frame_count()) return true;
    const std::vector<Av>& registers = frames_.frame_at(loop.depth - 1).registers;
    return std::none_of(registers.begin(), registers.end(),
                        [&](const Av& av) { return av.kind == Av::Kind::Virtual && av.object == loop.iterator; });
  };
  while (!loops_.empty() && is_left(*loops_.back())) loops_.pop_back();
}

bool RolledLoops::is_rolling() const {
  return builder_.open_blocks() != 0 && !forks_.is_open() && !whiles_.is_rolling();
}

void RolledLoops::check_inside() {
  const Loop& loop = **std::find_if(loops_.rbegin(), loops_.rend(), [](const auto& one) { return one->rolling; });
  if (frames_.frame_count() < loop.depth) abandon(loop);
  if (frames_.frame_count() > loop.depth) return;
  const AFrame& frame = frames_.frame();
  const uint32_t end = lang::jump_target(loop.code->code->instructions[loop.place.head], loop.place.head);
  if (frame.code.get() != loop.place.code || frame.pc < loop.place.head || frame.pc >= end) abandon(loop);
}

void RolledLoops::abandon() {
  whiles_.abandon("one of its turns does more than compute");
  if (forks_.is_open()) forks_.abandon("one of its ways does more than compute");
  const auto innermost = std::find_if(loops_.rbegin(), loops_.rend(), [](const auto& one) { return one->rolling; });
  if (innermost == loops_.rend()) follow(rolled_places_);  // the loop is one of a backward
  abandon(**innermost);
}

// Where only the last turn decides something else, it is followed behind the others.
void RolledLoops::abandon(const Loop& loop) {
  size_t level = 0;
  for (const auto& one : loops_) {
    level += one->rolling;
    if (one.get() == &loop) break;
  }
  if (loop.rolling && loop.last_turns == 0 && turn_conditions_.ends_differ(level)) {
    memory_.add(memory_.different_ends, loop.place);
    throw CaptureRestart{};
  }
  follow({loop.place});
}

void RolledLoops::follow(const VIterator& iterator) {
  whiles_.follow(iterator);
  for (const auto& loop : loops_)
    if (loop->iterator.get() == &iterator) abandon(*loop);
  TSC_CHECK(false, "the iterator of a rolled loop outlives it");
}

void RolledLoops::number_is_missing() {
  if (!numbered_.empty()) follow(numbered_);
}

void RolledLoops::follow_all() {
  leave_out();
  forks_.give_up("what one of its ways has found is used behind it");
  follow(rolled_places_);
}

void RolledLoops::follow(const std::vector<LoopPlace>& places) {
  for (const LoopPlace& place : places) memory_.add(memory_.followed_loops, place);
  throw CaptureRestart{};
}

// An object that a turn finds and changes.
void RolledLoops::note(const Virtual& object, bool appends) {
  const auto is_changed = [&](const VirtualRef& one) { return one.get() == &object; };
  if (std::any_of(seen_in_rows_.begin(), seen_in_rows_.end(), is_changed)) follow_all();
  if (object.kind == VirtualKind::List && !static_cast<const VList&>(object).rows.is_undefined() && !appends)
    follow_all();
  for (const auto& loop : loops_) {
    if (object.number > loop->objects || &object == loop->iterator.get()) continue;
    if (turn_values_.note_change(*loop, object) && loop->rolling && !loop->is_slot(object) && !loop->appends_to(object))
      abandon(*loop);
  }
}

// ---- the turn that stands for many ----

void RolledLoops::open(Loop& loop) {
  const ValueId apart = builder_.constant(int64_t{kFirstTurns + loop.last_turns});
  loop.number = apart;  // ints that grow are no carried values
  try {
    turn_values_.take(loop, loop.iterator.get(), [&](const std::shared_ptr<VList>& list) { take_list(loop, list); });
  } catch (const NotCarried&) {
    abandon(loop);
  }
  std::vector<jit::Type> types;
  for (const CarriedValue& value : loop.carried) types.push_back(value.type);
  loop.trips = conditions_.combined(ScalarOp::sub, loop.sources.count, apart);
  loop.inputs = builder_.begin_loop(types);
  loop.number = loop.inputs[0];
  loop.rolling = true;
  turn_conditions_.open(loop.number, loop.trips);
  conditions_.set_nonnegative(loop.number);
  turn_values_.begin(loop);
  for (const auto& list : loop.lists) list->unread = true;
  loop.history = gradients_.history_size();
  loop.modes = modes_;
  loop.handlers = frames_.frame().handlers;
}

void RolledLoops::close(Loop& loop) {
  const AFrame& frame = frames_.frame();
  if (frames_.frame_count() != loop.depth || !(modes_ == loop.modes) || frame.handlers != loop.handlers) abandon(loop);
  std::vector<ValueId> next, stacked;
  try {
    next = turn_values_.ends(loop);
  } catch (const NotCarried&) {
    abandon(loop);
  }
  collect_appended(loop, &stacked);
  std::vector<ValueId> initial;
  for (const CarriedValue& value : loop.carried) initial.push_back(value.initial);
  builder_.origin = frames_.origin_at(loop.place.head);
  const std::vector<ValueId> results = builder_.end_loop(loop.trips, initial, next, stacked);
  turn_conditions_.close();
  loop.rolling = false;
  const size_t carried = next.size();
  next.insert(next.end(), stacked.begin(), stacked.end());
  end_histories(loop, next, results);
  turn_values_.leave_behind(loop, std::span(results).first(carried), loop.trips);
  leave_lists(loop, std::span(results).subspan(carried));
  if (loop.leaves_numbers) numbered_.push_back(loop.place);
  rolled_places_.push_back(loop.place);
  loop.is_behind = true;
}

// Of the results those have a history whose values in the turn have one.
void RolledLoops::end_histories(const Loop& loop, std::span<const ValueId> next, std::span<const ValueId> results) {
  std::vector<ValueId> recorded;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool has_history =
        std::find(loop.with_gradients.begin(), loop.with_gradients.end(), next[i]) != loop.with_gradients.end();
    if (has_history) recorded.push_back(results[i]);
    else if (region_.type(results[i]).kind == ValueKind::Tensor) gradients_.end_history(results[i]);
  }
  gradients_.close_block(loop.history, recorded);
  if (recorded.empty()) return;
  const ValueId enough = conditions_.combined(ScalarOp::le, builder_.constant(kFewestTurnsBack), loop.trips);
  const bool has_turns = builder_.known(enough) ? builder_.known(enough)->i != 0 : conditions_.assume_at_entry(enough);
  if (!has_turns || !gradients_.prepare_block_backward(recorded)) follow({loop.place});
}

}  // namespace tsc::interp
