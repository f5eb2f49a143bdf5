// sort: stable, nan above every number, -0 equal to +0. Elements become unsigned keys whose order is the
// wanted one (complemented for descending), so every dtype sorts by the same stable radix passes.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr double kSortNanoseconds = 20;
constexpr int64_t kRadixLength = 512;  // shorter lines are compared

template <class C>
using KeyOf = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;

template <class C>
KeyOf<C> ordered_key(C value) {
  using Key = KeyOf<C>;
  constexpr Key kSign = Key(1) << (sizeof(Key) * 8 - 1);
  if constexpr (std::is_floating_point_v<C>) {
    if (value != value) return ~Key(0);
    Key bits = __builtin_bit_cast(Key, value == 0 ? C(0) : value);
    return bits & kSign ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<C>) {
    return static_cast<Key>(value) ^ kSign;
  } else {
    return value;
  }
}

template <class Key>
struct Item {
  Key key;
  uint32_t index;
};

// Calls f(i) for every i < count, and hears a stop every few hundred microseconds.
template <class F>
void for_each_polled(size_t count, const StopFlag& stop, F&& f) {
  constexpr size_t kBlock = 1 << 16;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    stop.poll();
    const size_t end = std::min(begin + kBlock, count);
    for (size_t i = begin; i < end; ++i) f(i);
  }
}

template <class Key>
using DigitCounts = std::array<std::array<uint32_t, 256>, sizeof(Key)>;

// Sorts by the digits from `first` on, the least significant first; a digit that all keys share needs no pass. Leaves
// the sorted ones in `from`.
template <class Key>
void pass_digits(std::span<Item<Key>>& from, std::span<Item<Key>>& to, int first, DigitCounts<Key> counts,
                 const StopFlag& stop) {
  for (int digit = first; digit < static_cast<int>(sizeof(Key)); ++digit) {
    auto& count = counts[digit];
    if (count[from[0].key >> digit * 8 & 255] == from.size()) continue;
    uint32_t place = 0;
    for (uint32_t& bucket : count) place += std::exchange(bucket, place);
    for_each_polled(from.size(), stop, [&](size_t i) {
      const Item<Key>& item = from[i];
      to[count[item.key >> digit * 8 & 255]++] = item;
    });
    std::swap(from, to);
  }
}

// The lowest of the four upper digits in which keys differ: where that leaves digits below, those seldom decide.
template <class Key>
int first_upper_digit(Key key, const DigitCounts<Key>& counts, size_t size) {
  int found = 0;
  for (int digit = sizeof(Key) - 1; digit > 0; --digit)
    if (counts[digit][key >> digit * 8 & 255] != size && ++found == 4) return digit;
  return 0;
}

// Whether items sorted by their upper digits could be sorted whole by exchanging few neighbours. An insertion keeps the
// order of equal keys.
template <class Key>
bool insert_rest(std::span<Item<Key>> items) {
  constexpr size_t kFar = 16;
  for (size_t i = 1; i < items.size(); ++i) {
    if (items[i - 1].key <= items[i].key) continue;
    const Item<Key> item = items[i];
    size_t place = i;
    for (; place > 0 && items[place - 1].key > item.key; --place) {
      items[place] = items[place - 1];
      if (i - place > kFar) {  // many share their upper digits
        items[place - 1] = item;
        return false;
      }
    }
    items[place] = item;
  }
  return true;
}

// Returns the sorted one. Equal keys keep their order in every step, so also where all passes follow the first ones.
template <class Key>
std::span<Item<Key>> radix_sort(std::span<Item<Key>> items, std::span<Item<Key>> spare, const StopFlag& stop) {
  DigitCounts<Key> counts{};
  for_each_polled(items.size(), stop, [&](size_t i) {
    for (size_t digit = 0; digit < sizeof(Key); ++digit) ++counts[digit][items[i].key >> digit * 8 & 255];
  });
  std::span<Item<Key>> from = items, to = spare;
  const int upper = first_upper_digit(items[0].key, counts, items.size());
  if (upper > 0) {
    pass_digits(from, to, upper, counts, stop);
    if (insert_rest(from)) return from;
  }
  pass_digits(from, to, 0, counts, stop);
  return from;
}

template <class S>
void sort_lines(const Lines& lines, bool descending, const S* x, S* values, int64_t* indices) {
  using Key = KeyOf<decltype(load_element(x))>;
  double cost = kSortNanoseconds * lines.length + 1;
  const StopFlag& stop = current_device().stop;
  parallel_for(lines.outer * lines.inner, grain_for(cost), [&](int64_t begin, int64_t end) {
    // Left as they come: to clear them would take as long as a pass, deaf to a stop.
    const bool by_radix = lines.length >= kRadixLength;
    const auto length = static_cast<size_t>(lines.length);
    const auto memory = std::make_unique_for_overwrite<Item<Key>[]>(by_radix ? 2 * length : length);
    const std::span<Item<Key>> items(memory.get(), length);
    for (int64_t line = begin; line < end; ++line) {
      int64_t first = line / lines.inner * lines.length * lines.inner + line % lines.inner;
      for_each_polled(length, stop, [&](size_t i) {
        Key key = ordered_key(load_element(x + first + static_cast<int64_t>(i) * lines.inner));
        items[i] = {descending ? static_cast<Key>(~key) : key, static_cast<uint32_t>(i)};
      });
      std::span<Item<Key>> sorted = items;
      if (!by_radix)  // the index breaks ties, which makes any sort stable
        std::sort(items.begin(), items.end(), [](const Item<Key>& a, const Item<Key>& b) {
          return a.key != b.key ? a.key < b.key : a.index < b.index;
        });
      else sorted = radix_sort(items, std::span(memory.get() + length, length), stop);
      for_each_polled(length, stop, [&](size_t i) {
        const int64_t source = sorted[i].index, place = first + static_cast<int64_t>(i) * lines.inner;
        values[place] = x[first + source * lines.inner];
        indices[place] = source;
      });
    }
  });
}

}  // namespace

OpResults run_sort(const OpCall& call) {
  if (call.op != Op::sort) return run_running_extreme(call);
  Tensor values = empty_result(call);
  Tensor indices = Tensor::empty(DType::I64, values.sizes());
  if (values.numel() == 0) return {std::move(values), std::move(indices)};
  Tensor x = contiguous(call.tensors[0]);
  Lines lines(x.sizes(), call.attributes.axes[0]);
  if (lines.length > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::NotImplementedError,
                "sort: an axis of " + std::to_string(lines.length) + " elements is too long");
  visit_ordered_dtype(x.dtype(), [&]<class S>() {
    sort_lines(lines, call.attributes.mode == 1, x.data_as<S>(), values.data_as<S>(), indices.data_as<int64_t>());
  });
  return {std::move(values), std::move(indices)};
}

}  // namespace tsc
