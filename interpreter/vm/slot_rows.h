#pragma once
// The table that ties dunder methods to slots. Knows: names, slots, the functions between them. Must not
// know: how a class finds its methods (refresh_slots.cpp), which types there are.
#include <string>
#include <vector>

#include "interpreter/value/function.h"
#include "interpreter/value/type.h"

namespace tsc::interp {

struct SlotRow {
  std::vector<std::string> names;                        // any of them fills the slot
  bool (*own)(const TypeSlots&, const TypeSlots* base);  // filled, and not merely inherited
  void (*copy)(TypeSlots& to, const TypeSlots& from);    // from a native owner
  void (*fill)(TypeSlots&);                              // with the function for script classes
  void (*clear)(TypeSlots&);
  NativeCode wrapper;
  const char* signature;  // null: raw
};

// A slot that serves many operators: what copies, fills and clears it.
struct OperatorFamily {
  std::vector<std::string> names;
  void (*copy)(TypeSlots& to, const TypeSlots& from);
  void (*fill)(TypeSlots&);
  void (*clear)(TypeSlots&);
};

// What C++ has put into the slots of a native type, whatever a script has set in their place since (kOpenClass).
const TypeSlots& native_slots(Vm& vm, const Type* type);
void keep_native_slots(Vm& vm, const Type* type);
const std::vector<SlotRow>& slot_rows();
const std::vector<OperatorFamily>& operator_families();

}  // namespace tsc::interp
