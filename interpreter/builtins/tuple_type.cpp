// tuple, range and slice.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/iteration.h"
#include "runtime/base/hash.h"

namespace tsc::interp {

void tuple_destroy(Vm& vm, Object* o) {
  auto* t = static_cast<TupleObject*>(o);
  for (uint32_t i = 0; i < t->size; ++i) t->items[i].~Value();
  size_t extra = t->size * sizeof(Value);
  t->size = 0;
  if (t->type->type_flags & kScriptClass) vm.heap().finish(static_cast<TupleInstance*>(t), extra);
  else vm.heap().finish(t, extra);
}

namespace {

bool tuple_release(Heap& heap, Object* o) {
  auto* t = static_cast<TupleObject*>(o);
  // What was let go of before stands at the end.
  auto left = static_cast<uint32_t>(
      std::partition_point(t->items, t->items + t->size, [](const Value& v) { return bool(v); }) - t->items);
  while (left > 0 && !heap.is_late()) t->items[--left] = Value();
  return left == 0 && heap.may_free(t->size * sizeof(Value));
}

TupleObject* tuple_of(const Value& v) { return cast<TupleObject>(v); }

void tuple_traverse(Object* o, Visitor& visit) {
  auto* t = static_cast<TupleObject*>(o);
  for (uint32_t i = 0; i < t->size; ++i) visit(t->items[i]);
  traverse_instance(o, visit);
}
Value tuple_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("iterable=?, /");
  std::vector<Value> v;
  kSignature.bind(vm, "tuple", without_keywords_for(type, vm.names().init, args), v);
  Local<TupleObject> source = v[0] ? to_tuple(vm, v[0]) : make_tuple(vm, size_t{0});
  if (!(type->type_flags & kScriptClass)) return source.take();
  Local<TupleInstance> t = vm.heap().make_sized<TupleInstance>(type, source->size * sizeof(Value));
  t->items = reinterpret_cast<Value*>(t.get() + 1);
  for (uint32_t i = 0; i < source->size; ++i) new (&t->items[i]) Value(source->items[i]);
  t->size = source->size;
  return t.take();
}
Value tuple_repr(Vm& vm, const Value& self) {
  ReprGuard guard(self.object());
  if (guard.recursive()) return str_value(vm, "(...)");
  auto* t = tuple_of(self);
  TextBuilder out(vm);
  out += '(';
  add_reprs(vm, out, t->span());
  out += t->size == 1 ? ",)" : ")";
  return out.str();
}
Value tuple_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  if (op == BinaryOp::Add && !reflected && is_kind(a, Kind::Tuple) && is_kind(b, Kind::Tuple)) {
    TupleObject *x = tuple_of(a), *y = tuple_of(b);
    Local<TupleObject> r = make_tuple(vm, size_t{x->size} + y->size);
    Patience patience;
    for (size_t i = 0; i < r->size; ++i) {
      patience.step();
      r->items[i] = i < x->size ? x->items[i] : y->items[i - x->size];
    }
    return r.take();
  }
  if (op == BinaryOp::Mul) {
    TupleObject* t = tuple_of(reflected ? b : a);
    Value n = repeat_count(vm, reflected ? a : b);
    if (!n) return vm.not_implemented();
    if (t->size && static_cast<uint64_t>(n.as_int()) > (uint64_t{1} << 31) / t->size)
      raise(vm, vm.exceptions().MemoryError, "a tuple of this size does not fit in memory");
    Local<TupleObject> r = make_tuple(vm, t->size * static_cast<size_t>(n.as_int()));
    Patience patience;
    for (size_t i = 0, k = 0; i < r->size; ++i) {
      patience.step();
      r->items[i] = t->items[k];
      if (++k == t->size) k = 0;
    }
    return r.take();
  }
  return vm.not_implemented();
}
Value tuple_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Tuple) || !is_kind(b, Kind::Tuple)) return vm.not_implemented();
  vm.check_native_stack();
  return Value::boolean(sequences_compare(vm, op, tuple_of(a)->span(), tuple_of(b)->span()));
}
int64_t tuple_hash(Vm& vm, const Value& v) {
  uint64_t h = vm.hash_key(1) ^ 0x345678;  // items may be chosen by others: the key is not known to them
  for (const Value& item : tuple_of(v)->span()) {
    vm.hear_stop();  // of parts that are shared many times over
    h = hash_mix(h, hash(vm, item));
  }
  return static_cast<int64_t>(h);
}
int64_t tuple_length(Vm&, const Value& v) { return tuple_of(v)->size; }
Value tuple_get(Vm& vm, const Value& self, const Value& key) {
  TupleObject* t = tuple_of(self);
  if (auto* slice = try_cast<SliceObject>(key)) {
    SliceRange r = resolve_slice(vm, slice, t->size);
    if (r.step == 1 && r.count == t->size && t->type == vm.types().tuple) return self;
    Local<TupleObject> out = make_tuple(vm, static_cast<size_t>(r.count));
    Patience patience;
    for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step) patience.step(), out->items[k] = t->items[i];
    return out.take();
  }
  return t->items[sequence_index(vm, key, t->size, "tuple")];
}
bool tuple_contains(Vm& vm, const Value& self, const Value& item) {
  for (const Value& v : tuple_of(self)->span())
    if (vm.hear_stop(), equal(vm, v, item)) return true;
  return false;
}
Value tuple_iterate(Vm& vm, const Value& self) {
  Local<TupleIterator> it = vm.heap().make<TupleIterator>(vm.types().tuple_iterator);
  it->tuple = Local<TupleObject>(tuple_of(self));
  return it.take();
}
Value tuple_index(Vm& vm, Args& a) {
  TupleObject* t = tuple_of(a[0]);
  auto place = [&](const Value& v) {
    int64_t i = slice_bound(vm, v);
    return std::clamp<int64_t>(i < 0 ? i + t->size : i, 0, t->size);
  };
  const int64_t end = a.has(3) ? place(a[3]) : t->size;
  for (int64_t i = place(a[2]); i < end; ++i)
    if (vm.hear_stop(), equal(vm, t->items[i], a[1])) return Value::integer(i);
  return return_error(vm, vm.exceptions().ValueError, "tuple.index(x): x not in tuple");
}
Value tuple_count(Vm& vm, Args& a) {
  int64_t n = 0;
  for (const Value& v : tuple_of(a[0])->span()) vm.hear_stop(), n += equal(vm, v, a[1]);
  return Value::integer(n);
}

