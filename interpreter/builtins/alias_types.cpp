// What annotations and class access make of types: list[int] (GenericAlias), int | None (UnionType),
// and the read-only view of a mapping that a class shows as its __dict__ (mappingproxy).
#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/annotations.h"
#include "interpreter/vm/slow_ops.h"

namespace tsc::interp {
namespace {

struct GenericAliasObject : Instance {
  Value origin;
  Local<TupleObject> parameters;
  bool is_unpacked = false;  // *tuple[int, ...]: the one item of the alias
  GenericAliasObject() : Instance(Kind::Instance) {}
};
struct UnionObject : Instance {
  Local<TupleObject> members;
  UnionObject() : Instance(Kind::Instance) {}
};
struct MappingProxyObject : Instance {
  Value mapping;
  Local<Type> owner;  // whose attributes it shows, or null
  MappingProxyObject() : Instance(Kind::Instance) {}
};

GenericAliasObject* alias_of(const Value& v) { return static_cast<GenericAliasObject*>(v.object()); }
UnionObject* union_of(const Value& v) { return static_cast<UnionObject*>(v.object()); }
const Value& mapping_of(const Value& v) { return static_cast<MappingProxyObject*>(v.object())->mapping; }
bool is_alias(Vm& vm, const Value& v) { return v.is_object() && v.object()->type == vm.types().generic_alias; }
bool is_union(Vm& vm, const Value& v) { return v.is_object() && v.object()->type == vm.types().union_type; }

// A type inside an annotation: its name, with the module unless that is builtins.
std::string annotation_repr(Vm& vm, const Value& v) {
  if (v.is(vm.ellipsis())) return "...";
  if (v.is_none() || (is_kind(v, Kind::Type) && cast<Type>(v) == vm.types().none)) return "None";
  Type* type = try_cast<Type>(v);
  if (!type) return repr(vm, v);
  Value module = get_attribute(vm, v, vm.names().module.get());
  std::string text = to_string(vm, module);
  return text == "builtins" ? type->qualified_name : text + "." + type->qualified_name;
}

std::string joined(Vm& vm, std::span<const Value> values, const char* separator) {
  std::string text;
  for (const Value& v : values) text += (text.empty() ? "" : separator) + annotation_repr(vm, v);
  return text;
}

// --- list[int] -----------------------------------------------------------------------------------------

Value alias_repr(Vm& vm, const Value& self) {
  GenericAliasObject* alias = alias_of(self);
  std::string inside = alias->parameters->size ? joined(vm, alias->parameters->span(), ", ") : "()";
  return str_value(vm, (alias->is_unpacked ? "*" : "") + annotation_repr(vm, alias->origin) + "[" + inside + "]");
}
Value alias_iterate(Vm& vm, const Value& self) {
  Value item = make_generic_alias(vm, alias_of(self)->origin, alias_of(self)->parameters.value());
  alias_of(item)->is_unpacked = true;
  return iterate(vm, make_tuple(vm, std::span<const Value>(&item, 1)).take());
}
Value alias_call(Vm& vm, const Value& self, Args& args) { return call(vm, alias_of(self)->origin, args); }
Value alias_origin(Vm&, const Value& v) { return alias_of(v)->origin; }
Value alias_unpacked(Vm&, const Value& v) { return Value::boolean(alias_of(v)->is_unpacked); }
Value alias_parameters(Vm&, const Value& v) { return alias_of(v)->parameters.value(); }
Value alias_get_attribute(Vm& vm, const Value& self, StrObject* name) {
  Type* owner = nullptr;
  const Value* own = lookup_in_type(vm.types().generic_alias, name, &owner);
  bool special = name == vm.names().class_.get() || owner == vm.types().generic_alias;
  if (own && special) return bind_attribute(vm, *own, self, vm.types().generic_alias);
  return find_attribute(vm, alias_of(self)->origin, name);
}
Value alias_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  bool comparable = (op == CompareOp::Eq || op == CompareOp::Ne) && is_alias(vm, a) && is_alias(vm, b);
  if (!comparable) return vm.not_implemented();
  bool same = alias_of(a)->is_unpacked == alias_of(b)->is_unpacked &&
              equal(vm, alias_of(a)->origin, alias_of(b)->origin) &&
              equal(vm, alias_of(a)->parameters.value(), alias_of(b)->parameters.value());
  return Value::boolean(same == (op == CompareOp::Eq));
}
int64_t alias_hash(Vm& vm, const Value& self) {
  uint64_t parts = hash(vm, alias_of(self)->origin) ^ hash(vm, alias_of(self)->parameters.value());
  return static_cast<int64_t>(parts);
}
// What the typing module does with type variables is done there alone.
Value typing_function(Vm& vm, const char* name) { return get_attribute(vm, vm.import_module("typing").take(), name); }
Value alias_variables(Vm& vm, const Value& v) {
  return call(vm, typing_function(vm, "_parameters_of"), {alias_of(v)->parameters.value()});
}
Value alias_get_item(Vm& vm, const Value& self, const Value& items) {
  Value arguments = call(vm, typing_function(vm, "_substituted"), {self, alias_variables(vm, self), items});
  Value made = make_generic_alias(vm, alias_of(self)->origin, arguments);
  alias_of(made)->is_unpacked = alias_of(self)->is_unpacked;
  return made;
}
Value alias_mro_entries(Vm& vm, Args& a) { return make_tuple(vm, std::vector<Value>{alias_of(a[0])->origin}).take(); }
Value alias_check(Vm& vm, Args&) { raise_type_error(vm, "isinstance() argument 2 cannot be a parameterized generic"); }
Value alias_construct(Vm& vm, Type*, Args& args) {
  if (args.count != 2) raise_type_error(vm, "GenericAlias expected 2 arguments, got " + std::to_string(args.count));
  return make_generic_alias(vm, args[0], args[1]);
}
Value union_slot(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  const bool nothing = a.is_none() && b.is_none();
  Value both = op == BinaryOp::BitOr && !nothing ? make_union(vm, a, b) : Value();
  return both ? both : vm.not_implemented();
}
Value class_item(Vm& vm, Args& a) { return make_generic_alias(vm, a[0], a[1]); }

// --- int | None ----------------------------------------------------------------------------------------

Value union_repr(Vm& vm, const Value& self) {
  return str_value(vm, joined(vm, union_of(self)->members->span(), " | "));
}
Value union_members(Vm&, const Value& v) { return union_of(v)->members.value(); }
Value union_variables(Vm& vm, const Value& v) {
  return call(vm, typing_function(vm, "_parameters_of"), {union_members(vm, v)});
}
Value union_get_item(Vm& vm, const Value& self, const Value& items) {
  Value arguments = call(vm, typing_function(vm, "_substituted"), {self, union_variables(vm, self), items});
  Value made;
  for (const Value& part : cast<TupleObject>(arguments)->span())
    made = made ? binary(vm, BinaryOp::BitOr, made, part) : part;
  return made;
}
Value union_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  bool comparable = (op == CompareOp::Eq || op == CompareOp::Ne) && is_union(vm, a) && is_union(vm, b);
  if (!comparable) return vm.not_implemented();
  auto has = [&](const Value& in, const Value& member) {
    for (const Value& v : union_of(in)->members->span())
      if (equal(vm, v, member)) return true;
    return false;
  };
  bool same = union_of(a)->members->size == union_of(b)->members->size;
  for (const Value& v : union_of(a)->members->span()) same = same && has(b, v);
  return Value::boolean(same == (op == CompareOp::Eq));
}
int64_t union_hash(Vm& vm, const Value& self) {
  uint64_t sum = 0;  // the order does not count
  for (const Value& v : union_of(self)->members->span()) sum += hash(vm, v);
  return static_cast<int64_t>(sum);
}
Value union_check_instance(Vm& vm, Args& a) {
  for (const Value& member : union_of(a[0])->members->span())
    if (is_instance_of(vm, a[1], member)) return Value::boolean(true);
  return Value::boolean(false);
}
Value union_check_subclass(Vm& vm, Args& a) {
  for (const Value& member : union_of(a[0])->members->span())
    if (is_subclass_of(vm, a[1], member)) return Value::boolean(true);
  return Value::boolean(false);
}

