// cummax and cummin: the extreme so far along an axis and where it stands. Of equal elements the last counts; once a
// nan was met it stays, and the last nan is its place.
#include <algorithm>

#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr double kNanoseconds = 1.0;
constexpr int64_t kColumns = 64;

template <bool kLargest, class C>
bool takes_over(C value, C best) {
  return (kLargest ? value >= best : value <= best) || value != value;
}

// `kCount` lines one behind the other: each waits for its own last step only.
template <bool kLargest, int kCount, class S>
void run_in_step(const S* x, S* values, int64_t* places, int64_t length) {
  decltype(load_element(x)) best[kCount];
  int64_t place[kCount] = {};
  for (int line = 0; line < kCount; ++line) best[line] = load_element(x + line * length);
  for (int64_t i = 0; i < length; ++i)
#pragma GCC unroll 4
    for (int line = 0; line < kCount; ++line) {
      const int64_t at = line * length + i;
      const auto value = load_element(x + at);
      const bool next = takes_over<kLargest>(value, best[line]);
      best[line] = next ? value : best[line];
      place[line] = next ? i : place[line];
      values[at] = narrow<S>(best[line]);
      places[at] = place[line];
    }
}

// Lines side by side, `width` of them, whose elements are `step` apart.
template <bool kLargest, class S>
void run_columns(const S* x, S* values, int64_t* places, int64_t length, int64_t step, int64_t width) {
  decltype(load_element(x)) best[kColumns];
  int64_t place[kColumns];
  for (int64_t j = 0; j < width; ++j) best[j] = load_element(x + j), place[j] = 0;
  for (int64_t i = 0; i < length; ++i, x += step, values += step, places += step)
    for (int64_t j = 0; j < width; ++j) {
      const auto value = load_element(x + j);
      const bool next = takes_over<kLargest>(value, best[j]);
      best[j] = next ? value : best[j];
      place[j] = next ? i : place[j];
      values[j] = narrow<S>(best[j]);
      places[j] = place[j];
    }
}

template <bool kLargest, class S>
void run_lines(const Lines& lines, const S* x, S* values, int64_t* places) {
  const int64_t tiles = (lines.inner + kColumns - 1) / kColumns;
  const double cost = kNanoseconds * static_cast<double>(lines.length * std::min(lines.inner, kColumns)) + 1;
  parallel_for(lines.outer * tiles, grain_for(cost), [&](int64_t begin, int64_t end) {
    constexpr int kTogether = 4;
    for (int64_t work = begin; work < end; ++work) {
      if (lines.inner == 1 && end - work >= kTogether) {
        const int64_t at = work * lines.length;
        run_in_step<kLargest, kTogether>(x + at, values + at, places + at, lines.length);
        work += kTogether - 1;
        continue;
      }
      const int64_t first = work % tiles * kColumns, at = work / tiles * lines.length * lines.inner + first;
      if (lines.inner == 1) run_in_step<kLargest, 1>(x + at, values + at, places + at, lines.length);
      else
        run_columns<kLargest>(x + at, values + at, places + at, lines.length, lines.inner,
                              std::min(kColumns, lines.inner - first));
    }
  });
}

}  // namespace

OpResults run_running_extreme(const OpCall& call) {
  Tensor values = empty_result(call);
  Tensor places = Tensor::empty(DType::I64, values.sizes());
  if (values.numel() == 0) return {std::move(values), std::move(places)};
  const Tensor x = contiguous(call.tensors[0]);
  const Lines lines(x.sizes(), call.attributes.axes[0]);
  visit_ordered_dtype(x.dtype(), [&]<class S>() {
    if (call.op == Op::cummax) run_lines<true>(lines, x.data_as<S>(), values.data_as<S>(), places.data_as<int64_t>());
    else run_lines<false>(lines, x.data_as<S>(), values.data_as<S>(), places.data_as<int64_t>());
  });
  return {std::move(values), std::move(places)};
}

}  // namespace tsc
