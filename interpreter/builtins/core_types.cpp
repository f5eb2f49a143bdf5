// The types that the type builder itself needs, and object's and type's methods.
#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/importer.h"
#include "interpreter/vm/annotations.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {

namespace {

// --- type ----------------------------------------------------------------------------------------------

void type_traverse(Object* o, Visitor& visit) {
  Type* t = static_cast<Type*>(o);
  for (Type* base : t->bases) visit(base);
  if (t->attributes) visit(t->attributes);
}

void type_clear(Vm& vm, Object* o) {
  Type* t = static_cast<Type*>(o);
  if (!(t->type_flags & kScriptClass)) return;
  if (t->attributes) t->attributes->table.clear();
  type_modified(vm, t);
}

void type_destroy(Vm& vm, Object* o) {
  Type* t = static_cast<Type*>(o);
  for (Type* base : t->bases) std::erase(base->subclasses, t);
  std::vector<Type*> bases = std::move(t->bases);
  DictObject* attributes = t->attributes;
  vm.heap().finish(t);
  // A class whose making failed early has none.
  if (attributes && --attributes->reference_count == 0) destroy_object(attributes);
  for (Type* base : bases)
    if (--base->reference_count == 0) destroy_object(base);
}

Value type_get_attribute(Vm& vm, const Value& self, StrObject* name) {
  Type* type = cast<Type>(self);
  const Value* meta = lookup_in_type(type->type, name);
  if (meta && is_data_descriptor(*meta)) return bind_attribute(vm, *meta, self, type->type);
  if (const Value* own = lookup_in_type(type, name)) {
    // Functions found in a class stay plain; class methods bind to the class.
    if (is_kind(*own, Kind::Function)) return *own;
    if (auto* native = try_cast<NativeFunction>(*own); native) return *own;
    return bind_attribute(vm, *own, Value(), type);
  }
  if (meta) return bind_attribute(vm, *meta, self, type->type);
  return Value();
}

void type_set_attribute(Vm& vm, const Value& self, StrObject* name, const Value& value) {
  Type* type = cast<Type>(self);
  if (!(type->type_flags & (kScriptClass | kOpenClass)))
    raise_type_error(vm,
                     "cannot set '" + std::string(name->view()) + "' attribute of immutable type '" + type->name + "'");
  const Value* meta = lookup_in_type(type->type, name);
  bool plain = name->view() == "__doc__" || name->view() == "__module__";
  if (meta && is_kind(*meta, Kind::NativeProperty) && !plain) {
    auto* property = static_cast<NativeProperty*>(meta->object());
    if (!property->set)
      raise(vm, vm.exceptions().AttributeError,
            "attribute '" + std::string(name->view()) + "' of 'type' objects is not writable");
    return property->set(vm, self, value);
  }
  // A data descriptor of the metaclass takes the value.
  if (meta && !plain && type->type != vm.types().type)
    if (const auto bind_set = type_of(vm, *meta)->slots.bind_set) {
      const Value held = *meta;
      return bind_set(vm, held, self, value);
    }
  set_type_attribute(vm, type, intern(vm, name), value);
}

void type_delete_attribute(Vm& vm, const Value& self, StrObject* name) {
  Type* type = cast<Type>(self);
  if (!(type->type_flags & (kScriptClass | kOpenClass)) || type->attributes->table.find(vm, name) < 0)
    raise_attribute_error(vm, self, name);
  set_type_attribute(vm, type, intern(vm, name), Value());
}

Value type_construct(Vm& vm, Type* type, Args& args) {
  if (type == vm.types().type && args.count == 1 && !args.keyword_count) return Value(type_of(vm, args[0]));
  if (args.count != 3) raise_type_error(vm, "type() takes 1 or 3 arguments");
  ClassRequest request;
  text_of(vm, args[0], "type.__new__() argument 1");
  request.name = Local<StrObject>(cast<StrObject>(args[0]));
  TupleObject* bases = try_cast<TupleObject>(args[1]);
  if (!bases) raise_type_error(vm, "type.__new__() argument 2 must be tuple, not " + type_name(vm, args[1]));
  for (const Value& base : bases->span()) {
    if (!is_kind(base, Kind::Type) && lookup_in_type(type_of(vm, base), intern(vm, "__mro_entries__")))
      raise_type_error(vm, "type() doesn't support MRO entry resolution; use types.new_class()");
    request.bases.push_back(base);
  }
  DictObject* dict = try_cast<DictObject>(args[2]);
  if (!dict) raise_type_error(vm, "type.__new__() argument 3 must be dict, not " + type_name(vm, args[2]));
  Local<DictObject> names = make_dict(vm);
  names->table.copy_from(dict->table);
  if (Frame* frame = vm.current_frame(); frame && !dict_get(vm, dict, "__module__"))
    if (Value module = dict_get(vm, frame->globals, "__name__")) dict_set(vm, names, "__module__", module);
  request.namespace_ = names.take();
  for (uint32_t i = 0; i < args.keyword_count; ++i)
    request.keywords.emplace_back(args.keyword_names[i], args.keyword_values[i]);
  return type == vm.types().type ? build_class(vm, request) : make_class(vm, type, request);
}
Value type_call(Vm& vm, const Value& self, Args& args) { return construct(vm, cast<Type>(self), args); }

Value type_repr(Vm& vm, const Value& self) {
  Type* type = cast<Type>(self);
  std::string name = type->qualified_name;
  const Value* module = lookup_in_type(type, vm.names().module);
  bool own = type->attributes->table.find(vm, vm.names().module) >= 0;
  if (module && own && is_kind(*module, Kind::Str) && cast<StrObject>(*module)->view() != "builtins")
    name = std::string(cast<StrObject>(*module)->view()) + "." + name;
  return str_value(vm, "<class '" + name + "'>");
}

Value type_name_get(Vm& vm, const Value& self) { return str_value(vm, own_name(cast<Type>(self))); }
std::string new_type_name(Vm& vm, const Value& self, const Value& value, const char* attribute) {
  if (!is_kind(value, Kind::Str))
    raise_type_error(vm, "can only assign string to " + cast<Type>(self)->name + "." + attribute + ", not '" +
                             type_name(vm, value) + "'");
  const std::string_view text = cast<StrObject>(value)->view();
  if (text.find('\0') != std::string_view::npos) raise_value_error(vm, "type name must not contain null characters");
  return std::string(text);
}
void type_name_set(Vm& vm, const Value& self, const Value& value) {
  std::string name = new_type_name(vm, self, value, "__name__");
  note_store(vm, self.object(), Value());
  cast<Type>(self)->name = std::move(name);
}
Value type_qualname_get(Vm& vm, const Value& self) { return str_value(vm, cast<Type>(self)->qualified_name); }
void type_qualname_set(Vm& vm, const Value& self, const Value& value) {
  std::string name = new_type_name(vm, self, value, "__qualname__");
  note_store(vm, self.object(), Value());
  cast<Type>(self)->qualified_name = std::move(name);
}
Value type_mro_get(Vm& vm, const Value& self) {
  std::vector<Value> items;
  for (Type* t : cast<Type>(self)->mro) items.push_back(Value(t));
  return make_tuple(vm, items).take();
}
Value type_bases_get(Vm& vm, const Value& self) {
  std::vector<Value> items;
  for (Type* t : cast<Type>(self)->bases) items.push_back(Value(t));
  return make_tuple(vm, items).take();
}
Value type_base_get(Vm&, const Value& self) {
  Type* base = cast<Type>(self)->base;
  return base ? Value(base) : Value::none();
}
Value type_dict_get(Vm& vm, const Value& self) {
  return make_mapping_proxy(vm, Value(cast<Type>(self)->attributes), cast<Type>(self));
}
Value type_module_get(Vm& vm, const Value& self) {
  const Value* own = lookup_in_type(cast<Type>(self), vm.names().module);
  return own && is_kind(*own, Kind::Str) ? *own : str_value(vm, "builtins");
}
Value type_annotations_get(Vm& vm, const Value& self) {
  Type* type = cast<Type>(self);
  if (!(type->type_flags & kScriptClass)) raise_attribute_error(vm, self, vm.names().annotations);
  return annotations_of_class(vm, type);
}
void type_annotations_set(Vm& vm, const Value& self, const Value& value) {
  set_type_attribute(vm, cast<Type>(self), vm.names().annotations, value);
}
Value type_doc_get(Vm& vm, const Value& self) {
  Value v = dict_get(vm, cast<Type>(self)->attributes, Value(vm.names().doc.get()));
  return v ? v : Value::none();
}
Value type_mro(Vm& vm, Args& a) {
  Local<ListObject> order = make_list(vm);
  for (Type* t : linearize(vm, cast<Type>(a[0]))) order->items.push_back(Value(t));
  return order.take();
}
Value type_prepare(Vm& vm, Args&) { return make_dict(vm).take(); }
Value type_subclasses(Vm& vm, Args& a) {
  Local<ListObject> list = make_list(vm);
  for (Type* t : cast<Type>(a[0])->subclasses) list->items.push_back(Value(t));
  return list.take();
}

// --- object -----------------------------------------------------------------------------------------------

Value object_repr(Vm& vm, const Value& self) {
  Type* type = type_of(vm, self);
  std::string module = "builtins";
  if (const Value* m = lookup_in_type(type, vm.names().module))
    if (is_kind(*m, Kind::Str)) module = std::string(cast<StrObject>(*m)->view()) + ".";
  if (module == "builtins." || module == "builtins") module.clear();
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(self.object()));
  return str_value(vm, "<" + module + type->qualified_name + " object at " + address + ">");
}

