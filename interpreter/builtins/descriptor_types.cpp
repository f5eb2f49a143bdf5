// property, staticmethod, classmethod, super, and the getters of native types.
#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/class_builder.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

// --- property --------------------------------------------------------------------------------------

PropertyObject* property_of(const Value& v) { return cast<PropertyObject>(v); }

void property_traverse(Object* o, Visitor& visit) {
  auto* p = static_cast<PropertyObject*>(o);
  visit(p->getter);
  visit(p->setter);
  visit(p->deleter);
  visit(p->doc);
  visit(p->name);
  if (p->kind == Kind::Native) traverse_instance(o, visit);
}
void property_clear(Vm& vm, Object* o) {
  auto* p = static_cast<PropertyObject*>(o);
  p->getter.reset();
  p->setter.reset();
  p->deleter.reset();
  if (p->kind == Kind::Native) clear_instance(vm, o);
}
void property_destroy(Vm& vm, Object* o) {
  if (o->kind == Kind::Native) vm.heap().finish(static_cast<PropertyInstance*>(o));
  else vm.heap().finish(static_cast<PropertyObject*>(o));
}
std::string property_name(Vm& vm, const Value& self) {
  PropertyObject* p = property_of(self);
  if (p->name) return repr(vm, p->name) + " ";
  if (auto* f = try_cast<FunctionObject>(p->getter)) return "'" + std::string(f->name->view()) + "' ";
  return "";
}
Value property_bind(Vm& vm, const Value& self, const Value& instance, Type*) {
  if (!instance) return self;
  PropertyObject* p = property_of(self);
  if (!p->getter || p->getter.is_none())
    raise(vm, vm.exceptions().AttributeError,
          "property " + property_name(vm, self) + "of '" + type_of(vm, instance)->qualified_name +
              "' object has no getter");
  return call(vm, p->getter, {instance});
}
void property_bind_set(Vm& vm, const Value& self, const Value& instance, const Value& value) {
  PropertyObject* p = property_of(self);
  const Value& f = value ? p->setter : p->deleter;
  if (!f || f.is_none())
    raise(vm, vm.exceptions().AttributeError,
          "property " + property_name(vm, self) + "of '" + type_of(vm, instance)->qualified_name + "' object has no " +
              (value ? "setter" : "deleter"));
  if (value) call(vm, f, {instance, value});
  else call(vm, f, {instance});
}
Value property_construct(Vm& vm, Type* type, Args&) {
  if (type->type_flags & kScriptClass) return vm.heap().make<PropertyInstance>(type).take();
  return vm.heap().make<PropertyObject>(type).take();
}
void property_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("fget=None, fset=None, fdel=None, doc=None");
  std::vector<Value> v;
  kSignature.bind(vm, "property", args, v);
  PropertyObject* p = property_of(self);
  p->getter = v[0];
  p->setter = v[1];
  p->deleter = v[2];
  p->doc = v[3];
  if (!p->doc.is_none() || p->getter.is_none()) return;
  // The getter's: of the class of a script in front of what the class says of itself; that of a function's code is made
  // when somebody asks for it.
  if (p->kind == Kind::Native) {
    StrObject* name = intern(vm, "__doc__").get();
    if (const Value doc = find_attribute(vm, p->getter, name); doc && !doc.is_none())
      set_attribute(vm, self, name, doc);
  } else if (is_kind(p->getter, Kind::Function)) {
    p->doc = cast<FunctionObject>(p->getter)->doc;
  }
}
Value or_none(const Value& v) { return v ? v : Value::none(); }
Value property_doc(Vm& vm, const Value& v) {
  const PropertyObject* p = property_of(v);
  if (p->doc || !is_kind(p->getter, Kind::Function)) return or_none(p->doc);
  return doc_of(vm, cast<FunctionObject>(p->getter)->code.get());
}
// One of the same class with other functions, which a class of the script is asked for.
Value changed_property(Vm& vm, const Value& self, Value getter, Value setter, Value deleter) {
  PropertyObject* from = property_of(self);
  if (self.object()->kind == Kind::Native) {
    const Value parts[] = {getter ? getter : or_none(from->getter), setter ? setter : or_none(from->setter),
                           deleter ? deleter : or_none(from->deleter), or_none(from->doc)};
    return call(vm, Value(self.object()->type), parts);
  }
  Local<PropertyObject> p = vm.heap().make<PropertyObject>(vm.types().property);
  p->getter = getter ? getter : from->getter;
  p->setter = setter ? setter : from->setter;
  p->deleter = deleter ? deleter : from->deleter;
  p->doc = from->doc;
  p->name = from->name;
  return p.take();
}
Value property_set_name(Vm&, Args& a) {
  property_of(a[0])->name = a[2];
  return Value::none();
}
Value property_getter(Vm& vm, Args& a) { return changed_property(vm, a[0], a[1], {}, {}); }
Value property_setter(Vm& vm, Args& a) { return changed_property(vm, a[0], {}, a[1], {}); }
Value property_deleter(Vm& vm, Args& a) { return changed_property(vm, a[0], {}, {}, a[1]); }
Value property_fget(Vm&, const Value& v) { return or_none(property_of(v)->getter); }
Value property_fset(Vm&, const Value& v) { return or_none(property_of(v)->setter); }
Value property_fdel(Vm&, const Value& v) { return or_none(property_of(v)->deleter); }
void property_set_doc(Vm&, const Value& v, const Value& doc) { property_of(v)->doc = or_none(doc); }

