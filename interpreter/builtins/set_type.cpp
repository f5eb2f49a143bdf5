// set and frozenset.
#include "interpreter/builtins/builtins.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/iteration.h"
#include "runtime/base/hash.h"

namespace tsc::interp {
namespace {

SetObject* set_of(const Value& v) { return cast<SetObject>(v); }

void set_traverse(Object* o, Visitor& visit) {
  Table& table = static_cast<SetObject*>(o)->table;
  for (uint32_t i = 0; i < table.used(); ++i) visit(table.entry(i).key);
  traverse_instance(o, visit);
}
void set_clear_slot(Vm& vm, Object* o) {
  static_cast<SetObject*>(o)->table.clear();
  clear_instance(vm, o);
}
void add_all(Vm& vm, SetObject* set, const Value& source) {
  if (auto* other = try_cast<SetObject>(source)) {
    for (uint32_t i = 0; i < other->table.used(); ++i) {
      vm.hear_stop();
      if (!other->table.entry(i).key) continue;
      Value key = other->table.entry(i).key;
      set_add(vm, set, key);
    }
    return;
  }
  for_each(vm, source, [&](const Value& v) {
    set_add(vm, set, v);
    return true;
  });
}
// A set of the items, or the set itself.
Local<SetObject> as_set(Vm& vm, const Value& v) {
  if (is_kind(v, Kind::Set)) return Local<SetObject>(set_of(v));
  Local<SetObject> set = make_set(vm);
  add_all(vm, set, v);
  return set;
}
Local<SetObject> result_like(Vm& vm, const Value& self) {
  return make_set(vm, self.object()->type->is_subtype_of(vm.types().frozenset));
}
bool has(Vm& vm, SetObject* set, const Value& v) { return set->table.find(vm, v) >= 0; }
template <class F>
void each(Vm& vm, SetObject* raw, F f) {
  Local<SetObject> set(raw);
  for (uint32_t i = 0; i < set->table.used(); ++i) {
    vm.hear_stop();
    if (!set->table.entry(i).key) continue;
    Value key = set->table.entry(i).key;
    f(key);
  }
}

Value combine(Vm& vm, BinaryOp op, const Value& a, SetObject* y) {
  SetObject* x = set_of(a);
  Local<SetObject> r = result_like(vm, a);
  if (op == BinaryOp::BitOr) {
    r->table.copy_from(x->table);
    each(vm, y, [&](const Value& v) { set_add(vm, r, v); });
  } else if (op == BinaryOp::BitAnd) {
    each(vm, x, [&](const Value& v) {
      if (has(vm, y, v)) set_add(vm, r, v);
    });
  } else {
    each(vm, x, [&](const Value& v) {
      if (!has(vm, y, v)) set_add(vm, r, v);
    });
    if (op == BinaryOp::BitXor)
      each(vm, y, [&](const Value& v) {
        if (!has(vm, x, v)) set_add(vm, r, v);
      });
  }
  return r.take();
}
bool set_operator(BinaryOp op) {
  return op == BinaryOp::BitOr || op == BinaryOp::BitAnd || op == BinaryOp::BitXor || op == BinaryOp::Sub;
}
Value set_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  if (!set_operator(op) || !is_kind(a, Kind::Set) || !is_kind(b, Kind::Set)) return vm.not_implemented();
  return combine(vm, op, a, set_of(b));
}
void replace(Vm& vm, const Value& self, const Value& content) {
  note_store(vm, self.object(), Value());
  set_of(self)->table.copy_from(set_of(content)->table);
}
Value set_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  bool frozen = self.object()->type->is_subtype_of(vm.types().frozenset);
  if (frozen || !set_operator(op) || !is_kind(other, Kind::Set)) return vm.not_implemented();
  replace(vm, self, combine(vm, op, self, set_of(other)));
  return self;
}
bool is_subset(Vm& vm, SetObject* x, SetObject* y) {
  if (x->table.size() > y->table.size()) return false;
  bool all = true;
  each(vm, x, [&](const Value& v) { all = all && has(vm, y, v); });
  return all;
}
Value set_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Set) || !is_kind(b, Kind::Set)) return vm.not_implemented();
  SetObject *x = set_of(a), *y = set_of(b);
  size_t n = x->table.size(), m = y->table.size();
  switch (op) {
    case CompareOp::Eq: return Value::boolean(n == m && is_subset(vm, x, y));
    case CompareOp::Ne: return Value::boolean(!(n == m && is_subset(vm, x, y)));
    case CompareOp::Le: return Value::boolean(is_subset(vm, x, y));
    case CompareOp::Lt: return Value::boolean(n < m && is_subset(vm, x, y));
    case CompareOp::Ge: return Value::boolean(is_subset(vm, y, x));
    default: return Value::boolean(m < n && is_subset(vm, y, x));
  }
}
int64_t frozenset_hash(Vm& vm, const Value& v) {
  uint64_t h = 1927868237;  // the order of the items must not matter
  Table& table = set_of(v)->table;
  for (uint32_t i = 0; i < table.used(); ++i)
    if (table.entry(i).key) h += hash_mix(vm.hash_key(1), table.entry(i).hash);
  return static_cast<int64_t>(h);
}
Value set_construct(Vm& vm, Type* type, Args&) { return vm.heap().make<SetObject>(type).take(); }
void set_initialize(Vm& vm, const Value& self, Args& args) {
  if (args.count > 1 || args.keyword_count)
    raise_type_error(vm, "set expected at most 1 argument, got " + std::to_string(args.count));
  note_store(vm, self.object(), Value());
  set_of(self)->table.clear();
  if (args.count) add_all(vm, set_of(self), args[0]);
}
Value frozenset_construct(Vm& vm, Type* type, Args& args) {
  if (args.count > 1) raise_type_error(vm, "frozenset expected at most 1 argument, got " + std::to_string(args.count));
  Value set = vm.heap().make<SetObject>(type).take();
  if (args.count) add_all(vm, set_of(set), args[0]);
  return set;
}
Value set_repr(Vm& vm, const Value& self) {
  bool plain = self.object()->type == vm.types().set;
  const std::string& name = self.object()->type->name;
  ReprGuard guard(self.object());
  if (guard.recursive()) return str_value(vm, name + "(...)");
  if (!set_of(self)->table.size()) return str_value(vm, name + "()");
  TextBuilder out(vm);
  out += plain ? "{" : name + "({";
  add_reprs(vm, out, to_list(vm, self)->items);
  out += plain ? "}" : "})";
  return out.str();
}
int64_t set_length(Vm&, const Value& v) { return static_cast<int64_t>(set_of(v)->table.size()); }
// A set asked for in a set stands for the frozenset of its elements.
Value element(Vm& vm, const Value& v) {
  bool mutable_set = is_kind(v, Kind::Set) && !v.object()->type->slots.hash;
  if (!mutable_set) return v;
  Local<SetObject> frozen = make_set(vm, true);
  frozen->table.copy_from(set_of(v)->table);
  return frozen.take();
}
bool set_contains(Vm& vm, const Value& self, const Value& v) { return has(vm, set_of(self), element(vm, v)); }