int64_t object_hash(Vm&, const Value& self) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.object()) >> 4);
}

Type* owner_of(Type* type, StrObject* name) {
  Type* owner = nullptr;
  lookup_in_type(type, name, &owner);
  return owner;
}

Value object_init(Vm& vm, Args& a) {
  Type* type = a.count ? type_of(vm, a[0]) : nullptr;
  if (a.count <= 1 && !a.keyword_count) return Value::none();
  if (is_kind(a[0], Kind::Type)) return Value::none();  // type.__init__: a class is made with its name and bases
  // Extra arguments are those of a class's own __new__, unless its own __init__ hands them on.
  if (owner_of(type, vm.names().init) != vm.types().object)
    raise_type_error(vm, "object.__init__() takes exactly one argument (the instance to initialize)");
  if (owner_of(type, vm.names().new_) == vm.types().object) raise_type_error(vm, type->name + "() takes no arguments");
  return Value::none();
}

Value object_new(Vm& vm, Args& a) {
  Type* type = a.count ? try_cast<Type>(a[0]) : nullptr;
  if (!type) raise_type_error(vm, "object.__new__(X): X is not a type object");
  for (Type* t : type->mro)
    if (!(t->type_flags & kScriptClass)) {
      if (t == vm.types().object) break;
      if (!t->slots.construct) break;
      Args rest = a;
      ++rest.positional;
      --rest.count;
      return t->slots.construct(vm, type, rest);
    }
  if (a.count > 1 || a.keyword_count) {
    if (owner_of(type, vm.names().new_) != vm.types().object)
      raise_type_error(vm, "object.__new__() takes exactly one argument (the type to instantiate)");
    if (owner_of(type, vm.names().init) == vm.types().object)
      raise_type_error(vm, type->name + "() takes no arguments");
  }
  return allocate_instance(vm, type);
}