// --- getters of native types ---------------------------------------------------------------------------

Value native_property_bind(Vm& vm, const Value& self, const Value& instance, Type*) {
  if (!instance) return self;
  return static_cast<NativeProperty*>(self.object())->get(vm, instance);
}
void native_property_set(Vm& vm, const Value& self, const Value& instance, const Value& value) {
  auto* p = static_cast<NativeProperty*>(self.object());
  if (!p->set) {
    Type* owner = nullptr;
    lookup_in_type(type_of(vm, instance), intern(vm, p->name).get(), &owner);
    raise(vm, vm.exceptions().AttributeError,
          "attribute '" + p->name + "' of '" + (owner ? owner->name : type_name(vm, instance)) +
              "' objects is not writable");
  }
  p->set(vm, instance, value);
}

// A name of __slots__ in its class. It has no slot for stores: the attributes of an object lie in one table.
struct MemberDescriptor : NativeProperty {
  Value owner;
};
MemberDescriptor* member_of(const Value& v) { return static_cast<MemberDescriptor*>(v.object()); }

// Found only when the instance has no value of its own under the name.
Value member_bind(Vm& vm, const Value& self, const Value& instance, Type*) {
  if (!instance) return self;
  Local<StrObject> name = intern(vm, member_of(self)->name);
  raise_attribute_error(vm, instance, name.get());
}
Value member_repr(Vm& vm, const Value& self) {
  const MemberDescriptor* m = member_of(self);
  return str_value(vm, "<member '" + m->name + "' of '" + cast<Type>(m->owner)->name + "' objects>");
}
Value member_owner(Vm&, const Value& self) { return member_of(self)->owner; }
Local<StrObject> member_name_for(Vm& vm, const Value& self, const Value& instance) {
  const MemberDescriptor* m = member_of(self);
  if (!is_instance(vm, instance, cast<Type>(m->owner)))
    raise_type_error(vm, "descriptor '" + m->name + "' for '" + cast<Type>(m->owner)->name +
                             "' objects doesn't apply to a '" + type_name(vm, instance) + "' object");
  return intern(vm, m->name);
}
Value member_get(Vm& vm, Args& a) {
  if (a[1].is_none()) return a[0];
  Local<StrObject> name = member_name_for(vm, a[0], a[1]);
  if (Value own = get_own_attribute(vm, a[1].object(), name.get())) return own;
  raise_attribute_error(vm, a[1], name.get());
}
Value member_set(Vm& vm, Args& a) {
  Local<StrObject> name = member_name_for(vm, a[0], a[1]);
  set_own_attribute(vm, a[1].object(), name.get(), a[2]);
  return Value::none();
}
Value member_delete(Vm& vm, Args& a) {
  Local<StrObject> name = member_name_for(vm, a[0], a[1]);
  if (!delete_own_attribute(vm, a[1].object(), name.get())) raise(vm, vm.exceptions().AttributeError, name->view());
  return Value::none();
}
Value native_property_name(Vm& vm, const Value& self) {
  return str_value(vm, static_cast<NativeProperty*>(self.object())->name);
}

