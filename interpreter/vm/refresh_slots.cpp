// Which slots a class has: what looking the names of the table up through its MRO says.
#include <unordered_map>

#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/ends.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/slot_rows.h"

namespace tsc::interp {
namespace {

// A value in a class dictionary that is the wrapper of a native slot.
bool is_wrapper(const Value& v, const std::string& name) {
  auto* f = try_cast<NativeFunction>(v);
  return f && f->pointer && f->name == name;
}

// The rows and the families as one list, by interned names, and what classes inherit from native types:
// made once per Vm.
struct SlotTable {
  std::vector<std::vector<StrObject*>> names;  // interned ones live as long as the Vm
  std::unordered_map<StrObject*, size_t> row_of;
  struct Inherited {
    uint32_t version = 0;  // of the native type
    TypeSlots slots;
  };
  std::unordered_map<Type*, Inherited> inherited;
  std::unordered_map<const Type*, TypeSlots> native;  // of open classes, once a script has set a slot method
};
const char kSlotTable = 0;

SlotTable& slot_table(Vm& vm) {
  std::shared_ptr<void>& kept = vm.extension(&kSlotTable);
  if (!kept) {
    auto made = std::make_shared<SlotTable>();
    auto add = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) made->row_of[intern(vm, name)] = made->names.size();
      std::vector<StrObject*>& interned = made->names.emplace_back();
      for (const std::string& name : names) interned.push_back(intern(vm, name));
    };
    for (const SlotRow& row : slot_rows()) add(row.names);
    for (const OperatorFamily& family : operator_families()) add(family.names);
    kept = std::move(made);
  }
  return *std::static_pointer_cast<SlotTable>(kept);
}

// f(row, its place in the table) for all rows and families.
template <class F>
void for_each_row(F&& f) {
  size_t place = 0;
  for (const SlotRow& row : slot_rows()) f(row, place++);
  for (const OperatorFamily& family : operator_families()) f(family, place++);
}

// What looking the row's names up through `type` says about the slot.
template <class Row>
void refresh_row(Vm& vm, TypeSlots& slots, Type* type, const Row& row, const std::vector<StrObject*>& names,
                 bool script_class) {
  Type* native_owner = nullptr;
  bool script = false;
  for (size_t i = 0; i < names.size(); ++i) {
    Type* owner = nullptr;
    const Value* found = lookup_in_type(type, names[i], &owner);
    if (!found) continue;
    if (is_wrapper(*found, row.names[i])) {
      if (!native_owner) native_owner = owner;
    } else if (owner != vm.types().object) {
      script = true;
    }
  }
  if (script) row.fill(slots);
  else if (native_owner) row.copy(slots, native_slots(vm, native_owner));
  else if (script_class) row.clear(slots);
}

// The slots of a class that adds no slot method to those of its native ancestor.
const TypeSlots& inherited_slots(Vm& vm, SlotTable& table, Type* native) {
  SlotTable::Inherited& kept = table.inherited[native];
  if (kept.version != native->version) {
    for_each_row(
        [&](const auto& row, size_t place) { refresh_row(vm, kept.slots, native, row, table.names[place], true); });
    kept.version = native->version;  // last: a row that finds no memory is looked up again
  }
  return kept.slots;
}

// The native type whose MRO is the native part of the type's; null when there are several.
Type* only_native_ancestor(const Type* type) {
  Type* native = nullptr;
  size_t next = 0;
  for (Type* t : type->mro) {
    if (t->type_flags & kScriptClass) continue;
    if (!native) native = t;
    if (next >= native->mro.size() || native->mro[next++] != t) return nullptr;
  }
  return native && next == native->mro.size() ? native : nullptr;
}

// Rows of which a script class in the MRO defines a method.
std::vector<bool> rows_defined(Vm& vm, const SlotTable& table, const Type* type) {
  std::vector<bool> defined(table.names.size());
  for (const Type* t : type->mro) {
    if (!(t->type_flags & kScriptClass)) continue;
    const Table& attributes = t->attributes->table;
    for (uint32_t i = 0; i < attributes.used(); ++i) {
      StrObject* name = try_cast<StrObject>(attributes.entry(i).key);
      if (!name || !name->view().starts_with("__")) continue;
      auto row = table.row_of.find(intern(vm, name).get());
      if (row != table.row_of.end()) defined[row->second] = true;
    }
  }
  return defined;
}

// Most rows of a script class are those of its native ancestor: only the others are looked up.
void refresh_script_class(Vm& vm, Type* type, Type* native) {
  SlotTable& table = slot_table(vm);
  const TypeSlots& inherited = inherited_slots(vm, table, native);
  const std::vector<bool> defined = rows_defined(vm, table, type);
  for_each_row([&](const auto& row, size_t place) {
    if (defined[place]) refresh_row(vm, type->slots, type, row, table.names[place], true);
    else row.copy(type->slots, inherited);
  });
}

}  // namespace

const TypeSlots& native_slots(Vm& vm, const Type* type) {
  if (!(type->type_flags & kOpenClass)) return type->slots;
  const auto& kept = slot_table(vm).native;
  const auto found = kept.find(type);
  return found == kept.end() ? type->slots : found->second;
}

void keep_native_slots(Vm& vm, const Type* type) { slot_table(vm).native.try_emplace(type, type->slots); }

void refresh_slots(Vm& vm, Type* type) {
  const bool script_class = type->type_flags & kScriptClass;
  Type* native = script_class ? only_native_ancestor(type) : nullptr;
  if (native) {
    refresh_script_class(vm, type, native);
  } else {
    SlotTable& table = slot_table(vm);
    for_each_row([&](const auto& row, size_t place) {
      refresh_row(vm, type->slots, type, row, table.names[place], script_class);
    });
  }
  // __hash__ = None, or __eq__ without __hash__: unhashable.
  Type* hash_owner = nullptr;
  const Value* hash = lookup_in_type(type, vm.names().hash, &hash_owner);
  if (hash && hash->is_none()) type->slots.hash = nullptr;
  else if (!type->slots.hash && hash_owner == vm.types().object) type->slots.hash = vm.types().object->slots.hash;
  if (!type->slots.repr) type->slots.repr = vm.types().object->slots.repr;
  bool plain_layout = type->layout == Kind::Instance && type->instance_offset;
  uint32_t flags = type->type_flags & ~(kPlainInstances | kPlainSetAttribute);
  if (plain_layout && !type->slots.get_attribute) flags |= kPlainInstances;
  if (!type->slots.set_attribute) flags |= kPlainSetAttribute;
  const bool has_finalizer = script_class && lookup_in_type(type, vm.names().del.get());
  flags = has_finalizer ? flags | kHasFinalizer : flags & ~uint32_t{kHasFinalizer};
  const bool is_new = flags & ~type->type_flags & kHasFinalizer;
  type->type_flags = flags;
  // Of a class that has just been made there are no instances yet.
  if (is_new) prepare_ends(vm);
  if (is_new && type->reference_count > 1) vm.heap().mark_ends(type);
}

}  // namespace tsc::interp
