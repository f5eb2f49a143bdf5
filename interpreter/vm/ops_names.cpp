// Names, cells, globals and attributes: the slow paths, which fill the inline caches.
#include "interpreter/modules/importer.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/slow_ops.h"
#include "lang/diagnostic.h"

namespace tsc::interp {
namespace {

// These errors wait in the Vm. What the name could have been meant for hint_of() finds out when it is asked.
void undefined_name(Vm& vm, StrObject* name, Frame& frame) {
  Local<ExceptionObject> e =
      make_exception(vm, vm.exceptions().NameError, "name '" + std::string(name->view()) + "' is not defined");
  e->name = Value(name);
  e->subject = Value(frame.globals);
  vm.return_raised(std::move(e));
}

void unbound_local(Vm& vm, const std::string& name) {
  return_error(vm, vm.exceptions().UnboundLocalError,
               "cannot access local variable '" + name + "' where it is not associated with a value");
}

void unbound_free(Vm& vm, const std::string& name) {
  return_error(vm, vm.exceptions().NameError,
               "cannot access free variable '" + name + "' where it is not associated with a value in enclosing scope");
}

StrObject* site_name(Frame& frame, uint32_t site) { return frame.code->names[frame.code->code->sites[site].name]; }

CellObject* cell_of(const Value& v) { return cast<CellObject>(v); }

}  // namespace

namespace ops {

void CheckBound(Vm& vm, Frame& frame, Instruction i) {
  if (frame.registers[i.a]) return;
  const std::string& name = frame.code->code->names[i.b];
  i.mode() ? unbound_free(vm, name) : unbound_local(vm, name);
}

void LoadCell(Vm& vm, Frame& frame, Instruction i) {
  CellObject* cell = cell_of(frame.registers[i.b]);
  if (!cell->content) return unbound_local(vm, frame.code->code->names[i.c]);
  frame.registers[i.a] = cell->content;
}

void DeleteCell(Vm& vm, Frame& frame, Instruction i) {
  CellObject* cell = cell_of(frame.registers[i.a]);
  if (!cell->content) return unbound_local(vm, frame.code->code->names[i.b]);
  note_store(vm, cell, Value());
  cell->content.reset();
}

void LoadFree(Vm& vm, Frame& frame, Instruction i) {
  CellObject* cell = frame.function->closure[i.b];
  if (!cell->content) return unbound_free(vm, frame.code->code->free_names[i.b]);
  frame.registers[i.a] = cell->content;
}

void DeleteFree(Vm& vm, Frame& frame, Instruction i) {
  CellObject* cell = frame.function->closure[i.a];
  if (!cell->content) return unbound_free(vm, frame.code->code->free_names[i.a]);
  note_store(vm, cell, Value());
  cell->content.reset();
}

void load_global_slow(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.b);
  InlineCache& cache = frame.code->caches[2 * i.b];
  Table& table = frame.globals->table;
  int64_t place = table.find(vm, name);
  if (place >= 0) {
    cache.kind = kCacheModuleEntry;
    cache.key = frame.globals;
    cache.target = name;
    cache.index = static_cast<uint32_t>(place);
    cache.version = table.layout_version();
    frame.registers[i.a] = table.entry(cache.index).value;
    return;
  }
  DictObject* names = builtins_of(vm, frame.globals);
  Table& builtins = names->table;
  place = builtins.find(vm, name);
  if (place < 0) return undefined_name(vm, name, frame);
  if (names != vm.builtins()->globals.get()) {  // which is not cached
    frame.registers[i.a] = builtins.entry(static_cast<uint32_t>(place)).value;
    return;
  }
  cache.kind = kCacheBuiltinEntry;
  cache.key = frame.globals;
  cache.target = name;
  cache.version = table.layout_version();
  cache.index = static_cast<uint32_t>(place);
  frame.registers[i.a] = builtins.entry(cache.index).value;
}

void store_global_slow(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.a);
  dict_set(vm, frame.globals, Value(name), frame.registers[i.b]);
  InlineCache& cache = frame.code->caches[2 * i.a];
  cache.kind = kCacheModuleEntry;
  cache.key = frame.globals;
  cache.target = name;
  cache.index = static_cast<uint32_t>(frame.globals->table.find(vm, name));
  cache.version = frame.globals->table.layout_version();
}

