#pragma once
// list, tuple, dict, set, frozenset, range, slice and their constructors. All stores from outside the
// builtins go through the functions of this file (or the operations), which test the watch bit.
#include <span>
#include <vector>

#include "interpreter/value/table.h"
#include "interpreter/value/values.h"

namespace tsc::interp {

struct ListObject : Object {
  static constexpr Kind kKind = Kind::List;
  Values items;
  InstanceState state;  // attributes of script subclasses
  ListObject() : Object(Kind::List) {}
};

struct TupleObject : Object {
  static constexpr Kind kKind = Kind::Tuple;
  uint32_t size = 0;
  Value* items = nullptr;  // points behind this object
  TupleObject() : Object(Kind::Tuple) {}
  std::span<const Value> span() const { return {items, size}; }
};

// An instance of a script subclass of tuple.
struct TupleInstance : TupleObject {
  InstanceState state;
};

struct DictObject : Object {
  static constexpr Kind kKind = Kind::Dict;
  Table table;
  InstanceState state;
  DictObject() : Object(Kind::Dict) {}
};

struct SetObject : Object {
  static constexpr Kind kKind = Kind::Set;
  Table table;
  InstanceState state;
  SetObject() : Object(Kind::Set) {}
};

struct RangeObject : Object {
  static constexpr Kind kKind = Kind::Range;
  int64_t start = 0, stop = 0, step = 1;
  int64_t length = 0;
  RangeObject() : Object(Kind::Range) {}
};

struct SliceObject : Object {
  static constexpr Kind kKind = Kind::Slice;
  Value start, stop, step;
  SliceObject() : Object(Kind::Slice) {}
};

// Appends copies; a stop is heard between pieces.
void add_items(Values& to, std::span<const Value> items);
Values copy_items(std::span<const Value> items);
Local<ListObject> make_list(Vm& vm, size_t reserve = 0);
Local<ListObject> make_list(Vm& vm, std::span<const Value> items);
Local<TupleObject> make_tuple(Vm& vm, std::span<const Value> items);
// Exact matches, lest std::make_tuple be found by argument-dependent lookup.
inline Local<TupleObject> make_tuple(Vm& vm, const std::vector<Value>& items) {
  return make_tuple(vm, std::span<const Value>(items));
}
inline Local<TupleObject> make_tuple(Vm& vm, std::vector<Value>& items) {
  return make_tuple(vm, std::span<const Value>(items));
}
inline Local<TupleObject> make_tuple(Vm& vm, std::vector<Value>&& items) {
  return make_tuple(vm, std::span<const Value>(items));
}
Local<TupleObject> make_tuple(Vm& vm, size_t size);  // items Undefined, to be filled at once
Local<DictObject> make_dict(Vm& vm);
Local<SetObject> make_set(Vm& vm, bool frozen = false);
Local<RangeObject> make_range(Vm& vm, int64_t start, int64_t stop, int64_t step);
Local<SliceObject> make_slice(Vm& vm, const Value& start, const Value& stop, const Value& step);

// Called by every store; tells the watchers when the object is watched.
void notify_store(Vm& vm, Object* holder, const Value& key);
inline void note_store(Vm& vm, Object* holder, const Value& key) {
  if (holder->watched()) [[unlikely]]
    notify_store(vm, holder, key);
}

void list_append(Vm& vm, ListObject* list, const Value& item);
void list_set(Vm& vm, ListObject* list, int64_t index, const Value& item);  // index in range
// Undefined when absent.
Value dict_get(Vm& vm, DictObject* dict, const Value& key);
Value dict_get(Vm& vm, DictObject* dict, std::string_view key);
void dict_set(Vm& vm, DictObject* dict, const Value& key, const Value& value);
void dict_set(Vm& vm, DictObject* dict, std::string_view key, const Value& value);
bool dict_remove(Vm& vm, DictObject* dict, const Value& key);  // false: absent
bool set_add(Vm& vm, SetObject* set, const Value& key);
bool set_remove(Vm& vm, SetObject* set, const Value& key);

// start, stop, step of a slice over `length` items, clipped as Python does, and the count.
struct SliceRange {
  int64_t start, stop, step, count;
};
// A bound of a slice as an index, clipped to 64 bits.
int64_t slice_bound(Vm& vm, const Value& v);
SliceRange resolve_slice(Vm& vm, const SliceObject* slice, int64_t length);

// The release slot of what holds a table.
bool release_entries(Heap& heap, Table& table);

}  // namespace tsc::interp
