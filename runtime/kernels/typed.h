#pragma once
// Dispatch from a dtype to a storage type, for drivers whose loops are not worth a copy per
// instruction set. bf16 is seen through load/store as float.
#include <utility>

#include "runtime/kernels/scalar_ops.h"
#include "runtime/tensor/dtype.h"

namespace tsc {

template <class S>
inline S load_element(const S* x) {
  return *x;
}
inline float load_element(const BFloat16* x) { return bf16_to_float(*x); }
template <class S, class C>
inline void store_element(S* out, C x) {
  if constexpr (std::is_same_v<S, BFloat16>)
    *out = float_to_bf16(x);
  else
    *out = static_cast<S>(x);
}

// Calls visit.operator()<S>() with the storage type of the dtype.
template <class Visit>
decltype(auto) visit_dtype(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::Bool: return visit.template operator()<bool>();
    case DType::U8: return visit.template operator()<uint8_t>();
    case DType::I32: return visit.template operator()<int32_t>();
    case DType::I64: return visit.template operator()<int64_t>();
    case DType::BF16: return visit.template operator()<BFloat16>();
    case DType::F32: return visit.template operator()<float>();
    case DType::F64: return visit.template operator()<double>();
  }
  __builtin_unreachable();
}

// The same by width alone, for loops that only move elements.
template <class Visit>
decltype(auto) visit_width(int64_t bytes, Visit&& visit) {
  switch (bytes) {
    case 1: return visit.template operator()<uint8_t>();
    case 2: return visit.template operator()<uint16_t>();
    case 4: return visit.template operator()<uint32_t>();
    default: return visit.template operator()<uint64_t>();
  }
}

}  // namespace tsc
