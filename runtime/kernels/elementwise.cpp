// Elementwise ops: contiguous operands go straight to the inner loop; any other layout (strided,
// broadcast, flipped) is packed a block at a time, in row-major order. The result is contiguous.
#include <atomic>
#include <string>

#include "runtime/base/error.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/strided.h"
#include "runtime/kernels/transpose.h"

namespace tsc {
namespace {

constexpr int kMaxOperands = 3;
// From this size on a transposed operand is copied by tiles first: packing it row by row would miss the
// cache at every element.
constexpr int64_t kWorthCopying = 16384;

// Nanoseconds an element takes on one thread: only decides when to fork.
double element_cost(Op op) {
  bool function = (op >= Op::exp && op <= Op::erfinv) || op == Op::atan2;
  bool division = op >= Op::quot && op <= Op::pow;
  return function ? 2.0 : division ? 5.0 : 0.25;
}

ElementLoop choose_loop(const OpCall& call, DType dtype) {
  const KernelTable& table = current_kernels();
  if (call.op == Op::cast) return table.cast[static_cast<int>(dtype)][static_cast<int>(call.attributes.dtype)];
  return table.element[static_cast<int>(call.op)][static_cast<int>(dtype)];
}

[[noreturn]] void raise_failure(Op op) {
  if (op == Op::pow) throw Error(ErrorKind::RuntimeError, "pow: integers to negative integer powers are not allowed");
  throw Error(ErrorKind::ZeroDivisionError, std::string(op_name(op)) + ": integer division by zero");
}

struct Operands {
  const std::byte* data[kMaxOperands] = {};
  int64_t element_size[kMaxOperands] = {};
  int count = 0;
};

void run_contiguous(ElementLoop loop, Op op, std::byte* out, int64_t out_size, const Operands& operands, int64_t n) {
  int64_t grain = grain_for(element_cost(op));
  if (n <= grain) {
    if (loop(out, operands.data[0], operands.data[1], operands.data[2], n)) raise_failure(op);
    return;
  }
  std::atomic<bool> failed{false};
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    const std::byte* data[kMaxOperands];
    for (int i = 0; i < kMaxOperands; ++i) data[i] = operands.data[i] + begin * operands.element_size[i];
    if (loop(out + begin * out_size, data[0], data[1], data[2], end - begin))
      failed.store(true, std::memory_order_relaxed);
  });
  if (failed.load()) raise_failure(op);
}

// Operands whose map is not contiguous pass through a buffer; a constant operand's is filled once.
class BlockRunner {
 public:
  BlockRunner(ElementLoop loop, std::byte* out, int64_t out_size, const Operands& operands,
              std::span<const StridedMap> maps)
      : loop_(loop), out_(out), out_size_(out_size), operands_(operands), maps_(maps) {}

  bool run(int64_t begin, int64_t end) const {
    alignas(64) std::byte buffers[kMaxOperands][kBlock * kMaxElementSize];
    for (int i = 0; i < operands_.count; ++i)
      if (maps_[i].constant()) maps_[i].pack(buffers[i], operands_.data[i], 0, std::min(kBlock, end - begin));
    bool failed = false;
    for (; begin < end; begin += kBlock) {
      int64_t n = std::min(kBlock, end - begin);
      const std::byte* data[kMaxOperands] = {};
      for (int i = 0; i < operands_.count; ++i) {
        data[i] = buffers[i];
        if (maps_[i].contiguous()) data[i] = operands_.data[i] + begin * operands_.element_size[i];
        else if (!maps_[i].constant()) maps_[i].pack(buffers[i], operands_.data[i], begin, n);
      }
      failed |= loop_(out_ + begin * out_size_, data[0], data[1], data[2], n);
    }
    return failed;
  }

 private:
  ElementLoop loop_;
  std::byte* out_;
  int64_t out_size_;
  const Operands& operands_;
  std::span<const StridedMap> maps_;
};

void run_strided(ElementLoop loop, const OpCall& call, std::byte* out, int64_t out_size, Operands operands, int64_t n) {
  StridedMap maps[kMaxOperands] = {StridedMap(call.tensors[0]), StridedMap(call.tensors[operands.count > 1 ? 1 : 0]),
                                   StridedMap(call.tensors[operands.count > 2 ? 2 : 0])};
  Tensor copies[kMaxOperands];
  for (int i = 0; i < operands.count; ++i) {
    if (n < kWorthCopying || !is_transposed(maps[i])) continue;
    copies[i] = copy_of(call.tensors[i]);
    maps[i] = StridedMap(copies[i]);
    operands.data[i] = copies[i].data();
  }
  BlockRunner runner(loop, out, out_size, operands, maps);
  std::atomic<bool> failed{false};
  parallel_for(n, grain_for(element_cost(call.op) + 1.0), [&](int64_t begin, int64_t end) {
    if (runner.run(begin, end)) failed.store(true, std::memory_order_relaxed);
  });
  if (failed.load()) raise_failure(call.op);
}

Tensor bitcast_copy(const Tensor& x, DType dtype) {
  Tensor bits = copy_of(x);
  return Tensor(bits.storage(), dtype, bits.sizes(), bits.strides(), 0);
}

}  // namespace

OpResults run_elementwise(const OpCall& call) {
  const OpRow& row = op_row(call.op);
  bool matches = static_cast<int>(call.tensors.size()) == row.tensors && call.scalars.empty();
  Operands operands;
  bool contiguous = true;
  DType dtype = DType::F32;
  if (matches) {
    operands.count = row.tensors;
    const Tensor& first = call.tensors[0];
    dtype = call.tensors.back().dtype();
    for (int i = 0; i < operands.count; ++i) {
      const Tensor& x = call.tensors[i];
      TSC_CHECK(x.defined(), std::string(row.name) + " of a tensor without storage");
      matches &= x.sizes() == first.sizes() && x.dtype() == dtype;
      contiguous &= x.is_contiguous();
      operands.data[i] = x.data();
      operands.element_size[i] = dtype_size(x.dtype());
    }
    if (call.op == Op::select)
      matches = first.dtype() == DType::Bool && call.tensors[1].dtype() == dtype &&
                first.sizes() == call.tensors[1].sizes() && first.sizes() == call.tensors[2].sizes();
  }
  ElementLoop loop = matches && call.op != Op::bitcast ? choose_loop(call, dtype) : nullptr;
  if (!loop) {
    DType result = infer_dtype(call);
    infer_sizes(call);  // one of the two raises, unless this is a bitcast
    TSC_CHECK(call.op == Op::bitcast, "no kernel for " + std::string(row.name));
    return {bitcast_copy(call.tensors[0], result), {}};
  }
  DType result = row.dtype_rule == DTypeRule::Bool        ? DType::Bool
                 : row.dtype_rule == DTypeRule::Attribute ? call.attributes.dtype
                                                          : dtype;
  Tensor out = Tensor::empty(result, call.tensors[0].sizes());
  int64_t n = out.numel();
  if (n == 0) return {std::move(out), {}};
  if (contiguous) run_contiguous(loop, call.op, out.data(), dtype_size(result), operands, n);
  else run_strided(loop, call, out.data(), dtype_size(result), operands, n);
  return {std::move(out), {}};
}

}  // namespace tsc
