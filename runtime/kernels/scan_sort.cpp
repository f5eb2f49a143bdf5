// cumsum, cumprod and sort: each line along the axis is one sequential piece of work.
#include <algorithm>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr double kScanNanoseconds = 1.5, kSortNanoseconds = 40;

struct Lines {
  int64_t outer = 1, length, inner = 1;
  Lines(const Sizes& sizes, int64_t axis) : length(sizes[axis]) {
    for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i)
      if (i != axis) (i < axis ? outer : inner) *= sizes[i];
  }
};

// The running value is kept in the accumulator type: i64 for integers, float for bf16.
template <class S, class R, bool kProduct>
void scan_lines(const Lines& lines, const S* x, R* out) {
  using A = decltype(load_element(static_cast<const R*>(nullptr)));
  constexpr int64_t kColumns = 64;
  int64_t tiles = (lines.inner + kColumns - 1) / kColumns;
  double cost = kScanNanoseconds * lines.length * std::min(lines.inner, kColumns) + 1;
  parallel_for(lines.outer * tiles, grain_for(cost), [&](int64_t begin, int64_t end) {
    for (int64_t work = begin; work < end; ++work) {
      int64_t first = work % tiles * kColumns;
      int64_t width = std::min(kColumns, lines.inner - first);
      A running[kColumns];
      std::fill_n(running, width, A(kProduct ? 1 : 0));
      int64_t row = work / tiles * lines.length * lines.inner + first;
      for (int64_t i = 0; i < lines.length; ++i, row += lines.inner)
        for (int64_t j = 0; j < width; ++j) {
          A value = static_cast<A>(load_element(x + row + j));
          running[j] = kProduct ? TSC_ISA::scalar::mul(running[j], value)
                                : TSC_ISA::scalar::add(running[j], value);
          store_element(out + row + j, running[j]);
        }
    }
  });
}

// nan stands above every number. Ties keep their order in both directions.
template <class C>
bool before(C a, C b, bool descending) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a || b != b) return descending ? a != a && b == b : a == a && b != b;
  }
  return descending ? b < a : a < b;
}

template <class S>
void sort_lines(const Lines& lines, bool descending, const S* x, S* values, int64_t* indices) {
  using C = decltype(load_element(x));
  struct Item {
    C key;
    S value;
    int64_t index;
  };
  double cost = kSortNanoseconds * lines.length + 1;
  parallel_for(lines.outer * lines.inner, grain_for(cost), [&](int64_t begin, int64_t end) {
    std::vector<Item> items(lines.length);
    for (int64_t line = begin; line < end; ++line) {
      int64_t first = line / lines.inner * lines.length * lines.inner + line % lines.inner;
      for (int64_t i = 0; i < lines.length; ++i) {
        S value = x[first + i * lines.inner];
        items[i] = {load_element(&value), value, i};
      }
      std::stable_sort(items.begin(), items.end(), [descending](const Item& a, const Item& b) {
        return before(a.key, b.key, descending);
      });
      for (int64_t i = 0; i < lines.length; ++i) {
        values[first + i * lines.inner] = items[i].value;
        indices[first + i * lines.inner] = items[i].index;
      }
    }
  });
}

}  // namespace

OpResults run_scan(const OpCall& call) {
  Tensor out = empty_result(call);
  if (out.numel() == 0) return {std::move(out), {}};
  Tensor x = contiguous(call.tensors[0]);
  Lines lines(x.sizes(), call.attributes.axes[0]);
  visit_dtype(x.dtype(), [&]<class S>() {
    using R = std::conditional_t<std::is_integral_v<S>, int64_t, S>;
    if (call.op == Op::cumprod)
      scan_lines<S, R, true>(lines, x.data_as<S>(), out.data_as<R>());
    else
      scan_lines<S, R, false>(lines, x.data_as<S>(), out.data_as<R>());
  });
  return {std::move(out), {}};
}

OpResults run_sort(const OpCall& call) {
  Tensor values = empty_result(call);
  Tensor indices = Tensor::empty(DType::I64, values.sizes());
  if (values.numel() == 0) return {std::move(values), std::move(indices)};
  Tensor x = contiguous(call.tensors[0]);
  Lines lines(x.sizes(), call.attributes.axes[0]);
  visit_dtype(x.dtype(), [&]<class S>() {
    sort_lines(lines, call.attributes.mode == 1, x.data_as<S>(), values.data_as<S>(),
               indices.data_as<int64_t>());
  });
  return {std::move(values), std::move(indices)};
}

}  // namespace tsc
