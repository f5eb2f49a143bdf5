// operator: the operators as functions, and itemgetter, attrgetter, methodcaller.
#include "interpreter/modules/itertools_types.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

template <BinaryOp op>
Value binary_function(Vm& vm, Args& a) {
  return binary(vm, op, a[0], a[1]);
}
template <BinaryOp op>
Value in_place_function(Vm& vm, Args& a) {
  return in_place(vm, op, a[0], a[1]);
}
template <CompareOp op>
Value compare_function(Vm& vm, Args& a) {
  return compare(vm, op, a[0], a[1]);
}
template <UnaryOp op>
Value unary_function(Vm& vm, Args& a) {
  return unary(vm, op, a[0]);
}
Value not_(Vm& vm, Args& a) { return Value::boolean(!truth(vm, a[0])); }
Value truth_(Vm& vm, Args& a) { return Value::boolean(truth(vm, a[0])); }
Value is_(Vm&, Args& a) { return Value::boolean(a[0].is(a[1])); }
Value is_not(Vm&, Args& a) { return Value::boolean(!a[0].is(a[1])); }
Value contains_(Vm& vm, Args& a) { return Value::boolean(contains(vm, a[0], a[1])); }
Value getitem(Vm& vm, Args& a) { return get_item(vm, a[0], a[1]); }
Value setitem(Vm& vm, Args& a) { return set_item(vm, a[0], a[1], a[2]), Value::none(); }
Value delitem(Vm& vm, Args& a) { return delete_item(vm, a[0], a[1]), Value::none(); }
Value index_(Vm& vm, Args& a) { return whole_of(vm, a[0]); }
Value concat(Vm& vm, Args& a) {
  if (!type_of(vm, a[0])->slots.get_item)
    raise_type_error(vm, "'" + type_name(vm, a[0]) + "' object can't be concatenated");
  return binary(vm, BinaryOp::Add, a[0], a[1]);
}
Value count_of(Vm& vm, Args& a) {
  int64_t n = 0;
  for_each(vm, a[0], [&](const Value& v) { return n += equal(vm, v, a[1]), true; });
  return Value::integer(n);
}
Value index_of(Vm& vm, Args& a) {
  int64_t at = 0;
  bool found = false;
  for_each(vm, a[0], [&](const Value& v) {
    found = equal(vm, v, a[1]);
    at += !found;
    return !found;
  });
  if (!found) raise_value_error(vm, "sequence.index(x): x not in sequence");
  return Value::integer(at);
}
Value length_hint(Vm& vm, Args& a) {
  if (type_of(vm, a[0])->slots.length) return Value::integer(length(vm, a[0]));
  if (!whole_of(vm, a[1]).is_int())
    raise_type_error(vm, "'" + type_name(vm, a[1]) + "' object cannot be interpreted as an integer");
  const Value hook = find_attribute(vm, a[0], intern(vm, "__length_hint__").get());
  const Value hint = hook && !hook.is_none() ? call(vm, hook) : Value(vm.not_implemented());
  if (hint.is(vm.not_implemented())) return a[1];
  if (!hint.is_int() && !hint.is_bool())
    raise_type_error(vm, "__length_hint__ must be an integer, not " + type_name(vm, hint));
  if (hint.is_int() && hint.as_int() < 0) raise_value_error(vm, "__length_hint__() should return >= 0");
  return Value::integer(to_index(vm, hint));
}

// call(obj, /, *args, **kwargs)
Value call_object(Vm& vm, Args& a) {
  if (!a.count) raise_type_error(vm, "call expected at least 1 argument, got 0");
  Args rest = a;
  ++rest.positional;
  --rest.count;
  return call(vm, a[0], rest);
}

struct Row {
  const char* name;
  const char* signature;
  NativeCode code;
};
// clang-format off
#define BINARY(name, op)                                      \
  {name, "a, b, /", binary_function<BinaryOp::op>},           \
  {"__" name "__", "a, b, /", binary_function<BinaryOp::op>}, \
  {"i" name, "a, b, /", in_place_function<BinaryOp::op>}
#define COMPARE(name, op) \
  {name, "a, b, /", compare_function<CompareOp::op>}, {"__" name "__", "a, b, /", compare_function<CompareOp::op>}