StrObject* attribute_name(Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Str)) raise_type_error(vm, "attribute name must be string, not '" + type_name(vm, v) + "'");
  return intern(vm, cast<StrObject>(v)).get();
}

Value object_setattr(Vm& vm, Args& a) {
  generic_set_attribute(vm, a[0], attribute_name(vm, a[1]), a[2]);
  return Value::none();
}
Value object_delattr(Vm& vm, Args& a) {
  generic_delete_attribute(vm, a[0], attribute_name(vm, a[1]));
  return Value::none();
}
Value object_getattribute(Vm& vm, Args& a) {
  StrObject* name = attribute_name(vm, a[1]);
  Value v = generic_get_attribute(vm, a[0], name);
  if (!v) raise_attribute_error(vm, a[0], name);
  return v;
}
Value object_eq(Vm& vm, Args& a) { return a[0].is(a[1]) ? Value::boolean(true) : vm.not_implemented(); }
Value object_ne(Vm& vm, Args& a) {
  const auto equal = type_of(vm, a[0])->slots.compare;
  Value r = equal ? equal(vm, CompareOp::Eq, a[0], a[1]) : object_eq(vm, a);
  return r.is(vm.not_implemented()) ? r : Value::boolean(!truth(vm, r));
}
Value object_order(Vm& vm, Args&) { return vm.not_implemented(); }
Value object_str(Vm& vm, Args& a) { return str_value(vm, repr(vm, a[0])); }
Value object_format(Vm& vm, Args& a) { return str_value(vm, format(vm, a[0], text_of(vm, a[1], "format_spec"))); }
Value object_init_subclass(Vm& vm, Args& a) {
  if (a.keyword_count) raise_type_error(vm, cast<Type>(a[0])->name + ".__init_subclass__() takes no keyword arguments");
  return Value::none();
}
Value object_class(Vm& vm, const Value& self) { return Value(type_of(vm, self)); }
void set_metaclass(Vm& vm, Type* cls, Type* metaclass) {
  note_store(vm, cls, Value());
  ++metaclass->reference_count;
  Type* old = std::exchange(cls->type, metaclass);
  type_modified(vm, cls);
  if (--old->reference_count == 0) destroy_object(old);
}
void object_set_class(Vm& vm, const Value& self, const Value& value) {
  Type* type = try_cast<Type>(value);
  if (!type) raise_type_error(vm, "__class__ must be set to a class, not '" + type_name(vm, value) + "' object");
  if (!(type->type_flags & kScriptClass))
    raise_type_error(vm, "__class__ assignment only supported for mutable types or ModuleType subclasses");
  Object* o = self.is_object() ? self.object() : nullptr;
  if (is_kind(self, Kind::Type) && (o->type->type_flags & kScriptClass) && type->is_subtype_of(vm.types().type))
    return set_metaclass(vm, cast<Type>(self), type);
  if (!o || is_kind(self, Kind::Type) || !(o->type->type_flags & kScriptClass) || !(type->type_flags & kScriptClass) ||
      type->layout != o->type->layout || type->instance_offset != o->type->instance_offset ||
      !have_same_places(vm, type, o->type))
    raise_type_error(
        vm, "__class__ assignment: '" + type->name + "' object layout differs from '" + type_name(vm, self) + "'");
  note_store(vm, o, Value());
  Local<DictObject> attributes = attribute_dict(vm, o);
  ++type->reference_count;
  Type* old = o->type;
  o->type = type;
  if (!type->dictionary_shape) type->dictionary_shape = std::make_unique<Shape>(type, true);
  instance_state(o)->shape = type->dictionary_shape.get();
  if (type->type_flags & kHasFinalizer) o->flags |= kHasEnd;
  const auto binds = [](const Type* t) { return t->slots.bind || t->slots.bind_set; };
  if (binds(type) || binds(old)) descriptors_changed(vm);
  if (--old->reference_count == 0) destroy_object(old);
}
Value object_dict(Vm& vm, const Value& self) {
  if (!self.is_object() || !instance_state(self.object()) || (self.object()->type->type_flags & kSlotsOnly))
    raise_attribute_error(vm, self, vm.names().dict);
  return attribute_dict(vm, self.object()).take();
}
void object_set_dict(Vm& vm, const Value& self, const Value& value) {
  Local<DictObject> source(try_cast<DictObject>(value));
  if (!value && is_kind(self, Kind::Exception)) raise_type_error(vm, "cannot delete __dict__");
  if (!value) source = make_dict(vm);
  if (!self.is_object() || !instance_state(self.object()) || (self.object()->type->type_flags & kSlotsOnly))
    raise_attribute_error(vm, self, vm.names().dict);
  if (!source) raise_type_error(vm, "__dict__ must be set to a dictionary, not a '" + type_name(vm, value) + "'");
  // From here on it is the dict that holds the attributes: others may hold it too, or it is the object itself.
  const Local<DictObject> before = attribute_dict(vm, self.object());
  note_store(vm, self.object(), Value());
  if (self.object()->watched()) source->watch();
  instance_state(self.object())->slots[0] = source.value();
}
Value object_dir(Vm& vm, Args& a) { return dir_of(vm, a[0]); }

