#pragma once
// Exceptions that the program raises and handles inside a region, and AttributeErrors that answer hasattr() and
// getattr(). Nothing is thrown while the region runs: what is raised, and who handles it, follows from what is known.
// Such an exception exists while capturing alone (VException): where the region would end with it, or somebody asks it
// for more than its class, the region ends in front of the instruction that made it, and the interpreter raises it.
// Owns how far down a raise may look for a handler. Must not know regions.
// Defined in raising.cpp.
#include <functional>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

// Ends the region in front of the current instruction, because that raises an exception of this class.
struct RaisesHere : BreakHere {
  Type* type;
};
[[noreturn]] void raise_here(Type* type, std::string detail);

class Raising : private Room {
 public:
  explicit Raising(const Rooms& rooms) : Room(rooms) {}

  // Whether a handler of the region, or who asks for an attribute, takes what is raised now.
  bool is_handled() const;
  // Undefined: of a class with constructors of the script.
  Av make_exception(Type* type, const CallArguments& arguments);
  void raise(const Av& raised);
  // Runs an instruction; what it raises is handled where the region does that.
  void run(const std::function<void()>& instruction);
  // The result of a call; nothing: an AttributeError ended it.
  std::optional<Av> call_unless_absent(const Av& callee, CallArguments arguments);

  // The instructions of handlers.
  void push_handled(uint16_t before, const Av& exception);
  void pop_handled(uint16_t before);
  bool matches(const Av& exception, const Av& classes);
  Av handled();
  void info(uint16_t first, const Av& exception);

  [[noreturn]] void refuse(const VException& exception);
  // A frame that the interpreter goes on with may not be in the middle of a handler of the region.
  void refuse_handling();

  // Code that an instruction runs raises through no frame below this one; if it `tells_absence`, an AttributeError ends
  // it.
  struct Floor {
    size_t depth = 0;
    bool tells_absence = false;
  };
  Floor set_floor(Floor floor) { return std::exchange(floor_, floor); }  // gives the last one

 private:
  void unwind(Av exception);

  Floor floor_;
};

}  // namespace tsc::interp
