#pragma once
// Unary loops: shared by unary.cpp and unary_float.cpp, split to compile side by side.
#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

template <class F, class S>
[[gnu::flatten]] bool unary_loop(void* out, const void* a, const void*, const void*, int64_t n) {
  using Out = ResultStorage<S, decltype(F()(ComputeOf<S>()))>;
  auto* o = static_cast<Out*>(out);
  auto* x = static_cast<const S*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = store_as<Out>(F()(load(x[i])));
  return false;
}

template <DTypeRule kRule, class F>
TSC_INLINE void fill_row(KernelTable& table, Op op, F) {
  for_dtypes<kRule>([&]<DType kDType>() {
    table.element[static_cast<int>(op)][static_cast<int>(kDType)] = unary_loop<F, StorageOf<kDType>>;
  });
}

#define TSC_FILL_UNARY(name, rule) \
  fill_row<DTypeRule::rule>(table, Op::name, [](auto x) __attribute__((always_inline)) { return scalar::name(x); });

}  // namespace tsc::TSC_ISA
