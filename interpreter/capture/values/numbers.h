#pragma once
// Numbers: constants and scalar registers of the region, arithmetic on them, and the questions that decide a program
// (is it true, which integer is it). Defined in numbers.cpp, program/recorded.cpp, tensors.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Numbers : private Room {
 public:
  explicit Numbers(const Rooms& rooms) : Room(rooms) {}
  // Arithmetic; of constants a constant.
  Av scalar(jit::ScalarOp op, std::vector<Av> operands);
  ValueId number_id(const Av& av);  // constant or register as a region scalar
  ValueId int_id(const Av& av);     // the same for an int (bool, or a 0-d integer tensor breaks)
  // The value of a branch or loop bound: known, or assumed through an entry condition, or a break.
  bool truth(const Av& av);
  // The value of a tensor, or a number that the region reads out of one; its truth as a Bool of the region, and `not`.
  bool only_run_knows(const Av& av) const;
  ValueId truth_in_region(const Av& av);
  Av negated(const Av& av);
  int64_t concrete_int(const Av& av);
  bool is_same_number(ValueId a, ValueId b);  // one value of the region
  Av scalar_av(ValueId id);
  // Operands as region scalars of one kind.
  std::vector<ValueId> matched(std::span<const Av> operands, bool force_float);
  // Numbers, texts, None and the like: what is done with them is known when they are.
  bool is_plain_data(const Value& v) const;
  bool cannot_raise(jit::ScalarOp op, std::span<const ValueId> operands);
  // A region scalar as a number: a constant where it is one.
  Av int_av(ValueId id);
  Av find_number(ValueId id);

 private:
  bool truth_of_instance(Type* type);
  std::optional<bool> own_truth(const Av& av);  // by the methods of a script's class
  bool truth_of_constant(const Value& v);
  void assume_truth(const Av& number, bool now);
  void scalar_may_raise(jit::ScalarOp op, std::span<const ValueId> operands);
  void compares_exactly(std::span<const Av> operands);
  Av emit_scalar(jit::ScalarOp op, std::vector<Av> operands);
  Av find_int(ValueId id);
};

}  // namespace tsc::interp