Type* bootstrap_type(Vm& vm, std::string_view name, Type* base, Kind layout) {
  std::vector<Type*>& all = VmAccess::native_types(vm);
  all.reserve(all.size() + 1);
  Type* t = new (vm.heap().allocate(sizeof(Type))) Type;
  all.push_back(t);  // from here on the machine frees it
  ++t->reference_count;
  t->name = t->qualified_name = std::string(name);
  t->vm = &vm;
  t->layout = layout;
  t->base = base;
  if (base) {
    t->bases.push_back(base);
    ++base->reference_count;
    base->subclasses.push_back(t);
  }
  t->mro = base ? base->mro : std::vector<Type*>();
  t->mro.insert(t->mro.begin(), t);
  t->version = VmAccess::new_type_version(vm);
  return t;
}

void list_of_keys(Vm& vm, DictObject* dict, SetObject* names) {
  for (uint32_t i = 0; i < dict->table.used(); ++i)
    if (is_kind(dict->table.entry(i).key, Kind::Str)) set_add(vm, names, dict->table.entry(i).key);
}

}  // namespace

Value dir_of(Vm& vm, const Value& v) {
  Local<SetObject> names = make_set(vm);
  if (ModuleObject* module = as_module(v)) {
    // PEP 562: a module that reads some of its names later may list them.
    if (Value own = dict_get(vm, module->globals, "__dir__")) return call(vm, own, {});
    list_of_keys(vm, module->globals, names);
    // What a class of the script brings.
    for (Type* t : module->type->mro)
      if (module->kind != Kind::Module) list_of_keys(vm, t->attributes, names);
  } else {
    if (v.is_object())
      if (InstanceState* state = instance_state(v.object()); state && state->shape) {
        if (state->shape->dictionary_mode()) list_of_keys(vm, cast<DictObject>(state->slots[0]), names);
        else
          for (uint32_t i = 0; i < state->shape->size(); ++i) set_add(vm, names, Value(state->shape->name(i)));
      }
    Type* type = is_kind(v, Kind::Type) ? cast<Type>(v) : type_of(vm, v);
    for (Type* t : type->mro) list_of_keys(vm, t->attributes, names);
  }
  Local<ListObject> list = to_list(vm, names.value());
  sort_list(vm, list, Value(), false);
  return list.take();
}

