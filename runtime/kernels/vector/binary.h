#pragma once
// Binary loops: shared by binary.cpp and binary_float.cpp, split to compile side by side.
#include <algorithm>

#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

// Which operands have no result; the flag is or-ed over the loop and reported once.
template <Op kOp, class T>
TSC_INLINE bool fails(T x, T y) {
  if constexpr (kOp == Op::pow) return scalar::pow_fails(x, y);
  else if constexpr (kOp == Op::quot || kOp == Op::rem || kOp == Op::floor_div || kOp == Op::remainder)
    return scalar::division_fails(x, y);
  else return false;
}

constexpr bool is_remainder(Op op) { return op == Op::rem || op == Op::floor_div || op == Op::remainder; }

// An operation on floats that follows from the remainder.
template <Op kOp, class T>
TSC_INLINE T with_remainder(T x, T y, T r) {
  if constexpr (kOp == Op::rem) return r;
  else if constexpr (kOp == Op::floor_div) return scalar::floor_div_with(x, y, r);
  else return scalar::remainder_with(x, y, r);
}

// The short way for blocks of elements, which the compiler makes vectors of; a block with an element for which it does
// not hold is computed again, one by one. `out` may be the memory of an operand.
template <Op kOp, class F, class S>
[[gnu::flatten]] bool remainder_loop(void* out, const void* a, const void* b, const void*, int64_t n) {
  constexpr int64_t kMost = 256;
  auto* o = static_cast<S*>(out);
  auto *x = static_cast<const S*>(a), *y = static_cast<const S*>(b);
  ComputeOf<S> found[kMost];
  for (int64_t first = 0; first < n; first += kMost) {
    const int64_t count = std::min(kMost, n - first);
    int holds = 1;
    for (int64_t i = 0; i < count; ++i) {
      const auto left = load(x[first + i]), right = load(y[first + i]);
      const auto r = scalar::short_rem(left, right);
      holds &= r.holds;
      found[i] = with_remainder<kOp>(left, right, r.value);
    }
    if (!holds)
      for (int64_t i = 0; i < count; ++i) found[i] = F()(load(x[first + i]), load(y[first + i]));
    for (int64_t i = 0; i < count; ++i) o[first + i] = store_as<S>(found[i]);
  }
  return false;
}

template <Op kOp, class F, class S>
[[gnu::flatten]] bool binary_loop(void* out, const void* a, const void* b, const void*, int64_t n) {
  using C = ComputeOf<S>;
  using Out = ResultStorage<S, decltype(F()(C(), C()))>;
  auto* o = static_cast<Out*>(out);
  auto *x = static_cast<const S*>(a), *y = static_cast<const S*>(b);
  bool failed = false;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    C left = load(x[i]), right = load(y[i]);
    failed |= fails<kOp>(left, right);
    o[i] = store_as<Out>(F()(left, right));
  }
  return failed;
}

template <Op kOp, DTypeRule kRule, class F>
TSC_INLINE void fill_row(KernelTable& table, F) {
  for_dtypes<kRule>([&]<DType kDType>() {
    using S = StorageOf<kDType>;
    auto& row = table.element[static_cast<int>(kOp)][static_cast<int>(kDType)];
    if constexpr (is_remainder(kOp) && category_of(kDType) == Category::Float) row = remainder_loop<kOp, F, S>;
    else row = binary_loop<kOp, F, S>;
  });
}

#define TSC_FILL_BINARY(name, rule)    \
  fill_row<Op::name, DTypeRule::rule>( \
      table, [](auto x, auto y) __attribute__((always_inline)) { return scalar::name(x, y); });

}  // namespace tsc::TSC_ISA
