// list, and what lists and tuples share.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {

int64_t sequence_index(Vm& vm, const Value& key, int64_t length, const char* type) {
  if (!is_integer_like(key) && !type_of(vm, key)->slots.to_index)
    raise_type_error(vm, std::string(type) + " indices must be integers or slices, not " + type_name(vm, key));
  const Value whole = whole_of(vm, key);
  if (is_big(whole)) raise_index_error(vm, "cannot fit '" + type_name(vm, key) + "' into an index-sized integer");
  int64_t i = whole.as_int();
  if (i < 0) i += length;
  if (i < 0 || i >= length)
    raise_index_error(vm, (std::string_view(type) == "byte" ? "" : std::string(type) + " ") + "index out of range");
  return i;
}

Local<SliceObject> settled_slice(Vm& vm, const SliceObject* slice) {
  const auto settled = [&](const Value& v) { return v.is_none() ? v : Value::integer(slice_bound(vm, v)); };
  const Value step = settled(slice->step);
  if (step.is_int() && step.as_int() == 0) raise_value_error(vm, "slice step cannot be zero");
  const Value start = settled(slice->start), stop = settled(slice->stop);
  return make_slice(vm, start, stop, step);
}

int64_t size_argument(Vm& vm, const Value& v) {
  const Value whole = whole_of(vm, v);
  if (is_big(whole)) raise_too_large(vm, "C ssize_t");
  return whole.as_int();
}

void add_reprs(Vm& vm, TextBuilder& out, std::span<const Value> items) {
  for (size_t i = 0; i < items.size(); ++i) {
    vm.hear_stop();
    if (i) out += ", ";
    Value kept = items[i];
    out += repr(vm, kept);
  }
}

bool sequences_compare(Vm& vm, CompareOp op, std::span<const Value> a, std::span<const Value> b) {
  if (a.size() != b.size() && (op == CompareOp::Eq || op == CompareOp::Ne)) return op == CompareOp::Ne;
  size_t n = std::min(a.size(), b.size());
  for (size_t i = 0; i < n; ++i) {
    vm.hear_stop();
    Value x = a[i], y = b[i];
    if (equal(vm, x, y)) continue;
    if (op == CompareOp::Eq || op == CompareOp::Ne) return op == CompareOp::Ne;
    return truth(vm, compare(vm, op, x, y));
  }
  return number_compare(op, Value::integer(static_cast<int64_t>(a.size())),
                        Value::integer(static_cast<int64_t>(b.size())));
}

// The repetition count of sequence * n; Undefined when `v` is no integer.
Value repeat_count(Vm& vm, const Value& v) {
  if (is_integer_like(v)) return Value::integer(std::max<int64_t>(0, v.as_int()));
  if (v.is_object() && type_of(vm, v)->slots.to_index) {
    const Value whole = whole_of(vm, v);
    if (is_big(whole))
      raise(vm, vm.exceptions().OverflowError, "cannot fit '" + type_name(vm, v) + "' into an index-sized integer");
    return Value::integer(std::max<int64_t>(0, whole.as_int()));
  }
  return Value();
}