// --- staticmethod, classmethod ---------------------------------------------------------------------------

WrappedMethod* wrapped_of(const Value& v) { return static_cast<WrappedMethod*>(v.object()); }

void wrapped_traverse(Object* o, Visitor& visit) {
  visit(static_cast<WrappedMethod*>(o)->function);
  if (o->kind == Kind::Native) traverse_instance(o, visit);
}
void wrapped_clear(Vm& vm, Object* o) {
  static_cast<WrappedMethod*>(o)->function.reset();
  if (o->kind == Kind::Native) clear_instance(vm, o);
}
void wrapped_destroy(Vm& vm, Object* o) {
  if (o->kind == Kind::Native) vm.heap().finish(static_cast<WrappedInstance*>(o));
  else vm.heap().finish(static_cast<WrappedMethod*>(o));
}
Value static_bind(Vm&, const Value& self, const Value&, Type*) { return wrapped_of(self)->function; }
Value class_bind(Vm& vm, const Value& self, const Value& instance, Type* owner) {
  (void)instance;
  const Value& f = wrapped_of(self)->function;
  const bool is_descriptor =
      !is_kind(f, Kind::Function) && !is_kind(f, Kind::NativeFunction) && type_of(vm, f)->slots.bind;
  return is_descriptor ? bind_attribute(vm, f, Value(owner), owner) : make_bound_method(vm, f, Value(owner));
}
Value static_call(Vm& vm, const Value& self, Args& args) { return call(vm, wrapped_of(self)->function, args); }
template <Kind kind>
Value wrapped_repr(Vm& vm, const Value& self) {
  const std::string name = kind == Kind::ClassMethod ? "classmethod" : "staticmethod";
  return str_value(vm, "<" + name + "(" + repr(vm, wrapped_of(self)->function) + ")>");
}
template <Kind kind>
Value wrapped_construct(Vm& vm, Type* type, Args&) {
  if (type->type_flags & kScriptClass) return vm.heap().make<WrappedInstance>(type).take();
  return vm.heap().make<WrappedMethod>(type, kind).take();
}
template <Kind kind>
void wrapped_initialize(Vm& vm, const Value& self, Args& args) {
  if (args.count != 1 || args.keyword_count)
    raise_type_error(vm, std::string(kind == Kind::ClassMethod ? "classmethod" : "staticmethod") +
                             " expected 1 argument, got " + std::to_string(args.count));
  wrapped_of(self)->function = args[0];
}
Value wrapped_function(Vm&, const Value& v) { return wrapped_of(v)->function; }
// What the function inside says of itself, the wrapper says too.
template <const char* kName>
Value wrapped_part(Vm& vm, const Value& v) {
  Local<StrObject> name = intern(vm, kName);
  const Value part = find_attribute(vm, wrapped_of(v)->function, name.get());
  if (!part) raise_attribute_error(vm, v, name.get());
  return part;
}
constexpr char kOwnName[] = "__name__", kQualname[] = "__qualname__", kDoc[] = "__doc__";
constexpr char kAnnotations[] = "__annotations__";
bool is_abstract(Vm& vm, const Value& function) {
  const Value mark = function ? find_attribute(vm, function, intern(vm, "__isabstractmethod__").get()) : Value();
  return mark && truth(vm, mark);
}
Value wrapped_abstract(Vm& vm, const Value& v) { return Value::boolean(is_abstract(vm, wrapped_of(v)->function)); }
Value property_abstract(Vm& vm, const Value& v) {
  const PropertyObject* p = property_of(v);
  return Value::boolean(is_abstract(vm, p->getter) || is_abstract(vm, p->setter) || is_abstract(vm, p->deleter));
}

