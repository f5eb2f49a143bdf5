// memoryview: the slots. Its methods are in memoryview_methods.cpp.
#include "interpreter/builtins/memoryview.h"

#include <algorithm>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/iteration.h"

namespace tsc::interp {

MemoryViewObject* usable_view(Vm& vm, const Value& v) {
  auto* view = cast<MemoryViewObject>(v);
  if (view->released) raise_value_error(vm, "operation forbidden on released memoryview object");
  return view;
}

Value view_item(Vm& vm, const MemoryViewObject* view, const char* at) {
  if (view->item->kind == ItemKind::Character)
    raise(vm, vm.exceptions().NotImplementedError, "memoryview: format " + view->format + " not supported");
  return unpack_item(vm, view->item->kind, view->item->size, false, at);
}

namespace {

// A value as the bytes of an item. False: the value is of a type that fits but does not fit itself.
bool pack_view_item(Vm& vm, const ItemFormat& item, const Value& value, char* to) {
  const auto refuse_type = [&] {
    raise_type_error(vm, std::string("memoryview: invalid type for format '") + item.code + "'");
  };
  const TypeSlots& slots = type_of(vm, value)->slots;
  switch (item.kind) {
    case ItemKind::Bool: return *to = truth(vm, value), true;
    case ItemKind::Byte: {
      const auto* bytes = try_cast<BytesObject>(value);
      if (!bytes) refuse_type();
      if (bytes->data.size() != 1) return false;
      return *to = bytes->data[0], true;
    }
    case ItemKind::Float: {
      if (!value.is_float() && !is_integer_like(value) && !slots.to_float && !slots.to_index) refuse_type();
      if (is_big(value) && bit_length_of(value) > 1024) return false;
      return pack_float(vm, to_double(vm, value), item.size, false, to), true;
    }
    default:
      if (!is_integer_like(value) && !slots.to_index) refuse_type();
      return pack_integer(whole_of(vm, value), item.kind == ItemKind::Signed, item.size, false, to);
  }
}

}  // namespace

void store_view_item(Vm& vm, MemoryViewObject* view, char* at, const Value& value) {
  const Local<MemoryViewObject> kept(view);
  if (view->item->kind == ItemKind::Character)
    raise(vm, vm.exceptions().NotImplementedError, "memoryview: format " + view->format + " not supported");
  char packed[8];
  if (!pack_view_item(vm, *view->item, value, packed))
    raise_value_error(vm, std::string("memoryview: invalid value for format '") + view->item->code + "'");
  usable_view(vm, kept.value());  // the value's own code may have released it
  note_store(vm, view->owner.object(), Value());
  std::memcpy(at, packed, view->item->size);
}

namespace {

Value view_construct(Vm& vm, Type*, Args& args) {
  static const Signature kSignature("object");
  std::vector<Value> v;
  kSignature.bind(vm, "memoryview", args, v);
  return make_memory_view(vm, v[0]).take();
}

Value view_repr(Vm& vm, const Value& self) {
  char text[64];
  std::snprintf(text, sizeof text, "<%smemory at %p>", cast<MemoryViewObject>(self)->released ? "released " : "",
                static_cast<void*>(self.object()));
  return str_value(vm, text);
}

int64_t view_length(Vm& vm, const Value& self) {
  const MemoryViewObject* view = usable_view(vm, self);
  return view->shape.empty() ? 1 : view->shape[0];
}

// ---- places ------------------------------------------------------------------------------------------

enum class Use { Read, Write };

bool is_index(Vm& vm, const Value& v) { return is_integer_like(v) || type_of(vm, v)->slots.to_index; }

int64_t whole_index(Vm& vm, const Value& v) {
  const Value whole = whole_of(vm, v);
  if (is_big(whole)) raise_index_error(vm, "cannot fit '" + type_name(vm, v) + "' into an index-sized integer");
  return whole.as_int();
}

char* place_on_axis(Vm& vm, const MemoryViewObject* view, char* from, size_t axis, int64_t index) {
  const int64_t size = view->shape[axis];
  if (index < 0) index += size;
  if (index < 0 || index >= size) raise_index_error(vm, "index out of bounds on dimension " + std::to_string(axis + 1));
  return from + index * view->strides[axis];
}

[[noreturn]] void refuse(Vm& vm, const char* message) { raise(vm, vm.exceptions().NotImplementedError, message); }

bool all_of(std::span<const Value> items, auto test) { return std::all_of(items.begin(), items.end(), test); }

// Where the item lies that the key names; null for a slice.
char* place_of(Vm& vm, const MemoryViewObject* view, const Value& key, Use use) {
  const auto* tuple = try_cast<TupleObject>(key);
  const size_t rank = view->shape.size();
  if (rank == 0) {
    if ((tuple && tuple->size == 0) || key.is(vm.ellipsis())) return view->data;
    raise_type_error(vm, "invalid indexing of 0-dim memory");
  }
  if (is_kind(key, Kind::Slice)) return nullptr;
  if (is_index(vm, key)) {
    const int64_t index = whole_index(vm, key);
    if (rank > 1)
      refuse(vm,
             use == Use::Write ? "sub-views are not implemented" : "multi-dimensional sub-views are not implemented");
    return place_on_axis(vm, view, view->data, 0, index);
  }
  if (tuple && all_of(tuple->span(), [&](const Value& v) { return is_index(vm, v); })) {
    if (tuple->size < rank) refuse(vm, "sub-views are not implemented");
    if (tuple->size > rank)
      raise_type_error(vm, "cannot index " + std::to_string(rank) + "-dimension view with " +
                               std::to_string(tuple->size) + "-element tuple");
    char* at = view->data;
    for (size_t axis = 0; axis < rank; ++axis)
      at = place_on_axis(vm, view, at, axis, whole_index(vm, tuple->items[axis]));
    return at;
  }
  if (tuple && all_of(tuple->span(), [](const Value& v) { return is_kind(v, Kind::Slice); }))
    refuse(vm, use == Use::Write ? "memoryview slice assignments are currently restricted to ndim = 1"
                                 : "multi-dimensional slicing is not implemented");
  raise_type_error(vm, "memoryview: invalid slice key");
}

// The view of a slice of the first axis.
Local<MemoryViewObject> sliced(Vm& vm, const Value& self, const Value& key) {
  const Local<SliceObject> bounds = settled_slice(vm, cast<SliceObject>(key));
  const MemoryViewObject* view = usable_view(vm, self);
  const SliceRange range = resolve_slice(vm, bounds, view->shape[0]);
  Local<MemoryViewObject> made = make_memory_view(vm, self);
  made->data += range.start * view->strides[0];
  made->strides[0] *= range.step;
  made->shape[0] = range.count;
  return made;
}

Value view_get(Vm& vm, const Value& self, const Value& key) {
  const MemoryViewObject* view = usable_view(vm, self);
  const char* at = place_of(vm, view, key, Use::Read);
  if (!at) return sliced(vm, self, key).take();
  if (view->shape.empty() && key.is(vm.ellipsis())) return self;
  return view_item(vm, usable_view(vm, self), at);
}

void assign_slice(Vm& vm, const Value& self, const Value& key, const Value& value) {
  if (cast<MemoryViewObject>(self)->shape.size() != 1)
    refuse(vm, "memoryview slice assignments are currently restricted to ndim = 1");
  if (!Buffer::is_bytes_like(value))
    raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, value) + "'");
  const Local<MemoryViewObject> to = sliced(vm, self, key), from = make_memory_view(vm, value);
  if (to->item != from->item || to->shape != from->shape)
    raise_value_error(vm, "memoryview assignment: lvalue and rvalue have different structures");
  note_store(vm, to->owner.object(), Value());
  const std::string items = copied_bytes(vm, from.value());  // both may be parts of one memory
  const size_t width = to->item->size;
  Patience patience;
  for (int64_t i = 0; i < to->shape[0]; ++i) {
    patience.step();
    std::memcpy(to->data + i * to->strides[0], items.data() + static_cast<size_t>(i) * width, width);
  }
}

