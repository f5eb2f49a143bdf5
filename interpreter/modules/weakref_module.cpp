// _weakref: references that do not keep their target alive, and proxies, which do what their target does.
#include <cstdio>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/ends.h"

namespace tsc::interp {
namespace {

struct WeakTypes {
  Type *reference = nullptr, *proxy = nullptr, *callable_proxy = nullptr;
};
const char kWeakTypes = 0;

WeakTypes& weak_types(Vm& vm) {
  std::shared_ptr<void>& kept = vm.extension(&kWeakTypes);
  if (!kept) kept = std::make_shared<WeakTypes>();
  return *static_cast<WeakTypes*>(kept.get());
}

Object* checked_target(Vm& vm, const Value& v) {
  if (!v.is_object() || !takes_weak_references(vm, v.object()))
    raise_type_error(vm, "cannot create weak reference to '" + type_name(vm, v) + "' object");
  return v.object();
}

// One without a callback, and of this very type, serves everybody.
WeakReference* shared_reference(Vm& vm, const Object* target, const Type* type) {
  for (WeakReference* r = newest_reference(vm, target); r; r = r->older)
    if (r->type == type && !r->callback && !(r->flags & kBeingFreed)) return r;
  return nullptr;
}

Value refer(Vm& vm, Type* type, const Value& target, const Value& callback) {
  Object* object = checked_target(vm, target);
  const bool plain = callback.is_undefined() || callback.is_none();
  if (plain && !(type->type_flags & kScriptClass))
    if (WeakReference* shared = shared_reference(vm, object, type)) return Value(shared);
  Local<WeakReference> reference = vm.heap().make<WeakReference>(type);
  refer_weakly(vm, reference, object, plain ? Value() : callback);
  return reference.take();
}

// --- ref --------------------------------------------------------------------------------------------------

WeakReference* reference_of(const Value& v) { return static_cast<WeakReference*>(v.object()); }
Value target_of(const Value& v) {
  Object* target = reference_of(v)->target;
  return target ? Value(target) : Value();
}

Value reference_construct(Vm& vm, Type* type, Args& args) {
  if (args.count < 1 || args.count > 2)
    raise_type_error(vm, std::string("__new__ expected at ") + (args.count < 1 ? "least 1" : "most 2") + " argument" +
                             (args.count < 1 ? "" : "s") + ", got " + std::to_string(args.count));
  return refer(vm, type, args[0], args.count > 1 ? args[1] : Value());
}
Value reference_init(Vm&, Args&) { return Value::none(); }
Value reference_call(Vm& vm, const Value& self, Args& args) {
  if (args.count || args.keyword_count) raise_type_error(vm, "weakref.__call__() takes no arguments");
  const Value target = target_of(self);
  return target ? target : Value::none();
}
int64_t reference_hash(Vm& vm, const Value& self) {
  WeakReference* reference = reference_of(self);
  if (!reference->has_hash) {
    const Value target = target_of(self);
    if (!target) raise_type_error(vm, "weak object has gone away");
    reference->hash = static_cast<int64_t>(hash(vm, target));
    reference->has_hash = true;
  }
  return reference->hash;
}
Value reference_compare(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  const bool wanted = op == CompareOp::Eq;
  if ((!wanted && op != CompareOp::Ne) || !other.is_object() || !weak_reference(vm, other.object()))
    return vm.not_implemented();
  const Value a = target_of(self), b = target_of(other);
  if (!a || !b) return Value::boolean(self.is(other) == wanted);
  return compare(vm, op, a, b);
}
Value reference_repr(Vm& vm, const Value& self) {
  const std::string begin = "<weakref at " + address_of(self.object()) + "; ";
  const Value target = target_of(self);
  if (!target) return str_value(vm, begin + "dead>");
  std::string name;
  Value own;
  try {
    own = find_attribute(vm, target, intern(vm, "__name__").get());
  } catch (const ScriptException& e) {  // a text for people is no reason to fail
    if (e.exception()->is_limit) throw;
  }
  if (is_kind(own, Kind::Str)) name = " (" + std::string(cast<StrObject>(own)->view()) + ")";
  return str_value(vm, begin + "to '" + type_name(vm, target) + "' at " + address_of(target.object()) + name + ">");
}
Value reference_callback(Vm&, const Value& self) {
  const Value& callback = reference_of(self)->callback;
  return callback ? callback : Value::none();
}
void reference_traverse(Object* o, Visitor& visit) {
  traverse_instance(o, visit);
  visit(static_cast<WeakReference*>(o)->callback);
}
void reference_clear(Vm& vm, Object* o) {
  clear_instance(vm, o);
  static_cast<WeakReference*>(o)->callback.reset();
}

void make_life_cycle(TypeBuilder& type) {
  type.slots().destroy = destroy_reference;
  type.slots().traverse = reference_traverse;
  type.slots().clear = reference_clear;
}

Type* make_reference_type(Vm& vm) {
  TypeBuilder type(vm, "ReferenceType", Kind::Native);
  make_life_cycle(type);
  type.slots().construct = reference_construct;
  type.slots().call = reference_call;
  type.slots().hash = reference_hash;
  type.slots().compare = reference_compare;
  type.slots().repr = reference_repr;
  type.raw_method("__init__", reference_init);
  type.getter("__callback__", reference_callback);
  type.module("weakref").allow_subclasses(offset_of(&WeakReference::state));
  return type.finish();
}

// --- proxies ----------------------------------------------------------------------------------------------

bool is_proxy(Vm& vm, const Value& v) {
  const WeakTypes& types = weak_types(vm);
  return v.is_object() && (v.object()->type == types.proxy || v.object()->type == types.callable_proxy);
}
// The target in the place of a proxy, any other value itself.
Value behind(Vm& vm, const Value& v) {
  if (!is_proxy(vm, v)) return v;
  const Value target = target_of(v);
  if (!target) raise(vm, vm.exceptions().ReferenceError, "weakly-referenced object no longer exists");
  return target;
}

void set_proxy_slots(TypeSlots& s) {
  s.get_attribute = [](Vm& vm, const Value& self, StrObject* name) {
    return find_attribute(vm, behind(vm, self), name);
  };
  s.set_attribute = [](Vm& vm, const Value& self, StrObject* name, const Value& value) {
    set_attribute(vm, behind(vm, self), name, value);
  };
  s.delete_attribute = [](Vm& vm, const Value& self, StrObject* name) { delete_attribute(vm, behind(vm, self), name); };
  s.binary = [](Vm& vm, BinaryOp op, const Value& left, const Value& right, bool) {
    return binary(vm, op, behind(vm, left), behind(vm, right));
  };
  s.in_place = [](Vm& vm, BinaryOp op, const Value& self, const Value& other) {
    return in_place(vm, op, behind(vm, self), behind(vm, other));
  };
  s.unary = [](Vm& vm, UnaryOp op, const Value& self) { return unary(vm, op, behind(vm, self)); };
  s.compare = [](Vm& vm, CompareOp op, const Value& self, const Value& other) {
    return compare(vm, op, behind(vm, self), behind(vm, other));
  };
  s.hash = nullptr;
  s.truth = [](Vm& vm, const Value& self) { return truth(vm, behind(vm, self)); };
  s.length = [](Vm& vm, const Value& self) { return length(vm, behind(vm, self)); };
  s.to_int = [](Vm& vm, const Value& self) { return call(vm, Value(vm.types().integer), {behind(vm, self)}); };
  s.to_float = [](Vm& vm, const Value& self) { return Value::real(to_double(vm, behind(vm, self))); };
  s.to_index = [](Vm& vm, const Value& self) { return Value::integer(to_index(vm, behind(vm, self))); };
  s.get_item = [](Vm& vm, const Value& self, const Value& key) { return get_item(vm, behind(vm, self), key); };
  s.set_item = [](Vm& vm, const Value& self, const Value& key, const Value& value) {
    set_item(vm, behind(vm, self), key, value);
  };
  s.delete_item = [](Vm& vm, const Value& self, const Value& key) { delete_item(vm, behind(vm, self), key); };
  s.contains = [](Vm& vm, const Value& self, const Value& item) { return contains(vm, behind(vm, self), item); };
  s.iterate = [](Vm& vm, const Value& self) { return iterate(vm, behind(vm, self)); };
  s.next = [](Vm& vm, const Value& self, Value& out) {
    const Value target = behind(vm, self);
    if (!type_of(vm, target)->slots.next)
      raise_type_error(vm, "Weakref proxy referenced a non-iterator '" + type_name(vm, target) + "' object");
    return iterate_next(vm, target, out);
  };
  s.repr = [](Vm& vm, const Value& self) {
    const Value target = target_of(self);
    const std::string of =
        target ? type_name(vm, target) + " at " + address_of(target.object()) : "NoneType at " + address_of(nullptr);
    return str_value(vm, "<weakproxy at " + address_of(self.object()) + " to " + of + ">");
  };
  s.to_str = [](Vm& vm, const Value& self) { return str_value(vm, to_string(vm, behind(vm, self))); };
}

Type* make_proxy_type(Vm& vm, const char* name, bool callable) {
  TypeBuilder type(vm, name, Kind::Native);
  make_life_cycle(type);
  set_proxy_slots(type.slots());
  if (callable) type.slots().call = [](Vm& v, const Value& self, Args& args) { return call(v, behind(v, self), args); };
  type.module("weakref");
  Type* made = type.finish();
  made->slots.hash = nullptr;
  return made;
}

Value make_proxy(Vm& vm, Args& a) {
  const Value& target = a[0];
  checked_target(vm, target);
  const WeakTypes& types = weak_types(vm);
  const bool callable = type_of(vm, target)->slots.call != nullptr || is_kind(target, Kind::Function);
  return refer(vm, callable ? types.callable_proxy : types.proxy, target, a[1]);
}

// --- looking at them --------------------------------------------------------------------------------------

Value list_references(Vm& vm, Args& a) {
  Local<ListObject> list = make_list(vm);
  if (!a[0].is_object()) return list.take();
  for (WeakReference* r = newest_reference(vm, a[0].object()); r; r = r->older)
    list->items.insert(list->items.begin(), Value(r));
  return list.take();
}
Value count_references(Vm& vm, Args& a) {
  int64_t count = 0;
  if (a[0].is_object())
    for (WeakReference* r = newest_reference(vm, a[0].object()); r; r = r->older) ++count;
  return Value::integer(count);
}

}  // namespace

Local<ModuleObject> make_weakref_module(Vm& vm) {
  WeakTypes& types = weak_types(vm);
  // Memory may end between two of them, and the module may be imported again.
  if (!types.reference) types.reference = make_reference_type(vm);
  if (!types.proxy) types.proxy = make_proxy_type(vm, "ProxyType", false);
  if (!types.callable_proxy) types.callable_proxy = make_proxy_type(vm, "CallableProxyType", true);
  ModuleBuilder m(vm, "_weakref");
  m.value("ref", Value(types.reference))
      .value("ReferenceType", Value(types.reference))
      .value("ProxyType", Value(types.proxy))
      .value("CallableProxyType", Value(types.callable_proxy))
      .function("proxy", "object, callback=None, /", make_proxy)
      .function("getweakrefs", "object, /", list_references)
      .function("getweakrefcount", "object, /", count_references);
  return m.finish();
}

}  // namespace tsc::interp
