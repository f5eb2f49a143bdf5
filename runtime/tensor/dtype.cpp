#include "runtime/tensor/dtype.h"

#include <utility>

namespace tsc {

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kDTypes[i].name == name || kDTypes[i].short_name == name) return static_cast<DType>(i);
  return std::nullopt;
}

// The higher category wins; inside of one the type that holds both: the wider, of two halves that hold
// different numbers float32, of uint8 and int8 int16. A complex number's parts are as wide as its partner.
DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (category_of(a) < category_of(b)) std::swap(a, b);
  const DTypeInfo &high = dtype_info(a), &low = dtype_info(b);
  if (high.category == Category::Complex)
    return low.category < Category::Float || dtype_info(low.part).bits <= dtype_info(high.part).bits
               ? a
               : complex_dtype(low.part);
  if (high.category != low.category) return a;
  if (high.bits != low.bits) return high.bits > low.bits ? a : b;
  return high.category == Category::Float ? DType::F32 : DType::I16;
}

}  // namespace tsc
