// _collections: deque, and the counting loop of Counter. collections/__init__.tsc holds the rest.
#include <deque>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/itertools_types.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/slow_ops.h"

namespace tsc::interp {
namespace {

struct Deque : Instance {
  std::deque<Value> items;
  int64_t limit = -1;    // maxlen; negative: none
  uint64_t changes = 0;  // additions and removals, for iterators
  Deque() : Instance(Kind::Native) {}
};
const char kDequeType = 0;
Type* deque_type(Vm& vm) { return *std::static_pointer_cast<Type*>(vm.extension(&kDequeType)); }
Deque* deque_of(const Value& v) { return static_cast<Deque*>(v.object()); }
bool is_deque(Vm& vm, const Value& v) { return v.is_object() && v.object()->type->is_subtype_of(deque_type(vm)); }
Local<Deque> new_deque(Vm& vm, Type* type) {
  Local<Deque> d = vm.heap().make<Deque>(type);
  d->state.shape = type->root();
  return d;
}
int64_t size_of(const Deque* d) { return static_cast<int64_t>(d->items.size()); }

void push_back(Deque* d, const Value& v) {
  ++d->changes;
  if (d->limit == 0) return;
  Value dropped;  // freed last: freeing may run code that looks at the deque
  if (size_of(d) == d->limit) dropped = std::move(d->items.front()), d->items.pop_front();
  d->items.push_back(v);
}
void push_front(Deque* d, const Value& v) {
  ++d->changes;
  if (d->limit == 0) return;
  Value dropped;
  if (size_of(d) == d->limit) dropped = std::move(d->items.back()), d->items.pop_back();
  d->items.push_front(v);
}
Value append(Vm&, Args& a) { return push_back(deque_of(a[0]), a[1]), Value::none(); }
Value appendleft(Vm&, Args& a) { return push_front(deque_of(a[0]), a[1]), Value::none(); }
void extend_with(Vm& vm, Deque* d, const Value& source, bool left) {
  Value items = is_deque(vm, source) && deque_of(source) == d ? to_list(vm, source).take() : source;
  for_each(vm, items, [&](const Value& v) {
    left ? push_front(d, v) : push_back(d, v);
    return true;
  });
}
Value extend(Vm& vm, Args& a) { return extend_with(vm, deque_of(a[0]), a[1], false), Value::none(); }
Value extendleft(Vm& vm, Args& a) { return extend_with(vm, deque_of(a[0]), a[1], true), Value::none(); }
Value pop(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  if (d->items.empty()) return return_error(vm, vm.exceptions().IndexError, "pop from an empty deque");
  ++d->changes;
  Value v = std::move(d->items.back());
  d->items.pop_back();
  return v;
}
Value popleft(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  if (d->items.empty()) return return_error(vm, vm.exceptions().IndexError, "pop from an empty deque");
  ++d->changes;
  Value v = std::move(d->items.front());
  d->items.pop_front();
  return v;
}
Value clear(Vm&, Args& a) {
  Deque* d = deque_of(a[0]);
  ++d->changes;
  std::deque<Value> dropped;
  dropped.swap(d->items);
  return Value::none();
}
Value copy(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  Local<Deque> r = new_deque(vm, d->type);
  r->items = d->items;
  r->limit = d->limit;
  return r.take();
}
Value rotate(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  int64_t steps = to_index(vm, a[1]);
  const int64_t n = size_of(d);
  if (n < 2) return Value::none();
  steps %= n;
  if (steps < 0) steps += n;
  ++d->changes;
  // From one end to the other, whichever are fewer.
  if (steps <= n / 2) {
    for (; steps > 0; --steps) {
      d->items.push_front(d->items.back());
      d->items.pop_back();
    }
    return Value::none();
  }
  for (; steps < n; ++steps) {
    d->items.push_back(d->items.front());
    d->items.pop_front();
  }
  return Value::none();
}
Value reverse(Vm&, Args& a) {
  Deque* d = deque_of(a[0]);
  std::reverse(d->items.begin(), d->items.end());
  ++d->changes;
  return Value::none();
}
void check_unchanged(Vm& vm, Deque* d, uint64_t changes, Type* error = nullptr) {
  if (d->changes != changes) raise(vm, error ? error : vm.exceptions().RuntimeError, "deque mutated during iteration");
}
// Place of an equal item in [start, stop), or -1.
int64_t find_item(Vm& vm, Deque* raw, const Value& wanted, int64_t start, int64_t stop, Type* mutated = nullptr) {
  Local<Deque> d(raw);
  uint64_t changes = d->changes;
  for (int64_t i = start; i < stop && i < size_of(d); ++i) {
    Value item = d->items[static_cast<size_t>(i)];
    bool found = equal(vm, item, wanted);
    check_unchanged(vm, d, changes, mutated);
    if (found) return i;
  }
  return -1;
}
Value count(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  int64_t n = 0;
  for (int64_t i = 0; (i = find_item(vm, d, a[1], i, size_of(d))) >= 0; ++i) ++n;
  return Value::integer(n);
}
Value index(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  auto clip = [&](const Value& v) {
    int64_t i = slice_bound(vm, v);
    return std::clamp<int64_t>(i < 0 ? i + size_of(d) : i, 0, size_of(d));
  };
  int64_t place = find_item(vm, d, a[1], a.has(2) ? clip(a[2]) : 0, a.has(3) ? clip(a[3]) : size_of(d));
  if (place < 0) return return_error(vm, vm.exceptions().ValueError, repr(vm, a[1]) + " is not in deque");
  return Value::integer(place);
}
Value remove(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  int64_t place = find_item(vm, d, a[1], 0, size_of(d), vm.exceptions().IndexError);
  if (place < 0) return return_error(vm, vm.exceptions().ValueError, repr(vm, a[1]) + " is not in deque");
  ++d->changes;
  Value dropped = std::move(d->items[static_cast<size_t>(place)]);
  d->items.erase(d->items.begin() + place);
  return Value::none();
}
Value insert(Vm& vm, Args& a) {
  Deque* d = deque_of(a[0]);
  if (d->limit >= 0 && size_of(d) >= d->limit) raise_index_error(vm, "deque already at its maximum size");
  int64_t i = to_index(vm, a[1]);
  i = std::clamp<int64_t>(i < 0 ? i + size_of(d) : i, 0, size_of(d));
  ++d->changes;
  d->items.insert(d->items.begin() + i, a[2]);
  return Value::none();
}

Value deque_construct(Vm& vm, Type* type, Args&) { return new_deque(vm, type).take(); }
void deque_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("iterable=?, maxlen=None");
  std::vector<Value> v = bind_arguments(vm, kSignature, "deque", args);
  Deque* d = deque_of(self);
  int64_t limit = -1;
  if (!v[1].is_none()) {
    if (!is_integer_like(v[1])) raise_type_error(vm, "an integer is required");
    limit = v[1].as_int();
    if (limit < 0) raise_value_error(vm, "maxlen must be non-negative");
  }
  d->items.clear();
  ++d->changes;
  d->limit = limit;
  if (v[0]) extend_with(vm, d, v[0], false);
}
void deque_traverse(Object* o, Visitor& visit) {
  for (const Value& v : static_cast<Deque*>(o)->items) visit(v);
  traverse_instance(o, visit);
}
void deque_clear(Vm& vm, Object* o) {
  std::deque<Value> dropped;
  dropped.swap(static_cast<Deque*>(o)->items);
  clear_instance(vm, o);
}
Value deque_repr(Vm& vm, const Value& self) {
  Deque* d = deque_of(self);
  ReprGuard guard(d);
  if (guard.recursive()) return str_value(vm, "[...]");
  std::vector<Value> items(d->items.begin(), d->items.end());
  TextBuilder out(vm);
  out += own_name(d->type);
  out += "([";
  add_reprs(vm, out, items);
  out += ']';
  if (d->limit >= 0) out += ", maxlen=" + std::to_string(d->limit);
  out += ')';
  return out.str();
}
int64_t place_of(Vm& vm, Deque* d, const Value& key) {
  if (!is_integer_like(key) && !type_of(vm, key)->slots.to_index)
    raise_type_error(vm, "sequence index must be integer, not '" + type_name(vm, key) + "'");
  int64_t i = to_index(vm, key);
  if (i < 0) i += size_of(d);
  if (i < 0 || i >= size_of(d)) raise_index_error(vm, "deque index out of range");
  return i;
}
Value deque_get(Vm& vm, const Value& self, const Value& key) {
  return deque_of(self)->items[static_cast<size_t>(place_of(vm, deque_of(self), key))];
}
void deque_set(Vm& vm, const Value& self, const Value& key, const Value& value) {
  Deque* d = deque_of(self);
  std::exchange(d->items[static_cast<size_t>(place_of(vm, d, key))], value);
}
void deque_delete(Vm& vm, const Value& self, const Value& key) {
  Deque* d = deque_of(self);
  int64_t i = place_of(vm, d, key);
  ++d->changes;
  Value dropped = std::move(d->items[static_cast<size_t>(i)]);
  d->items.erase(d->items.begin() + i);
}
bool deque_contains(Vm& vm, const Value& self, const Value& v) {
  return find_item(vm, deque_of(self), v, 0, size_of(deque_of(self))) >= 0;
}
Value deque_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_deque(vm, a) || !is_deque(vm, b)) return vm.not_implemented();
  std::vector<Value> x(deque_of(a)->items.begin(), deque_of(a)->items.end());
  std::vector<Value> y(deque_of(b)->items.begin(), deque_of(b)->items.end());
  return Value::boolean(sequences_compare(vm, op, x, y));
}
Value repeated(Vm& vm, const Value& self, const Value& factor) {
  Deque* d = deque_of(self);
  Local<Deque> r = new_deque(vm, d->type);
  r->limit = d->limit;
  for (int64_t i = to_index(vm, factor); i > 0; --i)
    for (const Value& v : std::vector<Value>(d->items.begin(), d->items.end())) push_back(r, v);
  return r.take();
}
Value deque_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  if (op == BinaryOp::Mul && is_integer_like(reflected ? a : b))
    return repeated(vm, reflected ? b : a, reflected ? a : b);
  if (op != BinaryOp::Add || reflected) return vm.not_implemented();
  if (!is_deque(vm, b)) raise_type_error(vm, "can only concatenate deque (not \"" + type_name(vm, b) + "\") to deque");
  Value self = a;
  Args args;
  args.positional = &self;
  args.count = 1;
  Value r = copy(vm, args);
  extend_with(vm, deque_of(r), b, false);
  return r;
}
Value deque_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  if (op == BinaryOp::Add) return extend_with(vm, deque_of(self), other, false), self;
  if (op != BinaryOp::Mul || !is_integer_like(other)) return vm.not_implemented();
  Value r = repeated(vm, self, other);
  ++deque_of(self)->changes;
  deque_of(self)->items.swap(deque_of(r)->items);
  return self;
}

