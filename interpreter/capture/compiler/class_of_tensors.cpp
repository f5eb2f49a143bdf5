// What a script sets in the class of tensors. All that is compiled relies on what that class has, and watches none of
// it: whoever changes it makes everything be captured anew, and whoever replaces an operator is interpreted.
#include <cstring>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/vm/slot_rows.h"

namespace tsc::interp {

void Compiler::on_store(Object* holder, const Value& key) {
  const bool is_open_class = holder->kind == Kind::Type && static_cast<Type*>(holder)->type_flags & kOpenClass;
  if (!is_open_class) return watches_.on_store(holder, key);
  class_of_tensors_changed_ = true;
  reset();
}

// What is an operator of the region may be a function of the script. Texts of tensors are made outside of regions.
bool Compiler::has_other_operators() const {
  TypeSlots now = tensors().tensor_type->slots;
  const TypeSlots& own = native_slots(vm_, tensors().tensor_type);
  now.repr = own.repr;
  now.to_str = own.to_str;
  now.format = own.format;
  return std::memcmp(&now, &own, sizeof now) != 0;
}

}  // namespace tsc::interp
