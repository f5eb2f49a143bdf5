#include "interpreter/capture/capture.h"

#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/frames.h"

namespace tsc::interp {

namespace {

constexpr BreakRow kBreakRows[] = {
#define BREAK(id, grade, explanation, hint) {#id, #grade, explanation, hint},
#include "interpreter/capture/breaks.def"
#undef BREAK
};

}  // namespace

const BreakRow& break_row(BreakReason reason) { return kBreakRows[static_cast<int>(reason)]; }

void break_here(BreakReason reason, std::string detail) { throw BreakHere{reason, std::move(detail)}; }

CaptureResult Capture::run() {
  uint32_t first_pc = frames_.frame_at(0).pc;
  try {
    frames_.run_to_the_end();
  } catch (const UnreadContainer& unread) {
    structures_.read_from_now_on(*unread.object);
  }
  CaptureResult result = exits_.finish();
  result.loops = loops_.followed();
  const ExitPlan& last = result.plan.exits.back();
  result.empty = last.form == ExitPlan::Form::Resume && last.frames.size() == 1 && last.frames[0].pc == first_pc &&
                 result.plan.actions.empty();
  return result;
}

}  // namespace tsc::interp