// --- mappingproxy ----------------------------------------------------------------------------------------

Value proxy_construct(Vm& vm, Type*, Args& args) {
  if (args.count != 1)
    raise_type_error(vm, "mappingproxy() takes exactly one argument (" + std::to_string(args.count) + " given)");
  if (!type_of(vm, args[0])->slots.get_item || is_kind(args[0], Kind::List) || is_kind(args[0], Kind::Tuple))
    raise_type_error(vm, "mappingproxy() argument must be a mapping, not " + type_name(vm, args[0]));
  return make_mapping_proxy(vm, args[0]);
}
// The mapping with nothing in it that only the machine knows: annotations are evaluated, or, where that fails, their
// text stands in a copy.
Value shown(Vm& vm, const Value& self) {
  auto* proxy = static_cast<MappingProxyObject*>(self.object());
  auto* dict = try_cast<DictObject>(proxy->mapping);
  if (!proxy->owner || !as_annotations(vm, dict_get(vm, dict, Value(vm.names().annotations.get()))))
    return proxy->mapping;
  try {
    annotations_of_class(vm, proxy->owner);
    return proxy->mapping;
  } catch (const ScriptException& e) {
    if (e.exception()->is_limit || !e.exception()->type->is_subtype_of(vm.exceptions().Exception)) throw;
  }
  Local<DictObject> copy = make_dict(vm);
  copy->table.copy_from(dict->table);
  settle_annotations(vm, copy);
  return copy.take();
}
// The same for one key.
const Value& with_key(Vm& vm, const Value& self, const Value& key) {
  auto* proxy = static_cast<MappingProxyObject*>(self.object());
  auto* name = try_cast<StrObject>(key);
  if (proxy->owner && name && name->view() == vm.names().annotations->view() &&
      dict_get(vm, cast<DictObject>(proxy->mapping), key))
    annotations_of_class(vm, proxy->owner);
  return proxy->mapping;
}
Value proxy_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  if (op != BinaryOp::BitOr) return vm.not_implemented();
  const auto plain = [&](const Value& v) { return type_of(vm, v) == vm.types().mapping_proxy ? shown(vm, v) : v; };
  return binary(vm, op, plain(a), plain(b));
}
Value proxy_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  const bool both = b.is_object() && b.object()->type == a.object()->type;
  return compare(vm, op, shown(vm, a), both ? shown(vm, b) : b);
}
template <const char* kMethod>
Value forward(Vm& vm, Args& a) {
  const bool by_key = std::string_view(kMethod) == "get" && a.count > 1;
  Value method = get_attribute(vm, by_key ? with_key(vm, a[0], a[1]) : shown(vm, a[0]), kMethod);
  Args rest = a;
  ++rest.positional;
  --rest.count;
  return call(vm, method, rest);
}
constexpr char kKeys[] = "keys", kValues[] = "values", kItems[] = "items", kGet[] = "get", kCopy[] = "copy";
constexpr char kReversed[] = "__reversed__";
Value proxy_in_place(Vm& vm, BinaryOp op, const Value&, const Value&) {
  if (op != BinaryOp::BitOr) return vm.not_implemented();
  raise_type_error(vm, "'|=' is not supported by mappingproxy; use '|' instead");
}