struct DequeIterator final : NativeIterator {
  Local<Deque> deque;
  size_t index = 0;
  uint64_t changes = 0;
  bool backwards = false;
  bool next(Vm& vm, Value& out) override {
    if (!deque) return false;
    check_unchanged(vm, deque, changes);
    if (index >= deque->items.size()) return deque = nullptr, false;
    out = deque->items[backwards ? deque->items.size() - 1 - index : index];
    ++index;
    return true;
  }
  void traverse(Visitor& visit) override { visit(deque.get()); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override {
    Local<DequeIterator> made = vm.heap().make<DequeIterator>(type);
    Value copied;
    if (deque) copy_member(vm, copied, deque.value(), part);
    if (copied && is_deque(vm, copied)) made->deque = Local<Deque>(deque_of(copied));
    made->index = index;
    made->backwards = backwards;
    made->changes = !made->deque || made->deque.get() == deque.get() ? changes : made->deque->changes;
    return made.take();
  }
};
const char kIteratorType = 0;
Value make_iterator(Vm& vm, const Value& self, bool backwards) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kIteratorType));
  Local<DequeIterator> it = vm.heap().make<DequeIterator>(type);
  it->deque = Local<Deque>(deque_of(self));
  it->changes = it->deque->changes;
  it->backwards = backwards;
  return it.take();
}
Value reversed(Vm& vm, Args& a) { return make_iterator(vm, a[0], true); }
Value get_limit(Vm&, const Value& v) {
  return deque_of(v)->limit < 0 ? Value::none() : Value::integer(deque_of(v)->limit);
}

