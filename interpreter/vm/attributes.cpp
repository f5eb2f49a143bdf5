// Attribute access: the generic rule, own attributes in shapes, lookup through the MRO with its cache.
#include <new>

#include "interpreter/vm/attempt.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/vm_access.h"

namespace tsc::interp {

const std::string& type_name(Vm& vm, const Value& v) { return type_of(vm, v)->name; }

void type_modified(Vm& vm, Type* type) {
  type->version = VmAccess::new_type_version(vm);
  for (Type* subclass : type->subclasses) type_modified(vm, subclass);
}

const Value* lookup_in_type(Type* type, StrObject* name, Type** owner) {
  Vm& vm = *type->vm;
  auto& cached = VmAccess::lookup_cache(vm, type->version, name);
  if (cached.version == type->version && cached.name == name) {
    if (owner) *owner = cached.owner;
    return cached.value;
  }
  const Value* found = nullptr;
  Type* found_in = nullptr;
  for (Type* t : type->mro) {
    int64_t place = t->attributes->table.find(vm, name);
    if (place < 0) continue;
    found = &t->attributes->table.entry(static_cast<uint32_t>(place)).value;
    found_in = t;
    break;
  }
  if (name->interned()) cached = {type->version, name, found, found_in};
  if (owner) *owner = found_in;
  return found;
}

Value bind_attribute(Vm& vm, const Value& attribute, const Value& instance, Type* owner) {
  if (!attribute.is_object()) return attribute;
  auto bind = attribute.object()->type->slots.bind;
  if (!bind) return attribute;
  Value kept = attribute;  // binding may run code that changes the class
  return bind(vm, kept, instance, owner);
}

void reserve_slots(Vm& vm, InstanceState& state, uint32_t count, uint32_t hint) {
  if (count <= state.capacity) return;
  uint32_t capacity = std::max({count, hint, state.capacity * 2, uint32_t{2}});
  Value* slots = static_cast<Value*>(vm.heap().allocate(capacity * sizeof(Value)));
  for (uint32_t i = 0; i < capacity; ++i)
    new (&slots[i]) Value(i < state.capacity ? std::move(state.slots[i]) : Value());
  if (state.slots) vm.heap().free(state.slots, state.capacity * sizeof(Value));
  state.slots = slots;
  state.capacity = capacity;
}

namespace {

// In dictionary mode slot 0 holds the `__dict__`. What `__slots__` of a class names does not belong into it: slot 1
// holds the dict of these, once an object of a class with both has some.
constexpr uint32_t kDictSlot = 0, kMembersSlot = 1;

bool is_member(Vm& vm, Type* type, StrObject* name) {
  const Value* found = lookup_in_type(type, name);
  return found && found->is_object() && found->object()->type == vm.types().member_descriptor;
}

// The dict that holds an attribute of this name, or would; `make`: one is made where there is none.
Local<DictObject> dict_for(Vm& vm, Object* o, StrObject* name, bool make) {
  InstanceState& state = *instance_state(o);
  if (!(o->type->type_flags & kScriptClass) || !is_member(vm, o->type, name))
    return Local<DictObject>(cast<DictObject>(state.slots[kDictSlot]));
  if (state.capacity <= kMembersSlot || state.slots[kMembersSlot].is_undefined()) {
    if (!make) return {};
    Value members = make_dict(vm).take();
    if (o->watched()) members.object()->watch();
    reserve_slots(vm, state, kMembersSlot + 1, 0);
    state.slots[kMembersSlot] = members;
  }
  return Local<DictObject>(cast<DictObject>(state.slots[kMembersSlot]));
}

}  // namespace

Value get_own_attribute(Vm& vm, Object* o, StrObject* name) {
  InstanceState* state = instance_state(o);
  if (!state || !state->shape) return Value();
  if (state->shape->dictionary_mode()) {
    const Local<DictObject> dict = dict_for(vm, o, name, false);
    return dict ? dict_get(vm, dict, Value(name)) : Value();
  }
  int32_t slot = state->shape->find(name);
  return slot < 0 ? Value() : state->slots[slot];
}

void set_own_attribute(Vm& vm, Object* o, StrObject* raw_name, const Value& value) {
  InstanceState* state = instance_state(o);
  Local<StrObject> name = intern(vm, raw_name);
  if (!state->shape) state->shape = o->type->root();
  note_store(vm, o, Value(name.get()));
  if (!state->shape->dictionary_mode()) {
    int32_t slot = state->shape->find(name);
    if (slot >= 0) {
      state->slots[slot] = value;
      return;
    }
    uint32_t count = state->shape->size();
    if (count < Shape::kMaxSlots) {
      Type* type = o->type;
      reserve_slots(vm, *state, count + 1, type->slots_hint);
      if (count + 1 > type->slots_hint) type->slots_hint = count + 1;
      state->slots[count] = value;
      state->shape = state->shape->with(name);
      return;
    }
    attribute_dict(vm, o);
  }
  dict_set(vm, dict_for(vm, o, name, true), Value(name.get()), value);
}

bool delete_own_attribute(Vm& vm, Object* o, StrObject* raw_name) {
  InstanceState* state = instance_state(o);
  if (!state || !state->shape) return false;
  Local<StrObject> name = intern(vm, raw_name);
  if (state->shape->dictionary_mode()) {
    note_store(vm, o, Value(name.get()));
    const Local<DictObject> dict = dict_for(vm, o, name, false);
    return dict && dict_remove(vm, dict, Value(name.get()));
  }
  int32_t slot = state->shape->find(name);
  if (slot < 0) return false;
  note_store(vm, o, Value(name.get()));
  Shape* old = state->shape;
  Shape* shape = o->type->root();
  for (uint32_t i = 0; i < old->size(); ++i)
    if (static_cast<int32_t>(i) != slot) shape = shape->with(old->name(i));
  Value removed = std::move(state->slots[slot]);
  for (uint32_t i = static_cast<uint32_t>(slot); i + 1 < old->size(); ++i)
    state->slots[i] = std::move(state->slots[i + 1]);
  state->shape = shape;
  return true;
}

Local<DictObject> attribute_dict(Vm& vm, Object* o) {
  InstanceState* state = instance_state(o);
  if (!state->shape) state->shape = o->type->root();
  if (state->shape->dictionary_mode()) return Local<DictObject>(cast<DictObject>(state->slots[kDictSlot]));
  Local<DictObject> dict = make_dict(vm), members;
  for (uint32_t i = 0; i < state->shape->size(); ++i) {
    StrObject* name = state->shape->name(i);
    const bool is_in_slot = (o->type->type_flags & kScriptClass) && is_member(vm, o->type, name);
    if (is_in_slot && !members) members = make_dict(vm);
    dict_set(vm, is_in_slot ? members : dict, Value(name), state->slots[i]);
  }
  // Compiled code that assumed slots of this object must not read the moved ones; afterwards the dict
  // carries the watch bit as well.
  note_store(vm, o, Value());
  if (o->watched()) dict->watch();
  if (o->watched() && members) members->watch();
  reserve_slots(vm, *state, members ? kMembersSlot + 1 : 1, 1);
  for (uint32_t i = 0; i < state->capacity; ++i) state->slots[i].reset();
  state->slots[kDictSlot] = dict.value();
  if (members) state->slots[kMembersSlot] = members.value();
  Type* type = o->type;
  if (!type->dictionary_shape) type->dictionary_shape = std::make_unique<Shape>(type, true);
  state->shape = type->dictionary_shape.get();
  return dict;
}

Object* attribute_holder(Vm& vm, Object* o, StrObject* name) {
  if (!attribute_dict_of(o)) return o;
  const Local<DictObject> dict = dict_for(vm, o, name, false);
  return dict ? static_cast<Object*>(dict.get()) : o;
}

DictObject* attribute_dict_of(const Object* o) {
  const InstanceState* state = instance_state(const_cast<Object*>(o));
  return state && state->shape && state->shape->dictionary_mode() ? cast<DictObject>(state->slots[kDictSlot]) : nullptr;
}

bool shares_attributes(const Object* o) {
  const DictObject* dict = attribute_dict_of(o);
  return dict && dict->reference_count > 1;
}

Value generic_get_attribute(Vm& vm, const Value& v, StrObject* name) {
  Type* type = type_of(vm, v);
  const Value* found = lookup_in_type(type, name);
  if (found && is_data_descriptor(*found)) return bind_attribute(vm, *found, v, type);
  if (v.is_object())
    if (Value own = get_own_attribute(vm, v.object(), name)) return own;
  if (found) return bind_attribute(vm, *found, v, type);
  return Value();
}

namespace {

// Runs `get`; an AttributeError that comes out of it (a property's, say) means: absent.
template <class Get>
Value absent_if_attribute_error(Vm& vm, Get get) {
  Local<ExceptionObject> raised;
  try {
    Value found = get();
    if (found || !vm.has_returned()) return found;
    raised = vm.take_returned();
  } catch (const ScriptException& e) {
    raised = e.local();
  }
  if (!raised->type->is_subtype_of(vm.exceptions().AttributeError)) throw ScriptException(raised);
  return Value();
}

// What the class and the object say, before __getattr__ is asked.
Value regular_attribute(Vm& vm, const Value& v, StrObject* name) {
  auto get = type_of(vm, v)->slots.get_attribute;
  return get ? get(vm, v, name) : generic_get_attribute(vm, v, name);
}

}  // namespace

Value find_attribute(Vm& vm, const Value& v, StrObject* name) {
  return absent_if_attribute_error(vm, [&] {
    auto missing = type_of(vm, v)->slots.get_missing_attribute;
    if (!missing) return regular_attribute(vm, v, name);
    Value found = absent_if_attribute_error(vm, [&] { return regular_attribute(vm, v, name); });
    return found ? found : missing(vm, v, name);
  });
}

Value get_attribute(Vm& vm, const Value& v, StrObject* name) { return or_throw(vm, get_attribute_softly(vm, v, name)); }

Value get_attribute_softly(Vm& vm, const Value& v, StrObject* name) {
  if (auto missing = type_of(vm, v)->slots.get_missing_attribute) {
    Value found = absent_if_attribute_error(vm, [&] { return regular_attribute(vm, v, name); });
    return found ? found : missing(vm, v, name);
  }
  Value found = regular_attribute(vm, v, name);
  if (!found && !vm.has_returned()) vm.return_raised(attribute_error(vm, v, name));
  return found;
}

Value get_attribute(Vm& vm, const Value& v, std::string_view name) {
  return get_attribute(vm, v, intern(vm, name).get());
}

bool is_data_descriptor(const Value& v) {
  if (!v.is_object()) return false;
  const TypeSlots& slots = v.object()->type->slots;
  return slots.bind_set && slots.bind;
}

bool refuses_attribute(Vm& vm, const Type* type, const Value* found) {
  if (!(type->type_flags & kSlotsOnly)) return false;
  return !found || !found->is_object() || found->object()->type != vm.types().member_descriptor;
}

void generic_set_attribute(Vm& vm, const Value& v, StrObject* name, const Value& value) {
  Type* type = type_of(vm, v);
  const Value* found = lookup_in_type(type, name);
  if (found && found->is_object()) {
    if (auto bind_set = found->object()->type->slots.bind_set) {
      Value descriptor = *found;
      return bind_set(vm, descriptor, v, value);
    }
  }
  if (!v.is_object() || !instance_state(v.object()) || refuses_attribute(vm, type, found)) {
    if (found)
      raise(vm, vm.exceptions().AttributeError,
            "'" + type->name + "' object attribute '" + std::string(name->view()) + "' is read-only");
    raise_attribute_error(vm, v, name);
  }
  set_own_attribute(vm, v.object(), name, value);
}

void set_attribute(Vm& vm, const Value& v, StrObject* name, const Value& value) {
  auto set = type_of(vm, v)->slots.set_attribute;
  set ? set(vm, v, name, value) : generic_set_attribute(vm, v, name, value);
}

void generic_delete_attribute(Vm& vm, const Value& v, StrObject* name) {
  const Value* found = lookup_in_type(type_of(vm, v), name);
  if (found && found->is_object()) {
    if (auto bind_set = found->object()->type->slots.bind_set) {
      Value descriptor = *found;
      return bind_set(vm, descriptor, v, Value());
    }
  }
  if (v.is_object() && delete_own_attribute(vm, v.object(), name)) return;
  bool member = found && found->is_object() && found->object()->type == vm.types().member_descriptor;
  if (member) raise(vm, vm.exceptions().AttributeError, name->view());
  raise_attribute_error(vm, v, name);
}

void delete_attribute(Vm& vm, const Value& v, StrObject* name) {
  auto remove = type_of(vm, v)->slots.delete_attribute;
  remove ? remove(vm, v, name) : generic_delete_attribute(vm, v, name);
}

bool is_instance(Vm& vm, const Value& v, Type* type) { return type_of(vm, v)->is_subtype_of(type); }

}  // namespace tsc::interp