void DeleteGlobal(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.a);
  if (!dict_remove(vm, frame.globals, Value(name))) return undefined_name(vm, name, frame);
}

namespace {

// Not the mapping that a metaclass prepared.
bool is_plain_namespace(Vm& vm, const Frame& frame) { return frame.extra.object()->type == vm.types().dict; }

bool is_missing_key(Vm& vm, const ScriptException& e) {
  return !e.exception()->is_limit && e.exception()->type->is_subtype_of(vm.exceptions().KeyError);
}

Value name_in_namespace(Vm& vm, const Frame& frame, StrObject* name) {
  if (is_plain_namespace(vm, frame)) return dict_get(vm, cast<DictObject>(frame.extra), Value(name));
  try {
    return get_item(vm, Value(frame.extra), Value(name));
  } catch (const ScriptException& e) {
    if (!is_missing_key(vm, e)) throw;
  }
  return Value();
}

}  // namespace

void LoadName(Vm& vm, Frame& frame, Instruction i) {
  if (frame.extra) {
    if (Value v = name_in_namespace(vm, frame, site_name(frame, i.b))) {
      frame.registers[i.a] = std::move(v);
      return;
    }
  }
  load_global_slow(vm, frame, i);
}

void LoadNameOrFree(Vm& vm, Frame& frame, Instruction i) {
  Value v = name_in_namespace(vm, frame, site_name(frame, i.b));
  if (!v) v = frame.function->closure[i.c]->content;
  if (!v) return unbound_free(vm, frame.code->code->free_names[i.c]);
  frame.registers[i.a] = std::move(v);
}

void StoreName(Vm& vm, Frame& frame, Instruction i) {
  const Value name(site_name(frame, i.a));
  if (is_plain_namespace(vm, frame)) dict_set(vm, cast<DictObject>(frame.extra), name, frame.registers[i.b]);
  else set_item(vm, Value(frame.extra), name, Value(frame.registers[i.b]));
}

void DeleteName(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.a);
  if (is_plain_namespace(vm, frame)) {
    if (!dict_remove(vm, cast<DictObject>(frame.extra), Value(name))) return undefined_name(vm, name, frame);
    return;
  }
  try {
    delete_item(vm, Value(frame.extra), Value(name));
  } catch (const ScriptException& e) {
    if (!is_missing_key(vm, e)) throw;
    undefined_name(vm, name, frame);
  }
}

void LoadNamespace(Vm&, Frame& frame, Instruction i) { frame.registers[i.a] = frame.extra; }

namespace {

bool is_plain_object(const Value& v) { return v.is_object() && (v.object()->type->type_flags & kPlainInstances); }

// Notes where an attribute of a plain instance was found. False: not cacheable.
bool fill_attribute_cache(const Value& object, StrObject* name, InlineCache& cache) {
  if (!is_plain_object(object)) return false;
  Type* type = object.object()->type;
  InstanceState* state = instance_state(object.object());
  if (!state->shape || state->shape->dictionary_mode()) return false;
  const Value* found = lookup_in_type(type, name);
  bool data = found && found->is_object() && found->object()->type->slots.bind_set;
  cache.key = state->shape;
  cache.version = type->version;
  if (data) {
    auto* property = try_cast<PropertyObject>(*found);
    if (!property || !is_kind(property->getter, Kind::Function)) return false;
    if (type->slots.get_missing_attribute) return false;  // which is asked when the property raises AttributeError
    cache.kind = kCacheProperty;
    cache.target = property;
    return true;
  }
  int32_t slot = state->shape->find(name);
  if (slot >= 0) {
    cache.kind = kCacheSlot;
    cache.index = static_cast<uint32_t>(slot);
    return true;
  }
  if (!found) return false;
  cache.target = found;
  if (is_kind(*found, Kind::Function)) {
    cache.kind = kCacheClassMethod;
    return true;
  }
  if (found->is_object() && found->object()->type->slots.bind) return false;
  cache.kind = kCacheClassValue;
  return true;
}

bool fill_module_cache(Vm& vm, const Value& object, StrObject* name, InlineCache& cache) {
  auto* module = try_cast<ModuleObject>(object);
  if (!module) return false;
  int64_t place = module->globals->table.find(vm, name);
  if (place < 0) return false;
  cache.kind = kCacheModuleEntry;
  cache.key = module->globals.get();
  cache.target = name;
  cache.index = static_cast<uint32_t>(place);
  return true;
}

// A property in C++, which stands in front of the object's own attributes: it is the same for all objects of the type.
bool fill_getter_cache(Vm& vm, const Value& object, StrObject* name, InlineCache& cache) {
  if (!object.is_object() || object.object()->type->slots.get_attribute) return false;
  Type* type = object.object()->type;
  const Value* found = lookup_in_type(type, name);
  if (!found || !found->is_object() || found->object()->type != vm.types().native_property) return false;
  cache.kind = kCacheNativeGetter;
  cache.key = type;
  cache.version = type->version;
  cache.target = found->object();
  return true;
}

// Two answers a site: the latest first, so that code over two classes finds both.
void remember(InlineCache* site, const InlineCache& filled) {
  if (site[0].key != filled.key && site[0].kind == filled.kind) site[1] = site[0];
  site[0] = filled;
}

}  // namespace