// count_elements(mapping, iterable): adds one for every item.
Value count_elements(Vm& vm, Args& a) {
  auto* counts = try_cast<DictObject>(a[0]);
  if (!counts) raise_type_error(vm, "the mapping must be a dict");
  for_each(vm, a[1], [&](const Value& item) {
    Value old = dict_get(vm, counts, item);
    dict_set(vm, counts, item, old ? binary(vm, BinaryOp::Add, old, Value::integer(1)) : Value::integer(1));
    return true;
  });
  return Value::none();
}

void set_deque_slots(TypeSlots& s) {
  s.destroy = destroy_as<Deque>;
  s.release = [](Heap& heap, Object* o) {
    std::deque<Value>& items = static_cast<Deque*>(o)->items;
    while (!items.empty() && !heap.is_late()) items.pop_back();
    return items.empty();
  };
  s.traverse = deque_traverse;
  s.clear = deque_clear;
  s.construct = deque_construct;
  s.initialize = deque_initialize;
  s.repr = deque_repr;
  s.hash = [](Vm& vm, const Value&) -> int64_t { raise_type_error(vm, "unhashable type: 'collections.deque'"); };
  s.length = [](Vm&, const Value& v) { return size_of(deque_of(v)); };
  s.get_item = deque_get;
  s.set_item = deque_set;
  s.delete_item = deque_delete;
  s.contains = deque_contains;
  s.compare = deque_compare;
  s.binary = deque_binary;
  s.in_place = deque_in_place;
  s.iterate = [](Vm& vm, const Value& self) { return make_iterator(vm, self, false); };
}

