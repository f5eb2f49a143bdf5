// select and fma.
#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

// select moves bits, so one loop serves every dtype of a width.
template <class S>
[[gnu::flatten]] static bool select_loop(void* out, const void* a, const void* b, const void* c, int64_t n) {
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
[[gnu::flatten]] static bool fma_loop(void* out, const void* a, const void* b, const void* c, int64_t n) {
  auto* o = static_cast<S*>(out);
  auto *x = static_cast<const S*>(a), *y = static_cast<const S*>(b), *z = static_cast<const S*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = store_as<S>(scalar::fma(load(x[i]), load(y[i]), load(z[i])));
  return false;
}

void fill_ternary(KernelTable& table) {
  for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
    const int64_t width = dtype_size(static_cast<DType>(dtype));
    table.element[static_cast<int>(Op::select)][dtype] = width == 1   ? select_loop<uint8_t>
                                                         : width == 2 ? select_loop<uint16_t>
                                                         : width == 4 ? select_loop<uint32_t>
                                                         : width == 8 ? select_loop<uint64_t>
                                                                      : select_loop<Complex<double>>;
  }
  for_dtypes<DTypeRule::Float>([&]<DType kDType>() {
    table.element[static_cast<int>(Op::fma)][static_cast<int>(kDType)] = fma_loop<StorageOf<kDType>>;
  });
}

}  // namespace tsc::TSC_ISA
