#pragma once
// How the files of this folder turn a scalar function into inner loops. Everything is inlined or has
// internal linkage, because each file is compiled once per instruction set.
#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/scalar_ops.h"

namespace tsc::TSC_ISA {

template <DType kDType>
struct StorageType;
template <>
struct StorageType<DType::Bool> {
  using type = bool;
};
template <>
struct StorageType<DType::U8> {
  using type = uint8_t;
};
template <>
struct StorageType<DType::I32> {
  using type = int32_t;
};
template <>
struct StorageType<DType::I64> {
  using type = int64_t;
};
template <>
struct StorageType<DType::BF16> {
  using type = BFloat16;
};
template <>
struct StorageType<DType::F32> {
  using type = float;
};
template <>
struct StorageType<DType::F64> {
  using type = double;
};
template <DType kDType>
using StorageOf = typename StorageType<kDType>::type;

// Arithmetic happens in the storage type itself, except that bf16 computes in float.
template <class S>
TSC_INLINE S load(S x) {
  return x;
}
TSC_INLINE float load(BFloat16 x) { return bf16_to_float(x); }
template <class S>
using ComputeOf = decltype(load(S()));

template <class S, class C>
TSC_INLINE S store_as(C x) {
  if constexpr (std::is_same_v<S, BFloat16>) return float_to_bf16(x);
  else return x;
}

// The storage type of a result: the operands' own, unless the function changed the type (to bool).
template <class S, class R>
using ResultStorage = std::conditional_t<std::is_same_v<R, ComputeOf<S>>, S, R>;

// Does a dtype rule admit a dtype? (The rule of infer_dtype, at compile time.)
constexpr bool admits(DTypeRule rule, DType dtype) {
  switch (rule) {
    case DTypeRule::Float: return dtype >= DType::BF16;
    case DTypeRule::Number: return dtype != DType::Bool;
    case DTypeRule::Integer: return dtype < DType::BF16;
    default: return true;
  }
}

// Calls visit.operator()<dtype>() for every dtype the rule admits.
template <DTypeRule kRule, class Visit>
TSC_INLINE void for_dtypes(Visit visit) {
  auto one = [&]<DType kDType>() {
    if constexpr (admits(kRule, kDType)) visit.template operator()<kDType>();
  };
  one.template operator()<DType::Bool>();
  one.template operator()<DType::U8>();
  one.template operator()<DType::I32>();
  one.template operator()<DType::I64>();
  one.template operator()<DType::BF16>();
  one.template operator()<DType::F32>();
  one.template operator()<DType::F64>();
}

// Parts of the table, one per file of this folder.
void fill_unary(KernelTable& table);
void fill_unary_float(KernelTable& table);
void fill_unary_rare(KernelTable& table);  // after fill_unary_float: replaces some of its rows
void fill_binary(KernelTable& table);
void fill_binary_float(KernelTable& table);
void fill_ternary(KernelTable& table);
void fill_cast(KernelTable& table);
void fill_reduce(KernelTable& table);
void fill_random(KernelTable& table);

}  // namespace tsc::TSC_ISA
