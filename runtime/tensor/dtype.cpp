#include "runtime/tensor/dtype.h"

#include <array>

namespace tsc {
namespace {

struct DTypeRow {
  std::string_view name, short_name;
};

constexpr std::array<DTypeRow, kDTypeCount> kRows = {{{"bool", "bool"},
                                                      {"uint8", "u8"},
                                                      {"int32", "i32"},
                                                      {"int64", "i64"},
                                                      {"bfloat16", "bf16"},
                                                      {"float32", "f32"},
                                                      {"float64", "f64"}}};

}  // namespace

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
