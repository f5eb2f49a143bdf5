// cumsum and cumprod: each line along the axis is one sequential piece of work.
#include <algorithm>

#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr double kScanNanoseconds = 1.5;

template <class A, bool kProduct, class S, class R>
void scan_line(const S* x, R* out, int64_t length) {
  A running = TSC_ISA::scalar::constant<A>(kProduct ? 1 : 0);
  for (int64_t i = 0; i < length; ++i) {
    A value = static_cast<A>(load_element(x + i));
    running = kProduct ? TSC_ISA::scalar::mul(running, value) : TSC_ISA::scalar::add(running, value);
    store_element(out + i, running);
  }
}

// The running value is kept in the accumulator type: i64 for integers, float for the small floats.
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
      if (lines.inner == 1) {
        scan_line<A, kProduct>(x + work * lines.length, out + work * lines.length, lines.length);
        continue;
      }
      A running[kColumns];
      std::fill_n(running, width, TSC_ISA::scalar::constant<A>(kProduct ? 1 : 0));
      int64_t row = work / tiles * lines.length * lines.inner + first;
      for (int64_t i = 0; i < lines.length; ++i, row += lines.inner)
        for (int64_t j = 0; j < width; ++j) {
          A value = static_cast<A>(load_element(x + row + j));
          running[j] = kProduct ? TSC_ISA::scalar::mul(running[j], value) : TSC_ISA::scalar::add(running[j], value);
          store_element(out + row + j, running[j]);
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
    if (call.op == Op::cumprod) scan_lines<S, R, true>(lines, x.data_as<S>(), out.data_as<R>());
    else scan_lines<S, R, false>(lines, x.data_as<S>(), out.data_as<R>());
  });
  return {std::move(out), {}};
}

}  // namespace tsc