// --- range ------------------------------------------------------------------------------------------------

RangeObject* range_of(const Value& v) { return cast<RangeObject>(v); }
int64_t range_at(const RangeObject* r, int64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(r->start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(r->step));
}

Value range_construct(Vm& vm, Type*, Args& args) {
  if (args.keyword_count) raise_type_error(vm, "range() takes no keyword arguments");
  if (args.count == 0) raise_type_error(vm, "range expected at least 1 argument, got 0");
  if (args.count > 3) raise_type_error(vm, "range expected at most 3 arguments, got " + std::to_string(args.count));
  int64_t v[3] = {0, 0, 1};
  for (uint32_t i = 0; i < args.count; ++i) v[args.count == 1 ? 1 : i] = to_index(vm, args[i]);
  return make_range(vm, v[0], v[1], v[2]).take();
}
Value range_repr(Vm& vm, const Value& self) {
  RangeObject* r = range_of(self);
  std::string s = "range(" + std::to_string(r->start) + ", " + std::to_string(r->stop);
  if (r->step != 1) s += ", " + std::to_string(r->step);
  return str_value(vm, s + ")");
}
int64_t range_length(Vm&, const Value& v) { return range_of(v)->length; }
Value range_get(Vm& vm, const Value& self, const Value& key) {
  RangeObject* r = range_of(self);
  if (auto* slice = try_cast<SliceObject>(key)) {
    SliceRange s = resolve_slice(vm, slice, r->length);
    int64_t step;
    if (__builtin_mul_overflow(s.step, r->step, &step)) step = s.step > 0 ? INT64_MAX : -INT64_MAX;
    return make_range(vm, range_at(r, s.start), range_at(r, s.stop), step).take();
  }
  if (!is_integer_like(key) && !type_of(vm, key)->slots.to_index)
    raise_type_error(vm, "range indices must be integers or slices, not " + type_name(vm, key));
  int64_t i = to_index(vm, key);
  if (i < 0) i += r->length;
  if (i < 0 || i >= r->length) raise_index_error(vm, "range object index out of range");
  return Value::integer(range_at(r, i));
}
bool range_holds(const RangeObject* r, int64_t i) {
  if (r->step > 0 ? (i < r->start || i >= r->stop) : (i > r->start || i <= r->stop)) return false;
  return static_cast<__int128>(i) - r->start == 0 || (static_cast<__int128>(i) - r->start) % r->step == 0;
}
bool range_contains(Vm& vm, const Value& self, const Value& item) {
  if (is_integer_like(item)) return range_holds(range_of(self), item.as_int());
  bool found = false;
  for_each(vm, self, [&](const Value& v) { return !(found = equal(vm, v, item)); });
  return found;
}
Value range_iterate(Vm& vm, const Value& self) {
  RangeObject* r = range_of(self);
  Local<RangeIterator> it = vm.heap().make<RangeIterator>(vm.types().range_iterator);
  it->next = r->start;
  it->step = r->step;
  it->left = r->length;
  return it.take();
}
Value range_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(b, Kind::Range) || (op != CompareOp::Eq && op != CompareOp::Ne)) return vm.not_implemented();
  RangeObject *x = range_of(a), *y = range_of(b);
  bool same =
      x->length == y->length && (x->length == 0 || (x->start == y->start && (x->length == 1 || x->step == y->step)));
  return Value::boolean(same == (op == CompareOp::Eq));
}
int64_t range_hash(Vm&, const Value& v) {
  RangeObject* r = range_of(v);
  return static_cast<int64_t>(
      hash_mix(static_cast<uint64_t>(r->length), r->length ? static_cast<uint64_t>(r->start) : 0));
}
Value range_start(Vm&, const Value& v) { return Value::integer(range_of(v)->start); }
Value range_stop(Vm&, const Value& v) { return Value::integer(range_of(v)->stop); }
Value range_step(Vm&, const Value& v) { return Value::integer(range_of(v)->step); }
Value range_index(Vm& vm, Args& a) {
  RangeObject* r = range_of(a[0]);
  if (!is_integer_like(a[1])) {  // something that may still equal an item
    for (int64_t i = 0; i < r->length; ++i)
      if (equal(vm, Value::integer(range_at(r, i)), a[1])) return Value::integer(i);
    raise_value_error(vm, "sequence.index(x): x not in sequence");
  }
  if (!range_holds(r, a[1].as_int())) raise_value_error(vm, repr(vm, a[1]) + " is not in range");
  return Value::integer((a[1].as_int() - r->start) / r->step);
}
Value range_count(Vm& vm, Args& a) { return Value::integer(range_contains(vm, a[0], a[1])); }