void init_core_types(Vm& vm) {
  Types& t = VmAccess::types(vm);
  t.object = bootstrap_type(vm, "object", nullptr, Kind::Instance);
  t.type = bootstrap_type(vm, "type", t.object, Kind::Type);
  t.dict = bootstrap_type(vm, "dict", t.object, Kind::Dict);
  t.str = bootstrap_type(vm, "str", t.object, Kind::Str);
  t.tuple = bootstrap_type(vm, "tuple", t.object, Kind::Tuple);
  t.native_function = bootstrap_type(vm, "builtin_function_or_method", t.object, Kind::NativeFunction);
  t.native_property = bootstrap_type(vm, "getset_descriptor", t.object, Kind::NativeProperty);
  t.class_method = bootstrap_type(vm, "classmethod", t.object, Kind::ClassMethod);
  t.static_method = bootstrap_type(vm, "staticmethod", t.object, Kind::StaticMethod);
  t.object->slots.destroy = destroy_as<Instance>;
  t.object->slots.traverse = traverse_instance;
  t.object->slots.clear = clear_instance;
  t.object->slots.repr = object_repr;
  t.object->slots.hash = object_hash;
  t.object->subclass_offset = offset_of(&Instance::state);
  t.object->type_flags = kBaseType | kPlainSetAttribute;
  t.type->type_flags = kBaseType;
  t.type->slots.destroy = type_destroy;
  t.type->slots.traverse = type_traverse;
  t.type->slots.clear = type_clear;
  t.type->slots.get_attribute = type_get_attribute;
  t.type->slots.set_attribute = type_set_attribute;
  t.type->slots.delete_attribute = type_delete_attribute;
  t.type->slots.construct = type_construct;
  t.type->slots.call = type_call;
  t.type->slots.repr = type_repr;
  t.type->slots.hash = object_hash;
  t.dict->slots.destroy = destroy_as<DictObject>;
  t.str->slots.destroy = str_destroy;
  t.tuple->slots.destroy = tuple_destroy;
  t.native_function->slots.destroy = destroy_as<NativeFunction>;
  t.native_property->slots.destroy = destroy_as<NativeProperty>;
  t.class_method->slots.destroy = destroy_as<WrappedMethod>;
  for (Type* type : VmAccess::native_types(vm)) {
    type->type = t.type;
    vm.heap().make_room_to_track();
    vm.heap().track(type);
    Value attributes = make_dict(vm).take();
    type->attributes = cast<DictObject>(attributes);
    attributes.release_raw();
    if (!type->slots.repr) type->slots.repr = object_repr;
    if (!type->slots.hash) type->slots.hash = object_hash;
  }
}

