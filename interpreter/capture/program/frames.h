#pragma once
// Where the program stands: the frames of the calls that are followed, their registers, and the loop that takes one
// instruction after the other to its handler (steps.h). A call pushes a frame, a return pops one; script code inside an
// instruction (a map's function, a generator's body) runs above the instruction's frame until it is done. When the
// instruction cannot go on, the region is left in front of it.
// Owns the frames, the program's place for the region's instructions (origins) and the steps that were taken. Must not
// know what an instruction means. Defined in frames.cpp, nested.cpp, recorded.cpp.
#include <algorithm>
#include <functional>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

struct SeenCall;

struct AFrame {
  Av function;  // constant function or VFunction; Undefined for the entered frame
  Local<CodeObject> code;
  Local<ModuleObject> module;
  Local<FunctionObject> host_function;  // of a constant function
  std::vector<Av> closure;
  std::vector<Av> registers;
  uint32_t pc = 0;
  uint16_t destination = 0;     // register of the caller that gets the result
  bool discard_result = false;  // __init__ (the instance is in `constructed`) or __setitem__
  Av constructed;
  uint32_t call_origin = 0;        // origin of the caller's call instruction
  VIterator* generator = nullptr;  // whose body this is
  SeenCall* seen = nullptr;        // of the call; null: it is not to be repeated
  uint32_t begun = 0;              // when, in steps of the capture
  bool recorded = false;
  Av handled;  // the exception of the region that it handles, in `handlers` handlers
  uint32_t handlers = 0;
  struct Turns {
    uint32_t head, count;
  };
  std::vector<Turns> turns;   // of the loops that it is in
  size_t turn_begins_at = 0;  // in the region's instructions
  uint32_t open_test = ~0u;   // where it last asked for a number or an iterator of the call, to go on or to jump
};

class Frames : private Room {
 public:
  explicit Frames(const Rooms& rooms) : Room(rooms) {}
  AFrame& frame() { return stack_.back(); }
  // Registers of the current frame.
  const Av& read(uint16_t reg);
  void write(uint16_t reg, Av value);
  // Runs a call to its end and gives the result (nested.cpp). An AttributeError may be its answer (raising.h).
  Av call_now(const Av& callee, CallArguments arguments, bool tells_absence = false);
  // Of a generator: its frame leaves the stack until the next item is asked for.
  void yield_value(uint16_t sent, Av value);
  // What super() without arguments asks of the frame.
  Av class_cell();
  Av first_argument();
  AFrame& frame_at(size_t depth) { return stack_[depth]; }
  // Whether a raise would find a handler. A `with torch.no_grad()` of the region's own does not count.
  bool is_protected();
  void set_grad_enabled(bool enabled);
  void set_inference(bool on);
  // The modes that whoever catches an exception finds.
  Modes modes_after_raise();
  // The innermost frame returns: to its caller, or out of the region.
  void leave_with_return(const Av& given);
  size_t frame_count() const { return stack_.size(); }
  void push_frame(AFrame frame) {
    stack_.push_back(std::move(frame));
    plan_.deepest = std::max(plan_.deepest, static_cast<uint32_t>(stack_.size() - 1));
  }
  bool is_done() const { return done_; }
  uint32_t step_pc() const { return step_pc_; }  // of the instruction that is captured
  uint32_t steps_taken() const { return steps_; }
  // As if that many instructions had been followed: the next origin is another one.
  void repeat_steps(uint32_t steps) {
    steps_ += steps;
    origin_pc_ = ~0u;
  }
  // The instruction took items from an iterator: it cannot be left as if it had not begun.
  void note_advance() { advanced_ = true; }
  // Whether a repeated call of that size still fits into the region.
  bool has_room_for(size_t instructions, uint32_t steps) const;
  void enter_frame(const Frame& frame);
  // Instruction by instruction, until the region is left.
  void run_to_the_end();
  void step();
  // The next capture leaves in front of that instruction.
  [[noreturn]] void refuse(CodeObject* code, uint32_t pc, const BreakHere& reason);
  // The next item of a generator; false: it has ended.
  bool resume(VIterator& generator, Av* out);
  // The frames above the first `depth` ones end by an exception of the region.
  void drop_frames(size_t depth);
  // Pops a frame and gives its result to the caller.
  void return_from(const Av& result);
  uint32_t current_origin() { return origin_at(stack_.back().pc); }
  uint32_t origin_at(uint32_t pc);  // of the innermost frame

 private:
  // The manager of the `with` block of a gradient mode that the region entered; null for any other block.
  VInstance* mode_of_region(const AFrame& frame, const lang::ExceptionEntry& entry);
  void set_mode(bool grad_enabled);
  void note_held(const Frame& frame);
  void check_held(const lang::Instruction& instruction) const;
  void check_dropped(const lang::Instruction& instruction);
  bool begins_statement(const AFrame& frame) const;
  void leave_with_break(const BreakHere& reason);
  void leave_or_refuse(const BreakHere& reason);
  void run_above(size_t base, const std::function<void()>& start);

  std::vector<AFrame> stack_;
  // Registers of the entered frame with objects that may die with them; empty: the program does not see that.
  std::vector<bool> held_at_entry_;
  bool done_ = false;
  uint32_t nested_ = 0;  // how many instructions wait for script code that they run
  Av nested_result_;
  bool advanced_ = false;  // the instruction took items from an iterator
  bool put_back_ = false;  // it ended one way of a branch: the frame stands where the other one begins
  uint32_t steps_ = 0;
  bool set_grad_enabled_ = true;  // as the program has set it; `modes_` may differ inside one operation
  uint32_t step_pc_ = 0;          // of the instruction that is captured
  uint32_t origin_pc_ = ~0u;      // of the last origin
  uint32_t origin_ = 0;
  size_t origin_depth_ = 0;
};

// The innermost frame that is not the library's, or else the entered one.
AFrame& program_frame(Frames& frames);
// A register that somebody may read behind the place where the frame stands.
bool is_tracked(const AFrame& frame, uint32_t reg);

}  // namespace tsc::interp