void load_attr_slow(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.c);
  Value object = frame.registers[i.b];
  InlineCache* site = &frame.code->caches[2 * i.c];
  Value result = get_attribute_softly(vm, object, name);
  if (!result) return;
  InlineCache filled;
  if (fill_module_cache(vm, object, name, filled) || fill_getter_cache(vm, object, name, filled) ||
      fill_attribute_cache(object, name, filled))
    remember(site, filled);
  frame.registers[i.a] = std::move(result);
}

void store_attr_slow(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.c);
  Value object = frame.registers[i.a];
  InlineCache* site = &frame.code->caches[2 * i.c];
  bool cacheable = is_plain_object(object) && (object.object()->type->type_flags & kPlainSetAttribute);
  Shape* before = cacheable ? instance_state(object.object())->shape : nullptr;
  set_attribute(vm, object, name, frame.registers[i.b]);
  if (!cacheable || !before || before->dictionary_mode()) return;
  Type* type = object.object()->type;
  const Value* found = lookup_in_type(type, name);
  if (found && found->is_object() && found->object()->type->slots.bind_set) return;
  Shape* after = instance_state(object.object())->shape;
  if (after->dictionary_mode()) return;
  int32_t slot = after->find(name);
  if (slot < 0) return;
  InlineCache filled;
  filled.key = before;
  filled.version = type->version;
  filled.index = static_cast<uint32_t>(slot);
  filled.kind = before == after ? kCacheSlot : kCacheAddSlot;
  filled.target = after;
  if (before == after || before->size() + 1 == after->size()) remember(site, filled);
}

void DeleteAttr(Vm& vm, Frame& frame, Instruction i) {
  delete_attribute(vm, frame.registers[i.a], site_name(frame, i.c));
}

namespace {

bool binds_self(const Value& v) {
  if (is_kind(v, Kind::Function)) return true;
  auto* native = try_cast<NativeFunction>(v);
  return native && native->is_method;
}

}  // namespace

void load_method_slow(Vm& vm, Frame& frame, Instruction i) {
  StrObject* name = site_name(frame, i.c);
  Value object = frame.registers[i.b];
  InlineCache* site = &frame.code->caches[2 * i.c];
  InlineCache cache;
  Type* type = type_of(vm, object);
  const Value* found = type->slots.get_attribute ? nullptr : lookup_in_type(type, name);
  Value* out = &frame.registers[i.a];
  if (found && binds_self(*found)) {
    InstanceState* state = object.is_object() ? instance_state(object.object()) : nullptr;
    Value own = state ? get_own_attribute(vm, object.object(), name) : Value();
    if (!own) {
      cache.target = found;
      cache.version = type->version;
      if (!state || !state->shape) {
        cache.kind = kCacheTypeMethod;
        cache.key = type;
      } else if (!state->shape->dictionary_mode() && (type->type_flags & kPlainInstances)) {
        cache.kind = kCacheClassMethod;
        cache.key = state->shape;
      }
      if (cache.kind != kCacheEmpty) remember(site, cache);
      out[0] = *found;
      out[1] = std::move(object);
      return;
    }
  }
  Value attribute = get_attribute_softly(vm, object, name);
  if (!attribute) return;
  InlineCache filled;
  if (fill_module_cache(vm, object, name, filled)) remember(site, filled);
  // A bound method taken apart needs no object of its own.
  out[0] = std::move(attribute);
  out[1].reset();
}

}  // namespace ops
}  // namespace tsc::interp
