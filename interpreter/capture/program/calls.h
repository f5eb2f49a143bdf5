#pragma once
// Calls: from a callee and its arguments to a frame (a script function), an object under construction (a class) or the
// row of a native (native_table.h). A getter that an attribute turned out to be waits here for the instruction to call
// it. Must not know tensors nor what a native does. Defined in calls.cpp, values/sequences.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Calls : private Room {
 public:
  explicit Calls(const Rooms& rooms) : Room(rooms) {}
  // The getter that waits, and whether it is a property's; the other is the __getattr__ of a class.
  std::pair<Av, CallArguments> take_pending_getter() { return std::move(pending_getter_); }
  bool is_property_pending() const { return is_property_pending_; }
  uint16_t destination() const { return call_destination_; }  // of the native that is being called
  // The method of that name of the script's class that the value is of, and the result of calling it with the value and
  // others; null and nothing: the class has none, or a native one.
  const Value* own_method(const Av& av, const char* name);
  std::optional<Av> call_own(const char* name, std::vector<Av> arguments);
  // Breaks where there is such a method.
  void refuse_override(const Av& av, std::initializer_list<const char*> names);
  // Starts a call whose result goes to `destination`; returns at once for natives (the result is written),
  // pushes an abstract frame for script functions.
  void call(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result = false);
  // Of a symbolic form: it does not know these arguments.
  Av decline() {
    declined_ = true;
    return Av();
  }
  // Behind the scenes: a function of the library by its name.
  void call_library(const char* name, std::vector<Av> arguments, uint16_t destination);
  void set_pending_getter(Av getter, CallArguments arguments, bool is_property) {
    pending_getter_ = {std::move(getter), std::move(arguments)};
    is_property_pending_ = is_property;
  }

 private:
  Av call_native(NativeFunction* function, CallArguments& arguments, uint16_t destination);
  void construct(Type* type, CallArguments& arguments, uint16_t destination);
  bool construct_by_metaclass(Type* type, CallArguments& arguments, uint16_t destination);
  void construct_by_new(Type* type, CallArguments arguments, uint16_t destination);
  Av make_partial(Type* type, CallArguments& arguments);
  void call_partial(const Av& partial, CallArguments arguments, uint16_t destination, bool discard_result);
  bool is_tuple_class(Type* type);
  bool is_dict_class(Type* type, bool has_init);
  Av make_dict_of(Type* type, CallArguments& arguments);
  void call_object(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result);
  void push_call(const Av& function, AFrame frame, CallArguments& arguments, uint16_t destination, bool discard_result);
  void bind_arguments(const lang::CodeObject& code, AFrame& frame, CallArguments& arguments,
                      const std::vector<Av>& defaults, const std::vector<Av>& keyword_defaults,
                      const std::string& name);

  std::pair<Av, CallArguments> pending_getter_;
  bool is_property_pending_ = false;
  uint16_t call_destination_ = 0;
  bool declined_ = false;  // a symbolic form has just said so
};

}  // namespace tsc::interp
