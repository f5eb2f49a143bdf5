#include "runtime/tensor/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "runtime/tensor/small_floats.h"

namespace tsc {
namespace {

// One element: a double for floating dtypes, two for complex ones, else an integer.
struct Element {
  double number = 0, imaginary = 0;
  int64_t integer = 0;
};

template <class S>
Element element_of(S x) {
  if constexpr (kIsComplex<S>) return {x.re, x.im, 0};
  else if constexpr (std::is_integral_v<S>) return {0, 0, static_cast<int64_t>(x)};
  else return {static_cast<double>(widen(x)), 0, 0};
}

Element element_at(const Tensor& x, int64_t offset) {
  const std::byte* place = x.data() + offset * dtype_size(x.dtype());
  switch (x.dtype()) {
#define DTYPE(id, name, ir, category, is_signed, bits, storage, ...) \
  case DType::id: return element_of(*reinterpret_cast<const storage*>(place));
#include "runtime/tensor/dtypes.def"
  }
  return {};
}

std::string formatted(const char* format, int precision, double value) {
  if (std::isnan(value)) return "nan";  // printf would show its sign
  char text[512];                       // "%.4f" of the largest double has 309 digits before the point
  std::snprintf(text, sizeof text, format, precision, value);
  return text;
}

// How the numbers of one tensor are written, all to one width: whole, with a fraction, or with an exponent.
class NumberFormat {
 public:
  NumberFormat(const PrintOptions& options, const std::vector<double>& values) : options_(options) {
    double smallest = INFINITY, largest = 0;
    for (double value : values) {
      if (!std::isfinite(value)) continue;
      whole_ &= value == std::ceil(value);
      if (value == 0) continue;
      smallest = std::min(smallest, std::fabs(value));
      largest = std::max(largest, std::fabs(value));
    }
    if (largest == 0) return;
    scientific_ = options_.scientific.value_or(largest / smallest > 1000.0 || largest > 1.0e8 || smallest < 1.0e-4);
    for (double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      const size_t point = whole_ && !scientific_;
      const std::string digits = scientific_ ? formatted("%.*e", options_.precision, value)
                                             : formatted("%.*f", whole_ ? 0 : options_.precision, value);
      width_ = std::max(width_, digits.size() + point);
    }
  }

  size_t width() const { return width_; }

  std::string text(double value) const {
    if (scientific_) return formatted("%.*e", options_.precision, value);
    if (!whole_) return formatted("%.*f", options_.precision, value);
    return formatted("%.*f", 0, value) + (std::isfinite(value) ? "." : "");
  }