struct SetIterator final : NativeIterator {
  Local<SetObject> set;
  static constexpr size_t kChanged = SIZE_MAX;  // it stays an error
  uint32_t place = 0;
  size_t size = 0, left = 0;  // elements at the beginning, and of those still to come
  bool next(Vm& vm, Value& out) override {
    if (!set) return false;
    if (set->table.size() != size) {
      size = kChanged;
      raise(vm, vm.exceptions().RuntimeError, "Set changed size during iteration");
    }
    while (left > 0 && place < set->table.used()) {
      const Table::Entry& e = set->table.entry(place++);
      if (!e.key) continue;
      --left;
      out = e.key;
      return true;
    }
    set = nullptr;
    return false;
  }
  void traverse(Visitor& visit) override { visit(set.get()); }
  // Of a list of what is left.
  Value rebuilt(Vm& vm, const CopiedPart& part) const override {
    Local<SetIterator> rest = vm.heap().make<SetIterator>(type);
    rest->set = set;
    rest->place = place;
    rest->size = size;
    rest->left = left;
    return iterate(vm, part(to_list(vm, rest.value()).value()));
  }
};
const char kSetExtension = 0;
Value set_iterate(Vm& vm, const Value& self) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kSetExtension));
  Local<SetIterator> it = vm.heap().make<SetIterator>(type);
  it->set = Local<SetObject>(set_of(self));
  it->size = it->left = it->set->table.size();
  it->place = it->set->table.first();
  return it.take();
}

