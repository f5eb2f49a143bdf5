// The elementwise loops of complex numbers: the few ops that ops.def gives them, and their casts.
#include "runtime/kernels/vector/binary.h"

namespace tsc::TSC_ISA {
namespace {

template <class F, class S>
[[gnu::flatten]] bool complex_unary(void* out, const void* a, const void*, const void*, int64_t n) {
  using Out = decltype(F()(S()));
  for (int64_t i = 0; i < n; ++i) static_cast<Out*>(out)[i] = F()(static_cast<const S*>(a)[i]);
  return false;
}

template <class From, class To>
[[gnu::flatten]] bool complex_cast(void* out, const void* a, const void*, const void*, int64_t n) {
  auto* x = static_cast<const From*>(a);
  for (int64_t i = 0; i < n; ++i) static_cast<To*>(out)[i] = store_as<To>(scalar::cast<ComputeOf<To>>(load(x[i])));
  return false;
}

template <DType kFrom, DType kTo>
void fill_cast_pair(KernelTable& table) {
  table.cast[static_cast<int>(kFrom)][static_cast<int>(kTo)] = complex_cast<StorageOf<kFrom>, StorageOf<kTo>>;
}

}  // namespace

#define TSC_COMPLEX_UNARY(name)                                         \
  table.element[static_cast<int>(Op::name)][static_cast<int>(kDType)] = \
      complex_unary<decltype([](auto x) { return scalar::name(x); }), S>;
#define TSC_COMPLEX_BINARY(name)                                        \
  table.element[static_cast<int>(Op::name)][static_cast<int>(kDType)] = \
      binary_loop<Op::name, decltype([](auto x, auto y) { return scalar::name(x, y); }), S>;

void fill_complex(KernelTable& table) {
  for_complex_dtypes([&]<DType kDType>() {
    using S = StorageOf<kDType>;
    TSC_COMPLEX_UNARY(neg)
    TSC_COMPLEX_UNARY(conj)
    TSC_COMPLEX_UNARY(logical_not)
    TSC_COMPLEX_BINARY(add)
    TSC_COMPLEX_BINARY(sub)
    TSC_COMPLEX_BINARY(mul)
    TSC_COMPLEX_BINARY(div)
    TSC_COMPLEX_BINARY(eq)
    TSC_COMPLEX_BINARY(ne)
    for_dtypes<DTypeRule::Same>([&]<DType kOther>() {
      fill_cast_pair<kDType, kOther>(table);
      fill_cast_pair<kOther, kDType>(table);
    });
    for_complex_dtypes([&]<DType kOther>() { fill_cast_pair<kDType, kOther>(table); });
  });
}

}  // namespace tsc::TSC_ISA
