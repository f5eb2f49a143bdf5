// list.sort and sorted: a stable merge sort. What is sorted are the keys in the form in which they are compared, each
// with the place of its item; the items are put in order behind it, once.
#include <algorithm>
#include <cmath>
#include <memory>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {

namespace {

template <class Form>
struct Keyed {
  Form key;
  size_t place;
};

// Merges two runs of `width` elements that lie one behind the other, from both ends at once and without branches that
// depend on the data. `less` must be an order: otherwise elements would come twice.
template <class T, class Less>
void merge_equal_runs(const T* from, size_t width, T* to, const Less& less) {
  const T *left = from, *right = from + width;
  const T *last_left = right - 1, *last_right = right + width - 1;
  T *front = to, *back = to + 2 * width - 1;
  in_pieces(width, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t takes_right = less(*right, *left);
      *front++ = *(takes_right ? right : left);
      right += takes_right;
      left += 1 - takes_right;
      const size_t takes_left = less(*last_right, *last_left);
      *back-- = *(takes_left ? last_left : last_right);
      last_left -= takes_left;
      last_right -= 1 - takes_left;
    }
  });
}

// The same for a second run that is shorter.
template <class T, class Less>
void merge_last_runs(const T* from, size_t width, size_t size, T* to, const Less& less) {
  const T *left = from, *middle = from + width, *right = middle, *end = from + size;
  while (left < middle && right < end) *to++ = less(*right, *left) ? *right++ : *left++;
  to = std::copy(left, middle, to);
  std::copy(right, end, to);
}

// Keys of an order, which cannot raise. The answer is where the result lies, one of the two.
template <class T, class Less>
T* sort_ordered(T* items, T* buffer, size_t size, const Less& less) {
  size_t run = 1;
  while (run < size && !less(items[run], items[run - 1])) ++run;
  if (run == size) return items;
  if (run == 1) {
    while (run < size && less(items[run], items[run - 1])) ++run;
    if (run == size) return std::reverse(items, items + size), items;
  }
  Patience patience;
  for (size_t width = 1; width < size; width *= 2) {
    for (size_t begin = 0; begin < size; begin += 2 * width) {
      const size_t count = std::min(2 * width, size - begin);
      patience.step(count);
      const T* from = items + begin;
      if (count <= width || (width >= 8 && !less(from[width], from[width - 1])))
        std::copy(from, from + count, buffer + begin);
      else if (count == 2 * width) merge_equal_runs(from, width, buffer + begin, less);
      else merge_last_runs(from, width, count, buffer + begin, less);
    }
    std::swap(items, buffer);
  }
  return items;
}

// Keys whose comparison may raise, run code of the script, or be none of an order: no element is lost then.
template <class T, class Less>
void sort_patiently(Vm& vm, T* items, T* buffer, size_t size, const Less& less) {
  for (size_t i = 1; i < size; ++i) {  // insertion sort in runs of 8
    vm.poll();
    for (size_t j = i; j % 8 != 0 && less(items[j], items[j - 1]); --j) std::swap(items[j], items[j - 1]);
  }
  for (size_t width = 8; width < size; width *= 2) {
    for (size_t begin = 0; begin + width < size; begin += 2 * width) {
      const size_t middle = begin + width, end = std::min(begin + 2 * width, size);
      vm.poll();
      if (!less(items[middle], items[middle - 1])) continue;
      std::copy(items + begin, items + middle, buffer);
      size_t left = 0, right = middle, out = begin;
      while (left < width && right < end) {
        vm.poll();
        const bool takes_right = less(items[right], buffer[left]);
        items[out++] = takes_right ? items[right++] : buffer[left++];
      }
      std::copy(buffer + left, buffer + width, items + out);
    }
  }
}

// Tuples are mostly told apart by their first items, and those are mostly numbers or texts.
bool tuple_less(Vm& vm, const Value& a, const Value& b) {
  const TupleObject *x = cast<TupleObject>(a), *y = cast<TupleObject>(b);
  if (x->size && y->size) {
    const Value &p = x->items[0], &q = y->items[0];
    if (is_number(p) && is_number(q)) {
      if (number_compare(CompareOp::Lt, p, q)) return true;
      if (number_compare(CompareOp::Lt, q, p)) return false;
    } else if (p.is_object() && q.is_object() && p.object()->type == vm.types().str &&
               q.object()->type == vm.types().str) {
      const int order = cast<StrObject>(p)->view().compare(cast<StrObject>(q)->view());
      if (order != 0) return order < 0;
    }
  }
  return less(vm, a, b);
}

// Sorts items by as many keys, which may be the items themselves. In reverse order equal items stay in theirs.
class Sorting {
 public:
  Sorting(Vm& vm, Values& items, std::span<const Value> keys, bool reverse)
      : vm_(vm), items_(items), keys_(keys), reverse_(reverse) {}