namespace {

ListObject* list_of(const Value& v) { return cast<ListObject>(v); }

void list_traverse(Object* o, Visitor& visit) {
  for (const Value& v : static_cast<ListObject*>(o)->items) visit(v);
  traverse_instance(o, visit);
}
bool list_release(Heap& heap, Object* o) {
  Values& items = static_cast<ListObject*>(o)->items;
  while (!items.empty() && !heap.is_late()) items.pop_back();
  return items.empty() && heap.may_free(items.capacity() * sizeof(Value));
}
void list_clear_slot(Vm& vm, Object* o) {
  const Values items = std::move(static_cast<ListObject*>(o)->items);
  clear_instance(vm, o);
}
Value list_construct(Vm& vm, Type* type, Args&) { return vm.heap().make<ListObject>(type).take(); }
void list_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("iterable=?, /");
  Value source;
  if (args.count == 1 && args.keyword_count == 0) {
    source = args.positional[0];
  } else {
    std::vector<Value> v;
    kSignature.bind(vm, "list", without_keywords_for(self.object()->type, vm.names().new_, args), v);
    source = v[0];
  }
  ListObject* list = list_of(self);
  note_store(vm, list, Value());
  Values items;
  if (source) items = std::move(to_list(vm, source)->items);
  list->items.swap(items);
}
Value list_repr(Vm& vm, const Value& self) {
  ReprGuard guard(self.object());
  if (guard.recursive()) return str_value(vm, "[...]");
  Local<ListObject> list(list_of(self));
  TextBuilder out(vm);
  out += '[';
  for (size_t i = 0; i < list->items.size(); ++i) {
    vm.hear_stop();
    if (i) out += ", ";
    Value item = list->items[i];
    out += repr(vm, item);
  }
  out += ']';
  return out.str();
}
Value list_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  if (op == BinaryOp::Add && !reflected && is_kind(a, Kind::List) && is_kind(b, Kind::List)) {
    Local<ListObject> r = make_list(vm, list_of(a)->items.size() + list_of(b)->items.size());
    for (const Value& v : {a, b}) add_items(r->items, list_of(v)->items);
    return r.take();
  }
  if (op == BinaryOp::Mul) {
    const Value& list = reflected ? b : a;
    Value n = repeat_count(vm, reflected ? a : b);
    if (!n) return vm.not_implemented();
    const Values& items = list_of(list)->items;
    if (!items.empty() && static_cast<uint64_t>(n.as_int()) > (uint64_t{1} << 36) / items.size())
      raise(vm, vm.exceptions().MemoryError, "a list of this size does not fit in memory");
    Local<ListObject> r = make_list(vm, items.size() * static_cast<size_t>(n.as_int()));
    if (items.empty()) return r.take();
    // A short list is repeated in larger pieces.
    constexpr size_t kShort = 64, kPiece = 256;
    const auto times = static_cast<size_t>(n.as_int());
    const size_t at_once = items.size() < kShort ? kPiece / items.size() : 1;
    Values pieces;
    for (size_t k = 0; at_once > 1 && k < at_once; ++k) add_items(pieces, items);
    const std::span<const Value> piece = at_once > 1 ? std::span<const Value>(pieces) : std::span<const Value>(items);
    Patience patience;
    for (size_t done = 0; done < times; done += at_once) {
      patience.step(piece.size());
      add_items(r->items, piece.first(std::min(at_once, times - done) * items.size()));
    }
    return r.take();
  }
  return vm.not_implemented();
}
void list_extend(Vm& vm, ListObject* list, const Value& items) {
  Local<ListObject> more = to_list(vm, items);
  note_store(vm, list, Value());
  add_items(list->items, more->items);
}
Value list_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  if (op == BinaryOp::Add) {
    if (is_kind(other, Kind::List) && other.object() == self.object()) {
      list_extend(vm, list_of(self), make_list(vm, list_of(self)->items).value());
      return self;
    }
    list_extend(vm, list_of(self), other);
    return self;
  }
  if (op == BinaryOp::Mul) {
    Value r = list_binary(vm, op, self, other, false);
    if (r.is(vm.not_implemented())) return r;
    note_store(vm, self.object(), Value());
    list_of(self)->items.swap(list_of(r)->items);
    return self;
  }
  return vm.not_implemented();
}
Value list_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::List) || !is_kind(b, Kind::List)) return vm.not_implemented();
  vm.check_native_stack();
  // Copies: element comparison may run code that changes the lists.
  bool simple = list_of(a)->items.empty() || list_of(b)->items.empty();
  if (simple) return Value::boolean(sequences_compare(vm, op, list_of(a)->items, list_of(b)->items));
  const Values x = copy_items(list_of(a)->items), y = copy_items(list_of(b)->items);
  return Value::boolean(sequences_compare(vm, op, x, y));
}
int64_t list_length(Vm&, const Value& v) { return static_cast<int64_t>(list_of(v)->items.size()); }
// An index or a slice without code of the script in it: that runs before the list's length is asked, which it may
// change.
Value settled_key(Vm& vm, const Value& key) {
  if (!key.is_object()) return key;
  if (auto* slice = try_cast<SliceObject>(key)) {
    const bool is_settled = !slice->start.is_object() && !slice->stop.is_object() && !slice->step.is_object();
    return is_settled ? key : settled_slice(vm, slice).take();
  }
  if (!type_of(vm, key)->slots.to_index) return key;
  const Value whole = whole_of(vm, key);
  return is_big(whole) ? key : whole;  // the message about one that is too large names its class
}
Value list_get(Vm& vm, const Value& self, const Value& given) {
  ListObject* list = list_of(self);
  const Value key = settled_key(vm, given);
  if (auto* slice = try_cast<SliceObject>(key)) {
    SliceRange r = resolve_slice(vm, slice, static_cast<int64_t>(list->items.size()));
    Local<ListObject> out = make_list(vm, static_cast<size_t>(r.count));
    Patience patience;
    for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step) {
      patience.step();
      out->items.push_back(list->items[static_cast<size_t>(i)]);
    }
    return out.take();
  }
  int64_t i = sequence_index(vm, key, static_cast<int64_t>(list->items.size()), "list");
  return list->items[static_cast<size_t>(i)];
}
void assign_slice(Vm& vm, ListObject* list, const Value& key, const Value& value) {
  const Value bounds = settled_key(vm, key);
  const auto* slice = cast<SliceObject>(bounds);
  const TypeSlots& slots = type_of(vm, value)->slots;
  if (!slots.iterate && !slots.get_item) raise_type_error(vm, "can only assign an iterable");
  Local<ListObject> source = make_list(vm, to_list(vm, value)->items);
  SliceRange r = resolve_slice(vm, slice, static_cast<int64_t>(list->items.size()));
  note_store(vm, list, Value());
  if (r.step == 1) {
    list->items.make_room(source->items.size());  // here, where nothing is lost when there is none
    Value* begin = list->items.begin() + r.start;
    const Values removed = list->items.take(begin, begin + r.count);
    list->items.insert(begin, source->items);
    return;
  }
  if (static_cast<int64_t>(source->items.size()) != r.count)
    raise_value_error(vm, "attempt to assign sequence of size " + std::to_string(source->items.size()) +
                              " to extended slice of size " + std::to_string(r.count));
  for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step)
    list->items[static_cast<size_t>(i)] = source->items[static_cast<size_t>(k)];
}
void list_set_item(Vm& vm, const Value& self, const Value& key, const Value& value) {
  ListObject* list = list_of(self);
  if (is_kind(key, Kind::Slice)) return assign_slice(vm, list, key, value);
  if (!is_integer_like(key) && !type_of(vm, key)->slots.to_index)
    raise_type_error(vm, "list indices must be integers or slices, not " + type_name(vm, key));
  int64_t i = to_index(vm, key), n = static_cast<int64_t>(list->items.size());
  if (i < 0) i += n;
  if (i < 0 || i >= n) raise_index_error(vm, "list assignment index out of range");
  list_set(vm, list, i, value);
}
void list_delete_item(Vm& vm, const Value& self, const Value& given) {
  ListObject* list = list_of(self);
  const Value key = settled_key(vm, given);
  int64_t n = static_cast<int64_t>(list->items.size());
  SliceRange r{};
  if (auto* slice = try_cast<SliceObject>(key)) {
    r = resolve_slice(vm, slice, n);
  } else {
    r.start = to_index(vm, key);
    if (r.start < 0) r.start += n;
    if (r.start < 0 || r.start >= n) raise_index_error(vm, "list assignment index out of range");
    r.step = r.count = 1;
  }
  note_store(vm, list, Value());
  Values removed;
  if (r.step == 1) {
    Value* begin = list->items.begin() + r.start;
    removed = list->items.take(begin, begin + r.count);
    return;
  }
  std::vector<bool> drop(static_cast<size_t>(n));
  for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step) drop[static_cast<size_t>(i)] = true;
  size_t kept = 0;
  for (size_t i = 0; i < list->items.size(); ++i) {
    if (drop[i]) removed.push_back(std::move(list->items[i]));
    else if (kept++ != i) list->items[kept - 1] = std::move(list->items[i]);
  }
  list->items.resize(kept);
}
bool list_contains(Vm& vm, const Value& self, const Value& item) {
  Local<ListObject> list(list_of(self));
  for (size_t i = 0; i < list->items.size(); ++i) {
    vm.hear_stop();
    Value v = list->items[i];
    if (equal(vm, v, item)) return true;
  }
  return false;
}
Value list_iterate(Vm& vm, const Value& self) {
  Local<ListIterator> it = vm.heap().make<ListIterator>(vm.types().list_iterator);
  it->list = Local<ListObject>(list_of(self));
  return it.take();
}

