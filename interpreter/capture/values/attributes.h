#pragma once
// Attributes of abstract values: of virtual objects, tensors, and objects from outside, whose attributes are facts
// (cells.h). A property is called by the instruction that reads it: its getter waits in calls.h, and the attribute is
// Undefined. So is one that the class's __getattr__ is asked for. Defined in attributes.cpp, program/recorded.cpp.
#include "interpreter/capture/rooms.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {

class Attributes : private Room {
 public:
  explicit Attributes(const Rooms& rooms) : Room(rooms) {}
  // Undefined: it is a property, whose getter waits (calls.h).
  Av get_attribute(const Av& object, StrObject* name);
  void set_attribute(const Av& object, StrObject* name, const Av& value);
  // The function and self of object.name(...) without making a bound method; self Undefined: none.
  std::pair<Av, Av> load_method(const Av& object, StrObject* name);
  Type* type_of_av(const Av& av);
  // That an object known by identity stays one of its class, where that alone is what counts.
  void assume_class(const Av& object);
  // Found along the MRO, and watched there; null: there is none.
  const Value* class_attribute(Type* type, StrObject* name, Type** owner);
  // As object.__setattr__ does.
  void set_plain_attribute(const Av& object, StrObject* name, const Av& value);
  // An own attribute; null: there is none.
  const Av* find_field(VInstance& instance, StrObject* name);
  static Av* find_field(VDict& dict, StrObject* name);
  // What hasattr() and getattr() with a default ask: an AttributeError of a property or of __getattr__ says that there
  // is none.
  bool has_attribute(const Av& object, StrObject* name);
  // Whether the object itself has it, whatever its class does.
  bool has_own(const Av& object, StrObject* name);
  std::optional<Av> attribute_if_there(const Av& object, StrObject* name);
  // The getter that waits, of that attribute.
  void call_getter(const Av& object, StrObject* name, uint16_t destination);
  // Of an object from outside.
  Av host_attribute(const Av& object, StrObject* name);

 private:
  void set_field(const Av& object, StrObject* name, const Av& value);
  OverlayKey place_of(const Value& object, StrObject* name);
  const Value* metaclass_attribute(Type& type, StrObject* name, AttributeSite& site);
  Av find_attribute(const Av& object, StrObject* name);
  enum class Presence : uint8_t { Absent, Present, Asks };  // Asks: script code says it
  Presence find_presence(const Av& object, StrObject* name);
  Presence presence(const Av& object, StrObject* name);
  void assume_absent(const Value& object, StrObject* name, const AttributeSite& site);
  Av ask_missing(const Av& object, StrObject* name);
  std::optional<Av> ask_getter(const Av& object, StrObject* name);
  Av bind(const Value& attribute, const Av& self, bool through_class);
  bool has_plain_class(const Av& object);
  Av tensor_attribute(const Av& object, VTensor& tensor, StrObject* name);
  Av read_class_attribute(const Value& attribute, const Av& self);
  const Value* get_method_of(const Value& attribute);
  Av read_by_class(const Value& attribute, const Av& type);
  Av super_attribute(VSuper& super, StrObject* name);
  void store_host_attribute(const Av& object, StrObject* name, const Av& value);
  void set_tensor_attribute(const Av& object, VTensor& tensor, StrObject* name, const Av& value);
};

}  // namespace tsc::interp
