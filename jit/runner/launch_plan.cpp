#include "jit/runner/launch_plan.h"

namespace tsc::jit {
namespace {

// Axes [first, last) of all operands merged where every operand allows it; the result's sizes and strides.
struct Merged {
  Sizes sizes;
  std::vector<Sizes> strides;
};

Merged merge_axes(const Sizes& sizes, const std::vector<Sizes>& strides, size_t first, size_t last) {
  Merged out;
  out.strides.resize(strides.size());
  for (size_t axis = first; axis < last; ++axis) {
    if (sizes[axis] == 1) continue;
    bool joins = !out.sizes.empty();
    for (size_t o = 0; joins && o < strides.size(); ++o)
      joins = out.strides[o].back() == strides[o][axis] * sizes[axis];
    if (joins) {
      out.sizes.back() *= sizes[axis];
      for (size_t o = 0; o < strides.size(); ++o) out.strides[o].back() = strides[o][axis];
    } else {
      out.sizes.push_back(sizes[axis]);
      for (size_t o = 0; o < strides.size(); ++o) out.strides[o].push_back(strides[o][axis]);
    }
  }
  return out;
}

// Strides over all axes of S for a tensor of that space: Row tensors stand still behind the split. A tensor of one
// number may have fewer axes than a space whose other axes are ones.
Sizes expanded_strides(const Sizes& sizes, const Sizes& own_strides, KernelBinding::Space space, size_t rank,
                       size_t split) {
  Sizes strides(rank, 0);
  size_t first = 0, last = rank;
  if (space == KernelBinding::Space::Row) last = split;
  if (space == KernelBinding::Space::Column) first = split;
  for (size_t axis = first; axis < last; ++axis) {
    const size_t own = axis - first;
    strides[axis] = own >= sizes.size() || sizes[own] == 1 ? 0 : own_strides[own];
  }
  return strides;
}

Access access_of(KernelBinding::Space space, const OperandArgument& argument, int64_t cols) {
  if (space == KernelBinding::Space::Row) return Access::Broadcast;
  if (cols <= 1 || argument.col_stride == 1) return Access::Contiguous;
  if (space == KernelBinding::Space::Index) return Access::Strided;
  return argument.col_stride == 0 ? Access::Broadcast : Access::Strided;
}

bool is_result(const Operand& operand) {
  return operand.kind == Operand::Kind::Output || operand.kind == Operand::Kind::Accumulator;
}

size_t split_of(const LoweredKernel& lowered, size_t rank) {
  return lowered.shape.split < 0 ? rank : static_cast<size_t>(lowered.shape.split);
}

// The plan of one launch while it is made.
class Planner {
 public:
  Planner(const LoweredKernel& lowered, const Registers& registers, CompiledKernels::Launch* launch)
      : lowered_(lowered), registers_(registers), launch_(*launch) {
    for (ValueId size : lowered.shape.sizes) sizes_.push_back(registers.scalars[size].i);
  }

  bool run() {
    int64_t count = 1;
    for (int64_t size : sizes_) count *= size;
    if (count == 0) return false;  // nothing to do, or a reduction of nothing: the block knows
    for (size_t o = 0; o < lowered_.program.operands.size(); ++o) plan_operand(o);
    return merge();
  }

