#include "interpreter/vm/class_builder.h"

#include <algorithm>
#include <utility>

#include "interpreter/vm/annotations.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/slot_rows.h"
#include "interpreter/vm/vm_access.h"
#include "lang/bytecode/bytecode.h"
#include "lang/library_file.h"

namespace tsc::interp {

std::vector<Type*> linearize(Vm& vm, Type* type) {
  std::vector<std::vector<Type*>> lists;
  for (Type* base : type->bases) lists.push_back(base->mro);
  lists.push_back(type->bases);
  std::vector<Type*> order{type};
  for (;;) {
    std::erase_if(lists, [](const std::vector<Type*>& list) { return list.empty(); });
    if (lists.empty()) return order;
    Type* next = nullptr;
    for (const auto& list : lists) {
      bool in_tail = false;
      for (const auto& other : lists) in_tail |= std::find(other.begin() + 1, other.end(), list[0]) != other.end();
      if (!in_tail) {
        next = list[0];
        break;
      }
    }
    if (!next) {
      std::string names;
      std::vector<Type*> named;
      for (const auto& list : lists) {
        if (std::find(named.begin(), named.end(), list[0]) != named.end()) continue;
        named.push_back(list[0]);
        names += (names.empty() ? "" : ", ") + list[0]->name;
      }
      raise_type_error(vm, "Cannot create a consistent method resolution\norder (MRO) for bases " + names);
    }
    order.push_back(next);
    for (auto& list : lists)
      if (list[0] == next) list.erase(list.begin());
  }
}

namespace {

void collect_bases(Vm& vm, Type* type, const std::vector<Value>& bases) {
  for (const Value& v : bases) {
    Type* base = try_cast<Type>(v);
    if (!base)
      raise_type_error(vm, "a base of class '" + type->name + "' is not a class but '" + type_name(vm, v) + "'");
    if (!(base->type_flags & kBaseType))
      raise_type_error(vm, "type '" + base->name + "' is not an acceptable base type");
    if (std::find(type->bases.begin(), type->bases.end(), base) != type->bases.end())
      raise_type_error(vm, "duplicate base class " + base->name);
    type->bases.push_back(base);
    ++base->reference_count;
  }
  if (type->bases.empty()) {
    type->bases.push_back(vm.types().object);
    ++vm.types().object->reference_count;
  }
}

// The native type that decides the layout of a class.
Type* native_ancestor(Type* type) {
  for (Type* t : type->mro)
    if (!(t->type_flags & kScriptClass)) return t;
  return type;
}

// The names of the slots that a class adds to those of its bases, sorted.
std::vector<std::string> own_slot_names(Vm& vm, Type* type) {
  std::vector<std::string> names;
  if (!(type->type_flags & kScriptClass) || !dict_get(vm, type->attributes, Value(vm.names().slots.get())))
    return names;
  const Table& table = type->attributes->table;
  for (uint32_t i = 0; i < table.used(); ++i) {
    const Value& v = table.entry(i).value;
    if (v.is_object() && v.object()->type == vm.types().member_descriptor)
      names.emplace_back(cast<StrObject>(table.entry(i).key)->view());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The class nearest to `type` that has slots of its own; `above`: of its ancestors alone.
Type* slotted_ancestor(Vm& vm, Type* type, bool above = false) {
  for (Type* t : type->mro)
    if (!(above && t == type) && !own_slot_names(vm, t).empty()) return t;
  return nullptr;
}

// In Python slots are places in the instance: of two bases that have some, one must come from the other.
void check_slots_of_bases(Vm& vm, Type* type) {
  Type* widest = nullptr;
  for (Type* base : type->bases) {
    Type* slotted = slotted_ancestor(vm, base);
    Type* native = native_ancestor(base);
    const bool counts = native != vm.types().object && native->layout != Kind::Exception;
    for (Type* part : {slotted, counts ? native : nullptr}) {
      if (!part || (widest && widest->is_subtype_of(part))) continue;
      if (widest && !part->is_subtype_of(widest)) raise_type_error(vm, "multiple bases have instance lay-out conflict");
      widest = part;
    }
  }
}

void choose_layout(Vm& vm, Type* type) {
  Type* object = vm.types().object;
  Type* best = type->bases[0];
  for (Type* base : type->bases) {
    Type* native = native_ancestor(base);
    Type* chosen = native_ancestor(best);
    if (native == object || native == chosen || chosen->is_subtype_of(native)) continue;
    // Exceptions share one layout: the first of them decides.
    if (chosen->layout == Kind::Exception && native->layout == Kind::Exception && !native->is_subtype_of(chosen))
      continue;
    if (chosen != object && !native->is_subtype_of(chosen))
      raise_type_error(vm, "multiple bases have instance lay-out conflict");
    best = base;
  }
  type->base = best;
  type->layout = best->layout;
  type->slots = best->slots;
  type->instance_offset = best->instance_offset ? best->instance_offset : best->subclass_offset;
  type->subclass_offset = type->instance_offset;
  type->slots_hint = best->slots_hint;
}

// Namespace entries with a meaning for the class itself.
void prepare_attributes(Vm& vm, Type* type) {
  Value qualname = dict_get(vm, type->attributes, "__qualname__");
  if (is_kind(qualname, Kind::Str)) {
    type->qualified_name = std::string(cast<StrObject>(qualname)->view());
    dict_remove(vm, type->attributes, Value(vm.names().qualname.get()));
  }
  auto wrap = [&](StrObject* name, Kind kind) {
    Value v = dict_get(vm, type->attributes, Value(name));
    if (!is_kind(v, Kind::Function)) return;
    Type* wrapper = kind == Kind::ClassMethod ? vm.types().class_method : vm.types().static_method;
    Local<WrappedMethod> wrapped = vm.heap().make<WrappedMethod>(wrapper, kind);
    wrapped->function = v;
    dict_set(vm, type->attributes, Value(name), wrapped.take());
  };
  wrap(vm.names().init_subclass, Kind::ClassMethod);
  wrap(vm.names().class_getitem, Kind::ClassMethod);
  wrap(vm.names().new_, Kind::StaticMethod);
  if (dict_get(vm, type->attributes, Value(vm.names().eq.get())) &&
      !dict_get(vm, type->attributes, Value(vm.names().hash.get())))
    dict_set(vm, type->attributes, Value(vm.names().hash.get()), Value::none());
  if (!dict_get(vm, type->attributes, Value(vm.names().doc.get())))
    dict_set(vm, type->attributes, Value(vm.names().doc.get()), Value::none());
}

// The names of __slots__, private ones mangled as in the class body.
std::vector<std::string> slot_names(Vm& vm, Type* type, const Value& slots) {
  std::vector<std::string> names;
  auto add = [&](const Value& v) {
    if (!is_kind(v, Kind::Str)) raise_type_error(vm, "__slots__ items must be strings, not '" + type_name(vm, v) + "'");
    std::string name(cast<StrObject>(v)->view());
    bool identifier = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                      name.find_first_of(" -.") == std::string::npos;
    if (!identifier) raise_type_error(vm, "__slots__ must be identifiers");
    bool is_private = name.starts_with("__") && !name.ends_with("__");
    size_t begin = type->name.find_first_not_of('_');
    if (is_private && begin != std::string::npos) name = "_" + type->name.substr(begin) + name;
    names.push_back(std::move(name));
    return true;
  };
  if (is_kind(slots, Kind::Str)) add(slots);
  else for_each(vm, slots, add);
  return names;
}

bool has_no_dict(const Type* type) {
  return type->type_flags & kScriptClass ? bool(type->type_flags & kSlotsOnly) : type->instance_offset == 0;
}

// The attributes of __slots__ live in the instance's shape as all others do; the class holds a member
// for each, which says that the name may be stored and raises when it has no value.
void install_slots(Vm& vm, Type* type) {
  Value slots = dict_get(vm, type->attributes, Value(vm.names().slots.get()));
  if (!slots) return;
  bool restricted = true;
  for (const Type* base : type->bases) restricted = restricted && has_no_dict(base);
  bool has_dict = !restricted, has_references = !restricted;
  for (const std::string& name : slot_names(vm, type, slots)) {
    if (name == "__dict__" && std::exchange(has_dict, true))
      raise_type_error(vm, "__dict__ slot disallowed: we already got one");
    if (name == "__weakref__" && std::exchange(has_references, true))
      raise_type_error(vm, "__weakref__ slot disallowed: either we already got one, or __itemsize__ != 0");
    if (name == "__dict__") restricted = false;
    if (name == "__dict__" || name == "__weakref__") continue;
    if (type->layout == Kind::BoxedNumber || type->layout == Kind::Tuple || type->layout == Kind::Bytes)
      raise_type_error(vm, "nonempty __slots__ not supported for subtype of '" + type->base->name + "'");
    if (dict_get(vm, type->attributes, name))
      raise_value_error(vm, "'" + name + "' in __slots__ conflicts with class variable");
    dict_set(vm, type->attributes, name, make_member(vm, name, type));
  }
  if (restricted) type->type_flags |= kSlotsOnly;
}

void call_set_name(Vm& vm, Type* type) {
  std::vector<std::pair<Value, Value>> entries;
  Table& table = type->attributes->table;
  for (uint32_t i = 0; i < table.used(); ++i)
    if (table.entry(i).key && table.entry(i).value.is_object())
      entries.emplace_back(table.entry(i).key, table.entry(i).value);
  for (auto& [name, value] : entries) {
    if (is_kind(value, Kind::Function)) continue;
    const Value* hook = lookup_in_type(type_of(vm, value), vm.names().set_name);
    if (!hook) continue;
    try {
      call(vm, bind_attribute(vm, *hook, value, type_of(vm, value)), {Value(type), name});
    } catch (const ScriptException& e) {
      Local<ExceptionObject> wrapped = make_exception(vm, vm.exceptions().RuntimeError,
                                                      "Error calling __set_name__ on '" + type_name(vm, value) +
                                                          "' instance " + repr(vm, name) + " in '" + type->name + "'");
      wrapped->cause = Value(e.exception());
      wrapped->suppress_context = true;
      throw ScriptException(std::move(wrapped));
    }
  }
}

void call_init_subclass(Vm& vm, Type* type, const ClassRequest& request) {
  const Value* hook = nullptr;
  for (size_t i = 1; i < type->mro.size() && !hook; ++i) {
    int64_t place = type->mro[i]->attributes->table.find(vm, vm.names().init_subclass);
    if (place >= 0) hook = &type->mro[i]->attributes->table.entry(static_cast<uint32_t>(place)).value;
  }
  if (!hook) return;
  std::vector<StrObject*> names;
  std::vector<Value> values;
  for (const auto& [name, value] : request.keywords) {
    names.push_back(name);
    values.push_back(value);
  }
  Args args;
  args.keyword_count = static_cast<uint32_t>(names.size());
  args.keyword_names = names.data();
  args.keyword_values = values.data();
  call(vm, bind_attribute(vm, *hook, Value(), type), args);
}

// What the class statement names: a class, or any other callable, which takes its place. Undefined: nothing.
Value named_metaclass(const ClassRequest& request) {
  for (const auto& [name, value] : request.keywords)
    if (name->view() == "metaclass") return value;
  return Value();
}

// The most derived of the metaclass asked for (may be Undefined, or a class that makes something else than classes) and
// those of the bases.
Type* choose_metaclass(Vm& vm, const ClassRequest& request, const Value& named) {
  Type* chosen = vm.types().type;
  auto consider = [&](Type* candidate) {
    if (candidate->is_subtype_of(chosen)) chosen = candidate;
    else if (!chosen->is_subtype_of(candidate))
      raise_type_error(vm,
                       "metaclass conflict: the metaclass of a derived class must be a "
                       "(non-strict) subclass of the metaclasses of all its bases");
  };
  if (named) chosen = cast<Type>(named);
  for (const Value& base : request.bases)
    if (auto* type = try_cast<Type>(base)) consider(type->type);
  return chosen;
}

// Whether the program, not the library, has written how classes of this metaclass are made: it may look into the
// namespace for annotations.
bool has_script_hook(Vm& vm, Type* metaclass) {
  for (StrObject* name : {vm.names().new_.get(), vm.names().init.get()}) {
    const Value* found = lookup_in_type(metaclass, name);
    const bool is_wrapped = found && is_kind(*found, Kind::StaticMethod);
    const Value hook = is_wrapped ? static_cast<WrappedMethod*>(found->object())->function : found ? *found : Value();
    auto* function = try_cast<FunctionObject>(hook);
    if (function && !lang::is_library_file(function->code->code.signature().file())) return true;
  }
  return false;
}

// A base that is not a class (List[int]) names the classes that stand for it; gives what was written, or Undefined
// where all are classes.
Value resolve_bases(Vm& vm, ClassRequest& request) {
  Value written = make_tuple(vm, request.bases).take();
  Local<StrObject> hook = intern(vm, "__mro_entries__");
  std::vector<Value> bases;
  bool changed = false;
  for (const Value& base : request.bases) {
    Value entries = is_kind(base, Kind::Type) ? Value() : find_attribute(vm, base, hook.get());
    if (!entries) {
      bases.push_back(base);
      continue;
    }
    changed = true;
    const Local<TupleObject> classes = to_tuple(vm, call(vm, entries, {written}));
    for (const Value& entry : classes->span()) bases.push_back(entry);
  }
  if (!changed) return Value();
  request.bases = std::move(bases);
  return written;
}

// Calls something with the keywords of the class statement.
Value call_with_keywords(Vm& vm, const Value& callee, std::span<const Value> positional, const ClassRequest& request) {
  std::vector<StrObject*> names;
  std::vector<Value> values;
  for (const auto& [name, value] : request.keywords) {
    names.push_back(name);
    values.push_back(value);
  }
  Args args;
  args.positional = positional.data();
  args.count = static_cast<uint32_t>(positional.size());
  args.keyword_count = static_cast<uint32_t>(names.size());
  args.keyword_names = names.data();
  args.keyword_values = values.data();
  return call(vm, callee, args);
}

// What the body writes to: a dict, or what the metaclass's own __prepare__ gives.
Value prepared_namespace(Vm& vm, const Value& metaclass, const ClassRequest& request) {
  Local<StrObject> name = intern(vm, "__prepare__");
  Type* const type = try_cast<Type>(metaclass);
  Type* owner = nullptr;
  if (type && lookup_in_type(type, name, &owner) && owner == vm.types().type) return make_dict(vm).take();
  const Value hook = find_attribute(vm, metaclass, name);
  if (!hook) return make_dict(vm).take();
  const Value positional[] = {Value(request.name.get()), make_tuple(vm, request.bases).take()};
  Value made = call_with_keywords(vm, hook, positional, request);
  if (!type_of(vm, made)->slots.get_item)
    raise_type_error(vm, (type ? type->name : std::string("<metaclass>")) +
                             ".__prepare__() must return a mapping, not " + type_name(vm, made));
  return made;
}

// Runs the body in its namespace. A mapping that is not simply a dict gets annotations evaluated: who made it looks at
// what is written.
void run_body(Vm& vm, ClassRequest& request) {
  FrameState state;
  state.function = request.body;
  state.extra = request.namespace_;
  enter_recursion(vm);
  vm.run_frames({&state, 1});
  settle_annotations(vm, request.namespace_, request.body);
}

}  // namespace

std::string own_name(const Type* type) {
  const std::string& own = type->qualified_name;
  const bool has_module = type->name.size() > own.size() + 1 && type->name.ends_with(own) &&
                          type->name[type->name.size() - own.size() - 1] == '.';
  return has_module ? own : type->name;
}

void name_with_module(Vm& vm, Type* type) {
  const Value module = dict_get(vm, type->attributes, Value(vm.names().module.get()));
  if (is_kind(module, Kind::Str)) type->name = std::string(cast<StrObject>(module)->view()) + "." + own_name(type);
}

// The methods of the class that a metaclass made find it as __class__.
static void check_class_cell(Vm& vm, const Value& cell, const Value& made, StrObject* name) {
  if (!is_kind(cell, Kind::Cell) || !is_kind(made, Kind::Type)) return;
  const Value& known = cast<CellObject>(cell)->content;
  if (known && known.is(made)) return;
  if (known)
    raise_type_error(
        vm, "__class__ set to " + repr(vm, known) + " defining " + repr(vm, Value(name)) + " as " + repr(vm, made));
  raise(vm, vm.exceptions().RuntimeError,
        "__class__ not set defining " + repr(vm, Value(name)) + " as " + repr(vm, made) +
            ". Was __classcell__ propagated to type.__new__?");
}

Value build_class(Vm& vm, const ClassRequest& request) {
  ClassRequest plain = request;
  const Value written_bases = resolve_bases(vm, plain);
  const Value named = named_metaclass(plain);
  const bool is_callable = named && !is_kind(named, Kind::Type);
  const Value metaclass = is_callable ? named : Value(choose_metaclass(vm, plain, named));
  const bool is_plain = !is_callable && cast<Type>(metaclass) == vm.types().type;
  std::erase_if(plain.keywords, [](auto& k) { return k.first->view() == "metaclass"; });
  if (plain.body) {
    plain.namespace_ = is_plain ? make_dict(vm).take() : prepared_namespace(vm, metaclass, plain);
    run_body(vm, plain);
  }
  if (written_bases) set_item(vm, plain.namespace_, intern(vm, "__orig_bases__").take(), written_bases);
  if (is_plain) return make_class(vm, vm.types().type, plain);
  if (is_kind(plain.namespace_, Kind::Dict) && (is_callable || has_script_hook(vm, cast<Type>(metaclass))))
    settle_annotations(vm, cast<DictObject>(plain.namespace_));
  const Value class_cell = is_kind(plain.namespace_, Kind::Dict)
                               ? dict_get(vm, cast<DictObject>(plain.namespace_), "__classcell__")
                               : Value();
  const Value positional[] = {Value(plain.name.get()), make_tuple(vm, plain.bases).take(), plain.namespace_};
  Value made = call_with_keywords(vm, metaclass, positional, plain);
  if (plain.body) check_class_cell(vm, class_cell, made, plain.name);
  return made;
}

// Whether the program gives the classes of a metaclass another order of their ancestors.
static bool has_own_order(Vm& vm, Type* metaclass) {
  Type* owner = nullptr;
  return metaclass != vm.types().type && lookup_in_type(metaclass, intern(vm, "mro"), &owner) &&
         owner != vm.types().type;
}

// The order that a class has while its metaclass is asked for another: the usual one, or, where there is none, simply
// all ancestors.
static std::vector<Type*> provisional_order(Vm& vm, Type* type) {
  try {
    return linearize(vm, type);
  } catch (const ScriptException&) {
  }
  std::vector<Type*> order{type};
  for (Type* base : type->bases)
    for (Type* t : base->mro) {
      std::erase(order, t);
      order.push_back(t);
    }
  return order;
}

// What the metaclass's mro() says. Only ancestors may stand there, which the class keeps alive and which know it, and
// all native ones in their order, which made the layout.
static void order_by_metaclass(Vm& vm, Type* type) {
  std::vector<Type*> order;
  for_each(vm, call_method(vm, Value(type), "mro", {}), [&](const Value& v) {
    Type* t = try_cast<Type>(v);
    if (!t) raise_type_error(vm, "mro() returned a non-class ('" + type_name(vm, v) + "')");
    if (!type->is_subtype_of(t))
      raise_type_error(vm,
                       "mro() of class '" + type->name + "' returned '" + t->name + "', which is no ancestor of it");
    order.push_back(t);
    return true;
  });
  const auto natives = [](std::vector<Type*> types) {
    std::erase_if(types, [](const Type* t) { return bool(t->type_flags & kScriptClass); });
    return types;
  };
  if (natives(order) != natives(type->mro))
    raise_type_error(vm, "mro() of class '" + type->name + "' must keep its built-in ancestors and their order");
  type->mro = std::move(order);
  type_modified(vm, type);
  refresh_slots(vm, type);
}

Value make_class(Vm& vm, Type* metaclass, const ClassRequest& request) {
  Local<Type> type = vm.heap().make<Type>(metaclass);
  type->name = type->qualified_name = std::string(request.name->view());
  type->vm = &vm;
  type->type_flags = kScriptClass | kBaseType;
  Local<DictObject> attributes = make_dict(vm);
  attributes->table.copy_from(cast<DictObject>(request.namespace_)->table);
  type->attributes = attributes.get();
  attributes.take().release_raw();
  collect_bases(vm, type, request.bases);
  const bool orders = has_own_order(vm, metaclass);
  type->mro = orders ? provisional_order(vm, type) : linearize(vm, type);
  check_slots_of_bases(vm, type);
  choose_layout(vm, type);
  for (Type* base : type->bases) base->subclasses.push_back(type);
  Value class_cell = dict_get(vm, type->attributes, "__classcell__");
  if (class_cell) dict_remove(vm, type->attributes, str_value(vm, "__classcell__"));
  if (class_cell && !is_kind(class_cell, Kind::Cell))
    raise_type_error(vm, "__classcell__ must be a nonlocal cell, not " + repr(vm, Value(type_of(vm, class_cell))));
  prepare_attributes(vm, type);
  install_slots(vm, type);
  type_modified(vm, type);
  refresh_slots(vm, type);
  if (class_cell) cast<CellObject>(class_cell)->content = type.value();
  if (orders) order_by_metaclass(vm, type);
  call_set_name(vm, type);
  call_init_subclass(vm, type, request);
  return type.take();
}

// Neither a descriptor nor something that becomes a method.
static bool is_plain_data(const Value& v) {
  if (!v.is_object()) return true;
  const TypeSlots& slots = v.object()->type->slots;
  return !slots.bind && !slots.bind_set;
}

bool is_scripted(Type* type, StrObject* name) {
  Type* owner = nullptr;
  return lookup_in_type(type, name, &owner) && owner->type_flags & kScriptClass;
}

Args without_keywords_for(Type* type, StrObject* name, const Args& args) {
  Args given = args;
  if (args.keyword_count && is_scripted(type, name)) given.keyword_count = 0;
  return given;
}

bool have_same_places(Vm& vm, Type* a, Type* b) {
  if ((a->type_flags ^ b->type_flags) & kSlotsOnly) return false;
  Type *first = slotted_ancestor(vm, a), *second = slotted_ancestor(vm, b);
  if (first == second || !first || !second) return first == second;
  return own_slot_names(vm, first) == own_slot_names(vm, second) &&
         slotted_ancestor(vm, first, true) == slotted_ancestor(vm, second, true);
}

void descriptors_changed(Vm& vm) { type_modified(vm, vm.types().object); }

void set_type_attribute(Vm& vm, Type* type, StrObject* name, const Value& value) {
  note_store(vm, type, Value(name));
  // Compiled code does not watch what all programs leave alone.
  if (type->type_flags & kOpenClass) notify_store(vm, type, Value(name));
  // A plain value in the place of another one changes no lookup: counters in classes stay cheap.
  int64_t place = type->attributes->table.find(vm, name);
  if (value && place >= 0) {
    Value& entry = type->attributes->table.entry(static_cast<uint32_t>(place)).value;
    if (is_plain_data(entry) && is_plain_data(value) && name->view().substr(0, 2) != "__") {
      Value old = std::exchange(entry, value);
      return;
    }
  }
  if (value) dict_set(vm, type->attributes, Value(name), value);
  else dict_remove(vm, type->attributes, Value(name));
  type_modified(vm, type);
  if (name->view().substr(0, 2) != "__") return;
  if (type->type_flags & kOpenClass) keep_native_slots(vm, type);
  for (const char* binds : {"__get__", "__set__", "__delete__"})
    if (name->view() == binds) descriptors_changed(vm);
  if (name->view() == "__abstractmethods__") {
    if (value && truth(vm, value)) type->type_flags |= kAbstractClass;
    else type->type_flags &= ~uint32_t{kAbstractClass};
  }
  std::vector<Type*> pending{type};
  while (!pending.empty()) {
    Type* t = pending.back();
    pending.pop_back();
    refresh_slots(vm, t);
    pending.insert(pending.end(), t->subclasses.begin(), t->subclasses.end());
  }
}

}  // namespace tsc::interp
