#pragma once
// Attributes of abstract values: of virtual objects, tensors, and objects from outside, whose attributes are facts (cells.h).
// A property is called by the instruction that reads it: its getter waits in calls.h, and the attribute is Undefined.
// Defined in attributes.cpp, program/recorded.cpp.
#include "interpreter/capture/rooms.h"

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
  // Found along the MRO, and watched there; null: there is none.
  const Value* class_attribute(Type* type, StrObject* name, Type** owner);
  // As object.__setattr__ does.
  void set_plain_attribute(const Av& object, StrObject* name, const Av& value);
  // An own attribute; null: there is none.
  const Av* find_field(VInstance& instance, StrObject* name);
  bool has_attribute(const Av& object, StrObject* name);
  // Of an object from outside.
  Av host_attribute(const Av& object, StrObject* name);

 private:
  void set_field(const Av& object, StrObject* name, const Av& value);
  Av find_attribute(const Av& object, StrObject* name);
  bool finds_attribute(const Av& object, StrObject* name);
  Av bind(const Value& attribute, const Av& self, bool through_class);
  Av tensor_attribute(const Av& object, VTensor& tensor, StrObject* name);
  Av read_class_attribute(const Value& attribute, const Av& self);
  Av super_attribute(VSuper& super, StrObject* name);
  void store_host_attribute(const Av& object, StrObject* name, const Av& value);
  void set_tensor_attribute(const Av& object, VTensor& tensor, StrObject* name, const Av& value);
};

}  // namespace tsc::interp
