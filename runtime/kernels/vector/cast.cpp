#include "runtime/kernels/vector/loops.h"

namespace tsc::TSC_ISA {

template <class From, class To>
[[gnu::flatten]] static bool cast_loop(void* out, const void* a, const void*, const void*, int64_t n) {
  auto* o = static_cast<To*>(out);
  auto* x = static_cast<const From*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = store_as<To>(scalar::cast<ComputeOf<To>>(load(x[i])));
  return false;
}

void fill_cast(KernelTable& table) {
  for_dtypes<DTypeRule::Same>([&]<DType kFrom>() {
    for_dtypes<DTypeRule::Same>([&]<DType kTo>() {
      table.cast[static_cast<int>(kFrom)][static_cast<int>(kTo)] = cast_loop<StorageOf<kFrom>, StorageOf<kTo>>;
    });
  });
}

}  // namespace tsc::TSC_ISA