Value append(Vm& vm, Args& a) {
  list_append(vm, list_of(a[0]), a[1]);
  return Value::none();
}
Value extend(Vm& vm, Args& a) {
  list_extend(vm, list_of(a[0]), a[1]);
  return Value::none();
}
Value insert(Vm& vm, Args& a) {
  ListObject* list = list_of(a[0]);
  int64_t i = to_index(vm, a[1]), n = static_cast<int64_t>(list->items.size());
  if (i < 0) i = std::max<int64_t>(0, i + n);
  note_store(vm, list, Value());
  list->items.insert(list->items.begin() + std::min(i, n), a[2]);
  return Value::none();
}
Value pop(Vm& vm, Args& a) {
  ListObject* list = list_of(a[0]);
  int64_t i = to_index(vm, a[1]), n = static_cast<int64_t>(list->items.size());
  if (n == 0) return return_error(vm, vm.exceptions().IndexError, "pop from empty list");
  if (i < 0) i += n;
  if (i < 0 || i >= n) return return_error(vm, vm.exceptions().IndexError, "pop index out of range");
  note_store(vm, list, Value());
  Value v = std::move(list->items[static_cast<size_t>(i)]);
  list->items.erase(list->items.begin() + i);
  return v;
}
Value remove(Vm& vm, Args& a) {
  Local<ListObject> list(list_of(a[0]));
  for (size_t i = 0; i < list->items.size(); ++i) {
    vm.hear_stop();
    Value v = list->items[i];
    if (!equal(vm, v, a[1])) continue;
    note_store(vm, list, Value());
    if (i < list->items.size()) list->items.erase(list->items.begin() + static_cast<int64_t>(i));
    return Value::none();
  }
  return return_error(vm, vm.exceptions().ValueError, "list.remove(x): x not in list");
}
Value clear(Vm& vm, Args& a) {
  note_store(vm, a[0].object(), Value());
  const Values items = std::move(list_of(a[0])->items);
  return Value::none();
}
Value index(Vm& vm, Args& a) {
  Local<ListObject> list(list_of(a[0]));
  int64_t start = slice_bound(vm, a[2]), stop = a.has(3) ? slice_bound(vm, a[3]) : INT64_MAX;
  const int64_t n = static_cast<int64_t>(list->items.size());
  if (start < 0) start = std::max<int64_t>(0, start + n);
  if (stop < 0) stop += n;
  for (int64_t i = start; i < stop && i < static_cast<int64_t>(list->items.size()); ++i) {
    vm.hear_stop();
    Value v = list->items[static_cast<size_t>(i)];
    if (equal(vm, v, a[1])) return Value::integer(i);
  }
  return return_error(vm, vm.exceptions().ValueError, repr(vm, a[1]) + " is not in list");
}
Value count(Vm& vm, Args& a) {
  Local<ListObject> list(list_of(a[0]));
  int64_t n = 0;
  for (size_t i = 0; i < list->items.size(); ++i) {
    vm.hear_stop();
    Value v = list->items[i];
    n += equal(vm, v, a[1]);
  }
  return Value::integer(n);
}
Value reversed_list(Vm& vm, Args& a) { return call(vm, dict_get(vm, vm.builtins()->globals, "reversed"), {a[0]}); }