void view_set(Vm& vm, const Value& self, const Value& key, const Value& value) {
  MemoryViewObject* view = usable_view(vm, self);
  if (view->read_only) raise_type_error(vm, "cannot modify read-only memory");
  if (char* at = place_of(vm, view, key, Use::Write)) return store_view_item(vm, usable_view(vm, self), at, value);
  assign_slice(vm, self, key, value);
}

void view_delete(Vm& vm, const Value& self, const Value&) {
  raise_type_error(vm, usable_view(vm, self)->read_only ? "cannot modify read-only memory" : "cannot delete memory");
}

// ---- comparison, hash, iteration ------------------------------------------------------------------------

bool equal_items(Vm& vm, const MemoryViewObject* a, const char* at_a, const MemoryViewObject* b, const char* at_b,
                 size_t axis) {
  if (axis < a->shape.size()) {
    for (int64_t i = 0; i < a->shape[axis]; ++i)
      if (!equal_items(vm, a, at_a + i * a->strides[axis], b, at_b + i * b->strides[axis], axis + 1)) return false;
    return true;
  }
  vm.hear_stop();
  return truth(vm, compare(vm, CompareOp::Eq, view_item(vm, a, at_a), view_item(vm, b, at_b)));
}

bool equal_views(Vm& vm, const MemoryViewObject* a, const MemoryViewObject* b) {
  if (a->shape != b->shape) return false;
  if (a->item->kind == ItemKind::Character || b->item->kind == ItemKind::Character) return false;
  const bool same_bits = a->item == b->item && a->item->kind != ItemKind::Float && a->item->kind != ItemKind::Bool;
  if (same_bits && a->is_contiguous() && b->is_contiguous())
    return std::string_view(a->data, static_cast<size_t>(a->bytes())) ==
           std::string_view(b->data, static_cast<size_t>(b->bytes()));
  return equal_items(vm, a, a->data, b, b->data, 0);
}