Type* make_deque_type(Vm& vm) {
  TypeBuilder b(vm, "deque", Kind::Native);
  set_deque_slots(b.slots());
  b.with_attributes(offset_of(&Deque::state)).allow_subclasses();
  b.module("collections")
      .method("append", "self, x, /", append)
      .method("appendleft", "self, x, /", appendleft)
      .method("extend", "self, iterable, /", extend)
      .method("extendleft", "self, iterable, /", extendleft)
      .method("pop", "self", pop)
      .method("popleft", "self", popleft)
      .method("clear", "self", clear)
      .method("copy", "self", copy)
      .method("__copy__", "self", copy)
      .method("rotate", "self, n=1, /", rotate)
      .method("reverse", "self", reverse)
      .method("count", "self, x, /", count)
      .method("index", "self, x, start=?, stop=?, /", index)
      .method("remove", "self, x, /", remove)
      .method("insert", "self, i, x, /", insert)
      .method("__reversed__", "self", reversed)
      .getter("maxlen", get_limit)
      .attribute("__hash__", Value::none())
      .attribute(ops::kPatternFlags, Value::integer(ops::kSequencePattern));
  return b.finish();
}

}  // namespace

Local<ModuleObject> make_collections_module(Vm& vm) {
  ModuleBuilder m(vm, "_collections");
  Type* type = make_deque_type(vm);
  vm.extension(&kDequeType) = std::make_shared<Type*>(type);
  vm.extension(&kIteratorType) = std::make_shared<Type*>(make_iterator_type<DequeIterator>(vm, "_deque_iterator"));
  m.value("deque", Value(type)).function("count_elements", "mapping, iterable, /", count_elements);
  return m.finish();
}

}  // namespace tsc::interp
