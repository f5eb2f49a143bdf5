#pragma once
// Exceptions that the program raises and handles inside a region, and AttributeErrors that answer hasattr() and getattr().
// Nothing is thrown while the region runs: what is raised, and who handles it, follows from what is known. Such an exception
// exists while capturing alone (VException): where the region would end with it, or somebody asks it for more than its class,
// the region ends in front of the instruction that made it, and the interpreter raises it.
// Knows frames of capture and their handlers. Must not know regions.
#include "interpreter/capture/capture.h"

namespace tsc::interp {

class Raising {
 public:
  explicit Raising(Capture& capture) : capture_(capture) {}

  // Whether a handler of the region, or who asks for an attribute, takes what is raised now.
  bool is_handled() const;
  // Undefined: of a class with constructors of the script.
  Av make(Type* type, const Capture::CallArguments& arguments);
  void raise(const Av& raised);
  // Runs an instruction; what it raises is handled where the region does that.
  void run(const std::function<void()>& instruction);
  // The result of a call; nothing: an AttributeError ended it.
  std::optional<Av> call_unless_absent(const Av& callee, Capture::CallArguments arguments);

  // The instructions of handlers.
  void push_handled(uint16_t before, const Av& exception);
  void pop_handled(uint16_t before);
  bool matches(const Av& exception, const Av& classes);
  Av handled();
  void info(uint16_t first, const Av& exception);

  [[noreturn]] void refuse(const VException& exception);
  // A frame that the interpreter goes on with may not be in the middle of a handler of the region.
  void refuse_handling();

  // Code that an instruction runs raises through no frame below this one; if it `tells_absence`, an AttributeError ends it.
  struct Floor {
    size_t depth = 0;
    bool tells_absence = false;
  } floor;

 private:
  void unwind(Av exception);
  void drop_frames(size_t depth);

  Capture& capture_;
};

}  // namespace tsc::interp
