#pragma once
// Element types, with PyTorch's promotion. Everything is read from the rows of dtypes.def, so that a new type
// is a new row. Knows nothing of tensors.
#include <cstdint>
#include <optional>
#include <string_view>

namespace tsc {

enum class DType : uint8_t {
#define DTYPE(id, ...) id,
#include "runtime/tensor/dtypes.def"
};

// The kinds of numbers, lowest first: a Python scalar or 0-d tensor changes the result of an operation only
// when its category is higher than that of the dimensioned operands.
enum class Category : uint8_t { Bool, Integer, Float, Complex };

// IEEE binary16 and bfloat16 (the upper half of a float): storage only. Arithmetic converts to float and
// rounds once, to even (small_floats.h).
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
template <class T>
struct Complex {
  T re, im;
};
template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;

struct DTypeInfo {
  std::string_view name, short_name;  // PyTorch's and the IR's
  Category category;
  bool is_signed;
  int bits;
  DType compute, accumulate, part;
  std::string_view scalar_name;
  int c_code;
  uint8_t dlpack_code;
  std::string_view npy, safetensors;
  int safetensors_rank;
};

inline constexpr DTypeInfo kDTypes[] = {
#define DTYPE(id, name, ir, category, is_signed, bits, storage, compute, accumulate, part, scalar, c, dlpack, npy, \
              safetensors, rank)                                                                                   \
  {name,   ir,  Category::category, is_signed, bits, DType::compute, DType::accumulate, DType::part, scalar, c,    \
   dlpack, npy, safetensors,        rank},
#include "runtime/tensor/dtypes.def"
};
inline constexpr int kDTypeCount = static_cast<int>(sizeof kDTypes / sizeof kDTypes[0]);
inline constexpr DType kLastDType = static_cast<DType>(kDTypeCount - 1);
inline constexpr int64_t kMaxElementSize = 16;

constexpr const DTypeInfo& dtype_info(DType dtype) { return kDTypes[static_cast<int>(dtype)]; }

template <DType kDType>
struct StorageType;
#define DTYPE(id, name, ir, category, is_signed, bits, storage, ...) \
  template <>                                                        \
  struct StorageType<DType::id> {                                    \
    using type = storage;                                            \
    static_assert(sizeof(storage) * 8 == bits);                      \
  };
#include "runtime/tensor/dtypes.def"
template <DType kDType>
using StorageOf = typename StorageType<kDType>::type;

constexpr int64_t dtype_size(DType dtype) { return dtype_info(dtype).bits / 8; }
constexpr Category category_of(DType dtype) { return dtype_info(dtype).category; }
constexpr bool is_floating(DType dtype) { return category_of(dtype) == Category::Float; }
constexpr bool is_complex(DType dtype) { return category_of(dtype) == Category::Complex; }
constexpr bool is_integral(DType dtype) { return category_of(dtype) == Category::Integer; }
// Numbers that gradients flow through.
constexpr bool is_differentiable(DType dtype) { return category_of(dtype) >= Category::Float; }
constexpr bool is_unsigned(DType dtype) { return !dtype_info(dtype).is_signed; }
// What an elementwise operation on that dtype computes in, and what sums run in.
constexpr DType computing_dtype(DType dtype) { return dtype_info(dtype).compute; }
constexpr DType accumulating_dtype(DType dtype) { return dtype_info(dtype).accumulate; }
// A floating dtype that only stores: it computes in a wider one.
constexpr bool is_small_float(DType dtype) { return computing_dtype(dtype) != dtype; }
// The dtype of the parts of a complex dtype, and the reverse (complex64 for the small floats).
constexpr DType part_dtype(DType dtype) { return dtype_info(dtype).part; }
constexpr DType complex_dtype(DType part) {
  return part == DType::F64 || part == DType::C128 ? DType::C128 : DType::C64;
}

constexpr std::string_view dtype_name(DType dtype) { return dtype_info(dtype).name; }
constexpr std::string_view dtype_short_name(DType dtype) { return dtype_info(dtype).short_name; }
std::optional<DType> dtype_from_name(std::string_view either_name);

// torch.promote_types for two tensors of at least one dimension.
DType promote_types(DType a, DType b);

}  // namespace tsc