Value compare_views(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !Buffer::is_bytes_like(b)) return vm.not_implemented();
  const auto is_released = [](const Value& v) {
    return is_kind(v, Kind::MemoryView) && cast<MemoryViewObject>(v)->released;
  };
  bool same = a.is(b);
  if (!is_released(a) && !is_released(b)) same = equal_views(vm, make_memory_view(vm, a), make_memory_view(vm, b));
  return Value::boolean(same == (op == CompareOp::Eq));
}

int64_t hash_view(Vm& vm, const Value& self) {
  const MemoryViewObject* view = usable_view(vm, self);
  if (!view->read_only) raise_value_error(vm, "cannot hash writable memoryview object");
  if (view->item->size != 1 || view->item->kind == ItemKind::Bool)
    raise_value_error(vm, "memoryview: hashing is restricted to formats 'B', 'b' or 'c'");
  hash(vm, view->owner);
  return static_cast<int64_t>(hash(vm, make_bytes(vm, copied_bytes(vm, self)).take()));
}

struct ViewIterator final : NativeIterator {
  Value view;  // None once exhausted
  int64_t index = 0;
  bool next(Vm& vm, Value& out) override {
    if (view.is_none()) return false;
    const MemoryViewObject* items = usable_view(vm, view);
    if (index >= items->shape[0]) return view = Value::none(), false;
    out = view_item(vm, items, items->data + index++ * items->strides[0]);
    return true;
  }
  void traverse(Visitor& visit) override { visit(view); }
};
const char kViewExtension = 0;

Value iterate_view(Vm& vm, const Value& self) {
  const MemoryViewObject* view = usable_view(vm, self);
  if (view->shape.empty()) raise_type_error(vm, "invalid indexing of 0-dim memory");
  if (view->shape.size() > 1) refuse(vm, "multi-dimensional sub-views are not implemented");
  Local<ViewIterator> it =
      vm.heap().make<ViewIterator>(*std::static_pointer_cast<Type*>(vm.extension(&kViewExtension)));
  it->view = self;
  return it.take();
}

}  // namespace

void init_memoryview_type(Vm& vm) {
  TypeBuilder b(vm, "memoryview", Kind::MemoryView);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<MemoryViewObject>;
  s.traverse = [](Object* o, Visitor& visit) { visit(static_cast<MemoryViewObject*>(o)->owner); };
  s.clear = [](Vm&, Object* o) {
    auto* view = static_cast<MemoryViewObject*>(o);
    view->released = true;
    view->exported = Export();
    view->owner = Value::none();
  };
  s.construct = view_construct;
  s.repr = view_repr;
  s.length = view_length;
  s.get_item = view_get;
  s.set_item = view_set;
  s.delete_item = view_delete;
  s.compare = compare_views;
  s.hash = hash_view;
  s.iterate = iterate_view;
  add_memoryview_methods(b);
  VmAccess::types(vm).memory_view = b.finish();
  vm.extension(&kViewExtension) = std::make_shared<Type*>(make_iterator_type<ViewIterator>(vm, "memory_iterator"));
  add_builtin(vm, "memoryview", Value(vm.types().memory_view));
}

}  // namespace tsc::interp