template <class T, Value T::* kMember>
void traverse_member(Object* o, Visitor& visit) {
  visit(static_cast<T*>(o)->*kMember);
}

Type* make_alias_type(Vm& vm) {
  TypeBuilder b(vm, "GenericAlias", Kind::Native);
  b.module("types");
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<GenericAliasObject>;
  s.traverse = traverse_member<GenericAliasObject, &GenericAliasObject::origin>;
  s.repr = alias_repr;
  s.call = alias_call;
  s.compare = alias_compare;
  s.hash = alias_hash;
  s.binary = union_slot;
  s.get_item = alias_get_item;
  s.iterate = alias_iterate;
  s.construct = alias_construct;
  s.get_attribute = alias_get_attribute;
  b.getter("__origin__", alias_origin)
      .getter("__args__", alias_parameters)
      .getter("__parameters__", alias_variables)
      .getter("__unpacked__", alias_unpacked)
      .method("__mro_entries__", "self, bases", alias_mro_entries)
      .method("__instancecheck__", "self, instance", alias_check)
      .method("__subclasscheck__", "self, cls", alias_check);
  return b.finish();
}

Type* make_union_type(Vm& vm) {
  TypeBuilder b(vm, "UnionType", Kind::Native);
  b.module("types");
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<UnionObject>;
  s.repr = union_repr;
  s.compare = union_compare;
  s.hash = union_hash;
  s.binary = union_slot;
  s.get_item = union_get_item;
  b.getter("__args__", union_members)
      .getter("__parameters__", union_variables)
      .method("__instancecheck__", "self, instance", union_check_instance)
      .method("__subclasscheck__", "self, cls", union_check_subclass);
  return b.finish();
}