 private:
  const PrintOptions& options_;
  size_t width_ = 1;
  bool whole_ = true;  // every value is an integer
  bool scientific_ = false;
};

std::string padded(const std::string& text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

class Printer {
 public:
  Printer(const Tensor& x, const PrintOptions& options)
      : x_(x), options_(options), summarize_(x.numel() > options.threshold) {
    std::vector<double> numbers, imaginary;
    for_shown(0, 0, [&](Element element) {
      numbers.push_back(element.number);
      imaginary.push_back(element.imaginary);
      if (!is_differentiable(x.dtype())) width_ = std::max(width_, integer_text(element.integer).size());
    });
    if (!is_differentiable(x.dtype())) return;
    format_.emplace(options, numbers);
    width_ = format_->width();
    if (!is_complex(x.dtype())) return;
    imaginary_format_.emplace(options, imaginary);
    width_ += imaginary_format_->width() + 1;
  }

  std::string body(int64_t indent) const { return axis_text(0, 0, indent); }

 private:
  int64_t edges() const { return options_.edge_items; }
  bool cut(int64_t axis) const { return summarize_ && x_.size(axis) > 2 * edges(); }

  // The indices of an axis that are shown; -1 stands for the dots.
  std::vector<int64_t> shown_indices(int64_t axis) const {
    std::vector<int64_t> indices;
    int64_t size = x_.size(axis);
    for (int64_t i = 0; i < size; ++i) {
      if (cut(axis) && i == edges()) {
        indices.push_back(-1);
        i = size - edges();
        if (i >= size) break;
      }
      indices.push_back(i);
    }
    return indices;
  }

  template <class Visit>
  void for_shown(int64_t axis, int64_t offset, Visit visit) const {
    if (axis == x_.rank()) return visit(element_at(x_, offset));
    for (int64_t i : shown_indices(axis))
      if (i >= 0) for_shown(axis + 1, offset + i * x_.stride(axis), visit);
  }

  std::string integer_text(int64_t value) const {
    if (x_.dtype() == DType::Bool) return value ? "True" : "False";
    return std::to_string(value);
  }

  // The imaginary part brings a sign of its own and no space in front.
  std::string complex_text(const Element& element) const {
    const std::string imaginary = imaginary_format_->text(element.imaginary) + "j";
    return padded(format_->text(element.number), format_->width()) + (imaginary[0] == '-' ? "" : "+") + imaginary;
  }

  std::string element_text(int64_t offset) const {
    const Element element = element_at(x_, offset);
    if (is_complex(x_.dtype())) return complex_text(element);
    return padded(format_ ? format_->text(element.number) : integer_text(element.integer), width_);
  }

  std::string axis_text(int64_t axis, int64_t offset, int64_t indent) const {
    if (axis == x_.rank()) return element_text(offset);
    return axis == x_.rank() - 1 ? line_text(offset, indent) : rows_text(axis, offset, indent);
  }

  std::string line_text(int64_t offset, int64_t indent) const {
    int64_t axis = x_.rank() - 1;
    int64_t per_line = std::max<int64_t>(1, (options_.line_width - indent) / (static_cast<int64_t>(width_) + 2));
    if (options_.line_width < indent) per_line = 1;
    std::string text = "[";
    int64_t count = 0;
    for (int64_t i : shown_indices(axis)) {
      if (count > 0) text += count % per_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
      text += i < 0 ? (edges() ? " ..." : "...") : element_text(offset + i * x_.stride(axis));
      ++count;
    }
    return text + "]";
  }

  std::string rows_text(int64_t axis, int64_t offset, int64_t indent) const {
    std::string separator = "," + std::string(x_.rank() - axis - 1, '\n') + std::string(indent + 1, ' ');
    std::string text = "[";
    bool first = true;
    for (int64_t i : shown_indices(axis)) {
      if (!first) text += separator;
      first = false;
      text += i < 0 ? "..." : axis_text(axis + 1, offset + i * x_.stride(axis), indent + 1);
    }
    return text + "]";
  }

  const Tensor& x_;
  const PrintOptions& options_;
  bool summarize_;
  size_t width_ = 1;
  std::optional<NumberFormat> format_, imaginary_format_;
};

}  // namespace

std::string tensor_repr(const Tensor& x, std::string_view suffix, const PrintOptions& options) {
  constexpr int64_t kIndent = 7;  // the length of "tensor("
  std::string text = "tensor(";
  std::vector<std::string> suffixes;
  const bool meta = x.is_meta();
  bool empty = x.numel() == 0 || meta;  // no element is shown
  text += meta ? "..." : empty ? "[]" : Printer(x, options).body(kIndent);
  if (!x.place().is_host()) suffixes.push_back("device='" + x.place().name() + "'");
  if (meta ? true : empty ? x.rank() != 1 : options.edge_items == 0) {
    std::string size = "size=(";
    for (int64_t axis = 0; axis < x.rank(); ++axis) size += (axis ? ", " : "") + std::to_string(x.size(axis));
    suffixes.push_back(size + (x.rank() == 1 ? ",)" : ")"));
  }
  bool implied =
      x.dtype() == options.default_dtype || (!empty && (x.dtype() == DType::I64 || x.dtype() == DType::Bool ||
                                                        x.dtype() == complex_dtype(options.default_dtype)));
  if (!implied) suffixes.push_back("dtype=torch." + std::string(dtype_name(x.dtype())));
  if (!suffix.empty()) suffixes.emplace_back(suffix);
  size_t newline = text.rfind('\n');
  int64_t line = static_cast<int64_t>(text.size() - (newline == std::string::npos ? -1 : newline)) + 1;
  for (const std::string& item : suffixes) {
    int64_t length = static_cast<int64_t>(item.size());
    if (line + length + 2 > options.line_width) {
      text += ",\n" + std::string(kIndent, ' ') + item;
      line = kIndent + length;
    } else {
      text += ", " + item;
      line += length + 2;
    }
  }
  return text + ")";
}

}  // namespace tsc
