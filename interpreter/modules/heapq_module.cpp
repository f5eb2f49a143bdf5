// _heapq: the heap operations on lists and the bisections, as heapq and bisect publish them.
#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/native_modules.h"

namespace tsc::interp {
namespace {

ListObject* heap_of(Vm& vm, const Args& a) {
  auto* list = try_cast<ListObject>(a[0]);
  if (!list)
    raise_type_error(vm, a.callee->name + "() argument" + (a.callee->name == "heapify" ? "" : " 1") +
                             " must be list, not " + type_name(vm, a[0]));
  note_store(vm, list, Value());
  return list;
}
// A comparison may run script code that changes the list.
void check_size(Vm& vm, ListObject* heap, size_t size) {
  if (heap->items.size() != size) raise(vm, vm.exceptions().RuntimeError, "list changed size during iteration");
}
bool before(Vm& vm, const Value& a, const Value& b, bool largest_first) {
  return largest_first ? less(vm, b, a) : less(vm, a, b);
}
void sift_up(Vm& vm, ListObject* heap, size_t start, size_t at, bool reverse) {
  size_t size = heap->items.size();
  Value item = heap->items[at];
  while (at > start) {
    size_t parent = (at - 1) / 2;
    Value above = heap->items[parent];
    bool swap = before(vm, item, above, reverse);
    check_size(vm, heap, size);
    if (!swap) break;
    heap->items[at] = above;
    heap->items[parent] = item;
    at = parent;
  }
}
// Moves the item down to a leaf along the smaller children, then up to its place.
void sift_down(Vm& vm, ListObject* heap, size_t at, bool reverse) {
  size_t size = heap->items.size(), start = at;
  for (size_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size) {
      Value left = heap->items[child], right = heap->items[child + 1];
      bool left_first = before(vm, left, right, reverse);
      check_size(vm, heap, size);
      if (!left_first) ++child;
    }
    std::swap(heap->items[at], heap->items[child]);
    at = child;
  }
  sift_up(vm, heap, start, at, reverse);
}
Value heappush(Vm& vm, Args& a) {
  Local<ListObject> heap(heap_of(vm, a));
  heap->items.push_back(a[1]);
  sift_up(vm, heap, 0, heap->items.size() - 1, false);
  return Value::none();
}
template <bool reverse>
Value heappop(Vm& vm, Args& a) {
  Local<ListObject> heap(heap_of(vm, a));
  if (heap->items.empty()) raise_index_error(vm, "index out of range");
  Value last = std::move(heap->items.back());
  heap->items.pop_back();
  if (heap->items.empty()) return last;
  std::swap(last, heap->items[0]);
  sift_down(vm, heap, 0, reverse);
  return last;
}
template <bool reverse>
Value heapify(Vm& vm, Args& a) {
  Local<ListObject> heap(heap_of(vm, a));
  for (size_t i = heap->items.size() / 2; i-- > 0;) sift_down(vm, heap, i, reverse);
  return Value::none();
}
template <bool reverse>
Value heapreplace(Vm& vm, Args& a) {
  Local<ListObject> heap(heap_of(vm, a));
  if (heap->items.empty()) raise_index_error(vm, "index out of range");
  Value top = heap->items[0];
  heap->items[0] = a[1];
  sift_down(vm, heap, 0, reverse);
  return top;
}
Value heappushpop(Vm& vm, Args& a) {
  Local<ListObject> heap(heap_of(vm, a));
  if (heap->items.empty() || !less(vm, heap->items[0], a[1])) return a[1];
  return heapreplace<false>(vm, a);
}

// --- bisect -----------------------------------------------------------------------------------------

template <bool right>
int64_t bisect_place(Vm& vm, const Value& sequence, const Value& x, Args& a) {
  int64_t low = to_index(vm, a[2]);
  if (low < 0) raise_value_error(vm, "lo must be non-negative");
  int64_t high = a[3].is_none() ? length(vm, sequence) : to_index(vm, a[3]);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    Value item = get_item(vm, sequence, Value::integer(middle));
    if (!a[4].is_none()) item = call(vm, a[4], {item});
    bool go_right = right ? !less(vm, x, item) : less(vm, item, x);
    if (go_right) low = middle + 1;
    else high = middle;
  }
  return low;
}
template <bool right>
Value bisect(Vm& vm, Args& a) {
  return Value::integer(bisect_place<right>(vm, a[0], a[1], a));
}
template <bool right>
Value insort(Vm& vm, Args& a) {
  Value key = a[4].is_none() ? a[1] : call(vm, a[4], {a[1]});
  Value place = Value::integer(bisect_place<right>(vm, a[0], key, a));
  call_method(vm, a[0], "insert", {place, a[1]});
  return Value::none();
}

}  // namespace

Local<ModuleObject> make_heapq_module(Vm& vm) {
  ModuleBuilder m(vm, "_heapq");
  m.function("heappush", "heap, item, /", heappush)
      .function("heappop", "heap, /", heappop<false>)
      .function("heapify", "heap, /", heapify<false>)
      .function("heapreplace", "heap, item, /", heapreplace<false>)
      .function("heappushpop", "heap, item, /", heappushpop)
      .function("_heappop_max", "heap, /", heappop<true>)
      .function("_heapify_max", "heap, /", heapify<true>)
      .function("_heapreplace_max", "heap, item, /", heapreplace<true>);
  return m.finish();
}

Local<ModuleObject> make_bisect_module(Vm& vm) {
  ModuleBuilder m(vm, "bisect");
  const char* signature = "a, x, lo=0, hi=None, *, key=None";
  m.function("bisect_left", signature, bisect<false>)
      .function("bisect_right", signature, bisect<true>)
      .function("insort_left", signature, insort<false>)
      .function("insort_right", signature, insort<true>);
  Local<ModuleObject> made = m.finish();
  const Value module = made.value();
  for (const auto& [name, function] : {std::pair("bisect", "bisect_right"), std::pair("insort", "insort_right")})
    set_attribute(vm, module, intern(vm, name).get(), get_attribute(vm, module, function));
  return made;
}

}  // namespace tsc::interp