// What isinstance and issubclass ask where no metaclass says otherwise.
static Value type_check_instance(Vm& vm, Args& a) { return Value::boolean(is_instance(vm, a[1], cast<Type>(a[0]))); }
static Value type_check_subclass(Vm& vm, Args& a) {
  auto* type = try_cast<Type>(a[1]);
  if (!type) raise_type_error(vm, "issubclass() arg 1 must be a class");
  return Value::boolean(type->is_subtype_of(cast<Type>(a[0])));
}

void init_object_methods(Vm& vm) {
  TypeBuilder object = TypeBuilder::existing(vm, vm.types().object);
  object.raw_method("__init__", object_init)
      .method("__setattr__", "self, name, value", object_setattr)
      .method("__delattr__", "self, name", object_delattr)
      .method("__getattribute__", "self, name", object_getattribute)
      .method("__lt__", "self, value, /", object_order)
      .method("__le__", "self, value, /", object_order)
      .method("__gt__", "self, value, /", object_order)
      .method("__ge__", "self, value, /", object_order)
      .method("__eq__", "self, other", object_eq)
      .method("__ne__", "self, other", object_ne)
      .method("__str__", "self", object_str)
      .method("__format__", "self, format_spec", object_format)
      .method("__dir__", "self", object_dir)
      .getter("__class__", object_class, object_set_class)
      .getter("__dict__", object_dict, object_set_dict)
      .attribute("__doc__", Value::none())
      .attribute("__module__", str_value(vm, "builtins"));
  Local<NativeFunction> make_object = make_raw_native(vm, "__new__", object_new);
  make_object->owner = "object";
  object.attribute("__new__", make_object.take());
  Local<WrappedMethod> hook = vm.heap().make<WrappedMethod>(vm.types().class_method, Kind::ClassMethod);
  hook->function = make_raw_native(vm, "__init_subclass__", object_init_subclass).take();
  object.attribute("__init_subclass__", hook.take());
  publish_slots(vm, vm.types().object);

  TypeBuilder type = TypeBuilder::existing(vm, vm.types().type);
  type.getter("__name__", type_name_get, type_name_set)
      .getter("__qualname__", type_qualname_get, type_qualname_set)
      .getter("__mro__", type_mro_get)
      .getter("__bases__", type_bases_get)
      .getter("__base__", type_base_get)
      .getter("__dict__", type_dict_get)
      .getter("__module__", type_module_get)
      .getter("__doc__", type_doc_get)
      .getter("__annotations__", type_annotations_get, type_annotations_set)
      .class_method("__prepare__", "cls, *args, **keywords", type_prepare)
      .method("__instancecheck__", "self, instance, /", type_check_instance)
      .method("__subclasscheck__", "self, subclass, /", type_check_subclass)
      .method("mro", "self", type_mro)
      .method("__subclasses__", "self", type_subclasses);
  publish_slots(vm, vm.types().type);
  add_builtin(vm, "object", Value(vm.types().object));
  add_builtin(vm, "type", Value(vm.types().type));
}

}  // namespace tsc::interp