// --- super -------------------------------------------------------------------------------------------------

// Of a script class.
struct SuperInstance : SuperObject {
  InstanceState state;
};

void super_traverse(Object* o, Visitor& visit) {
  auto* s = static_cast<SuperObject*>(o);
  visit(s->start.get());
  visit(s->self);
  traverse_instance(o, visit);
}
Value super_get(Vm& vm, const Value& v, StrObject* name) {
  auto* s = cast<SuperObject>(v);
  if (!s->self_type) return generic_get_attribute(vm, v, name);  // super(type), of no object yet
  if (name == vm.names().class_.get()) return Value(s->type);
  const std::vector<Type*>& mro = s->self_type->mro;
  size_t i = 0;
  while (i < mro.size() && mro[i] != s->start.get()) ++i;
  bool of_class = is_kind(s->self, Kind::Type) && cast<Type>(s->self) == s->self_type;
  for (++i; i < mro.size(); ++i) {
    int64_t place = mro[i]->attributes->table.find(vm, name);
    if (place < 0) continue;
    Value found = mro[i]->attributes->table.entry(static_cast<uint32_t>(place)).value;
    return bind_attribute(vm, found, of_class ? Value() : s->self, s->self_type);
  }
  return generic_get_attribute(vm, v, name);
}
Value super_start(Vm&, const Value& v) {
  const auto* s = cast<SuperObject>(v);
  return s->start ? s->start.value() : Value::none();
}
Value super_self(Vm&, const Value& v) {
  const auto* s = cast<SuperObject>(v);
  return s->self_type ? s->self : Value::none();
}
Value super_self_class(Vm&, const Value& v) {
  const auto* s = cast<SuperObject>(v);
  return s->self_type ? Value(s->self_type) : Value::none();
}
// `self` Undefined: of no object.
void set_super(Vm& vm, SuperObject* s, Type* start, const Value& self) {
  s->start = Local<Type>(start);
  if (self.is_undefined()) return;
  s->self = self;
  Type* own = type_of(vm, self);
  if (own->is_subtype_of(start)) s->self_type = own;
  else if (is_kind(self, Kind::Type) && cast<Type>(self)->is_subtype_of(start)) s->self_type = cast<Type>(self);
  else if (Type* shown = try_cast<Type>(find_attribute(vm, self, vm.names().class_));
           shown && shown->is_subtype_of(start))
    s->self_type = shown;  // of a proxy
  else raise_type_error(vm, "super(type, obj): obj must be an instance or subtype of type");
}

// The first parameter of the running function; it may have moved into a cell.
Value first_argument(Vm& vm, Frame* frame) {
  const lang::CodeObject& code = *frame->code->code;
  if (code.parameters.positional == 0) raise(vm, vm.exceptions().RuntimeError, "super(): no arguments");
  Value v = frame->registers[0];
  if (!v)
    for (uint32_t r = code.cell_begin; r < code.cell_end; ++r)
      if (r < code.register_names.size() && code.register_names[r] == code.register_names[0]) v = frame->registers[r];
  if (is_kind(v, Kind::Cell)) v = Value(cast<CellObject>(v)->content);
  return v;
}

