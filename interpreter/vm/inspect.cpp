#include "interpreter/vm/inspect.h"

#include "interpreter/vm/vm.h"

namespace tsc::interp {
namespace {

AttributeSite inspect_module(Vm& vm, ModuleObject* module, StrObject* name) {
  AttributeSite site;
  int64_t place = module->globals->table.find(vm, name);
  if (place >= 0) {
    site.found = Found::ModuleGlobal;
    site.holder = module->globals;
    site.value = module->globals->table.entry(static_cast<uint32_t>(place)).value;
  } else if (lookup_in_type(module->type, name)) {  // __dict__ and its like
    site.found = Found::NativeSlot;
  } else if (module->globals->table.find(vm, vm.names().getattr) >= 0) {
    site.found = Found::MissingHook;
  }
  return site;
}

AttributeSite inspect_class(Vm&, Type* type, StrObject* name) {
  AttributeSite site;
  if (const Value* found = lookup_in_type(type, name, &site.owner)) {
    site.found = Found::ClassAttribute;
    site.value = *found;
    site.holder = type;
  }
  return site;
}

}  // namespace

AttributeSite inspect_attribute(Vm& vm, const Value& v, StrObject* name) {
  if (auto* module = try_cast<ModuleObject>(v)) return inspect_module(vm, module, name);
  if (auto* type = try_cast<Type>(v)) {
    AttributeSite site = inspect_class(vm, type, name);
    if (site.found == Found::Absent && lookup_in_type(type->type, name)) site.found = Found::NativeSlot;
    return site;
  }
  AttributeSite site;
  Type* type = type_of(vm, v);
  if (type->slots.get_attribute) {
    site.found = type->type_flags & kScriptClass ? Found::Custom : Found::NativeSlot;
    return site;
  }
  const Value* in_class = lookup_in_type(type, name, &site.owner);
  bool data = in_class && is_data_descriptor(*in_class);
  if (!data && v.is_object()) {
    if (Value own = get_own_attribute(vm, v.object(), name)) {
      site.found = Found::InstanceSlot;
      site.value = std::move(own);
      site.holder = v.object();
      InstanceState* state = instance_state(v.object());
      if (!state->shape->dictionary_mode()) site.slot = state->shape->find(name);
      site.owner = nullptr;
      return site;
    }
  }
  if (in_class) {
    site.found = is_kind(*in_class, Kind::NativeProperty) ? Found::NativeSlot : Found::ClassAttribute;
    site.value = *in_class;
    site.holder = site.owner;
    site.data_descriptor = data;
    return site;
  }
  if (type->slots.get_missing_attribute) site.found = Found::MissingHook;
  return site;
}

DictObject* builtins_of(Vm& vm, DictObject* globals) {
  const Value given = dict_get(vm, globals, intern(vm, "__builtins__").value());
  if (is_kind(given, Kind::Dict)) return cast<DictObject>(given);
  auto* module = try_cast<ModuleObject>(given);
  return module ? module->globals.get() : vm.builtins()->globals.get();
}

AttributeSite inspect_global(Vm& vm, ModuleObject* module, StrObject* name) {
  AttributeSite site;
  int64_t place = module->globals->table.find(vm, name);
  if (place >= 0) {
    site.found = Found::ModuleGlobal;
    site.holder = module->globals;
    site.value = module->globals->table.entry(static_cast<uint32_t>(place)).value;
    return site;
  }
  DictObject* builtins = builtins_of(vm, module->globals);
  place = builtins->table.find(vm, name);
  if (place < 0) return site;
  site.found = Found::BuiltinGlobal;
  site.holder = builtins;
  site.value = builtins->table.entry(static_cast<uint32_t>(place)).value;
  return site;
}

void watch_attribute(Vm& vm, const Value& v, StrObject*, const AttributeSite& site) {
  if (v.is_object()) {
    v.object()->watch();
    InstanceState* state = instance_state(v.object());
    if (state && state->shape && state->shape->dictionary_mode())
      for (uint32_t i = 0; i < state->capacity; ++i)  // the dict, and that of what __slots__ names
        if (state->slots[i].is_object()) state->slots[i].object()->watch();
    if (auto* module = try_cast<ModuleObject>(v)) module->globals->watch();
  }
  if (site.holder) site.holder->watch();
  // A class earlier in the MRO may gain the attribute.
  Type* type = is_kind(v, Kind::Type) ? cast<Type>(v) : type_of(vm, v);
  for (Type* t : type->mro) t->watch();
}

void watch_global(Vm& vm, ModuleObject* module, const AttributeSite& site) {
  module->globals->watch();
  if (site.found != Found::ModuleGlobal) builtins_of(vm, module->globals)->watch();
}

}  // namespace tsc::interp
