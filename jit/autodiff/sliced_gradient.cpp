#include "jit/autodiff/sliced_gradient.h"

#include "jit/autodiff/rules_support.h"

namespace tsc::jit {
namespace {

ValueId end_of(Emit& e, const SlicePart& part) { return e.scalar(ScalarOp::add, part.start, part.length); }

const Instruction* maker(RegionBuilder& builder, ValueId value, Op op) {
  const std::vector<Instruction>& code = builder.region().body.instructions;
  for (size_t i = code.size(); i-- > 0;)
    if (!code[i].results.empty() && code[i].results[0] == value)
      return code[i].code == Code::Op && code[i].op == op ? &code[i] : nullptr;
  return nullptr;
}

// Whether the value is a tensor with its axes permuted, the last one excepted.
bool permutes_others(RegionBuilder& builder, ValueId value) {
  const int64_t last = static_cast<int64_t>(builder.rank(value)) - 1;
  int64_t axis = last;
  bool any = false;
  if (last < 0) return false;
  while (const Instruction* permute = maker(builder, value, Op::permute)) {
    axis = permute->attributes.axes[axis];
    value = permute->operands[0];
    any = true;
  }
  return any && axis == last;
}

// A reshape of permuted axes copies, and the kernel that adds zero can be that copy: it stands in front of the
// reshape then, if the last axis is still the last: a kernel reads rows that are columns in memory slowly.
ValueId plus_zero(RegionBuilder& builder, ValueId value) {
  Emit e(builder);
  if (const Instruction* reshape = maker(builder, value, Op::reshape)) {
    const ValueId from = reshape->operands[0];
    if (permutes_others(builder, from)) return e.reshape(e.add(from, e.zeros(from)), e.sizes(value));
  }
  return e.add(value, e.zeros(value));
}

}  // namespace

bool SlicedGradient::take(RegionBuilder& builder, const SlicePart& part) {
  Emit e(builder);
  if (!parts_.empty() && part.axis != parts_[0].axis) return false;
  if (parts_.empty() || builder.known_equal(end_of(e, parts_.back()), part.start)) parts_.push_back(part);
  else if (builder.known_equal(end_of(e, part), parts_.front().start)) parts_.insert(parts_.begin(), part);
  else return false;
  return true;
}

ValueId SlicedGradient::whole(RegionBuilder& builder, ValueId value) const {
  Emit e(builder);
  const uint32_t origin = builder.origin;
  const SlicePart &first = parts_.front(), &last = parts_.back();
  builder.origin = first.origin;
  const int64_t axis = first.axis;
  ValueId result;
  if (parts_.size() == 1 && !first.is_sum) {
    result = e.put_back(first.gradient, value, axis, first.start, first.length);
  } else {
    const ValueId size = builder.size(value, static_cast<int>(axis)), end = end_of(e, last);
    std::vector<ValueId> all;
    const auto add_zeros = [&](ValueId length) {
      Values sizes = e.sizes(value);
      sizes[axis] = length;
      all.push_back(builder.fill(builder.constant(0.0), sizes, builder.dtype(value)));
    };
    if (builder.known_int(first.start) != 0) add_zeros(first.start);
    for (const SlicePart& part : parts_) all.push_back(plus_zero(builder, part.gradient));
    if (!builder.known_equal(size, end)) add_zeros(e.scalar(ScalarOp::sub, size, end));
    OpAttributes attributes;
    attributes.axes = {axis};
    result = e.reshape(builder.op(Op::concat, all, {}, attributes), e.sizes(value));
  }
  builder.origin = origin;
  return result;
}

}  // namespace tsc::jit
