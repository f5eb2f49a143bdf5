#pragma once
// Capture: abstract interpretation of bytecode into a region. It starts at any pc of a frame, follows the program
// (calls inlined, control flow decided by what is known) and runs nothing: no script code, no stores. It ends when the
// entered frame returns, or at an exit where the interpreter must go on. Every read of host state is recorded as an
// assumption; a store to the host becomes a host instruction at its place in program order, and an overlay that later
// reads see. Capture itself is the door: it holds the rooms (rooms.h says what each is for) and hands them to whoever
// has a `Capture&`, which are the handlers of instructions (steps.h), the symbolic forms of natives (native_table.h),
// stand-ins and the records of repeated calls. To use a room, include its header.
#include <memory>

#include "interpreter/capture/program/loops.h"
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

struct House;

struct CaptureResult {
  jit::Region region;
  RegionPlan plan;
  bool empty = false;                   // nothing could be captured at this pc
  std::vector<FollowedLoop> loops;      // whose number of turns the call decided
  std::vector<std::string> violations;  // of sizes that torch._dynamo.mark_dynamic marked
};

class Capture : private Room {
 public:
  Capture(Vm& vm, const Frame& frame, CaptureMemory& memory);
  ~Capture();
  // Raises CaptureRestart after changing `memory`; the caller constructs a new Capture.
  CaptureResult run();

  Frames& frames() const { return frames_; }
  Calls& calls() const { return calls_; }
  Raising& raising() const { return raising_; }
  Loops& loops() const { return loops_; }
  RolledLoops& rolled() const { return rolled_; }
  RepeatedCalls& repeats() const { return repeats_; }
  Guesses& guesses() const { return guesses_; }
  Forks& forks() const { return forks_; }
  SharedMemory& shared_memory() const { return shared_memory_; }
  Cells& cells() const { return cells_; }
  Inputs& inputs() const { return inputs_; }
  Structures& structures() const { return structures_; }
  Overlay& overlay() const { return overlay_; }
  Effects& effects() const { return effects_; }
  Writes& writes() const { return writes_; }
  Tensors& tensors() const { return tensors_; }
  Shapes& shapes() const { return shapes_; }
  Gradients& gradients() const { return gradients_; }
  Numbers& numbers() const { return numbers_; }
  Operators& operators() const { return operators_; }
  Attributes& attributes() const { return attributes_; }
  Containers& containers() const { return containers_; }
  Iterators& iterators() const { return iterators_; }
  Texts& texts() const { return texts_; }
  Conditions& conditions() const { return conditions_; }
  Exits& exits() const { return exits_; }

  // What the rooms work on together.
  Vm& vm() const { return vm_; }
  TensorState& tensor_state() const { return tensor_state_; }
  CaptureMemory& memory() const { return memory_; }
  jit::Region& region() const { return region_; }
  CaptureBuilder& builder() const { return builder_; }
  RegionPlan& plan() const { return plan_; }
  Modes& modes() const { return modes_; }
  using Rooms::make;

 private:
  Capture(std::unique_ptr<House> house, const Frame& frame);
  std::unique_ptr<House> house_;
};

// Of a function marked by torch.compiler.disable: why; null of any other.
const std::string* refusal_of(const FunctionObject* function);

// The symbolic form of a native function (native_table.h).
using NativeHandler = Av (*)(Capture& capture, CallArguments& arguments);

using StepHandler = void (*)(Capture& capture, const lang::Instruction& instruction);
StepHandler step_handler(lang::Op op);

}  // namespace tsc::interp