Value add(Vm& vm, Args& a) {
  set_add(vm, set_of(a[0]), a[1]);
  return Value::none();
}
Value discard(Vm& vm, Args& a) {
  set_remove(vm, set_of(a[0]), element(vm, a[1]));
  return Value::none();
}
Value remove(Vm& vm, Args& a) {
  if (!set_remove(vm, set_of(a[0]), element(vm, a[1]))) return return_key_error(vm, a[1]);
  return Value::none();
}
Value pop(Vm& vm, Args& a) {
  SetObject* set = set_of(a[0]);
  if (!set->table.size()) return return_key_error(vm, str_value(vm, "pop from an empty set"));
  Value v = set->table.entry(set->table.first()).key;
  set_remove(vm, set, v);
  return v;
}
Value clear(Vm& vm, Args& a) {
  note_store(vm, a[0].object(), Value());
  set_of(a[0])->table.clear();
  return Value::none();
}
Value copy(Vm& vm, Args& a) {
  if (a[0].object()->type == vm.types().frozenset) return a[0];
  Local<SetObject> r = result_like(vm, a[0]);
  r->table.copy_from(set_of(a[0])->table);
  return r.take();
}
// self op each of the arguments.
template <BinaryOp op>
Value combine_all(Vm& vm, Args& a) {
  Value r = combine(vm, BinaryOp::BitOr, a[0], make_set(vm));
  for (const Value& v : cast<TupleObject>(a[1])->span()) r = combine(vm, op, r, as_set(vm, v));
  return r;
}
template <BinaryOp op>
Value combine_update(Vm& vm, Args& a) {
  replace(vm, a[0], combine_all<op>(vm, a));
  return Value::none();
}
Value update(Vm& vm, Args& a) {
  for (const Value& v : cast<TupleObject>(a[1])->span()) add_all(vm, set_of(a[0]), v);
  return Value::none();
}
Value symmetric_difference(Vm& vm, Args& a) { return combine(vm, BinaryOp::BitXor, a[0], as_set(vm, a[1])); }
Value symmetric_difference_update(Vm& vm, Args& a) {
  replace(vm, a[0], symmetric_difference(vm, a));
  return Value::none();
}
Value issubset(Vm& vm, Args& a) { return Value::boolean(is_subset(vm, set_of(a[0]), as_set(vm, a[1]))); }
Value issuperset(Vm& vm, Args& a) { return Value::boolean(is_subset(vm, as_set(vm, a[1]), set_of(a[0]))); }
Value isdisjoint(Vm& vm, Args& a) {
  Local<SetObject> other = as_set(vm, a[1]);
  bool common = false;
  each(vm, set_of(a[0]), [&](const Value& v) { common = common || has(vm, other, v); });
  return Value::boolean(!common);
}

void add_common(TypeBuilder& b) {
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<SetObject>;
  s.release = [](Heap& heap, Object* o) { return release_entries(heap, static_cast<SetObject*>(o)->table); };
  s.traverse = set_traverse;
  s.clear = set_clear_slot;
  s.repr = set_repr;
  s.binary = set_binary;
  s.compare = set_compare;
  s.length = set_length;
  s.contains = set_contains;
  s.iterate = set_iterate;
  b.allow_subclasses(offset_of(&SetObject::state));
  b.method("copy", "self", copy)
      .method("union", "self, *others", combine_all<BinaryOp::BitOr>)
      .method("intersection", "self, *others", combine_all<BinaryOp::BitAnd>)
      .method("difference", "self, *others", combine_all<BinaryOp::Sub>)
      .method("symmetric_difference", "self, other, /", symmetric_difference)
      .method("issubset", "self, other, /", issubset)
      .method("issuperset", "self, other, /", issuperset)
      .method("isdisjoint", "self, other, /", isdisjoint);
}

}  // namespace

void init_set_types(Vm& vm) {
  vm.extension(&kSetExtension) = std::make_shared<Type*>(make_iterator_type<SetIterator>(vm, "set_iterator"));
  TypeBuilder b(vm, "set", Kind::Set);
  add_common(b);
  b.slots().construct = set_construct;
  b.slots().initialize = set_initialize;
  b.slots().in_place = set_in_place;
  b.slots().hash = nullptr;
  b.attribute("__hash__", Value::none());
  b.method("add", "self, element, /", add)
      .method("discard", "self, element, /", discard)
      .method("remove", "self, element, /", remove)
      .method("pop", "self", pop)
      .method("clear", "self", clear)
      .method("update", "self, *others", update)
      .method("intersection_update", "self, *others", combine_update<BinaryOp::BitAnd>)
      .method("difference_update", "self, *others", combine_update<BinaryOp::Sub>)
      .method("symmetric_difference_update", "self, other, /", symmetric_difference_update);
  VmAccess::types(vm).set = b.finish();
  TypeBuilder f(vm, "frozenset", Kind::Set);
  add_common(f);
  f.slots().construct = frozenset_construct;
  f.slots().hash = frozenset_hash;
  VmAccess::types(vm).frozenset = f.finish();
  add_builtin(vm, "set", Value(vm.types().set));
  add_builtin(vm, "frozenset", Value(vm.types().frozenset));
}

}  // namespace tsc::interp
