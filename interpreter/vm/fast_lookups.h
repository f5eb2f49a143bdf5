#pragma once
// What the dispatch loop finds by itself: attributes by inline caches, items of lists and tuples, places in dicts.
#include "interpreter/vm/slow_ops.h"

// What mostly holds: the code for it follows without a jump.
#define EXPECT(condition) (__builtin_expect(static_cast<bool>(condition), true))

namespace tsc::interp {

// An object whose attributes the inline caches may describe: their key, its shape, and their version
// tell whether they do. Null for others.
inline Instance* plain_instance(const Value& v) {
  if (!EXPECT(v.is_object())) return nullptr;
  Object* object = v.object();
  if (!EXPECT(object->kind == Kind::Instance) && !(object->type->type_flags & kPlainInstances)) return nullptr;
  return static_cast<Instance*>(object);
}

// Which of a site's two answers describes the instance; null: neither. The version also proves that the
// shape is the same one and not another at its address.
inline const InlineCache* way_of(const InlineCache* site, const Instance* instance) {
  const Shape* shape = instance->state.shape;
  if (site->key != shape) [[unlikely]] {
    ++site;
    if (site->key != shape) return nullptr;
  }
  return EXPECT(site->version == instance->type->version) ? site : nullptr;
}

// container[k] of an exact list or tuple; null for everything else and beyond the ends.
inline const Value* item_at(Vm& vm, const Value& container, int64_t k) {
  if (!EXPECT(container.is_object())) return nullptr;
  Object* object = container.object();
  const Value* items;
  int64_t size;
  if (EXPECT(object->type == vm.types().list)) {
    const Values& vector = static_cast<ListObject*>(object)->items;
    items = vector.data();
    size = static_cast<int64_t>(vector.size());
  } else if (object->type == vm.types().tuple) {
    items = static_cast<TupleObject*>(object)->items;
    size = static_cast<TupleObject*>(object)->size;
  } else {
    return nullptr;
  }
  if (k < 0) k += size;
  return EXPECT(static_cast<uint64_t>(k) < static_cast<uint64_t>(size)) ? items + k : nullptr;
}

// The place of an int or a str in an exact dict, or -1. Code of the script runs only where another key has the same
// hash.
constexpr int64_t kNotLooked = -2;
inline int64_t place_in_dict(Vm& vm, const Value& container, const Value& key) {
  if (!container.is_object() || container.object()->type != vm.types().dict) return kNotLooked;
  if (!key.is_int() && !(key.is_object() && key.object()->type == vm.types().str)) return kNotLooked;
  return cast<DictObject>(container)->table.find(vm, key);
}

}  // namespace tsc::interp
