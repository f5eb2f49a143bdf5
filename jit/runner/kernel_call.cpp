#include "jit/runner/kernel_call.h"

#include <cstring>

#include "jit/runner/call.h"
#include "runtime/device/device.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/run_op.h"

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

// Strides over all axes of S for a tensor of that space: Row tensors stand still behind the split.
Sizes expanded_strides(const Tensor& tensor, KernelBinding::Space space, size_t rank, size_t split) {
  Sizes strides(rank, 0);
  size_t first = 0, last = rank;
  if (space == KernelBinding::Space::Row) last = split;
  if (space == KernelBinding::Space::Column) first = split;
  for (size_t axis = first; axis < last; ++axis) {
    size_t own = axis - first;
    strides[axis] = tensor.size(static_cast<int64_t>(own)) == 1 ? 0 : tensor.stride(static_cast<int64_t>(own));
  }
  return strides;
}

Tensor contiguous_copy(const Tensor& x) { return run_op(Op::copy, {&x, 1}, {}, {}).first; }

Access access_of(KernelBinding::Space space, const OperandArgument& argument, int64_t cols) {
  if (space == KernelBinding::Space::Row) return Access::Broadcast;
  if (space == KernelBinding::Space::Index) return Access::Strided;
  if (cols <= 1 || argument.col_stride == 1) return Access::Contiguous;
  return argument.col_stride == 0 ? Access::Broadcast : Access::Strided;
}

