#include "jit/region/infer.h"

#include <algorithm>

#include "runtime/ops/infer.h"

namespace tsc::jit {
namespace {

// The arithmetic of runtime/ops/infer.h, over values of the region.
struct Arithmetic {
  SizeAlgebra& a;
  ValueId constant(int64_t value) { return a.constant(value); }
  ValueId add(ValueId p, ValueId q) { return a.scalar(ScalarOp::add, p, q); }
  ValueId sub(ValueId p, ValueId q) { return a.scalar(ScalarOp::sub, p, q); }
  ValueId mul(ValueId p, ValueId q) { return a.scalar(ScalarOp::mul, p, q); }
  ValueId floor_div(ValueId p, ValueId q) { return a.scalar(ScalarOp::floor_div, p, q); }
  ValueId min(ValueId p, ValueId q) { return a.scalar(ScalarOp::minimum, p, q); }
  ValueId max(ValueId p, ValueId q) { return a.scalar(ScalarOp::maximum, p, q); }
};

// What an op demands of its operands; sizes that must be equal go through the algebra.
class Inference {
 public:
  Inference(SizeAlgebra& algebra, Op op, std::span<const Type* const> tensors, std::span<const ValueId> scalars,
            const OpAttributes& attributes)
      : a_(algebra), op_(op), tensors_(tensors), scalars_(scalars), attributes_(attributes) {}

  ValueList sizes() {
    if (is_plain()) return x();
    check_arity();
    check_known();
    check();
    const bool dynamic = op_row(op_).flags & kDynamicSize;
    if (dynamic) return {a_.fresh(), a_.constant(static_cast<int64_t>(x().size()))};
    std::vector<ValueList> operands;
    for (const Type* type : tensors_) operands.push_back(type->sizes);
    return infer_sizes_generic<ValueId>(op_, operands, scalars_, attributes_, Arithmetic{a_});
  }

 private:
  const ValueList& x(size_t i = 0) const { return tensors_[i]->sizes; }

  // Most ops: elementwise, over operands that share their sizes. Nothing is left to check.
  bool is_plain() const {
    const OpRow& row = op_row(op_);
    if (row.family > Family::Ternary || !scalars_.empty() || !row.scalars.empty() ||
        tensors_.size() != static_cast<size_t>(row.tensors))
      return false;
    for (size_t i = 1; i < tensors_.size(); ++i)
      if (!(x(i) == x())) return false;
    return true;
  }

  std::string text(const ValueList& sizes) {
    std::string out = "(";
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto known = a_.known_int(sizes[i]);
      out += (i ? ", " : "") + (known ? std::to_string(*known) : "?");
    }
    return out + (sizes.size() == 1 ? ",)" : ")");
  }
  [[noreturn]] void fail(const std::string& why) {
    std::string shapes;
    for (size_t i = 0; i < tensors_.size(); ++i) shapes += (i ? ", " : "") + text(x(i));
    throw Error(ErrorKind::RuntimeError, std::string(op_name(op_)) + ": " + why + " (operand sizes " + shapes + ")");
  }
  void require(bool ok, const char* why) {
    if (!ok) fail(why);
  }
  void require_equal(ValueId p, ValueId q, const char* why) {
    if (!a_.equal(p, q)) fail(why);
  }
  size_t axis(const ValueList& sizes, size_t i = 0) {
    require(attributes_.axes.size() > i, "needs an axis");
    const int64_t axis = attributes_.axes[i];
    if (axis < 0 || axis >= static_cast<int64_t>(sizes.size())) {
      throw Error(ErrorKind::IndexError, std::string(op_name(op_)) + ": axis " + std::to_string(axis) +
                                             " is out of range for sizes " + text(sizes));
    }
    return static_cast<size_t>(axis);
  }
  void check_arity() {
    const OpRow& row = op_row(op_);
    if (row.tensors == kVariadic) {
      require(!tensors_.empty(), "needs at least one tensor");
    } else {
      require(tensors_.size() == static_cast<size_t>(row.tensors), "wrong number of tensors");
    }
    size_t fixed = scalar_count(op_, 0, 0);
    const bool list = scalar_count(op_, 4, 1) != fixed;
    require(list ? scalars_.size() >= fixed : scalars_.size() == fixed, "wrong number of scalar operands");
  }

