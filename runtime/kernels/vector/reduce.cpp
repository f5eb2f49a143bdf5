// The loops of the reductions: lanes are accumulators in the canonical order (runtime/kernels/reduce.h).
#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

constexpr int64_t kLanes = 64;

// Sums and products of integers run in i64, of the small floats in float.
template <class S>
using SumAccumulator = std::conditional_t<std::is_integral_v<ComputeOf<S>>, int64_t, ComputeOf<S>>;

template <class S>
struct Sum {
  using Accumulator = SumAccumulator<S>;
  using Result = std::conditional_t<std::is_integral_v<ComputeOf<S>>, int64_t, S>;
  static constexpr Accumulator kIdentity = scalar::constant<Accumulator>(0);
  TSC_INLINE static Accumulator prepare(S x) { return static_cast<Accumulator>(load(x)); }
  TSC_INLINE static Accumulator combine(Accumulator a, Accumulator b) { return scalar::add(a, b); }
};

template <class S>
struct Prod : Sum<S> {
  using Accumulator = SumAccumulator<S>;
  static constexpr Accumulator kIdentity = scalar::constant<Accumulator>(1);
  TSC_INLINE static Accumulator combine(Accumulator a, Accumulator b) { return scalar::mul(a, b); }
};

template <class C>
constexpr C lowest() {
  if constexpr (std::is_floating_point_v<C>) return -std::numeric_limits<C>::infinity();
  else return std::numeric_limits<C>::min();
}
template <class C>
constexpr C highest() {
  if constexpr (std::is_floating_point_v<C>) return std::numeric_limits<C>::infinity();
  else return std::numeric_limits<C>::max();
}

template <class S>
struct Amax {
  using Accumulator = ComputeOf<S>;
  using Result = S;
  static constexpr Accumulator kIdentity = lowest<Accumulator>();
  TSC_INLINE static Accumulator prepare(S x) { return load(x); }
  TSC_INLINE static Accumulator combine(Accumulator a, Accumulator b) { return scalar::maximum(a, b); }
};

template <class S>
struct Amin : Amax<S> {
  using Accumulator = ComputeOf<S>;
  static constexpr Accumulator kIdentity = highest<Accumulator>();
  TSC_INLINE static Accumulator combine(Accumulator a, Accumulator b) { return scalar::minimum(a, b); }
};

template <class S>
struct Any {
  using Accumulator = uint8_t;
  using Result = bool;
  static constexpr Accumulator kIdentity = 0;
  TSC_INLINE static Accumulator prepare(S x) { return !scalar::logical_not(load(x)); }
  TSC_INLINE static Accumulator combine(Accumulator a, Accumulator b) { return a | b; }
};

template <class S>
struct All : Any<S> {
  using Accumulator = uint8_t;
  static constexpr Accumulator kIdentity = 1;
  TSC_INLINE static Accumulator combine(Accumulator a, Accumulator b) { return a & b; }
};

template <class R, class S>
[[gnu::flatten]] void row_loop(void* lanes_memory, const void* x_memory, int64_t n, int64_t phase) {
  auto* lanes = static_cast<typename R::Accumulator*>(lanes_memory);
  auto* x = static_cast<const S*>(x_memory);
  int64_t i = 0;
  for (; i < n && phase != 0; ++i, phase = (phase + 1) % kLanes)
    lanes[phase] = R::combine(lanes[phase], R::prepare(x[i]));
  if (n - i >= kLanes) {
    typename R::Accumulator held[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) held[lane] = lanes[lane];
    for (; n - i >= kLanes; i += kLanes)
#pragma GCC ivdep
      for (int64_t lane = 0; lane < kLanes; ++lane) held[lane] = R::combine(held[lane], R::prepare(x[i + lane]));
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = held[lane];
  }
#pragma GCC ivdep
  for (int64_t lane = 0; lane < n - i; ++lane) lanes[lane] = R::combine(lanes[lane], R::prepare(x[i + lane]));
}

template <class R, class S>
[[gnu::flatten]] void column_loop(void* lanes_memory, const void* x_memory, int64_t n) {
  auto* lanes = static_cast<typename R::Accumulator*>(lanes_memory);
  auto* x = static_cast<const S*>(x_memory);
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) lanes[j] = R::combine(lanes[j], R::prepare(x[j]));
}

template <class R>
[[gnu::flatten]] void combine_loop(void* a_memory, const void* b_memory, int64_t n) {
  auto* a = static_cast<typename R::Accumulator*>(a_memory);
  auto* b = static_cast<const typename R::Accumulator*>(b_memory);
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) a[j] = R::combine(a[j], b[j]);
}

template <class R>
void identity_loop(void* lanes_memory, int64_t n) {
  auto* lanes = static_cast<typename R::Accumulator*>(lanes_memory);
  for (int64_t j = 0; j < n; ++j) lanes[j] = R::kIdentity;
}

template <class R, class Result>
[[gnu::flatten]] void finish_loop(void* out_memory, const void* lanes_memory, int64_t n) {
  auto* out = static_cast<Result*>(out_memory);
  auto* lanes = static_cast<const typename R::Accumulator*>(lanes_memory);
  for (int64_t j = 0; j < n; ++j) {
    if constexpr (std::is_same_v<Result, bool>) out[j] = lanes[j] != 0;
    else out[j] = store_as<Result>(lanes[j]);
  }
}

template <template <class> class Reduction, DType kDType>
TSC_INLINE void fill_place(KernelTable& table, Op op) {
  using S = StorageOf<kDType>;
  using R = Reduction<S>;
  using Result = typename R::Result;
  table.reduce[static_cast<int>(op) - static_cast<int>(Op::sum)][static_cast<int>(kDType)] = {
      row_loop<R, S>,   column_loop<R, S>,      combine_loop<R>,
      identity_loop<R>, finish_loop<R, Result>, sizeof(typename R::Accumulator)};
}

template <template <class> class Reduction>
TSC_INLINE void fill_row(KernelTable& table, Op op) {
  for_dtypes<DTypeRule::Same>([&]<DType kDType>() { fill_place<Reduction, kDType>(table, op); });
}
template <template <class> class Reduction>
TSC_INLINE void fill_complex_row(KernelTable& table, Op op) {
  for_complex_dtypes([&]<DType kDType>() { fill_place<Reduction, kDType>(table, op); });
}

void fill_reduce(KernelTable& table) {
  fill_row<Sum>(table, Op::sum);
  fill_row<Prod>(table, Op::prod);
  fill_row<Amax>(table, Op::amax);
  fill_row<Amin>(table, Op::amin);
  fill_row<Any>(table, Op::any);
  fill_row<All>(table, Op::all);
  fill_complex_row<Sum>(table, Op::sum);
  fill_complex_row<Prod>(table, Op::prod);
  fill_complex_row<Any>(table, Op::any);
  fill_complex_row<All>(table, Op::all);
}

}  // namespace tsc::TSC_ISA