constexpr Row kRows[] = {
    BINARY("add", Add), BINARY("sub", Sub), BINARY("mul", Mul), BINARY("truediv", TrueDiv),
    BINARY("floordiv", FloorDiv), BINARY("mod", Mod), BINARY("pow", Pow), BINARY("matmul", MatMul),
    BINARY("lshift", LShift), BINARY("rshift", RShift), BINARY("xor", BitXor),
    {"and_", "a, b, /", binary_function<BinaryOp::BitAnd>},
    {"or_", "a, b, /", binary_function<BinaryOp::BitOr>},
    {"__and__", "a, b, /", binary_function<BinaryOp::BitAnd>},
    {"__or__", "a, b, /", binary_function<BinaryOp::BitOr>},
    {"iand", "a, b, /", in_place_function<BinaryOp::BitAnd>},
    {"ior", "a, b, /", in_place_function<BinaryOp::BitOr>},
    COMPARE("lt", Lt), COMPARE("le", Le), COMPARE("eq", Eq), COMPARE("ne", Ne), COMPARE("gt", Gt),
    COMPARE("ge", Ge),
    {"neg", "a, /", unary_function<UnaryOp::Negative>},
    {"pos", "a, /", unary_function<UnaryOp::Positive>},
    {"inv", "a, /", unary_function<UnaryOp::Invert>},
    {"invert", "a, /", unary_function<UnaryOp::Invert>},
    {"abs", "a, /", unary_function<UnaryOp::Absolute>},
    {"not_", "a, /", not_}, {"truth", "a, /", truth_}, {"is_", "a, b, /", is_},
    {"is_not", "a, b, /", is_not}, {"contains", "a, b, /", contains_}, {"getitem", "a, b, /", getitem},
    {"setitem", "a, b, c, /", setitem}, {"delitem", "a, b, /", delitem}, {"index", "a, /", index_},
    {"concat", "a, b, /", concat}, {"iconcat", "a, b, /", in_place_function<BinaryOp::Add>},
    {"countOf", "a, b, /", count_of}, {"indexOf", "a, b, /", index_of},
    {"length_hint", "obj, default=0, /", length_hint},
};
// clang-format on

// itemgetter, attrgetter and methodcaller: what to get, and how.
struct Getter : Object {
  std::vector<Value> items;                          // as given, for the repr
  std::vector<std::vector<Local<StrObject>>> paths;  // attrgetter: each split at the dots
  std::vector<Local<StrObject>> keyword_names;
  std::vector<Value> keyword_values;
  Getter() : Object(Kind::Native) {}
};
Getter* getter_of(const Value& v) { return static_cast<Getter*>(v.object()); }

