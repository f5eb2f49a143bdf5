// Kernels between two matrix products (jit/passes/strips.h): the rows come and go in strips.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "jit/runner/launch.h"
#include "runtime/kernels/matmul_strips.h"

namespace tsc::jit {
namespace {

MatmulOperand operand(const Tensor& t) { return {t.data(), t.stride(1), t.stride(2), t.stride(0)}; }

struct Weigher {
  const LoweredKernel& lowered;
  const CompiledKernels::Launch& launch;
  int64_t rows;  // of a batch

  static void run(void* context, const StripRows& rows, void* scratch) {
    const Weigher& self = *static_cast<const Weigher*>(context);
    const int64_t size = dtype_size(self.lowered.program.operands[self.lowered.strips.weights].dtype);
    StripRows left = rows;
    int64_t line = rows.batch * self.rows + rows.row0;
    for (int64_t done = 0; done < rows.count; done += left.count) {
      const int64_t plane_row = line % self.launch.rows;
      left.count = std::min(rows.count - done, self.launch.rows - plane_row);
      self.weigh(left, line / self.launch.rows, plane_row, scratch);
      left.products = static_cast<std::byte*>(left.products) + left.count * rows.products_stride * size;
      left.weights = static_cast<std::byte*>(left.weights) + left.count * rows.weights_stride * size;
      line += left.count;
    }
  }

  void weigh(const StripRows& rows, int64_t outer, int64_t row, void* scratch) const {
    ArgumentList arguments(launch.arguments.size());
    for (size_t o = 0; o < launch.arguments.size(); ++o) {
      const int64_t col_stride = launch.arguments[o].col_stride;
      if (static_cast<int>(o) == lowered.strips.products)
        arguments[o] = {rows.products, rows.products_stride, col_stride};
      else if (static_cast<int>(o) == lowered.strips.weights)
        arguments[o] = {rows.weights, rows.weights_stride, col_stride};
      else arguments[o] = shifted_argument(lowered, launch, o, outer, row, 0);
    }
    launch.kernel->function(arguments.data(), launch.parameters.data(), rows.count, rows.columns, scratch);
  }
};

// Columns that the ends of groups are rounded to: a vector of the widest tiles. A column that no row sees is
// the identity of both reductions of a row (jit/passes/strips.cpp), so any rounding gives the same bits.
constexpr int64_t kEndColumns = 16;

// The column behind the last one that any row of each group sees; empty: every column counts.
std::vector<int64_t> find_ends(const LoweredKernel& lowered, const CompiledKernels::Launch& launch,
                               const Registers& registers, int64_t rows) {
  const StripProducts& strips = lowered.strips;
  if (strips.mask < 0 || launch.rows != rows) return {};
  const double fill = registers.scalars[strips.fill].as_float();
  if (fill != (strips.softmax ? -INFINITY : 0.0)) return {};
  if (strips.factor != kNoValue && !std::isfinite(registers.scalars[strips.factor].as_float())) return {};
  for (int64_t stride : launch.operands[strips.mask].outer_strides)
    if (stride != 0) return {};
  const OperandArgument& mask = launch.arguments[strips.mask];
  if (mask.col_stride != 1) return {};
  std::vector<int64_t> ends;
  for (int64_t row0 = 0; row0 < rows; row0 += kGroupRows) {
    int64_t end = 0;
    for (int64_t row = row0; row < std::min(rows, row0 + kGroupRows); ++row) {
      const std::byte* line = static_cast<const std::byte*>(mask.base) + row * mask.row_stride;
      const void* last = memrchr(line + end, 1, static_cast<size_t>(launch.cols - end));
      if (last) end = static_cast<const std::byte*>(last) - line + 1;
    }
    const int64_t whole = (end + kEndColumns - 1) / kEndColumns * kEndColumns;
    ends.push_back(end == 0 ? launch.cols : std::min(whole, launch.cols));
  }
  return ends;
}

}  // namespace

void CompiledKernels::run_strips(const LoweredKernel& lowered, const Launch& launch, Registers& registers) {
  const StripProducts& strips = lowered.strips;
  const Tensor& left = registers.tensor(strips.left);
  const Tensor& right = registers.tensor(strips.right);
  const Tensor& values = registers.tensor(strips.values);
  Weigher weigher{lowered, launch, left.size(1)};
  StripArgs args;
  args.dtype = left.dtype();
  args.batch = left.size(0), args.rows = left.size(1), args.depth = left.size(2);
  args.columns = right.size(2), args.width = values.size(2);
  args.a = operand(left), args.b = operand(right), args.v = operand(values);
  args.weigh = Weigher::run;
  // Whoever else reads what the kernel writes reads all columns, and only a softmax needs none of what its mask
  // hides.
  args.whole_products = !strips.softmax;
  args.whole_rows = strips.writes_memory || !strips.softmax;
  if (strips.stored) args.weights = registers.tensor(lowered.bindings[strips.weights].value).data();
  args.context = &weigher;
  if (launch.has_scratch) args.scratch_bytes = scratch_bytes(lowered.program, launch.cols);
  const std::vector<int64_t> ends = find_ends(lowered, launch, registers, args.rows);
  if (!ends.empty()) args.ends = ends.data();
  Tensor result = Tensor::empty(args.dtype, {args.batch, args.rows, args.width});
  args.out = result.data();
  Tensor across;
  if (strips.across != kNoValue) {
    const Tensor& l = registers.tensor(strips.across_left);
    args.l = operand(l), args.height = l.size(1);
    across = Tensor::empty(args.dtype, {args.batch, args.height, args.columns});
    args.across = across.data();
  }
  matmul_strips(args);
  if (across.defined()) registers.put(strips.across, std::move(across));
  registers.put(strips.result, std::move(result));
}

bool CompiledKernels::fits_strips(const LoweredKernel& lowered, const Registers& registers) {
  const StripProducts& strips = lowered.strips;
  if (strips.across != kNoValue && registers.tensor(strips.across_left).size(1) == 0) return false;
  return registers.tensor(strips.left).size(2) > 0 && registers.tensor(strips.values).size(2) > 0;
}

}  // namespace tsc::jit
