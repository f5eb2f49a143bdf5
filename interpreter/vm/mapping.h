#pragma once
// The pairs of a mapping, as update(), {**m}, f(**m) and dict(m) take them. Knows: dict and its classes. Must not
// know: who takes the pairs.
#include "interpreter/vm/iteration.h"

namespace tsc::interp {

// Whether the table of such a dict says what it holds, not its `keys` and []. As in Python the subclass is asked once
// it has an `__iter__` of its own. An OrderedDict has one in Python: its subclasses are asked for what they replace.
inline bool gives_its_table(Vm& vm, Type* type) {
  if (!(type->type_flags & kScriptClass)) return true;
  const TypeSlots &own = type->slots, &plain = vm.types().dict->slots;
  if (own.iterate != plain.iterate) return false;
  if (!lookup_in_type(type, intern(vm, "_hears_of_items"))) return true;
  const Value* keys = lookup_in_type(type, intern(vm, "keys"));
  return own.get_item == plain.get_item && keys && is_kind(*keys, Kind::NativeFunction);
}

// The dict whose table says what the mapping holds, or null.
inline DictObject* plain_dict(Vm& vm, const Value& mapping) {
  DictObject* dict = try_cast<DictObject>(mapping);
  return dict && gives_its_table(vm, dict->type) ? dict : nullptr;
}

// Calls `f(key, value)` for each pair; false where the value is no mapping.
template <class F>
bool for_each_pair(Vm& vm, const Value& mapping, F f) {
  if (DictObject* dict = plain_dict(vm, mapping)) {
    for (uint32_t i = 0; i < dict->table.used(); ++i) {
      vm.hear_stop();
      const Table::Entry& e = dict->table.entry(i);
      if (!e.key) continue;
      Value key = e.key, value = e.value;
      f(key, value);
    }
    return true;
  }
  const Value keys = find_attribute(vm, mapping, intern(vm, "keys").get());
  if (!keys) return false;
  for_each(vm, call(vm, keys), [&](const Value& key) {
    f(key, get_item(vm, mapping, key));
    return true;
  });
  return true;
}

}  // namespace tsc::interp
