// The methods and attributes of memoryview.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/memoryview.h"
#include "interpreter/heap/patience.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::interp {

namespace {

constexpr size_t kMaxAxes = 64;

Value items_as_list(Vm& vm, const MemoryViewObject* view, const char* from, size_t axis, Patience& patience) {
  if (axis == view->shape.size()) return patience.step(), view_item(vm, view, from);
  Local<ListObject> list = make_list(vm, static_cast<size_t>(view->shape[axis]));
  for (int64_t i = 0; i < view->shape[axis]; ++i)
    list->items.push_back(items_as_list(vm, view, from + i * view->strides[axis], axis + 1, patience));
  return list.take();
}

}  // namespace

Value view_list(Vm& vm, const MemoryViewObject* view) {
  Patience patience;
  return items_as_list(vm, view, view->data, 0, patience);
}

namespace {

// ---- cast ----------------------------------------------------------------------------------------------

// A native format of one character, with or without '@'.
const ItemFormat* native_format(std::string_view text) {
  if (!text.empty() && text[0] == '@') text.remove_prefix(1);
  return text.size() == 1 ? find_item_format(text[0], kInView) : nullptr;
}

bool is_byte_format(const ItemFormat* item) { return item->size == 1 && item->kind != ItemKind::Bool; }

void set_rows(MemoryViewObject* view, std::vector<int64_t> shape) {
  view->strides.assign(shape.size(), view->item->size);
  for (size_t axis = shape.size(); axis-- > 1;) view->strides[axis - 1] = view->strides[axis] * shape[axis];
  view->shape = std::move(shape);
}

std::vector<int64_t> cast_shape(Vm& vm, std::span<const Value> sizes, int64_t items) {
  std::vector<int64_t> shape;
  int64_t product = 1;
  for (const Value& size : sizes) {
    if (!is_integer_like(size) && !is_big(size))
      raise_type_error(vm, "memoryview.cast(): elements of shape must be integers");
    if (compare_ints(size, Value::integer(0)) <= 0)
      raise_value_error(vm, "memoryview.cast(): elements of shape must be integers > 0");
    if (is_big(size) || __builtin_mul_overflow(product, size.as_int(), &product))
      raise_value_error(vm, "memoryview.cast(): product(shape) > SSIZE_MAX");
    shape.push_back(size.as_int());
  }
  if (product != items) raise_type_error(vm, "memoryview: product(shape) * itemsize != buffer size");
  return shape;
}

// The sizes that cast() is given.
std::span<const Value> sizes_of(Vm& vm, const Value& shape, const MemoryViewObject* view) {
  const auto* list = try_cast<ListObject>(shape);
  const auto* tuple = try_cast<TupleObject>(shape);
  if (!list && !tuple) raise_type_error(vm, "shape must be a list or a tuple");
  const std::span<const Value> sizes =
      list ? std::span<const Value>(list->items.data(), list->items.size()) : tuple->span();
  if (sizes.size() > kMaxAxes) raise_value_error(vm, "memoryview: number of dimensions must not exceed 64");
  if (view->shape.size() != 1 && sizes.size() != 1)
    raise_type_error(vm, "memoryview: cast must be 1D -> ND or ND -> 1D");
  return sizes;
}

Value cast_view(Vm& vm, Args& a) {
  const MemoryViewObject* view = usable_view(vm, a[0]);
  if (!is_kind(a[1], Kind::Str))
    raise_type_error(vm, "cast() argument 'format' must be str, not " + type_name(vm, a[1]));
  if (!view->is_contiguous()) raise_type_error(vm, "memoryview: casts are restricted to C-contiguous views");
  if ((a.has(2) || view->shape.size() != 1) && view->items() == 0)
    raise_type_error(vm, "memoryview: cannot cast view with zeros in shape or strides");
  const std::span<const Value> sizes = a.has(2) ? sizes_of(vm, a[2], view) : std::span<const Value>();
  const std::string_view text = interp::cast<StrObject>(a[1])->view();
  const ItemFormat* item = native_format(text);
  if (view->item->kind == ItemKind::Character)
    raise_value_error(
        vm, "memoryview: source format must be a native single character format prefixed with an optional '@'");
  if (!item)
    raise_value_error(
        vm, "memoryview: destination format must be a native single character format prefixed with an optional '@'");
  if (!is_byte_format(view->item) && !is_byte_format(item))
    raise_type_error(vm, "memoryview: cannot cast between two non-byte formats");
  if (view->bytes() % item->size) raise_type_error(vm, "memoryview: length is not a multiple of itemsize");
  const int64_t items = view->bytes() / item->size;
  std::vector<int64_t> shape{items};
  if (a.has(2)) shape = cast_shape(vm, sizes, items);
  Local<MemoryViewObject> made = make_memory_view(vm, a[0]);
  made->item = item;
  made->format = text;
  set_rows(made, std::move(shape));
  return made.take();
}

// ---- copies ----------------------------------------------------------------------------------------------

bool is_column_major(const MemoryViewObject* view) {
  if (view->shape.size() == 1 || view->items() == 0) return view->is_contiguous();
  int64_t step = view->item->size;
  for (size_t axis = 0; axis < view->shape.size(); ++axis) {
    if (view->shape[axis] > 1 && view->strides[axis] != step) return false;
    step *= view->shape[axis];
  }
  return true;
}

Value tobytes(Vm& vm, Args& a) {
  const MemoryViewObject* view = usable_view(vm, a[0]);
  const std::string_view order = a[1].is_none() ? "C" : text_of(vm, a[1], "tobytes() argument 'order'");
  if (order != "C" && order != "F" && order != "A") raise_value_error(vm, "order must be 'C', 'F' or 'A'");
  if (order == "C" || (order == "A" && !is_column_major(view))) return make_bytes(vm, copied_bytes(vm, a[0])).take();
  const Local<MemoryViewObject> turned = make_memory_view(vm, a[0]);
  std::reverse(turned->shape.begin(), turned->shape.end());
  std::reverse(turned->strides.begin(), turned->strides.end());
  return make_bytes(vm, copied_bytes(vm, turned.value())).take();
}

Value tolist(Vm& vm, Args& a) { return view_list(vm, usable_view(vm, a[0])); }

Value hex(Vm& vm, Args& a) {
  const int64_t group = to_index(vm, a[2]);
  const std::string separator = hex_separator(vm, a.has(1) ? a[1] : Value());
  return hex_text(vm, copied_bytes(vm, a[0]), separator, group);
}

Value toreadonly(Vm& vm, Args& a) {
  Local<MemoryViewObject> made = make_memory_view(vm, a[0]);
  made->read_only = true;
  return made.take();
}

// ---- the end of a view -------------------------------------------------------------------------------------

Value release(Vm& vm, Args& a) {
  auto* view = interp::cast<MemoryViewObject>(a[0]);
  if (view->users > 0)
    raise_buffer_error(
        vm, "memoryview has " + std::to_string(view->users) + " exported buffer" + (view->users > 1 ? "s" : ""));
  note_store(vm, view, Value());
  view->released = true;
  view->exported = Export();
  const Value owner = std::exchange(view->owner, Value::none());
  return Value::none();
}
Value enter(Vm& vm, Args& a) { return usable_view(vm, a[0]), a[0]; }

// ---- attributes --------------------------------------------------------------------------------------------

Value numbers(Vm& vm, const std::vector<int64_t>& numbers) {
  std::vector<Value> items;
  for (const int64_t n : numbers) items.push_back(Value::integer(n));
  return make_tuple(vm, items).take();
}
Value get_format(Vm& vm, const Value& v) { return str_value(vm, usable_view(vm, v)->format); }
Value get_itemsize(Vm& vm, const Value& v) { return Value::integer(usable_view(vm, v)->item->size); }
Value get_nbytes(Vm& vm, const Value& v) { return Value::integer(usable_view(vm, v)->bytes()); }
Value get_ndim(Vm& vm, const Value& v) {
  return Value::integer(static_cast<int64_t>(usable_view(vm, v)->shape.size()));
}
Value get_shape(Vm& vm, const Value& v) { return numbers(vm, usable_view(vm, v)->shape); }
Value get_strides(Vm& vm, const Value& v) { return numbers(vm, usable_view(vm, v)->strides); }
Value get_suboffsets(Vm& vm, const Value& v) { return usable_view(vm, v), numbers(vm, {}); }
Value get_readonly(Vm& vm, const Value& v) { return Value::boolean(usable_view(vm, v)->read_only); }
Value get_obj(Vm& vm, const Value& v) { return usable_view(vm, v)->owner; }
Value get_c_contiguous(Vm& vm, const Value& v) { return Value::boolean(usable_view(vm, v)->is_contiguous()); }
Value get_f_contiguous(Vm& vm, const Value& v) { return Value::boolean(is_column_major(usable_view(vm, v))); }
Value get_contiguous(Vm& vm, const Value& v) {
  const MemoryViewObject* view = usable_view(vm, v);
  return Value::boolean(view->is_contiguous() || is_column_major(view));
}

}  // namespace

void add_memoryview_methods(TypeBuilder& type) {
  type.method("cast", "self, format, shape=?", cast_view)
      .method("tobytes", "self, order='C'", tobytes)
      .method("tolist", "self", tolist)
      .method("hex", "self, sep=?, bytes_per_sep=1", hex)
      .method("toreadonly", "self", toreadonly)
      .method("release", "self", release)
      .method("__enter__", "self", enter)
      .method("__exit__", "self, *args", release)
      .getter("format", get_format)
      .getter("itemsize", get_itemsize)
      .getter("nbytes", get_nbytes)
      .getter("ndim", get_ndim)
      .getter("shape", get_shape)
      .getter("strides", get_strides)
      .getter("suboffsets", get_suboffsets)
      .getter("readonly", get_readonly)
      .getter("obj", get_obj)
      .getter("c_contiguous", get_c_contiguous)
      .getter("f_contiguous", get_f_contiguous)
      .getter("contiguous", get_contiguous);
}

}  // namespace tsc::interp
