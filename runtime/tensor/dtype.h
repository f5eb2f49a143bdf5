#pragma once
// Element types, with PyTorch's promotion. Knows nothing of tensors.
#include <cstdint>
#include <optional>
#include <string_view>

namespace tsc {

enum class DType : uint8_t { Bool, U8, I32, I64, BF16, F32, F64 };
inline constexpr int kDTypeCount = 7;

// bfloat16 storage: the upper half of a float. Arithmetic converts to f32 and rounds once (to even).
struct BFloat16 {
  uint16_t bits;
};

// What an elementwise operation on that dtype computes in.
inline DType computing_dtype(DType dtype) { return dtype == DType::BF16 ? DType::F32 : dtype; }

inline int64_t dtype_size(DType dtype) {
  constexpr int64_t kSizes[kDTypeCount] = {1, 1, 4, 8, 2, 4, 8};
  return kSizes[static_cast<int>(dtype)];
}
// PyTorch's names: bool, uint8, int32, int64, bfloat16, float32, float64.
std::string_view dtype_name(DType dtype);
// IR names: bool, u8, i32, i64, bf16, f32, f64.
std::string_view dtype_short_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view either_name);

inline bool is_floating(DType dtype) { return dtype >= DType::BF16; }
inline bool is_integral(DType dtype) { return dtype > DType::Bool && dtype < DType::BF16; }

// torch.promote_types for two tensors of at least one dimension.
DType promote_types(DType a, DType b);

// PyTorch's categories: a Python scalar or 0-d tensor changes the result only when its category
// (bool < integer < float) is higher than that of the dimensioned operands.
enum class Category : uint8_t { Bool, Integer, Float };
Category category_of(DType dtype);

}  // namespace tsc
