#include "runtime/tensor/dtype.h"

#include <array>

namespace tsc {
namespace {

struct DTypeRow {
  int64_t size;
  std::string_view name, short_name;
};

constexpr std::array<DTypeRow, kDTypeCount> kRows = {{{1, "bool", "bool"},
                                                      {1, "uint8", "u8"},
                                                      {4, "int32", "i32"},
                                                      {8, "int64", "i64"},
                                                      {2, "bfloat16", "bf16"},
                                                      {4, "float32", "f32"},
                                                      {8, "float64", "f64"}}};

}  // namespace

int64_t dtype_size(DType dtype) { return kRows[static_cast<size_t>(dtype)].size; }
std::string_view dtype_name(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }
std::string_view dtype_short_name(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].short_name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kRows[i].name == name || kRows[i].short_name == name) return static_cast<DType>(i);
  return std::nullopt;
}

// Every pair of our dtypes has its answer in the pair: the enum lists them in promotion order
// (an integer with a float gives the float, so bf16 stays bf16 beside i64, as in PyTorch).
DType promote_types(DType a, DType b) { return a < b ? b : a; }

Category category_of(DType dtype) {
  if (dtype == DType::Bool) return Category::Bool;
  return is_floating(dtype) ? Category::Float : Category::Integer;
}

}  // namespace tsc
