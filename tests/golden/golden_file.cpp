#include "golden_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace tsc::golden {
namespace {

std::vector<int64_t> parse_sizes(const std::string& text) {
  std::vector<int64_t> sizes;
  std::istringstream stream(text);
  for (std::string size; std::getline(stream, size, ',');) sizes.push_back(std::stoll(size));
  return sizes;
}

int64_t numel(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

int fraction_bits(const std::string& dtype) {
  return dtype == "f64" || dtype == "c128" ? 52 : dtype == "f32" || dtype == "c64" ? 23 : dtype == "f16" ? 10 : 7;
}

// The spacing of the dtype's numbers at a magnitude.
double ulp_at(double magnitude, const std::string& dtype) {
  const int least = dtype == "f64" || dtype == "c128" ? -1022 : dtype == "f16" ? -14 : -126;
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  return std::ldexp(1.0, exponent - fraction_bits(dtype));
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

double largest(const std::vector<double>& values) {
  double found = 0;
  for (double value : values)
    if (std::isfinite(value)) found = std::max(found, std::fabs(value));
  return found;
}

std::string text_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string describe(size_t index, const std::string& expected, const std::string& actual,
                     const std::string& distance) {
  return "element " + std::to_string(index) + ": expected " + expected + ", got " + actual + distance;
}

std::string float_difference(const TensorLine& expected, const TensorLine& actual, const Tolerance& tolerance) {
  const double scale = largest(expected.floats);
  for (size_t i = 0; i < expected.floats.size(); ++i) {
    const double want = expected.floats[i], got = actual.floats[i];
    if (same(want, got)) continue;
    const double unit = ulp_at(tolerance.unit == Unit::Tensor ? scale : std::fabs(want), expected.dtype);
    const bool finite = std::isfinite(want) && std::isfinite(got);
    if (finite && std::fabs(want - got) <= tolerance.ulps * unit && tolerance.ulps > 0) continue;
    return describe(i, text_of(want), text_of(got),
                    finite ? " (" + text_of(std::fabs(want - got) / unit) + " ulps)" : "");
  }
  return "";
}

}  // namespace

TensorLine parse_tensor(const std::string& line) {
  const size_t open = line.find(" ["), close = line.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) throw std::runtime_error("not a tensor line: " + line);
  TensorLine out;
  const std::string head = line.substr(0, open);
  const size_t blank = head.rfind(' ');
  out.mark = head.substr(0, blank);
  out.dtype = head.substr(blank + 1);
  out.sizes = parse_sizes(line.substr(open + 2, close - open - 2));
  std::istringstream elements(line.substr(close + 1));
  for (std::string word; elements >> word;) {
    const char* text = word.c_str();
    // Nine digits name one float, but the double they spell is not that float.
    if (out.is_double()) out.floats.push_back(std::strtod(text, nullptr));
    else if (out.is_floating()) out.floats.push_back(std::strtof(text, nullptr));
    else out.integers.push_back(std::stoll(word));
  }
  const size_t count = out.is_floating() ? out.floats.size() / (out.is_complex() ? 2 : 1) : out.integers.size();
  if (static_cast<int64_t>(count) != numel(out.sizes))
    throw std::runtime_error("the sizes do not fit the elements: " + line);
  return out;
}

std::string difference(const TensorLine& expected, const TensorLine& actual, const Tolerance& tolerance) {
  if (expected.dtype != actual.dtype) return "dtype: expected " + expected.dtype + ", got " + actual.dtype;
  if (expected.sizes != actual.sizes) {
    const auto text = [](const std::vector<int64_t>& sizes) {
      std::string out = "(";
      for (int64_t size : sizes) out += std::to_string(size) + ",";
      return out + ")";
    };
    return "shape: expected " + text(expected.sizes) + ", got " + text(actual.sizes);
  }
  if (expected.is_floating()) return float_difference(expected, actual, tolerance);
  for (size_t i = 0; i < expected.integers.size(); ++i)
    if (expected.integers[i] != actual.integers[i])
      return describe(i, std::to_string(expected.integers[i]), std::to_string(actual.integers[i]), "");
  return "";
}

}  // namespace tsc::golden
