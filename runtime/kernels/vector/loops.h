#pragma once
// How the files of this folder turn a scalar function into inner loops. Everything is inlined or has
// internal linkage, because each file is compiled once per instruction set.
#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/scalar_ops.h"

namespace tsc::TSC_ISA {

// Arithmetic happens in the storage type itself, except that the small floats compute in float.
template <class S>
TSC_INLINE auto load(S x) {
  return widen(x);
}
template <class S>
using ComputeOf = decltype(widen(S()));

template <class S, class C>
TSC_INLINE S store_as(C x) {
  return narrow<S>(x);
}

// The storage type of a result: the operands' own, unless the function changed the type (to bool).
template <class S, class R>
using ResultStorage = std::conditional_t<std::is_same_v<R, ComputeOf<S>>, S, R>;

// Does a dtype rule admit a dtype that is not complex? (The rule of infer_dtype, at compile time.) The loops of
// complex numbers are in complex.cpp, since few ops take them.
constexpr bool admits(DTypeRule rule, DType dtype) {
  const Category category = category_of(dtype);
  if (category == Category::Complex) return false;
  switch (rule) {
    case DTypeRule::Float: return category == Category::Float;
    case DTypeRule::Number: return category != Category::Bool;
    case DTypeRule::Integer: return category != Category::Float;
    default: return true;
  }
}

// Calls visit.operator()<dtype>() for every dtype the rule admits.
template <DTypeRule kRule, class Visit>
TSC_INLINE void for_dtypes(Visit visit) {
  auto one = [&]<DType kDType>() {
    if constexpr (admits(kRule, kDType)) visit.template operator()<kDType>();
  };
#define DTYPE(id, ...) one.template operator()<DType::id>();
#include "runtime/tensor/dtypes.def"
}
template <class Visit>
TSC_INLINE void for_complex_dtypes(Visit visit) {
  auto one = [&]<DType kDType>() {
    if constexpr (is_complex(kDType)) visit.template operator()<kDType>();
  };
#define DTYPE(id, ...) one.template operator()<DType::id>();
#include "runtime/tensor/dtypes.def"
}

// Parts of the table, one per file of this folder.
void fill_unary(KernelTable& table);
void fill_unary_float(KernelTable& table);
void fill_unary_rare(KernelTable& table);  // after fill_unary_float: replaces some of its rows
void fill_binary(KernelTable& table);
void fill_binary_float(KernelTable& table);
void fill_ternary(KernelTable& table);
void fill_cast(KernelTable& table);
void fill_complex(KernelTable& table);
void fill_reduce(KernelTable& table);
void fill_random(KernelTable& table);

}  // namespace tsc::TSC_ISA