void getter_traverse(Object* o, Visitor& visit) {
  for (const Value& v : static_cast<Getter*>(o)->items) visit(v);
  for (const Value& v : static_cast<Getter*>(o)->keyword_values) visit(v);
}
Value item_construct(Vm& vm, Type* type, Args& args) {
  no_keywords(vm, "itemgetter", args);
  if (!args.count) raise_type_error(vm, "itemgetter expected 1 argument, got 0");
  Local<Getter> g = vm.heap().make<Getter>(type);
  g->items.assign(args.positional, args.positional + args.count);
  return g.take();
}
Value attribute_construct(Vm& vm, Type* type, Args& args) {
  no_keywords(vm, "attrgetter", args);
  if (!args.count) raise_type_error(vm, "attrgetter expected 1 argument, got 0");
  Local<Getter> g = vm.heap().make<Getter>(type);
  g->items.assign(args.positional, args.positional + args.count);
  for (const Value& v : g->items) {
    if (!is_kind(v, Kind::Str)) raise_type_error(vm, "attribute name must be a string");
    std::string_view path = cast<StrObject>(v)->view();
    std::vector<Local<StrObject>> names;
    for (size_t dot = 0; dot != std::string_view::npos;) {
      dot = path.find('.');
      names.push_back(intern(vm, path.substr(0, dot)));
      if (dot != std::string_view::npos) path.remove_prefix(dot + 1);
    }
    g->paths.push_back(std::move(names));
  }
  return g.take();
}
Value method_construct(Vm& vm, Type* type, Args& args) {
  if (!args.count) raise_type_error(vm, "methodcaller needs at least one argument, the method name");
  if (!is_kind(args[0], Kind::Str)) raise_type_error(vm, "method name must be a string");
  Local<Getter> g = vm.heap().make<Getter>(type);
  g->items.assign(args.positional, args.positional + args.count);
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    g->keyword_names.push_back(intern(vm, args.keyword_names[i]));
    g->keyword_values.push_back(args.keyword_values[i]);
  }
  return g.take();
}
template <class F>
Value one_or_tuple(Vm& vm, size_t n, F get) {
  if (n == 1) return get(0);
  std::vector<Value> values;
  for (size_t i = 0; i < n; ++i) values.push_back(get(i));
  return make_tuple(vm, values).take();
}
Value item_call(Vm& vm, const Value& self, Args& args) {
  no_keywords(vm, "itemgetter", args);
  expect_count(vm, "itemgetter", args, 1);
  Getter* g = getter_of(self);
  return one_or_tuple(vm, g->items.size(), [&](size_t i) { return get_item(vm, args[0], g->items[i]); });
}
Value attribute_call(Vm& vm, const Value& self, Args& args) {
  no_keywords(vm, "attrgetter", args);
  expect_count(vm, "attrgetter", args, 1);
  Getter* g = getter_of(self);
  return one_or_tuple(vm, g->paths.size(), [&](size_t i) {
    Value v = args[0];
    for (const auto& name : g->paths[i]) v = get_attribute(vm, v, name.get());
    return v;
  });
}
Value method_call(Vm& vm, const Value& self, Args& args) {
  no_keywords(vm, "methodcaller", args);
  expect_count(vm, "methodcaller", args, 1);
  Getter* g = getter_of(self);
  Value method = get_attribute(vm, args[0], intern(vm, cast<StrObject>(g->items[0])).get());
  std::vector<StrObject*> names(g->keyword_names.begin(), g->keyword_names.end());
  Args full;
  full.positional = g->items.data() + 1;
  full.count = static_cast<uint32_t>(g->items.size() - 1);
  full.keyword_count = static_cast<uint32_t>(names.size());
  full.keyword_names = names.data();
  full.keyword_values = g->keyword_values.data();
  return call(vm, method, full);
}
Value getter_repr(Vm& vm, const Value& self) {
  Getter* g = getter_of(self);
  std::string text = "operator." + own_name(self.object()->type) + "(";
  for (size_t i = 0; i < g->items.size(); ++i) text += (i ? ", " : "") + repr(vm, g->items[i]);
  for (size_t i = 0; i < g->keyword_names.size(); ++i)
    text += ", " + std::string(g->keyword_names[i]->view()) + "=" + repr(vm, g->keyword_values[i]);
  return str_value(vm, text + ")");
}
void add_getter(Vm& vm, ModuleBuilder& m, std::string_view name, Value (*make)(Vm&, Type*, Args&),
                Value (*run)(Vm&, const Value&, Args&)) {
  TypeBuilder b(vm, name, Kind::Native);
  b.slots().destroy = destroy_as<Getter>;
  b.slots().traverse = getter_traverse;
  b.slots().construct = make;
  b.slots().call = run;
  b.slots().repr = getter_repr;
  b.module("operator");
  m.value(name, Value(b.finish()));
}

}  // namespace

Local<ModuleObject> make_operator_module(Vm& vm) {
  ModuleBuilder m(vm, "operator");
  Local<ListObject> names = make_list(vm);
  const auto add_name = [&](std::string_view name) { list_append(vm, names.get(), make_str(vm, name).value()); };
  for (const Row& row : kRows) {
    m.function(row.name, row.signature, row.code);
    if (row.name[0] != '_') add_name(row.name);
  }
  for (const char* name : {"call", "itemgetter", "attrgetter", "methodcaller"}) add_name(name);
  m.value("__all__", names.value());
  m.raw_function("call", call_object);
  add_getter(vm, m, "itemgetter", item_construct, item_call);
  add_getter(vm, m, "attrgetter", attribute_construct, attribute_call);
  add_getter(vm, m, "methodcaller", method_construct, method_call);
  return m.finish();
}

}  // namespace tsc::interp