 private:
  void plan_operand(size_t o) {
    const KernelBinding& binding = lowered_.bindings[o];
    const Operand& operand = lowered_.program.operands[o];
    OperandPlan plan;
    plan.dtype = operand.dtype;
    plan.output = is_result(operand);
    plan.value = binding.value;
    const TileProduct& product = lowered_.product;
    if (binding.space == KernelBinding::Space::Index) {
      strides_.push_back(contiguous_strides(sizes_));
    } else if (product.value != kNoValue && (binding.value == product.value || static_cast<int>(o) == product.output)) {
      fresh(OperandPlan::Source::Product, sizes_, &plan);
    } else if (lowered_.strips.left != kNoValue &&
               (static_cast<int>(o) == lowered_.strips.products ||
                (static_cast<int>(o) == lowered_.strips.weights && !lowered_.strips.stored))) {
      plan.source = OperandPlan::Source::Strip;
      expand(binding.space, sizes_, contiguous_strides(sizes_));
    } else if (!plan.output) {
      plan.source = OperandPlan::Source::Input;
      const Tensor& tensor = registers_.tensor(binding.value);
      expand(binding.space, tensor.sizes(), tensor.strides());
    } else if (lowered_.in_place[o] != kNoValue && registers_.tensor(lowered_.in_place[o]).is_contiguous()) {
      plan.source = OperandPlan::Source::InPlace;
      const Tensor& tensor = registers_.tensor(lowered_.in_place[o]);
      expand(binding.space, tensor.sizes(), tensor.strides());
    } else {
      Sizes sizes;
      for (ValueId size : binding.sizes) sizes.push_back(registers_.scalars[size].i);
      const bool lanes = operand.kind == Operand::Kind::Accumulator;
      if (lanes) plan.dtype = lowered_.row_reductions[lanes_++].dtype;
      fresh(lanes ? OperandPlan::Source::Lanes : OperandPlan::Source::Fresh, sizes, &plan);
    }
    launch_.operands.push_back(std::move(plan));
  }

  void fresh(OperandPlan::Source source, const Sizes& sizes, OperandPlan* plan) {
    plan->source = source;
    plan->sizes = sizes;
    plan->strides = contiguous_strides(sizes);
    plan->bytes = checked_mul(numel_of(sizes), dtype_size(plan->dtype));
    const size_t o = launch_.operands.size();
    expand(lowered_.bindings[o].space, plan->sizes, plan->strides);
  }

  void expand(KernelBinding::Space space, const Sizes& sizes, const Sizes& strides) {
    strides_.push_back(expanded_strides(sizes, strides, space, sizes_.size(), split_of(lowered_, sizes_.size())));
  }

  bool merges_to_one(const Sizes& strides, size_t first, size_t last) const {
    return merge_axes(sizes_, {strides}, first, last).sizes.size() <= 1;
  }

  // Operands whose reduced (or kept) axes will not merge to one are copied to row-major memory.
  void copy_unmergeable(size_t split) {
    for (size_t o = 0; o < strides_.size(); ++o) {
      if (launch_.operands[o].source != OperandPlan::Source::Input) continue;
      const bool merges = merges_to_one(strides_[o], split, sizes_.size()) &&
                          (!lowered_.shape.column || merges_to_one(strides_[o], 0, split));
      if (merges) continue;
      launch_.operands[o].source = OperandPlan::Source::Copy;
      const Sizes& sizes = registers_.tensor(launch_.operands[o].value).sizes();
      strides_[o] =
          expanded_strides(sizes, contiguous_strides(sizes), lowered_.bindings[o].space, sizes_.size(), split);
    }
  }

  // Merges the axes into outer ones, rows and columns. False when they stay too many for the program.
  bool merge();
  // Whether an output is better stored past the caches.
  bool streams(size_t o) const;

