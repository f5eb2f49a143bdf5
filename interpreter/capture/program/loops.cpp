#include "interpreter/capture/program/loops.h"

#include <algorithm>

#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/tensors.h"

namespace tsc::interp {

namespace {

// Of a loop that the interpreter has begun, as in a function's first call, a region holds some turns and is entered
// again: one variant serves the whole rest, and a long one takes no time to capture.
constexpr uint32_t kTurnsOfRest = 32;
constexpr size_t kInstructionsOfRest = 200;
// Of a loop from its first turn on; the rest is as above.
constexpr uint32_t kMostTurns = 512;

}  // namespace

void Loops::note_open_test() {
  AFrame& frame = frames_.frame();
  frame.open_test = frame.pc;
  frame.turn_begins_at = region_.body.instructions.size();
}

// The region begins between two turns or in one: what it follows is a rest.
bool Loops::began_outside(const AFrame& frame, uint32_t head) const {
  if (frames_.frame_count() > 1 || plan_.entry_pc > frame.pc) return false;
  return plan_.entry_pc > head ||
         (plan_.entry_pc == head && frame.code->code->instructions[head].op == lang::Op::ForIter);
}

void Loops::end_turn(uint32_t head) {
  AFrame& frame = frames_.frame();
  const LoopPlace place{frame.code.get(), head};
  const bool is_open = frame.open_test >= head && frame.open_test <= frame.pc;
  if (is_open && std::find(memory_.varied.begin(), memory_.varied.end(), place) != memory_.varied.end()) leave_turn();
  std::erase_if(frame.turns, [&](const AFrame::Turns& loop) {
    return loop.head > head && loop.head < frame.pc;
  });  // loops inside it
  auto loop =
      std::find_if(frame.turns.begin(), frame.turns.end(), [&](const AFrame::Turns& one) { return one.head == head; });
  if (loop == frame.turns.end()) loop = frame.turns.insert(loop, {head, 0});
  ++loop->count;
  const bool is_rest = began_outside(frame, head);
  if (is_open && is_rest && (loop->count >= kTurnsOfRest || region_.body.instructions.size() >= kInstructionsOfRest))
    leave_turn();
  if (!is_open || is_rest) return;
  if (loop->count >= kMostTurns && !memory_.follows_whole_loops) leave_turn();
  const auto found =
      std::find_if(followed_.begin(), followed_.end(), [&](const FollowedLoop& one) { return one.place == place; });
  if (found != followed_.end()) found->turns = std::max(found->turns, loop->count);
  else followed_.push_back({place, loop->count});
}

// Layers and parameters are known by identity.
bool Loops::is_programs_own(const Av& av) const {
  if (av.is_constant()) return is_kind(av.value, Kind::Instance);
  const bool came_in = is_virtual(av, VirtualKind::Tensor) && av.object->source != Virtual::kMadeHere;
  return came_in && plan_.sources[av.object->source].holder.is_object();
}

// Of what has been read. Objects that belong to the program are as many as the program has.
bool Loops::has_open_length(const Av& av) const {
  if (const VRange* range = as<VRange>(av))
    return range->start.is_number() || range->stop.is_number() || range->step.is_number();
  if (tensors_.tensor_of(av)) return true;
  const VDictView* view = as<VDictView>(av);
  const Av& whole = view ? view->dict : av;
  if (const VList* list = as<VList>(whole)) return list->items.empty() || !is_programs_own(list->items[0]);
  if (const VDict* dict = as<VDict>(whole)) return dict->items.empty() || !is_programs_own(dict->items[0].second);
  return as<VSet>(whole) != nullptr;
}

bool Loops::is_open(const VIterator& iterator) const {
  if (iterator.form == VIterator::Form::Outside || iterator.open) return true;
  const std::vector<const VIterator*> sources = iterators_.sources_of(iterator);
  return std::any_of(sources.begin(), sources.end(), [&](const VIterator* source) { return is_open(*source); });
}

// A loop of the library that computes nothing, as one that checks the parts of cat(), is no place to leave a region:
// the call that the program has made is the interpreter's then.
void Loops::leave_turn() {
  const auto& instructions = region_.body.instructions;
  const bool computes =
      std::any_of(instructions.begin() + static_cast<std::ptrdiff_t>(frames_.frame().turn_begins_at),
                  instructions.end(), [](const jit::Instruction& one) { return one.code == jit::Code::Op; });
  const AFrame& caller = program_frame(frames_);
  if (!computes && &caller != &frames_.frame())
    frames_.refuse(caller.code.get(), caller.pc, {BreakReason::loop_turns, ""});
  break_here(BreakReason::loop_turns);
}

}  // namespace tsc::interp
