#include "interpreter/capture/program/break_finder.h"

#include <algorithm>
#include <set>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/vm/stops.h"
#include "interpreter/vm/vm.h"
#include "lang/bytecode/liveness.h"

namespace tsc::interp {

namespace {

constexpr uint32_t kMostSteps = 200000;
constexpr size_t kMostBreaks = 100;

bool is_method_call(lang::Op op) { return op == lang::Op::CallMethod || op == lang::Op::CallMethodKw; }

}  // namespace

class BreakFinder {
 public:
  explicit BreakFinder(Capture& capture) : capture_(capture) {}

  std::vector<FoundBreak> find() {
    for (uint32_t steps = 0;
         !ended_ && !capture_.frames().is_done() && steps < kMostSteps && found_.size() < kMostBreaks; ++steps)
      if (!leaves_the_function()) step();
    return std::move(found_);
  }

 private:
  using Place = std::pair<const CodeObject*, uint32_t>;

  AFrame& frame() { return capture_.frames().frame(); }
  const lang::Instruction& instruction() { return frame().code->code->instructions[frame().pc]; }

  // What a region does when it ends is not asked.
  bool leaves_the_function() {
    const bool returns = instruction().op == lang::Op::Return || instruction().op == lang::Op::ReturnNone;
    ended_ = returns && capture_.frames().frame_count() == 1;
    return ended_;
  }

  void step() {
    try {
      capture_.frames().step();
    } catch (const BreakHere& reason) {
      note(reason);
      pass_over();
    } catch (const Error& error) {
      note({BreakReason::raises, error.message()});
      pass_over();
    } catch (const ScriptException& raised) {
      pass_on_stops(capture_.vm(), raised);
      note({BreakReason::raises, exception_line(capture_.vm(), raised.exception())});
      pass_over();
    } catch (const UnreadContainer& unread) {
      capture_.structures().read_from_now_on(*unread.object);
    }
  }

  void note(const BreakHere& reason) {
    if (needs_unknown() || !noted_.insert({frame().code.get(), frame().pc}).second) return;
    if (reason.reason == BreakReason::too_large) ended_ = true;
    FoundBreak found{reason.reason, reason.detail, {}};
    for (size_t i = 0; i < capture_.frames().frame_count(); ++i)
      found.places.push_back({capture_.frames().frame_at(i).code->code, capture_.frames().frame_at(i).pc});
    found_.push_back(std::move(found));
  }

  // Whether the instruction reads what one before it would have made.
  bool needs_unknown() {
    const std::vector<uint32_t> reads = lang::register_use(*frame().code->code, instruction()).reads;
    const size_t count = is_method_call(instruction().op) ? std::min<size_t>(reads.size(), 1) : reads.size();
    return std::any_of(reads.begin(), reads.begin() + static_cast<std::ptrdiff_t>(count), [&](uint32_t reg) {
      return reg < frame().registers.size() && frame().registers[reg].is_undefined();
    });
  }

  void pass_over() {
    const lang::CodeObject& code = *frame().code->code;
    const lang::Instruction& instruction = code.instructions[frame().pc];
    const bool returns = lang::ends_block(instruction.op) && !lang::is_jump(instruction.op);
    if (returns || frame().pc + 1 >= code.instructions.size()) return leave_frame();
    for (uint32_t reg : lang::register_use(code, instruction).writes)
      if (reg < frame().registers.size()) frame().registers[reg] = Av();
    const bool again = !passed_.insert({frame().code.get(), frame().pc}).second;
    frame().pc = again && lang::is_jump(instruction.op) ? lang::jump_target(instruction, frame().pc) : frame().pc + 1;
  }

  void leave_frame() {
    ended_ = capture_.frames().frame_count() == 1 || frame().generator;
    if (ended_) return;
    frame().seen = nullptr;
    capture_.repeats().drop_recorder();
    capture_.frames().return_from(Av());
  }

  Capture& capture_;
  std::set<Place> noted_, passed_;
  std::vector<FoundBreak> found_;
  bool ended_ = false;
};

std::vector<FoundBreak> find_breaks(Vm& vm, const Frame& frame, CaptureMemory memory) {
  memory.follows_calls = true;
  memory.follows_loops = true;  // what hinders a loop to be rolled hinders no capture
  memory.refused.clear();       // in front of instructions that come to their reasons again
  for (int attempt = 0; attempt < 64; ++attempt) {
    try {
      Capture capture(vm, frame, memory);
      return BreakFinder(capture).find();
    } catch (const CaptureRestart&) {
    }
  }
  return {};
}

}  // namespace tsc::interp