// --- slice --------------------------------------------------------------------------------------------------

void slice_traverse(Object* o, Visitor& visit) {
  auto* s = static_cast<SliceObject*>(o);
  visit(s->start);
  visit(s->stop);
  visit(s->step);
}
Value slice_construct(Vm& vm, Type*, Args& args) {
  if (args.count == 0) raise_type_error(vm, "slice expected at least 1 argument, got 0");
  if (args.count > 3) raise_type_error(vm, "slice expected at most 3 arguments, got " + std::to_string(args.count));
  Value none = Value::none();
  if (args.count == 1) return make_slice(vm, none, args[0], none).take();
  return make_slice(vm, args[0], args[1], args.count > 2 ? args[2] : none).take();
}
Value slice_repr(Vm& vm, const Value& v) {
  auto* s = cast<SliceObject>(v);
  return str_value(vm, "slice(" + repr(vm, s->start) + ", " + repr(vm, s->stop) + ", " + repr(vm, s->step) + ")");
}
Value slice_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  auto *x = try_cast<SliceObject>(a), *y = try_cast<SliceObject>(b);
  if (!x || !y) return vm.not_implemented();
  const Value left[] = {x->start, x->stop, x->step}, right[] = {y->start, y->stop, y->step};
  return Value::boolean(sequences_compare(vm, op, left, right));
}
Value slice_start(Vm&, const Value& v) { return cast<SliceObject>(v)->start; }
Value slice_stop(Vm&, const Value& v) { return cast<SliceObject>(v)->stop; }
Value slice_step(Vm&, const Value& v) { return cast<SliceObject>(v)->step; }
Value slice_indices(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[1]);
  if (n < 0) raise_value_error(vm, "length should not be negative");
  SliceRange r = resolve_slice(vm, cast<SliceObject>(a[0]), n);
  return make_tuple(vm, std::vector<Value>{Value::integer(r.start), Value::integer(r.stop), Value::integer(r.step)})
      .take();
}

}  // namespace

