// What a script sets in the class of tensors. All that is compiled relies on what that class has, and watches none of
// it: whoever changes it makes everything be captured anew, and whoever replaces an operator is interpreted.
#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/vm/slot_rows.h"

namespace tsc::interp {

void Compiler::on_store(Object* holder, const Value& key) {
  const bool is_open_class = holder->kind == Kind::Type && static_cast<Type*>(holder)->type_flags & kOpenClass;
  if (!is_open_class) return watches_.on_store(holder, key);
  class_of_tensors_changed_ = true;
  reset();
}

// What is an operator of the region may be a function of the script.
bool Compiler::has_other_operators() const {
  const TypeSlots &now = tensors().tensor_type->slots, &own = native_slots(vm_, tensors().tensor_type);
  return now.binary != own.binary || now.in_place != own.in_place || now.unary != own.unary ||
         now.compare != own.compare || now.get_item != own.get_item || now.set_item != own.set_item ||
         now.delete_item != own.delete_item || now.contains != own.contains || now.length != own.length ||
         now.truth != own.truth || now.iterate != own.iterate || now.hash != own.hash || now.to_int != own.to_int ||
         now.to_float != own.to_float || now.to_index != own.to_index || now.get_attribute != own.get_attribute ||
         now.set_attribute != own.set_attribute || now.get_missing_attribute != own.get_missing_attribute;
}

}  // namespace tsc::interp
