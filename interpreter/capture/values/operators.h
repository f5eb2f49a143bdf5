#pragma once
// Operators and comparisons of any two values: tensors, numbers, sequences, objects of script classes with their own
// methods. Numbers alone are in numbers.h. What has no form of its own runs the interpreter's text on stand-ins.
// Defined in numbers.cpp, program/nested.cpp, program/recorded.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Operators : private Room {
 public:
  explicit Operators(const Rooms& rooms) : Room(rooms) {}
  bool has_identity_hash(const Av& av);
  bool is_script_instance(const Av& av) const;
  // By a method of a script class; Undefined: neither has one.
  Av binary_dunder(BinaryOp op, bool in_place, const Av& left, const Av& right);
  // left op right of values without methods of their own; then those with one: `operate`.
  Av binary(BinaryOp op, const Av& left, const Av& right);
  Av operate(BinaryOp op, const Av& left, const Av& right);
  Av compare(CompareOp op, const Av& left, const Av& right);
  Av unary(UnaryOp op, const Av& operand);
  // `is`.
  bool is_identical(const Av& a, const Av& b);
  // A text or number of a script's class, as the members of an enumeration are, without the class, where that has no
  // such methods of its own.
  Av without_class(const Av& av, std::initializer_list<const char*> methods);
  void refuse_own_operator(BinaryOp op, const Av& av);
  // A sequence as the container that the interpreter would see.
  Av as_container(const Av& av);

 private:
  Av binary_sequence(BinaryOp op, const Av& left, const Av& right);
  bool is_operand(const Av& av) const;
  bool are_one_object(const Av& a, const Av& b);
  Av try_operator(const Av& self, const char* name, const Av& other);
  Av compare_dunder(CompareOp op, const Av& left, const Av& right);
  Av try_compare(const Av& self, CompareOp op, const Av& other);
};

}  // namespace tsc::interp
