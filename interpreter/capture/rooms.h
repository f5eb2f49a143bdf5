#pragma once
// The rooms of capture, and what each of them can reach. Capture is abstract interpretation: it follows the program's
// bytecode on values that are not known yet and appends what it does to a region; nothing runs. What it holds meanwhile
// lies in rooms:
//
//   the program     frames      where the program stands: frames, registers, the step loop
//                   calls       from a callee to a frame, an object or a native's row
//                   raising     exceptions that the program raises and handles inside the region
//                   loops       loops that are followed, and whether the call decides how many turns they have
//                   rolled      loops whose turns are alike: one loop of the region
//                   whiles      loops that go on while something holds that only the run knows: one, too
//                   turn_items, turn_conditions   what a rolled turn is given, and what it decides by its number
//                   turn_values                   what goes from turn to turn
//                   repeats     calls that are recorded once and then repeated
//                   guesses     branches on what only the run knows, of which one way is followed
//                   forks       those of which both are: an If of the region
//                   shared_memory   tensors of which only the run knows whether they are one
//   outside         cells       what is read from outside and becomes a watched fact
//                   inputs      what a call brings: entry sources and inputs of the region
//                   structures  what comes in and is known by its form
//   written         overlay     stores of the region that its later reads see
//                   effects     what it does to the host, in program order
//                   writes      elements of tensors and `.grad` that are out of date
//   values          tensors, shapes, gradients, numbers, operators, attributes, containers, iterators, texts
//   entry           conditions  what must hold at every entry, and what each number is in this call
//                   size_checks that operations do not fail on their sizes
//   exits           exits       where the region is left, and the recipes for what the interpreter needs there
//
// What one turn of the program changes lies in few of them: the frames (frames), what was stored (overlay, writes,
// effects), what was loaded (cells), versions of tensors and the content of virtual objects, and conditions. A room is
// a class that owns its fields; it calls the others by their names and sees nothing else of them.
#include <unordered_map>
#include <unordered_set>

#include "interpreter/capture/capture_builder.h"
#include "interpreter/capture/capture_memory.h"
#include "interpreter/capture/plan.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/vm/inspect.h"
#include "jit/region/value_map.h"
#include "lang/bytecode/liveness.h"

namespace tsc::interp {

class Attributes;
class Calls;
class Capture;
class Cells;
class Conditions;
class Containers;
class Effects;
class Exits;
class Forks;
class Frames;
class Gradients;
class Guesses;
class Inputs;
class Iterators;
class Loops;
class Numbers;
class Operators;
class Overlay;
class Raising;
class RepeatedCalls;
class RolledLoops;
class SharedMemory;
class Shapes;
class SizeChecks;
class Structures;
class Tensors;
class Texts;
class TurnConditions;
class TurnItems;
class TurnValues;
class WhileLoops;
class Writes;

// Ends the region in front of the current instruction.
struct BreakHere {
  BreakReason reason;
  std::string detail;
};
[[noreturn]] void break_here(BreakReason reason, std::string detail = {});

// The capture has to start again because something that it took for granted does not hold: CaptureMemory knows more
// now.
struct CaptureRestart {};

struct CallArguments {
  std::vector<Av> positional;
  std::vector<std::pair<Local<StrObject>, Av>> keywords;
};
// A positional argument; Undefined: it is not given.
inline Av at(const CallArguments& arguments, size_t i) {
  return i < arguments.positional.size() ? arguments.positional[i] : Av();
}

// A call whose result nobody takes; one whose result goes to the instruction that is running.
inline constexpr uint16_t kNoDestination = 0xFFFF;
inline constexpr uint16_t kNestedDestination = 0xFFFE;

// All rooms of one capture, and the region with its plan, which they fill. Each room has a copy.
struct Rooms {
  Capture& capture_;
  Vm& vm_;
  TensorState& tensor_state_;
  CaptureMemory& memory_;
  jit::Region& region_;
  CaptureBuilder& builder_;
  RegionPlan& plan_;
  Modes& modes_;  // in which operations are made
  uint32_t& objects_made_;
  std::vector<std::weak_ptr<Virtual>>& rings_;  // objects that may contain themselves

  Frames& frames_;
  Calls& calls_;
  Raising& raising_;
  Loops& loops_;
  RolledLoops& rolled_;
  TurnItems& turn_items_;
  TurnConditions& turn_conditions_;
  TurnValues& turn_values_;
  WhileLoops& whiles_;
  RepeatedCalls& repeats_;
  Guesses& guesses_;
  Forks& forks_;
  SharedMemory& shared_memory_;
  Cells& cells_;
  Inputs& inputs_;
  Structures& structures_;
  Overlay& overlay_;
  Effects& effects_;
  Writes& writes_;
  Tensors& tensors_;
  Shapes& shapes_;
  Gradients& gradients_;
  Numbers& numbers_;
  Operators& operators_;
  Attributes& attributes_;
  Containers& containers_;
  Iterators& iterators_;
  Texts& texts_;
  Conditions& conditions_;
  SizeChecks& size_checks_;
  Exits& exits_;

  // A virtual object of the region.
  template <class T>
  std::shared_ptr<T> make() const {
    auto object = std::make_shared<T>();
    object->number = ++objects_made_;
    if constexpr (may_contain_itself(T::kKind)) rings_.push_back(object);
    return object;
  }
};

// What every room is: one of a capture, with the names of the others.
class Room : protected Rooms {
 public:
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 protected:
  explicit Room(const Rooms& rooms) : Rooms(rooms) {}
};

}  // namespace tsc::interp