  bool is_free(size_t scalar) const { return scalar < free_scalars(op_); }
  bool all_known() {
    for (size_t i = 0; i < tensors_.size(); ++i)
      for (ValueId size : x(i))
        if (!a_.known_int(size)) return false;
    for (size_t i = 0; i < scalars_.size(); ++i)
      if (!is_free(i) && !a_.known_int(scalars_[i])) return false;
    return !(op_row(op_).flags & kDynamicSize);
  }

  // With every number known the reference inference decides, with its own error texts.
  void check_known() {
    if (!all_known()) return;
    std::vector<Sizes> operands(tensors_.size());
    std::vector<Scalar> numbers;
    for (size_t i = 0; i < tensors_.size(); ++i)
      for (ValueId size : x(i)) operands[i].push_back(*a_.known_int(size));
    for (size_t i = 0; i < scalars_.size(); ++i)
      numbers.push_back(Scalar::of_int(is_free(i) ? 0 : *a_.known_int(scalars_[i])));
    infer_sizes(op_, operands, numbers, attributes_);
  }

  void check() {
    switch (op_row(op_).family) {
      case Family::Unary:
      case Family::Binary:
      case Family::Ternary: return check_same_shape();
      case Family::Create:
        if (op_ == Op::iota) axis(ValueList(scalars_));
        return;
      case Family::View: return check_view();
      case Family::Move: return check_move();
      case Family::Index: return check_index();
      case Family::Reduce:
        for (size_t i = 0; i < attributes_.axes.size(); ++i) {
          axis(x(), i);
          require(i == 0 || attributes_.axes[i - 1] < attributes_.axes[i], "the axes must be sorted and unique");
        }
        return;
      case Family::Scan:
      case Family::Sort: axis(x()); return;
      case Family::Contract: return check_contract();
      case Family::Window: return check_window();
    }
  }

  void check_same_shape() {
    for (size_t i = 1; i < tensors_.size(); ++i) {
      require(x(i).size() == x().size(), "operands have different ranks");
      for (size_t k = 0; k < x().size(); ++k) require_equal(x()[k], x(i)[k], "operands have different sizes");
    }
  }

  void check_view() {
    switch (op_) {
      case Op::reshape: return check_reshape();
      case Op::permute: return check_permute();
      case Op::view_as_real: return;
      case Op::view_as_complex: return;
      case Op::broadcast: return check_broadcast();
      case Op::diagonal: require(axis(x(), 0) != axis(x(), 1), "needs two different axes"); return;
      default: axis(x()); return;
    }
  }

  // Equal products: common factors cancel, the rest must be equal as two numbers.
  void check_reshape() {
    std::vector<ValueId> from, to;
    for (ValueId size : x()) a_.factors(size, &from);
    for (ValueId size : scalars_) a_.factors(size, &to);
    if (holds_zero(from) && holds_zero(to)) return;
    for (size_t i = 0; i < from.size();) {
      const auto match = std::find(to.begin(), to.end(), from[i]);
      if (match == to.end()) {
        ++i;
      } else {
        to.erase(match);
        from.erase(from.begin() + i);
      }
    }
    if (from.empty() && to.empty()) return;
    require_equal(product(from), product(to), "the new sizes hold another number of elements");
  }
  bool holds_zero(const std::vector<ValueId>& factors) {
    for (ValueId factor : factors)
      if (a_.known_int(factor) == 0) return true;
    return false;
  }
  ValueId product(std::vector<ValueId>& factors) {
    std::sort(factors.begin(), factors.end());
    ValueId result = a_.constant(1);
    for (ValueId factor : factors) result = a_.scalar(ScalarOp::mul, result, factor);
    return result;
  }

  void check_permute() {
    require(attributes_.axes.size() == x().size(), "needs one axis number for each axis");
    std::vector<bool> seen(x().size());
    for (size_t i = 0; i < x().size(); ++i) {
      const size_t from = axis(x(), i);
      require(!seen[from], "an axis is repeated");
      seen[from] = true;
    }
  }

  void check_broadcast() {
    require(scalars_.size() >= x().size(), "the result has fewer axes than the operand");
    const size_t lead = scalars_.size() - x().size();
    for (size_t i = 0; i < x().size(); ++i) {
      if (a_.known_int(x()[i]) == 1) continue;
      require_equal(x()[i], scalars_[lead + i], "an axis that is not of size 1 must keep its size");
    }
  }