Value reverse(Vm& vm, Args& a) {
  note_store(vm, a[0].object(), Value());
  std::reverse(list_of(a[0])->items.begin(), list_of(a[0])->items.end());
  return Value::none();
}
Value copy(Vm& vm, Args& a) { return make_list(vm, std::span<const Value>(list_of(a[0])->items)).take(); }
Value sort(Vm& vm, Args& a) {
  sort_list(vm, list_of(a[0]), a[1].is_none() ? Value() : a[1], truth(vm, a[2]));
  return Value::none();
}

}  // namespace

void init_list_type(Vm& vm) {
  TypeBuilder b(vm, "list", Kind::List);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<ListObject>;
  s.release = list_release;
  s.traverse = list_traverse;
  s.clear = list_clear_slot;
  s.construct = list_construct;
  s.initialize = list_initialize;
  s.repr = list_repr;
  s.binary = list_binary;
  s.in_place = list_in_place;
  s.compare = list_compare;
  s.hash = nullptr;
  s.length = list_length;
  s.get_item = list_get;
  s.set_item = list_set_item;
  s.delete_item = list_delete_item;
  s.contains = list_contains;
  s.iterate = list_iterate;
  b.allow_subclasses(offset_of(&ListObject::state));
  b.attribute("__hash__", Value::none());
  b.method("append", "self, object, /", append)
      .method("extend", "self, iterable, /", extend)
      .method("insert", "self, index, object, /", insert)
      .method("pop", "self, index=-1, /", pop)
      .method("remove", "self, value, /", remove)
      .method("clear", "self", clear)
      .method("index", "self, value, start=0, stop=?, /", index)
      .method("count", "self, value, /", count)
      .method("reverse", "self", reverse)
      .method("copy", "self", copy)
      .method("__reversed__", "self", reversed_list)
      .method("sort", "self, *, key=None, reverse=False", sort);
  VmAccess::types(vm).list = b.finish();
  add_builtin(vm, "list", Value(vm.types().list));
}

}  // namespace tsc::interp