void init_tuple_type(Vm& vm) {
  TypeBuilder b = TypeBuilder::existing(vm, vm.types().tuple);
  TypeSlots& s = b.slots();
  s.destroy = tuple_destroy;
  s.release = tuple_release;
  s.traverse = tuple_traverse;
  s.construct = tuple_construct;
  s.repr = tuple_repr;
  s.binary = tuple_binary;
  s.compare = tuple_compare;
  s.hash = tuple_hash;
  s.length = tuple_length;
  s.get_item = tuple_get;
  s.contains = tuple_contains;
  s.iterate = tuple_iterate;
  b.allow_subclasses(offset_of(&TupleInstance::state));
  b.method("index", "self, value, start=0, stop=?, /", tuple_index).method("count", "self, value, /", tuple_count);
  publish_slots(vm, vm.types().tuple);
  add_builtin(vm, "tuple", Value(vm.types().tuple));
}

void init_range_types(Vm& vm) {
  TypeBuilder r(vm, "range", Kind::Range);
  TypeSlots& s = r.slots();
  s.destroy = destroy_as<RangeObject>;
  s.construct = range_construct;
  s.repr = range_repr;
  s.length = range_length;
  s.truth = [](Vm& v, const Value& x) { return range_length(v, x) != 0; };
  s.get_item = range_get;
  s.contains = range_contains;
  s.iterate = range_iterate;
  s.compare = range_compare;
  s.hash = range_hash;
  r.getter("start", range_start).getter("stop", range_stop).getter("step", range_step);
  r.method("index", "self, value, /", range_index).method("count", "self, value, /", range_count);
  VmAccess::types(vm).range = r.finish();
  TypeBuilder l(vm, "slice", Kind::Slice);
  l.slots().destroy = destroy_as<SliceObject>;
  l.slots().traverse = slice_traverse;
  l.slots().construct = slice_construct;
  l.slots().repr = slice_repr;
  l.slots().compare = slice_compare;
  l.slots().hash = nullptr;
  l.getter("start", slice_start).getter("stop", slice_stop).getter("step", slice_step);
  l.method("indices", "self, length, /", slice_indices);
  VmAccess::types(vm).slice = l.finish();
  add_builtin(vm, "range", Value(vm.types().range));
  add_builtin(vm, "slice", Value(vm.types().slice));
}

}  // namespace tsc::interp