  void check_move() {
    if (op_ == Op::pad) {
      axis(x());
    } else if (op_ == Op::concat) {
      const size_t at = axis(x());
      for (size_t i = 1; i < tensors_.size(); ++i) {
        require(x(i).size() == x().size(), "operands have different ranks");
        for (size_t k = 0; k < x().size(); ++k)
          if (k != at) require_equal(x()[k], x(i)[k], "operands differ in a size beside the axis");
      }
    } else if (op_ == Op::store) {
      const size_t rank = x(1).size();
      require(scalars_.size() == 1 + 2 * rank, "wrong number of scalar operands");
      for (size_t k = 0; k < rank; ++k)
        require_equal(x(1)[k], scalars_[1 + k], "the stored tensor has other sizes than the map");
    }
  }

  void check_index() {
    if (op_ == Op::nonzero) return;
    const size_t at = axis(x());
    if (op_ == Op::take) return;
    if (op_ == Op::index_add) return check_index_add(at);
    require(x(1).size() == x().size(), "the index has another rank");
    if (op_ == Op::gather) return;
    require(x(2).size() == x().size(), "the source has another rank");
    for (size_t k = 0; k < x().size(); ++k)
      require_equal(x(1)[k], x(2)[k], "the source has other sizes than the index");
  }
  // The added tensor has the shape of take's result.
  void check_index_add(size_t at) {
    ValueList expected(x().begin(), x().begin() + at);
    for (ValueId size : x(1)) expected.push_back(size);
    for (size_t k = at + 1; k < x().size(); ++k) expected.push_back(x()[k]);
    require(x(2).size() == expected.size(), "the added tensor has another rank");
    for (size_t k = 0; k < expected.size(); ++k)
      require_equal(x(2)[k], expected[k], "the added tensor has other sizes than the places");
  }

  void check_contract() {
    require(x().size() == 3 && x(1).size() == 3, "operands are batches of matrices (rank 3)");
    require_equal(x()[0], x(1)[0], "the batch sizes differ");
    require_equal(x()[2], x(1)[1], "the inner sizes differ");
  }

  void check_window() {
    const auto before = static_cast<size_t>(axes_before_windows(op_));
    require(x().size() > before && x().size() <= before + 3, "needs one to three windowed axes");
    const size_t lists = 5;
    require(scalars_.size() == lists * (x().size() - before), "each list needs one number for every windowed axis");
    if (op_ != Op::convolve) return;
    require(x(1).size() == x().size(), "the operands have different ranks");
    require_equal(x()[1], x(1)[0], "the numbers of groups differ");
    require_equal(x()[2], x(1)[2], "the numbers of channels differ");
  }

  SizeAlgebra& a_;
  Op op_;
  std::span<const Type* const> tensors_;
  std::span<const ValueId> scalars_;
  const OpAttributes& attributes_;
};

}  // namespace

Type infer_type(SizeAlgebra& algebra, Op op, std::span<const Type* const> tensors, std::span<const ValueId> scalars,
                const OpAttributes& attributes, int index) {
  SmallVector<DType, 8> dtypes;
  for (const Type* type : tensors) dtypes.push_back(type->dtype);
  Type type{ValueKind::Tensor, infer_dtype(op, dtypes, attributes, index), {}};
  type.sizes = Inference(algebra, op, tensors, scalars, attributes).sizes();
  return type;
}

size_t free_scalars(Op op) {
  if (op == Op::rng_bits) return 2;
  return op == Op::full || op == Op::pad ? 1 : 0;
}

OpAttributes normal_attributes(Op op, const OpAttributes& attributes) {
  OpAttributes normal;
  const Family family = op_row(op).family;
  if (!is_elementwise(op) && family != Family::Contract && family != Family::Window) normal.axes = attributes.axes;
  if (op_row(op).dtype_rule == DTypeRule::Attribute) normal.dtype = attributes.dtype;
  const bool has_mode = family == Family::Sort || op == Op::amax || op == Op::amin || op == Op::convolve ||
                        op == Op::save_for_backward || reports_bounds(op);
  if (has_mode) normal.mode = attributes.mode;
  return normal;
}

}  // namespace tsc::jit
