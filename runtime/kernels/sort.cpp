// sort: stable, nan above every number, -0 equal to +0. Elements become unsigned keys whose order is the
// wanted one (complemented for descending), so every dtype sorts by the same stable radix passes.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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

// Least significant byte first; a byte that all keys share needs no pass. Returns the sorted one.
template <class Key>
std::vector<Item<Key>>& radix_sort(std::vector<Item<Key>>& items, std::vector<Item<Key>>& spare) {
  constexpr int kDigits = sizeof(Key);
  std::array<std::array<uint32_t, 256>, kDigits> counts{};
  for (const Item<Key>& item : items)
    for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][item.key >> digit * 8 & 255];
  std::vector<Item<Key>>*from = &items, *to = &spare;
  for (int digit = 0; digit < kDigits; ++digit) {
    auto& count = counts[digit];
    if (count[(*from)[0].key >> digit * 8 & 255] == from->size()) continue;
    uint32_t place = 0;
    for (uint32_t& bucket : count) place += std::exchange(bucket, place);
    for (const Item<Key>& item : *from) (*to)[count[item.key >> digit * 8 & 255]++] = item;
    std::swap(from, to);
  }
  return *from;
}

template <class S>
void sort_lines(const Lines& lines, bool descending, const S* x, S* values, int64_t* indices) {
  using Key = KeyOf<decltype(load_element(x))>;
  double cost = kSortNanoseconds * lines.length + 1;
  parallel_for(lines.outer * lines.inner, grain_for(cost), [&](int64_t begin, int64_t end) {
    std::vector<Item<Key>> items(lines.length), spare;
    if (lines.length >= kRadixLength) spare.resize(lines.length);
    for (int64_t line = begin; line < end; ++line) {
      int64_t first = line / lines.inner * lines.length * lines.inner + line % lines.inner;
      for (int64_t i = 0; i < lines.length; ++i) {
        Key key = ordered_key(load_element(x + first + i * lines.inner));
        items[i] = {descending ? static_cast<Key>(~key) : key, static_cast<uint32_t>(i)};
      }
      std::vector<Item<Key>>* sorted = &items;
      if (spare.empty())  // the index breaks ties, which makes any sort stable
        std::sort(items.begin(), items.end(), [](const Item<Key>& a, const Item<Key>& b) {
          return a.key != b.key ? a.key < b.key : a.index < b.index;
        });
      else
        sorted = &radix_sort(items, spare);
      for (int64_t i = 0; i < lines.length; ++i) {
        int64_t source = (*sorted)[i].index;
        values[first + i * lines.inner] = x[first + source * lines.inner];
        indices[first + i * lines.inner] = source;
      }
    }
  });
}

}  // namespace

OpResults run_sort(const OpCall& call) {
  Tensor values = empty_result(call);
  Tensor indices = Tensor::empty(DType::I64, values.sizes());
  if (values.numel() == 0) return {std::move(values), std::move(indices)};
  Tensor x = contiguous(call.tensors[0]);
  Lines lines(x.sizes(), call.attributes.axes[0]);
  if (lines.length > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::NotImplementedError,
                "sort: an axis of " + std::to_string(lines.length) + " elements is too long");
  visit_dtype(x.dtype(), [&]<class S>() {
    sort_lines(lines, call.attributes.mode == 1, x.data_as<S>(), values.data_as<S>(),
               indices.data_as<int64_t>());
  });
  return {std::move(values), std::move(indices)};
}

}  // namespace tsc
