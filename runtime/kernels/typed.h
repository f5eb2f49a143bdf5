#pragma once
// Dispatch from a dtype to a storage type, for drivers whose loops are not worth a copy per
// instruction set. The small floats are seen through load/store as float.
#include <utility>

#include "runtime/kernels/scalar_ops.h"
#include "runtime/tensor/dtype.h"

namespace tsc {

template <class S>
inline auto load_element(const S* x) {
  return widen(*x);
}
template <class S, class C>
inline void store_element(S* out, C x) {
  *out = narrow<S>(x);
}

// Calls visit.operator()<S>() with the storage type of the dtype.
template <class Visit>
decltype(auto) visit_dtype(DType dtype, Visit&& visit) {
  switch (dtype) {
#define DTYPE(id, name, ir, category, is_signed, bits, storage, ...) \
  case DType::id: return visit.template operator()<storage>();
#include "runtime/tensor/dtypes.def"
  }
  __builtin_unreachable();
}

// The same for an op that does not take complex numbers.
template <class Visit>
void visit_ordered_dtype(DType dtype, Visit&& visit) {
  visit_dtype(dtype, [&]<class S>() {
    if constexpr (!kIsComplex<S>) visit.template operator()<S>();
  });
}

struct Word128 {
  uint64_t low, high;
};

// The same by width alone, for loops that only move elements.
template <class Visit>
decltype(auto) visit_width(int64_t bytes, Visit&& visit) {
  switch (bytes) {
    case 1: return visit.template operator()<uint8_t>();
    case 2: return visit.template operator()<uint16_t>();
    case 4: return visit.template operator()<uint32_t>();
    case 8: return visit.template operator()<uint64_t>();
    default: return visit.template operator()<Word128>();
  }
}

}  // namespace tsc
