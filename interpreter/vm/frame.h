#pragma once
// A frame is plain data: code, pc, registers. Frames form a list (innermost first) that is not the
// C++ stack; the frames of generators live in the generator. A frame can be built by others (an exit
// of compiled code) and run from any pc: Vm::run_frames, or push_frame from CompilerHooks.
#include <cstdint>
#include <vector>

#include "interpreter/value/function.h"

namespace tsc::interp {

struct GeneratorObject;

enum class FrameReturn : uint8_t {
  Store,      // the result goes to the destination register of the caller's current instruction
  Construct,  // __init__: the result is the instance in `extra`
  Ignore,     // __setattr__ and the like: the result is dropped
  Leave,      // the dispatch loop returns to its C++ caller
  Iterate,    // the frame of a generator advanced by a for loop of the caller
};

struct Frame {
  Frame* back = nullptr;
  FunctionObject* function = nullptr;  // counted
  CodeObject* code = nullptr;          // kept alive by the function
  DictObject* globals = nullptr;       // kept alive by the function's module
  Value* registers = nullptr;
  // Of the code, which the loop need not look at then.
  const lang::Instruction* instructions = nullptr;
  const Value* constants = nullptr;
  InlineCache* caches = nullptr;
  uint32_t register_count = 0;
  uint32_t pc = 0;  // the instruction in progress; saved before anything that can raise or call
  FrameReturn on_return = FrameReturn::Store;
  // Set by CompilerHooks when a compiled region left this frame half way: hooks->enter_at is asked in front
  // of every instruction; `skip_step` lets the one instruction run that the region could not take.
  bool stepping = false;
  bool skip_step = false;
  // A compiled region that raised had entered `with` blocks of its own around the place, which the frame has not:
  // their handlers do not run.
  bool skip_handlers = false;
  bool runs_aside = false;   // the call of the frame below, timed or compared by the compiler: nobody sees the two
  bool opens_chunk = false;  // the first of its chunk of the frame stack, and not of the first one
  GeneratorObject* generator = nullptr;  // the owner of a generator's frame
  Value handled;                         // the exception it is handling
  Value extra;                           // namespace dict of a class body; instance of a Construct

  // The frame that the program sees below this one.
  Frame* caller() const { return runs_aside ? back->back : back; }
};

// A frame to be built: registers by number, Undefined for dead ones; cells are registers too. In a
// stack of frames every frame but the innermost stands at the call instruction whose callee is the
// next frame.
struct FrameState {
  Local<FunctionObject> function;
  uint32_t pc = 0;
  std::vector<Value> registers;
  Value handled;                               // the exception being handled, Undefined when none
  Value extra;                                 // as Frame::extra
  FrameReturn on_return = FrameReturn::Store;  // Store, Construct or Ignore
};

}  // namespace tsc::interp