void super_of_frame(Vm& vm, SuperObject* s) {
  Frame* frame = vm.current_frame();
  const std::vector<std::string>* names = frame ? &frame->code->code->free_names : nullptr;
  for (size_t i = 0; names && i < names->size(); ++i) {
    if ((*names)[i] != "__class__") continue;
    const Value& klass = frame->function->closure[i]->content;
    Value self = first_argument(vm, frame);
    if (!is_kind(klass, Kind::Type)) raise(vm, vm.exceptions().RuntimeError, "super(): empty __class__ cell");
    if (!self) raise(vm, vm.exceptions().RuntimeError, "super(): arg[0] deleted");
    return set_super(vm, s, cast<Type>(klass), self);
  }
  raise(vm, vm.exceptions().RuntimeError, "super(): no arguments");
}

void super_initialize(Vm& vm, const Value& self, Args& args) {
  auto* s = cast<SuperObject>(self);
  if (s->start && self.object()->type == vm.types().super) return;  // the constructor has done it
  if (args.keyword_count) raise_type_error(vm, "super() takes no keyword arguments");
  if (args.count > 2) raise_type_error(vm, "super() expected at most 2 arguments, got " + std::to_string(args.count));
  if (args.count == 0) return super_of_frame(vm, s);
  if (!is_kind(args[0], Kind::Type))
    raise_type_error(vm, "super() argument 1 must be a type, not " + type_name(vm, args[0]));
  const bool bound = args.count == 2 && !args[1].is_none();
  set_super(vm, s, cast<Type>(args[0]), bound ? args[1] : Value());
}

Value super_construct(Vm& vm, Type* type, Args& args) {
  if (type->type_flags & kScriptClass) {
    Local<SuperInstance> made = vm.heap().make<SuperInstance>(type);
    made->state.shape = type->root();
    return made.take();
  }
  Local<SuperObject> made = vm.heap().make<SuperObject>(type);
  super_initialize(vm, made.value(), args);
  return made.take();
}
// One of no object, found in a class, becomes one of the object.
Value super_bind(Vm& vm, const Value& self, const Value& instance, Type*) {
  auto* s = cast<SuperObject>(self);
  if (instance.is_undefined() || instance.is_none() || s->self_type || !s->start) return self;
  if (self.object()->type != vm.types().super)
    return call(vm, Value(self.object()->type), {s->start.value(), instance});
  Local<SuperObject> made = vm.heap().make<SuperObject>(vm.types().super);
  set_super(vm, made.get(), s->start.get(), instance);
  return made.take();
}
Value super_repr(Vm& vm, const Value& v) {
  auto* s = cast<SuperObject>(v);
  const std::string start = s->start ? "<class '" + s->start->name + "'>" : "NULL";
  return str_value(vm, "<super: " + start + (s->self_type ? ", <" + s->self_type->name + " object>>" : ", NULL>"));
}

}  // namespace

Value make_member(Vm& vm, std::string_view name, Type* owner) {
  Local<MemberDescriptor> member = vm.heap().make<MemberDescriptor>(vm.types().member_descriptor);
  member->name = std::string(name);
  member->owner = Value(owner);
  return member.take();
}

static void init_super_type(Vm& vm) {
  TypeBuilder s(vm, "super", Kind::Super);
  s.slots().destroy = [](Vm& vm, Object* o) {
    o->type->type_flags& kScriptClass ? destroy_as<SuperInstance>(vm, o) : destroy_as<SuperObject>(vm, o);
  };
  s.slots().traverse = super_traverse;
  s.slots().get_attribute = super_get;
  s.slots().construct = super_construct;
  s.slots().initialize = super_initialize;
  s.slots().bind = super_bind;
  s.slots().clear = clear_instance;
  s.allow_subclasses(offset_of(&SuperInstance::state));
  s.slots().repr = super_repr;
  s.getter("__thisclass__", super_start).getter("__self__", super_self).getter("__self_class__", super_self_class);
  VmAccess::types(vm).super = s.finish();
}