int64_t raw_parameter(const Scalar& s, DType type) {
  if (type == DType::I64) return s.as_int();
  double value = s.as_float();
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

bool CompiledKernels::prepare(const LoweredKernel& lowered, Call* call, std::vector<Tensor>& tensors,
                              const std::vector<Scalar>& scalars) {
  for (ValueId size : lowered.shape.sizes) call->sizes.push_back(scalars[size].i);
  size_t rank = call->sizes.size();
  size_t split = lowered.shape.split < 0 ? rank : static_cast<size_t>(lowered.shape.split);
  int64_t count = 1;
  for (int64_t size : call->sizes) count *= size;
  if (count == 0) return false;  // nothing to do, or a reduction of nothing: the block knows
  const KernelProgram& program = lowered.program;
  Sizes row_major(rank, 1);
  for (size_t i = rank; i-- > 1;) row_major[i - 1] = row_major[i] * call->sizes[i];
  for (size_t o = 0; o < program.operands.size(); ++o) {
    const KernelBinding& binding = lowered.bindings[o];
    call->outputs.emplace_back();
    if (binding.space == KernelBinding::Space::Index) {
      call->strides.push_back(row_major);
      call->bases.push_back(nullptr);
      continue;
    }
    Tensor tensor;
    if (lowered.product.value != kNoValue &&
        (binding.value == lowered.product.value || static_cast<int>(o) == lowered.product.output)) {
      if (!call->product.defined())
        call->product = Tensor::empty(program.operands[o].dtype, call->sizes);
      tensor = call->product;
      if (program.operands[o].kind == Operand::Kind::Output) call->outputs.back() = tensor;
    } else if (program.operands[o].kind == Operand::Kind::Input) {
      tensor = tensors[binding.value];
    } else {
      ValueId target = lowered.in_place[o];
      if (target != kNoValue && tensors[target].is_contiguous()) {
        tensor = tensors[target];
      } else {
        Sizes sizes;
        for (ValueId size : binding.sizes) sizes.push_back(scalars[size].i);
        tensor = Tensor::empty(program.operands[o].dtype, sizes);
      }
      call->outputs.back() = tensor;
    }
    call->strides.push_back(expanded_strides(tensor, binding.space, rank, split));
    call->bases.push_back(tensor.data());
    call->held.push_back(std::move(tensor));
  }
  for (size_t p = 0; p < lowered.parameters.size(); ++p)
    call->parameters.push_back(raw_parameter(scalars[lowered.parameters[p]], program.parameter_dtypes[p]));
  return true;
}

namespace {

bool merges_to_one(const Sizes& sizes, const Sizes& strides, size_t first, size_t last) {
  return merge_axes(sizes, {strides}, first, last).sizes.size() <= 1;
}

}  // namespace

// Operands whose reduced (or kept) axes will not merge to one are copied to row-major memory.
void CompiledKernels::copy_unmergeable(const LoweredKernel& lowered, size_t split, Call* call) {
  size_t rank = call->sizes.size(), place = 0;
  for (size_t o = 0; o < call->strides.size(); ++o) {
    if (lowered.bindings[o].space == KernelBinding::Space::Index) continue;
    Tensor& held = call->held[place++];
    if (lowered.program.operands[o].kind != Operand::Kind::Input) continue;
    bool merges = merges_to_one(call->sizes, call->strides[o], split, rank) &&
                  (!lowered.shape.column || merges_to_one(call->sizes, call->strides[o], 0, split));
    if (merges) continue;
    held = contiguous_copy(held);
    call->bases[o] = held.data();
    call->strides[o] = expanded_strides(held, lowered.bindings[o].space, rank, split);
  }
}

// Whether an output is better stored past the caches: too large to be found there by its reader, in fresh
// memory, every row on a 64-byte boundary.
bool CompiledKernels::streams(const LoweredKernel& lowered, const Call& call, size_t operand) {
  constexpr int64_t kStreamBytes = int64_t{16} << 20;  // more of a shared last cache is nobody's own
  const Tensor& output = call.outputs[operand];
  if (!output.defined() || lowered.product.left != kNoValue || lowered.shape.column ||
      lowered.in_place[operand] != kNoValue || call.accesses[operand] != Access::Contiguous)
    return false;
  const int64_t size = dtype_size(output.dtype());
  const OperandArgument& argument = call.arguments[operand];
  bool aligned = reinterpret_cast<uintptr_t>(argument.base) % 64 == 0 && call.cols >= 64 &&
                 (call.rows == 1 || argument.row_stride * size % 64 == 0);
  for (int64_t stride : call.outer_strides[operand]) aligned = aligned && stride * size % 64 == 0;
  return aligned && output.numel() * size >= kStreamBytes;
}

// Merges the axes into outer ones, rows and columns. False when they stay too many for the program.
bool CompiledKernels::merge(const LoweredKernel& lowered, Call* call) {
  size_t rank = call->sizes.size();
  size_t split = lowered.shape.split < 0 ? rank : static_cast<size_t>(lowered.shape.split);
  Merged rows, cols;
  if (lowered.shape.split >= 0) {
    copy_unmergeable(lowered, split, call);
    rows = merge_axes(call->sizes, call->strides, 0, split);
    cols = merge_axes(call->sizes, call->strides, split, rank);
    if (cols.sizes.size() > 1 || (lowered.shape.column && rows.sizes.size() > 1)) return false;
  } else if (lowered.product.left != kNoValue) {  // its rows and columns
    rows = merge_axes(call->sizes, call->strides, 0, rank - 1);
    cols = merge_axes(call->sizes, call->strides, rank - 1, rank);
  } else {
    rows = merge_axes(call->sizes, call->strides, 0, rank);
    cols.strides.resize(call->strides.size());
    if (!rows.sizes.empty()) {
      cols.sizes.push_back(rows.sizes.back());
      rows.sizes.pop_back();
      for (size_t o = 0; o < call->strides.size(); ++o) {
        cols.strides[o].push_back(rows.strides[o].back());
        rows.strides[o].pop_back();
      }
    }
  }
  call->cols = cols.sizes.empty() ? 1 : cols.sizes[0];
  if (!rows.sizes.empty()) {
    call->rows = rows.sizes.back();
    rows.sizes.pop_back();
  }
  call->outer = rows.sizes;
  for (size_t o = 0; o < call->strides.size(); ++o) {
    OperandArgument argument{call->bases[o], 0, 0};
    if (rows.strides[o].size() > call->outer.size()) argument.row_stride = rows.strides[o].back();
    if (!cols.strides[o].empty()) argument.col_stride = cols.strides[o][0];
    call->outer_strides.emplace_back(rows.strides[o].begin(),
                                     rows.strides[o].begin() + call->outer.size());
    call->arguments.push_back(argument);
    call->accesses.push_back(access_of(lowered.bindings[o].space, argument, call->cols));
    call->streamed.push_back(streams(lowered, *call, o));
  }
  return true;
}

bool CompiledKernels::run(const Instruction& kernel, std::vector<Tensor>& tensors,
                          const std::vector<Scalar>& scalars) {
  const LoweredKernel& lowered = kernels_[kernel.id];
  Call call;
  if (!prepare(lowered, &call, tensors, scalars) || !merge(lowered, &call)) return false;
  if (wants_phases(lowered, call)) {
    const CompiledPhases* phases = phased_variant(kernel.id, call);
    if (!phases) return false;
    run_phases(*phases, lowered, call);
  } else {
    CompiledKernel* compiled = variant(kernel.id, call);
    if (!compiled) return false;
    const TileProduct& product = lowered.product;
    if (product.left != kNoValue)
      launch_product(call, tensors[product.left], tensors[product.right], compiled->function, lowered);
    else
      launch(lowered, call, compiled->function);
  }
  size_t results = 0;
  for (size_t o = 0; o < lowered.bindings.size(); ++o) {
    if (lowered.program.operands[o].kind != Operand::Kind::Output) continue;
    tensors[lowered.bindings[o].value] = call.outputs[o];
    ++results;
  }
  TSC_CHECK(results == kernel.results.size(), "a kernel result has no output operand");
  return true;
}

uint64_t CompiledKernels::Call::key() const {
  uint64_t key = 1;
  for (size_t o = 0; o < accesses.size(); ++o)
    key = hash_mix(key, static_cast<uint64_t>(accesses[o]) + 3 + (streamed[o] ? 16 : 0));
  return key;
}

KernelProgram CompiledKernels::program_of(size_t number, const Call& call) const {
  KernelProgram program = kernels_[number].program;
  for (size_t o = 0; o < call.accesses.size(); ++o) {
    program.operands[o].access = call.accesses[o];
    program.operands[o].streamed = call.streamed[o];
  }
  return program;
}

CompiledKernel* CompiledKernels::variant(size_t number, const Call& call) {
  const uint64_t key = call.key();
  auto found = variants_[number].find(key);
  if (found == variants_[number].end())
    found = variants_[number]
                .emplace(key, cache_->get(program_of(number, call), symbol_of(number), report_))
                .first;
  return found->second.get();
}

namespace {

// Runs the kernel on a block of one (outer, row) plane.
class BlockLauncher {
 public:
  BlockLauncher(const LoweredKernel& lowered, const CompiledKernels::Call& call,
                KernelFunction function)
      : lowered_(lowered), call_(call), function_(function) {}

  void operator()(int64_t outer, int64_t row, int64_t rows, int64_t col, int64_t cols) const {
    OperandArgument few[64];
    std::vector<OperandArgument> many;
    OperandArgument* arguments = few;
    if (call_.arguments.size() > std::size(few)) {
      many.resize(call_.arguments.size());
      arguments = many.data();
    }
    for (size_t o = 0; o < call_.arguments.size(); ++o)
      arguments[o] = shifted(o, outer, row, col);
    const int64_t scratch = scratch_bytes(lowered_.program, cols);
    Ref<Storage> memory;
    if (scratch > 0) memory = Storage::allocate(scratch);
    function_(arguments, call_.parameters.data(), rows, cols, memory ? memory->data() : nullptr);
  }

 private:
  OperandArgument shifted(size_t o, int64_t outer, int64_t row, int64_t col) const {
    OperandArgument argument = call_.arguments[o];
    int64_t offset = row * argument.row_stride + col * argument.col_stride;
    for (size_t i = call_.outer.size(); i-- > 0;) {
      offset += outer % call_.outer[i] * call_.outer_strides[o][i];
      outer /= call_.outer[i];
    }
    const Operand& operand = lowered_.program.operands[o];
    if (operand.kind == Operand::Kind::Index)
      argument.base = reinterpret_cast<void*>(offset);
    else
      argument.base = static_cast<std::byte*>(argument.base) + offset * dtype_size(operand.dtype);
    return argument;
  }

  const LoweredKernel& lowered_;
  const CompiledKernels::Call& call_;
  KernelFunction function_;
};

}  // namespace

// The product writes its tiles; the kernel takes each over before it leaves the cache.
void CompiledKernels::launch_product(const Call& call, const Tensor& left, const Tensor& right,
                                     KernelFunction function, const LoweredKernel& lowered) {
  struct Context {
    BlockLauncher block;
    int64_t m, plane_rows;
  } context{{lowered, call, function}, left.size(1), call.rows};
  MatmulArgs args;
  args.dtype = left.dtype();
  args.batch = left.size(0), args.m = left.size(1), args.n = right.size(2), args.k = left.size(2);
  args.a = {left.data(), left.stride(1), left.stride(2), left.stride(0)};
  args.b = {right.data(), right.stride(1), right.stride(2), right.stride(0)};
  args.c = call.product.data();
  args.c_row_stride = args.n;
  args.c_batch_stride = args.m * args.n;
  args.epilogue.context = &context;
  args.epilogue.run = [](void* opaque, int64_t batch, int64_t row0, int64_t rows, int64_t col0,
                         int64_t cols) {
    const Context& c = *static_cast<const Context*>(opaque);
    int64_t line = batch * c.m + row0;
    while (rows > 0) {
      const int64_t row = line % c.plane_rows, count = std::min(rows, c.plane_rows - row);
      c.block(line / c.plane_rows, row, count, col0, cols);
      line += count;
      rows -= count;
    }
  };
  matmul(args);
}

void CompiledKernels::launch(const LoweredKernel& lowered, const Call& call, KernelFunction function) {
  int64_t outer = 1;
  for (int64_t size : call.outer) outer *= size;
  bool by_columns = lowered.shape.column || (lowered.shape.split < 0 && call.rows * outer < 16);
  double cost = lowered.program.cost / 1000.0 / 8;
  // Items are (outer, row) pairs, or blocks of columns of one such pair.
  const BlockLauncher block(lowered, call, function);
  if (by_columns) {
    const int64_t width = lowered.shape.column ? kColumnBlock : 1024;
    int64_t blocks = (call.cols + width - 1) / width;
    int64_t grain = grain_for(cost * static_cast<double>(width * call.rows));
    for (int64_t o = 0; o < outer; ++o)
      parallel_for(blocks, grain, [&](int64_t begin, int64_t end) {
        int64_t last = std::min(end * width, call.cols);
        block(o, 0, call.rows, begin * width, last - begin * width);
      });
    return;
  }
  int64_t grain = grain_for(cost * static_cast<double>(call.cols));
  parallel_for(outer * call.rows, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t o = begin / call.rows, row = begin % call.rows;
      int64_t rows = std::min(end - begin, call.rows - row);
      block(o, row, rows, 0, call.cols);
      begin += rows;
    }
  });
}

}  // namespace tsc::jit