  const LoweredKernel& lowered_;
  const Registers& registers_;
  CompiledKernels::Launch& launch_;
  size_t lanes_ = 0;            // reductions over rows so far
  Sizes sizes_;                 // the kernel's space at this run
  std::vector<Sizes> strides_;  // per operand, one per axis of it (elements)
};

bool Planner::merge() {
  const size_t rank = sizes_.size();
  const size_t split = split_of(lowered_, rank);
  Merged rows, cols;
  if (lowered_.shape.split >= 0) {
    copy_unmergeable(split);
    rows = merge_axes(sizes_, strides_, 0, split);
    cols = merge_axes(sizes_, strides_, split, rank);
    if (cols.sizes.size() > 1 || (lowered_.shape.column && rows.sizes.size() > 1)) return false;
  } else if (lowered_.product.left != kNoValue) {  // its rows and columns
    rows = merge_axes(sizes_, strides_, 0, rank - 1);
    cols = merge_axes(sizes_, strides_, rank - 1, rank);
  } else {
    rows = merge_axes(sizes_, strides_, 0, rank);
    cols.strides.resize(strides_.size());
    if (!rows.sizes.empty()) {
      cols.sizes.push_back(rows.sizes.back());
      rows.sizes.pop_back();
      for (size_t o = 0; o < strides_.size(); ++o) {
        cols.strides[o].push_back(rows.strides[o].back());
        rows.strides[o].pop_back();
      }
    }
  }
  launch_.cols = cols.sizes.empty() ? 1 : cols.sizes[0];
  if (!rows.sizes.empty()) {
    launch_.rows = rows.sizes.back();
    rows.sizes.pop_back();
  }
  launch_.outer = rows.sizes;
  for (int64_t size : launch_.outer) launch_.outer_count *= size;
  for (size_t o = 0; o < strides_.size(); ++o) {
    OperandArgument argument{nullptr, 0, 0};
    if (rows.strides[o].size() > launch_.outer.size()) argument.row_stride = rows.strides[o].back();
    if (!cols.strides[o].empty()) argument.col_stride = cols.strides[o][0];
    launch_.operands[o].outer_strides = Sizes(rows.strides[o].begin(), rows.strides[o].begin() + launch_.outer.size());
    launch_.arguments.push_back(argument);
    launch_.accesses.push_back(access_of(lowered_.bindings[o].space, argument, launch_.cols));
    launch_.streamed.push_back(streams(o));
  }
  const bool any_streamed = std::find(launch_.streamed.begin(), launch_.streamed.end(), true) != launch_.streamed.end();
  launch_.two_rows = any_streamed && may_join_rows(lowered_.program, launch_.cols);
  launch_.has_scratch = scratch_bytes(lowered_.program, launch_.cols) > 0;
  return true;
}

// An output is stored past the caches when it is too large to be found there by its reader, in fresh memory,
// every row on a 64-byte boundary (where all memory of the allocator begins).
bool Planner::streams(size_t o) const {
  constexpr int64_t kStreamBytes = int64_t{16} << 20;  // more of a shared last cache is nobody's own
  const OperandPlan& plan = launch_.operands[o];
  if (!plan.output || plan.source != OperandPlan::Source::Fresh || lowered_.shape.column ||
      lowered_.product.left != kNoValue || lowered_.in_place[o] != kNoValue ||
      static_cast<int>(o) == lowered_.strips.weights ||  // a product reads them at once
      launch_.accesses[o] != Access::Contiguous)
    return false;
  const int64_t size = dtype_size(plan.dtype);
  bool aligned = launch_.cols >= 64 && (launch_.rows == 1 || launch_.arguments[o].row_stride * size % 64 == 0);
  for (int64_t stride : plan.outer_strides) aligned = aligned && stride * size % 64 == 0;
  return aligned && plan.bytes >= kStreamBytes;
}

// One visit per word of the key, in a fixed order.
template <class Visit>
bool for_each_key_word(const LoweredKernel& lowered, const Registers& registers, Visit visit) {
  for (ValueId size : lowered.shape.sizes)
    if (!visit(registers.scalars[size].i)) return false;
  for (size_t o = 0; o < lowered.bindings.size(); ++o) {
    const KernelBinding& binding = lowered.bindings[o];
    if (binding.space == KernelBinding::Space::Index) continue;
    ValueId value = binding.value;
    if (is_result(lowered.program.operands[o])) {
      for (ValueId size : binding.sizes)
        if (!visit(registers.scalars[size].i)) return false;
      value = lowered.in_place[o];
    }
    if (value == kNoValue || value == lowered.product.value) continue;
    if (lowered.strips.left != kNoValue && static_cast<int>(o) == lowered.strips.products) continue;
    const Tensor& tensor = registers.tensor(value);
    for (size_t axis = 0; axis < tensor.strides().size(); ++axis)
      if (!visit(tensor.sizes()[axis]) || !visit(tensor.strides()[axis])) return false;
  }
  return true;
}

}  // namespace

bool plan_launch(const LoweredKernel& lowered, const Registers& registers, CompiledKernels::Launch* launch) {
  if (!Planner(lowered, registers, launch).run()) return false;
  launch->parameters.resize(lowered.parameters.size());
  for_each_key_word(lowered, registers, [&](int64_t word) {
    launch->key.push_back(word);
    return true;
  });
  return true;
}

bool launch_fits(const CompiledKernels::Launch& launch, const LoweredKernel& lowered, const Registers& registers) {
  const int64_t* word = launch.key.data();
  return for_each_key_word(lowered, registers, [&](int64_t now) { return now == *word++; });
}

}  // namespace tsc::jit
