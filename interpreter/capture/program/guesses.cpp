#include "interpreter/capture/program/guesses.h"

#include <algorithm>

#include "interpreter/capture/compiler/branches.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/while_loops.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/written/effects.h"

namespace tsc::interp {

namespace {

// Turns of a loop that are followed where each ends in a guess that there is another one; then the region ends.
constexpr std::ptrdiff_t kMostTurns = 64;

}  // namespace

bool Guesses::may_begin_anew() const {
  return memory_.branches && !memory_.breaks_everywhere && !memory_.only_call && builder_.open_blocks() == 0 &&
         effects_.can_begin_anew();
}

// What happens in front of the branch happens a second time when the guess is wrong.
bool Guesses::may_guess() const {
  const AFrame& frame = frames_.frame();
  return may_begin_anew() &&
         std::count(guessed_.begin(), guessed_.end(), LoopPlace{frame.code.get(), frame.pc}) < kMostTurns;
}

// A branch that always goes one way is guessed, which leaves what is on both sides of it one piece: so the region ends
// there at first, and it is found out.
bool Guesses::may_fork(const CodeObject* code, uint32_t pc) const {
  return memory_.follows_whole_loops || forks_.is_open() || (memory_.branches && memory_.branches->varies(code, pc));
}

void Guesses::leave_at(const Av& condition) {
  const AFrame& frame = frames_.frame();
  const std::string* why = forks_.refusal(frame.code.get(), frame.pc);
  break_here(condition.is_number() ? BreakReason::unknown_number : BreakReason::tensor_branch, why ? *why : "");
}

// A block of the region has no exits: where the check fails, a division by zero ends the run, and the interpreter
// begins anew and raises what the program raises.
std::optional<bool> Guesses::check_inside(const Av& condition) {
  const AFrame& frame = frames_.frame();
  if (builder_.open_blocks() == 0 || !memory_.branches || memory_.breaks_everywhere || memory_.only_call)
    return std::nullopt;
  const std::optional<bool> way = Branches::without_raise(frame.code.get(), frame.pc);
  if (!way || !effects_.has_done_nothing()) return std::nullopt;
  ValueId passes = numbers_.truth_in_region(condition);
  if (!*way) passes = builder_.scalar(jit::ScalarOp::logical_not, {&passes, 1});
  plan_.starts_again.insert(builder_.known_origin());
  const ValueId divided[] = {builder_.constant(int64_t{1}), builder_.scalar(jit::ScalarOp::bool_to_int, {&passes, 1})};
  builder_.scalar(jit::ScalarOp::floor_div, divided);
  return way;
}

bool Guesses::assume_turn(ValueId goes_on) {
  const AFrame& frame = frames_.frame();
  const CodeObject* code = frame.code.get();
  if (!may_begin_anew() || !memory_.branches->has_first_turn(code, frame.pc)) return false;
  ask(goes_on, true);
  cells_.note_fact("the loop in line " + std::to_string(code->code->line_of(frame.pc)) + " of " + code->code->name +
                   " goes on in its first turn");
  return true;
}

// Else the region is given up, and everything begins anew.
void Guesses::ask(ValueId holds, bool is_turn) {
  repeats_.spoil_record();
  // No bare comparison of two ints, which would count for the whole region, also in front of here (EqualSizes).
  ValueId asked = builder_.scalar(jit::ScalarOp::logical_not, {&holds, 1});
  asked = builder_.scalar(jit::ScalarOp::logical_not, {&asked, 1});
  const AFrame& frame = frames_.frame();
  ExitPlan wrong;
  wrong.form = ExitPlan::Form::Anew;
  wrong.branch = {Local<CodeObject>(frame.code), frame.pc, is_turn};
  plan_.exits.push_back(std::move(wrong));
  builder_.guard(asked, static_cast<uint32_t>(plan_.exits.size() - 1), {});
}

bool Guesses::decide(const Av& condition) {
  if (!numbers_.only_run_knows(condition)) return numbers_.truth(condition);
  const AFrame& frame = frames_.frame();
  const CodeObject* code = frame.code.get();
  const uint32_t pc = frame.pc;
  const std::optional<bool> expected = memory_.branches ? memory_.branches->expected(code, pc) : std::nullopt;
  const bool may = expected && may_guess();
  if (!may)
    if (const std::optional<bool> way = check_inside(condition)) return *way;
  if (!may)
    if (const std::optional<bool> way = whiles_.test(condition)) return *way;
  if (!may && may_fork(code, pc) && forks_.begin(condition)) return true;
  if (!may) {
    plan_.lacks_guess |= expected.has_value();
    leave_at(condition);
  }
  const ValueId holds = numbers_.truth_in_region(condition);
  if (const std::optional<Scalar> known = builder_.known(holds)) return known->i != 0;
  guessed_.push_back({code, pc});
  ask(*expected ? holds : builder_.scalar(jit::ScalarOp::logical_not, {&holds, 1}), false);
  cells_.note_fact("the branch in line " + std::to_string(code->code->line_of(pc)) + " of " + code->code->name +
                   " goes as before: " + (*expected ? "the condition holds" : "the condition does not hold"));
  return *expected;
}

}  // namespace tsc::interp
