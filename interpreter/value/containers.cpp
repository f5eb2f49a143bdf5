#include "interpreter/value/containers.h"
#include "interpreter/vm/big_numbers.h"

#include "interpreter/heap/patience.h"

#include <algorithm>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

void add_items(Values& to, std::span<const Value> items) {
  to.make_room(items.size());
  in_pieces(items.size(), [&](size_t begin, size_t end) { to.insert(to.end(), items.subspan(begin, end - begin)); });
}

Values copy_items(std::span<const Value> items) {
  Values copy;
  add_items(copy, items);
  return copy;
}

Local<ListObject> make_list(Vm& vm, size_t reserve) {
  Local<ListObject> list = vm.heap().make<ListObject>(vm.types().list);
  if (reserve) list->items.reserve(reserve);
  return list;
}

Local<ListObject> make_list(Vm& vm, std::span<const Value> items) {
  Local<ListObject> list = make_list(vm, items.size());
  add_items(list->items, items);
  return list;
}

Local<TupleObject> make_tuple(Vm& vm, size_t size) {
  Local<TupleObject> tuple = vm.heap().make_sized<TupleObject>(vm.types().tuple, size * sizeof(Value));
  tuple->items = reinterpret_cast<Value*>(tuple.get() + 1);
  tuple->size = static_cast<uint32_t>(size);
  // All of them are something at once: nothing may stop half way.
  for (size_t i = 0; i < size; ++i) new (&tuple->items[i]) Value();
  return tuple;
}

Local<TupleObject> make_tuple(Vm& vm, std::span<const Value> items) {
  Local<TupleObject> tuple = make_tuple(vm, items.size());
  in_pieces(items.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) tuple->items[i] = items[i];
  });
  return tuple;
}

Local<DictObject> make_dict(Vm& vm) { return vm.heap().make<DictObject>(vm.types().dict); }

Local<SetObject> make_set(Vm& vm, bool frozen) {
  return vm.heap().make<SetObject>(frozen ? vm.types().frozenset : vm.types().set);
}

Local<RangeObject> make_range(Vm& vm, int64_t start, int64_t stop, int64_t step) {
  Local<RangeObject> range = vm.heap().make<RangeObject>(vm.types().range);
  range->start = start;
  range->stop = stop;
  range->step = step;
  if (step == 0) raise_value_error(vm, "range() arg 3 must not be zero");
  if (step == 1 && !__builtin_sub_overflow(stop, start, &range->length)) {
    range->length = std::max<int64_t>(range->length, 0);
    return range;
  }
  if (int64_t span; step > 0 && !__builtin_sub_overflow(stop, start, &span)) {
    range->length = span > 0 ? (span - 1) / step + 1 : 0;
    return range;
  }
  unsigned __int128 span = 0;
  if (step > 0 && start < stop) span = static_cast<__int128>(stop) - start;
  if (step < 0 && start > stop) span = static_cast<__int128>(start) - stop;
  unsigned __int128 width = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  unsigned __int128 count = (span + width - 1) / width;
  if (count > static_cast<unsigned __int128>(INT64_MAX))
    raise(vm, vm.exceptions().OverflowError, "range has more than 2**63 - 1 items");
  range->length = static_cast<int64_t>(count);
  return range;
}

Local<SliceObject> make_slice(Vm& vm, const Value& start, const Value& stop, const Value& step) {
  Local<SliceObject> slice = vm.heap().make<SliceObject>(vm.types().slice);
  slice->start = start;
  slice->stop = stop;
  slice->step = step;
  return slice;
}

void notify_store(Vm& vm, Object* holder, const Value& key) {
  if (vm.watchers()) vm.watchers()->on_store(holder, key);
}

void list_append(Vm& vm, ListObject* list, const Value& item) {
  note_store(vm, list, Value());
  list->items.push_back(item);
}

void list_set(Vm& vm, ListObject* list, int64_t index, const Value& item) {
  note_store(vm, list, Value::integer(index));
  list->items[static_cast<size_t>(index)] = item;
}

Value dict_get(Vm& vm, DictObject* dict, const Value& key) {
  int64_t place = dict->table.find(vm, key);
  return place < 0 ? Value() : dict->table.entry(static_cast<uint32_t>(place)).value;
}

Value dict_get(Vm& vm, DictObject* dict, std::string_view key) {
  int64_t place = dict->table.find_text(vm, key);
  return place < 0 ? Value() : dict->table.entry(static_cast<uint32_t>(place)).value;
}

void dict_set(Vm& vm, DictObject* dict, const Value& key, const Value& value) {
  note_store(vm, dict, key);
  dict->table.insert(vm, key, value);
}

void dict_set(Vm& vm, DictObject* dict, std::string_view key, const Value& value) {
  dict_set(vm, dict, intern(vm, key).take(), value);
}

bool dict_remove(Vm& vm, DictObject* dict, const Value& key) {
  int64_t place = dict->table.find(vm, key);
  if (place < 0) return false;
  note_store(vm, dict, key);
  const Value gone = dict->watched() ? key : Value();
  dict->table.remove_at(static_cast<uint32_t>(place));
  if (gone) note_store(vm, dict, gone);  // now it is known that the key has gone
  return true;
}

bool set_add(Vm& vm, SetObject* set, const Value& key) {
  uint64_t h = hash(vm, key);
  if (set->table.find(vm, key, h) >= 0) return false;
  note_store(vm, set, key);
  set->table.append_new(key, h, Value());
  return true;
}

bool set_remove(Vm& vm, SetObject* set, const Value& key) {
  int64_t place = set->table.find(vm, key);
  if (place < 0) return false;
  note_store(vm, set, key);
  set->table.remove_at(static_cast<uint32_t>(place));
  return true;
}

int64_t slice_bound(Vm& vm, const Value& v) {
  if (v.is_int() || v.is_bool()) return v.as_int();
  Type* type = type_of(vm, v);
  if (!type->slots.to_index) raise_type_error(vm, "slice indices must be integers or None or have an __index__ method");
  const Value whole = whole_of(vm, v);
  if (is_big(whole)) return compare_ints(whole, Value::integer(0)) < 0 ? INT64_MIN : INT64_MAX;
  return whole.as_int();
}

SliceRange resolve_slice(Vm& vm, const SliceObject* slice, int64_t length) {
  SliceRange r{};
  r.step = slice->step.is_none() ? 1 : slice_bound(vm, slice->step);
  if (r.step == 0) raise_value_error(vm, "slice step cannot be zero");
  if (r.step < -INT64_MAX) r.step = -INT64_MAX;
  bool backwards = r.step < 0;
  int64_t lower = backwards ? -1 : 0, upper = backwards ? length - 1 : length;
  auto clip = [&](const Value& v, int64_t fallback) {
    if (v.is_none()) return fallback;
    int64_t i = slice_bound(vm, v);
    if (i < 0) return i + length < lower ? lower : i + length;
    return i > upper ? upper : i;
  };
  r.start = clip(slice->start, backwards ? upper : lower);
  r.stop = clip(slice->stop, backwards ? lower : upper);
  if (backwards) r.count = r.stop < r.start ? (r.start - r.stop - 1) / -r.step + 1 : 0;
  else r.count = r.start < r.stop ? (r.stop - r.start - 1) / r.step + 1 : 0;
  return r;
}

bool release_entries(Heap& heap, Table& table) {
  while (table.used() > 0 && !heap.is_late()) table.drop_last();
  return table.used() == 0 && heap.may_free(table.bytes());
}

}  // namespace tsc::interp