  void run() {
    if (keys_.size() < 2) return;
    const bool alone = keys_.data() == items_.data();
    if (all([](const Value& v) { return v.is_int(); })) {
      if (alone) return sort_ints();
      sort_by_form<int64_t>([](const Value& v) { return v.as_int(); });
    } else if (all([](const Value& v) { return v.is_float() && !std::isnan(v.as_float()); })) {
      sort_by_form<double>([](const Value& v) { return v.as_float(); });
    } else if (all_of_type(vm_.types().str)) {
      // The bytes of UTF-8 have the order of the code points.
      sort_by_form<const StrObject*>([](const Value& v) { return cast<StrObject>(v); });
    } else if (all_of_type(vm_.types().tuple)) {
      sort_by_value([&](const Value& a, const Value& b) { return tuple_less(vm_, a, b); });
    } else {
      sort_by_value([&](const Value& a, const Value& b) { return less(vm_, a, b); });
    }
  }

 private:
  template <class Test>
  bool all(const Test& test) const {
    return std::all_of(keys_.begin(), keys_.end(), test);
  }
  bool all_of_type(const Type* type) const {
    return all([type](const Value& v) { return v.is_object() && v.object()->type == type; });
  }
  static bool form_less(const StrObject* a, const StrObject* b) { return a->view() < b->view(); }
  static bool form_less(int64_t a, int64_t b) { return a < b; }
  static bool form_less(double a, double b) { return a < b; }

  // Two arrays of the elements to be sorted.
  template <class T>
  struct Arrays {
    Arrays(Vm& vm, size_t size)
        : charge(vm.heap(), 2 * size * sizeof(T)), memory(std::make_unique_for_overwrite<T[]>(2 * size)) {}
    MemoryCharge charge;
    std::unique_ptr<T[]> memory;
  };

  // Equal ints are the same: they need no places.
  void sort_ints() {
    const size_t size = keys_.size();
    Arrays<int64_t> arrays(vm_, size);
    int64_t* numbers = arrays.memory.get();
    for (size_t i = 0; i < size; ++i) numbers[i] = keys_[i].as_int();
    numbers = sort_ordered(numbers, numbers + size, size, [](int64_t a, int64_t b) { return a < b; });
    for (size_t i = 0; i < size; ++i) items_[i].set_int(numbers[reverse_ ? size - 1 - i : i]);
  }

  template <class Form, class Make>
  void sort_by_form(const Make& form) {
    const size_t size = keys_.size();
    Arrays<Keyed<Form>> arrays(vm_, size);
    Keyed<Form>* elements = arrays.memory.get();
    for (size_t i = 0; i < size; ++i) elements[i] = {form(keys_[place_of(i)]), place_of(i)};
    put_in_order(sort_ordered(elements, elements + size, size,
                              [](const auto& a, const auto& b) { return form_less(a.key, b.key); }));
  }

  template <class Less>
  void sort_by_value(const Less& less) {
    const size_t size = keys_.size();
    Arrays<Keyed<const Value*>> arrays(vm_, size);
    Keyed<const Value*>* elements = arrays.memory.get();
    for (size_t i = 0; i < size; ++i) elements[i] = {&keys_[place_of(i)], place_of(i)};
    sort_patiently(vm_, elements, elements + size, size,
                   [&](const auto& a, const auto& b) { return less(*a.key, *b.key); });
    put_in_order(elements);
  }

  // The sort is stable also in reverse order: it begins at the end, and its result is read from there.
  size_t place_of(size_t i) const { return reverse_ ? keys_.size() - 1 - i : i; }

  template <class T>
  void put_in_order(const T* elements) {
    Values sorted;
    const size_t size = items_.size();
    sorted.reserve(size);  // nothing is thrown once an item has moved
    for (size_t i = 0; i < size; ++i) sorted.push_back(std::move(items_[elements[place_of(i)].place]));
    items_.swap(sorted);
  }

  Vm& vm_;
  Values& items_;
  std::span<const Value> keys_;
  bool reverse_;
};

}  // namespace

void sort_list(Vm& vm, ListObject* raw, const Value& key, bool reverse) {
  Local<ListObject> list(raw);
  note_store(vm, list, Value());
  // The list is empty while it is sorted, so that a comparison cannot disturb it.
  Values items = std::move(list->items);
  std::vector<Value> keys;
  auto restore = [&] {
    list->items.swap(items);
    return items.capacity() == 0;  // one that was filled and emptied again has changed, too
  };
  try {
    if (key) {
      keys.reserve(items.size());
      for (const Value& v : items) {
        vm.poll();
        keys.push_back(call(vm, key, {v}));
      }
    }
    Sorting(vm, items, key ? std::span<const Value>(keys) : std::span<const Value>(items), reverse).run();
  } catch (...) {
    restore();
    throw;
  }
  if (!restore()) raise_value_error(vm, "list modified during sort");
}

}  // namespace tsc::interp
