#include "interpreter/capture/program/guesses.h"

#include "interpreter/capture/compiler/branches.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/written/effects.h"

namespace tsc::interp {

// What happens in front of the branch happens a second time when the guess is wrong.
bool Guesses::may_guess() {
  return memory_.branches && !memory_.breaks_everywhere && !memory_.only_call && !rolled_.is_rolling() &&
         effects_.can_begin_anew();
}

bool Guesses::decide(const Av& condition) {
  if (!numbers_.only_run_knows(condition)) return numbers_.truth(condition);
  const AFrame& frame = frames_.frame();
  const CodeObject* code = frame.code.get();
  const uint32_t pc = frame.pc;
  const std::optional<bool> expected = memory_.branches ? memory_.branches->expected(code, pc) : std::nullopt;
  if (!expected) return numbers_.truth(condition);
  if (!may_guess()) {
    plan_.lacks_guess = true;
    return numbers_.truth(condition);
  }
  const ValueId holds = numbers_.truth_in_region(condition);
  if (const std::optional<Scalar> known = builder_.known(holds)) return known->i != 0;
  repeats_.spoil_record();
  // No bare comparison of two ints, which would count for the whole region, also in front of here (EqualSizes).
  ValueId asked = builder_.scalar(jit::ScalarOp::logical_not, {&holds, 1});
  if (*expected) asked = builder_.scalar(jit::ScalarOp::logical_not, {&asked, 1});
  ExitPlan wrong;
  wrong.form = ExitPlan::Form::Anew;
  wrong.branch = {Local<CodeObject>(frame.code), pc};
  plan_.exits.push_back(std::move(wrong));
  builder_.guard(asked, static_cast<uint32_t>(plan_.exits.size() - 1), {});
  cells_.note_fact("the branch in line " + std::to_string(code->code->line_of(pc)) + " of " + code->code->name +
                   " goes as before: " + (*expected ? "the condition holds" : "the condition does not hold"));
  return *expected;
}

}  // namespace tsc::interp
