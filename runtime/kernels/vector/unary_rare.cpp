// sin, cos and tan: a rare lane (a huge angle) takes a long way that would keep the loop from being
// vectorised. So a block runs the short way for all lanes into a buffer and notes whether any lane was
// rare; only then it runs again with the full function. The same function both times, so the same bits.
#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

// Takes the short results always, and remembers that it should not have.
template <class T>
struct ShortWayMachine : ScalarMachine<T> {
  using Flag = typename ScalarMachine<T>::I;  // as wide as T: one register shape for the whole loop
  Flag rare_seen = 0;
  template <class Slow, class... Short>
  TSC_INLINE std::array<T, sizeof...(Short)> rare(bool where, Slow&&, Short... results) {
    rare_seen |= where ? Flag(1) : Flag(0);
    return {results...};
  }
};

template <class F, class S>
[[gnu::flatten]] bool rare_loop(void* out, const void* a, const void*, const void*, int64_t n) {
  using C = ComputeOf<S>;
  constexpr int64_t kBlockLength = 256;
  auto* o = static_cast<S*>(out);
  auto* x = static_cast<const S*>(a);
  for (int64_t first = 0; first < n; first += kBlockLength, o += kBlockLength, x += kBlockLength) {
    int64_t count = n - first < kBlockLength ? n - first : kBlockLength;
    S results[kBlockLength];
    typename ShortWayMachine<C>::Flag rare_seen = 0;
    for (int64_t i = 0; i < count; ++i) {
      ShortWayMachine<C> machine;
      results[i] = store_as<S>(F()(machine, load(x[i])));
      rare_seen |= machine.rare_seen;
    }
    if (rare_seen) {
      for (int64_t i = 0; i < count; ++i) {
        ScalarMachine<C> machine;
        results[i] = store_as<S>(F()(machine, load(x[i])));
      }
    }
    __builtin_memcpy(o, results, count * sizeof(S));
  }
  return false;
}

template <class F>
TSC_INLINE void fill_row(KernelTable& table, Op op, F) {
  for_dtypes<DTypeRule::Float>([&]<DType kDType>() {
    table.element[static_cast<int>(op)][static_cast<int>(kDType)] = rare_loop<F, StorageOf<kDType>>;
  });
}

#define TSC_FILL(name)      \
  fill_row(table, Op::name, \
           [](auto& machine, auto x) __attribute__((always_inline)) { return scalar_math::name(machine, x); });

void fill_unary_rare(KernelTable& table) {
  TSC_FILL(sin)
  TSC_FILL(cos)
  TSC_FILL(tan)
}

}  // namespace tsc::TSC_ISA
