#pragma once
// Binary loops: shared by binary.cpp and binary_float.cpp, split to compile side by side.
#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

// Which operands have no result; the flag is or-ed over the loop and reported once.
template <Op kOp, class T>
TSC_INLINE bool fails(T x, T y) {
  if constexpr (kOp == Op::pow) return scalar::pow_fails(x, y);
  else if constexpr (kOp == Op::quot || kOp == Op::rem || kOp == Op::floor_div ||
                     kOp == Op::remainder)
    return scalar::division_fails(x, y);
  else return false;
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
    table.element[static_cast<int>(kOp)][static_cast<int>(kDType)] =
        binary_loop<kOp, F, StorageOf<kDType>>;
  });
}

#define TSC_FILL_BINARY(name, rule)                                                     \
  fill_row<Op::name, DTypeRule::rule>(                                                  \
      table, [](auto x, auto y) __attribute__((always_inline)) { return scalar::name(x, y); });

}  // namespace tsc::TSC_ISA
