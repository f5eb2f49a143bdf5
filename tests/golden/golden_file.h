#pragma once
// The text form of golden data: one tensor a line, `mark dtype [sizes] elements`, written by
// make.py and by cases/golden.tsc alike, and the distance between what was expected and what came.
// Knows nothing of tensors: elements are doubles, or 64-bit integers, in row-major order.
#include <cstdint>
#include <string>
#include <vector>

namespace tsc::golden {

struct TensorLine {
  std::string mark;   // what the tensor is: "x", "y", "out 0", "grad weight"
  std::string dtype;  // the short names of dtypes.def
  std::vector<int64_t> sizes;
  std::vector<double> floats;     // floating dtypes, and the two parts of each complex number
  std::vector<int64_t> integers;  // the others
  bool is_complex() const { return dtype[0] == 'c'; }
  bool is_floating() const { return dtype[0] == 'f' || dtype == "bf16" || is_complex(); }
  bool is_double() const { return dtype == "f64" || dtype == "c128"; }
};

// Throws std::runtime_error with the line when it is not of that form.
TensorLine parse_tensor(const std::string& line);

// How far two elements may be apart, in units in the last place of the dtype:
//   Element: of the expected element (0 means the same bits, any nan for any nan)
//   Tensor: of the largest finite magnitude of the expected tensor (for sums whose terms cancel)
enum class Unit { Element, Tensor };
struct Tolerance {
  double ulps = 0;
  Unit unit = Unit::Element;
};

// "" when they agree, else what differs first, with both values and the distance.
std::string difference(const TensorLine& expected, const TensorLine& actual, const Tolerance& tolerance);

}  // namespace tsc::golden