static void init_wrapped_methods(Vm& vm) {
  Types& t = VmAccess::types(vm);
  for (Type* type : {t.class_method, t.static_method}) {
    type->slots.destroy = wrapped_destroy;
    type->slots.traverse = wrapped_traverse;
    type->slots.clear = wrapped_clear;
    TypeBuilder::existing(vm, type)
        .allow_subclasses(offset_of(&WrappedInstance::state))
        .getter("__func__", wrapped_function)
        .getter("__wrapped__", wrapped_function)
        .getter("__name__", wrapped_part<kOwnName>)
        .getter("__qualname__", wrapped_part<kQualname>)
        .getter("__doc__", wrapped_part<kDoc>)
        .getter("__annotations__", wrapped_part<kAnnotations>)
        .getter("__isabstractmethod__", wrapped_abstract);
  }
  t.class_method->slots.bind = class_bind;
  t.class_method->slots.repr = wrapped_repr<Kind::ClassMethod>;
  t.static_method->slots.repr = wrapped_repr<Kind::StaticMethod>;
  t.class_method->slots.construct = wrapped_construct<Kind::ClassMethod>;
  t.class_method->slots.initialize = wrapped_initialize<Kind::ClassMethod>;
  t.static_method->slots.bind = static_bind;
  t.static_method->slots.call = static_call;
  t.static_method->slots.construct = wrapped_construct<Kind::StaticMethod>;
  t.static_method->slots.initialize = wrapped_initialize<Kind::StaticMethod>;
}

void init_descriptor_types(Vm& vm) {
  Types& t = VmAccess::types(vm);
  TypeBuilder m(vm, "member_descriptor", Kind::NativeProperty);
  m.slots().destroy = destroy_as<MemberDescriptor>;
  m.slots().traverse = [](Object* o, Visitor& visit) { visit(static_cast<MemberDescriptor*>(o)->owner); };
  m.slots().clear = [](Vm&, Object* o) { static_cast<MemberDescriptor*>(o)->owner.reset(); };
  m.slots().bind = member_bind;
  m.slots().repr = member_repr;
  m.getter("__name__", native_property_name)
      .getter("__objclass__", member_owner)
      .method("__get__", "self, instance, owner=None, /", member_get)
      .method("__set__", "self, instance, value, /", member_set)
      .method("__delete__", "self, instance, /", member_delete);
  t.member_descriptor = m.finish();
  TypeBuilder::existing(vm, t.native_property).getter("__name__", native_property_name);
  t.native_property->slots.destroy = destroy_as<NativeProperty>;
  t.native_property->slots.bind = native_property_bind;
  t.native_property->slots.bind_set = native_property_set;
  init_wrapped_methods(vm);

  TypeBuilder p(vm, "property", Kind::Property);
  p.slots().destroy = property_destroy;
  p.slots().traverse = property_traverse;
  p.slots().clear = property_clear;
  p.slots().bind = property_bind;
  p.slots().bind_set = property_bind_set;
  p.slots().construct = property_construct;
  p.slots().initialize = property_initialize;
  p.allow_subclasses(offset_of(&PropertyInstance::state));
  p.method("getter", "self, f", property_getter)
      .method("setter", "self, f", property_setter)
      .method("deleter", "self, f", property_deleter)
      .getter("fget", property_fget)
      .getter("fset", property_fset)
      .getter("fdel", property_fdel)
      .getter("__doc__", property_doc, property_set_doc)
      .getter("__isabstractmethod__", property_abstract)
      .method("__set_name__", "self, owner, name", property_set_name);
  t.property = p.finish();

  init_super_type(vm);
  add_builtin(vm, "property", Value(t.property));
  add_builtin(vm, "classmethod", Value(t.class_method));
  add_builtin(vm, "staticmethod", Value(t.static_method));
  add_builtin(vm, "super", Value(t.super));
}

}  // namespace tsc::interp
