#pragma once
// The op table as data: the enum, the rows, and shape/dtype inference by family. Everything that lists
// primitives (bindings, printing, gradients, emitters, generated tests) iterates this table.
// Knows no kernel and no graph.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/tensor.h"

namespace tsc {

enum class Op : uint8_t {
#define OP(name, ...) name,
#include "runtime/ops/ops.def"
};

enum class Family : uint8_t { Unary, Binary, Ternary, Create, View, Move, Index, Reduce, Scan, Sort, Contract, Window };
enum class DTypeRule : uint8_t { Same, Float, Number, Integer, Bool, Attribute, I64, ReduceSum, Part, ComplexOf };
enum class Domain : uint8_t { Any, NonNegative, Positive, NonZero, AboveMinusOne, Unit, SmallShift, Index, NonEmpty };
enum OpFlags : uint8_t {
  kPure = 0,
  kCommutative = 1,
  kAssociative = 2,
  kMayRaise = 4,      // can fail on element values (shape errors are inference's)
  kView = 8,          // the result may share memory with operand 0
  kDynamicSize = 16,  // a result size depends on element values
  kComplex = 32       // takes complex numbers
};
inline constexpr int kVariadic = -1;

struct OpRow {
  Op op;
  std::string_view name;
  Family family;
  int tensors;
  std::string_view scalars;
  DTypeRule dtype_rule;
  uint8_t flags;
  Domain domain;
  std::string_view doc;
};

// Attributes are static: part of the program, never run-time values.
struct OpAttributes {
  Sizes axes;                // axes, or the one axis, of View/Move/Index/Reduce/Scan/Sort ops
  DType dtype = DType::F32;  // ops with DTypeRule::Attribute
  int64_t mode = 0;          // sort: 1 = descending; amax, amin: 1 = nans share the gradient;
                             // convolve: 1 = the result's axes begin with groups and channels;
                             // Index ops: a BoundsReport (bounds_report.h)
  bool operator==(const OpAttributes&) const = default;
};

// A run-time scalar operand: a size, a start, a fill value.
struct Scalar {
  enum class Kind : uint8_t { Int, Float, Bool } kind = Kind::Int;
  union {
    int64_t i;
    double f;
  };
  Scalar() : i(0) {}
  static Scalar of_int(int64_t value) {
    Scalar s;
    s.i = value;
    return s;
  }
  static Scalar of_float(double value) {
    Scalar s;
    s.kind = Kind::Float;
    s.f = value;
    return s;
  }
  static Scalar of_bool(bool value) {
    Scalar s;
    s.kind = Kind::Bool;
    s.i = value;
    return s;
  }
  int64_t as_int() const { return kind == Kind::Float ? static_cast<int64_t>(f) : i; }
  double as_float() const { return kind == Kind::Float ? f : static_cast<double>(i); }
};

// Scalar operands of these names come as a list of numbers.
inline bool is_scalar_list(std::string_view name) {
  for (std::string_view list : {"sizes", "strides", "places", "taps", "dilations", "gaps", "lows"})
    if (name == list) return true;
  return false;
}
// Axes of a Window op's operands and result in front of the windowed ones.
inline int64_t axes_before_windows(Op op) { return op == Op::convolve ? 3 : 1; }

std::span<const OpRow> op_rows();
const OpRow& op_row(Op op);
std::optional<Op> op_from_name(std::string_view name);
inline std::string_view op_name(Op op) { return op_row(op).name; }
inline bool reports_bounds(Op op) { return op_row(op).family == Family::Index && op != Op::nonzero; }
inline bool is_elementwise(Op op) { return op_row(op).family <= Family::Ternary; }
inline int op_result_count(Op op) { return op_row(op).family == Family::Sort ? 2 : 1; }

// Result dtype of result `index`, or a TypeError that names op and dtypes when the rule refuses them.
DType infer_dtype(Op op, std::span<const DType> operands, const OpAttributes& attributes, int index = 0);

// Concrete shape inference (the eager path): operands' sizes and scalars to the result's sizes.
// Raises ValueError/IndexError/RuntimeError in PyTorch's situations, naming op and both shapes.
// Ops with kDynamicSize are refused (their kernel finds the size).
Sizes infer_sizes(Op op, std::span<const Sizes> operands, std::span<const Scalar> scalars,
                  const OpAttributes& attributes);

}  // namespace tsc