Type* make_proxy_type(Vm& vm) {
  TypeBuilder b(vm, "mappingproxy", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<MappingProxyObject>;
  s.traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<MappingProxyObject*>(o)->mapping);
    visit(static_cast<MappingProxyObject*>(o)->owner.get());
  };
  s.construct = proxy_construct;
  s.compare = proxy_compare;
  s.binary = proxy_binary;
  s.in_place = proxy_in_place;
  s.to_str = [](Vm& v, const Value& self) { return str_value(v, to_string(v, shown(v, self))); };
  s.hash = nullptr;
  s.repr = [](Vm& v, const Value& self) { return str_value(v, "mappingproxy(" + repr(v, shown(v, self)) + ")"); };
  s.length = [](Vm& v, const Value& self) { return length(v, mapping_of(self)); };
  s.get_item = [](Vm& v, const Value& self, const Value& key) { return get_item(v, with_key(v, self, key), key); };
  s.contains = [](Vm& v, const Value& self, const Value& key) { return contains(v, mapping_of(self), key); };
  s.iterate = [](Vm& v, const Value& self) { return iterate(v, mapping_of(self)); };
  b.raw_method("keys", forward<kKeys>)
      .raw_method("values", forward<kValues>)
      .raw_method("items", forward<kItems>)
      .raw_method("get", forward<kGet>)
      .raw_method("copy", forward<kCopy>)
      .raw_method("__reversed__", forward<kReversed>)
      .class_method("__class_getitem__", "cls, item", class_item)
      .attribute(ops::kPatternFlags, Value::integer(ops::kMappingPattern));
  return b.finish();
}

}  // namespace

Value make_mapping_proxy(Vm& vm, const Value& mapping, Type* owner) {
  Local<MappingProxyObject> proxy = vm.heap().make<MappingProxyObject>(vm.types().mapping_proxy);
  proxy->mapping = mapping;
  proxy->owner = Local<Type>(owner);
  return proxy.take();
}

Value make_generic_alias(Vm& vm, const Value& origin, const Value& parameters) {
  Local<GenericAliasObject> alias = vm.heap().make<GenericAliasObject>(vm.types().generic_alias);
  alias->origin = origin;
  alias->parameters = is_kind(parameters, Kind::Tuple) ? Local<TupleObject>(cast<TupleObject>(parameters))
                                                       : make_tuple(vm, std::span<const Value>(&parameters, 1));
  return alias.take();
}

Value make_union(Vm& vm, const Value& left, const Value& right) {
  std::vector<Value> members;
  auto add = [&](const Value& v) {
    for (const Value& known : members)
      if (equal(vm, known, v)) return;
    members.push_back(v);
  };
  for (const Value& part : {left, right}) {
    if (is_union(vm, part)) {
      for (const Value& v : union_of(part)->members->span()) add(v);
    } else if (part.is_none()) {
      add(Value(vm.types().none));
    } else if (is_kind(part, Kind::Type) || is_alias(vm, part)) {
      add(part);
    } else {
      return Value();
    }
  }
  if (members.size() == 1) return members[0];
  Local<UnionObject> result = vm.heap().make<UnionObject>(vm.types().union_type);
  result->members = make_tuple(vm, members);
  return result.take();
}

void init_alias_types(Vm& vm) {
  Types& t = VmAccess::types(vm);
  t.mapping_proxy = make_proxy_type(vm);
  t.generic_alias = make_alias_type(vm);
  t.union_type = make_union_type(vm);
  t.type->slots.binary = union_slot;
  t.none->slots.binary = union_slot;
  for (Type* type : {t.list, t.tuple, t.dict, t.set, t.frozenset})
    TypeBuilder::existing(vm, type).class_method("__class_getitem__", "cls, item", class_item);
}

}  // namespace tsc::interp
