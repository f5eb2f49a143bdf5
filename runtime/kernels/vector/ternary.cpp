// select and fma.
#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

// select moves bits, so one loop serves every dtype of a width.
template <class S>
[[gnu::flatten]] static bool select_loop(void* out, const void* a, const void* b, const void* c,
                                         int64_t n) {
  auto* o = static_cast<S*>(out);
  auto* condition = static_cast<const uint8_t*>(a);
  auto *yes = static_cast<const S*>(b), *no = static_cast<const S*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    S y = yes[i], z = no[i];
    o[i] = condition[i] ? y : z;
  }
  return false;
}

template <class S>
[[gnu::flatten]] static bool fma_loop(void* out, const void* a, const void* b, const void* c,
                                      int64_t n) {
  auto* o = static_cast<S*>(out);
  auto *x = static_cast<const S*>(a), *y = static_cast<const S*>(b), *z = static_cast<const S*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    o[i] = store_as<S>(scalar::fma(load(x[i]), load(y[i]), load(z[i])));
  return false;
}

void fill_ternary(KernelTable& table) {
  for_dtypes<DTypeRule::Same>([&]<DType kDType>() {
    constexpr size_t kWidth = sizeof(StorageOf<kDType>);
    using Bits = std::conditional_t<
        kWidth == 1, uint8_t,
        std::conditional_t<kWidth == 2, uint16_t,
                           std::conditional_t<kWidth == 4, uint32_t, uint64_t>>>;
    table.element[static_cast<int>(Op::select)][static_cast<int>(kDType)] = select_loop<Bits>;
  });
  for_dtypes<DTypeRule::Float>([&]<DType kDType>() {
    table.element[static_cast<int>(Op::fma)][static_cast<int>(kDType)] =
        fma_loop<StorageOf<kDType>>;
  });
}

}  // namespace tsc::TSC_ISA
