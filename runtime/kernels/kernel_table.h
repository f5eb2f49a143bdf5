#pragma once
// The inner loops of the kernels, as tables of function pointers: what the drivers (elementwise.cpp,
// reduce.cpp, ...) call, and what kernels/vector/*.cpp fills once per instruction set. Loops see raw
// contiguous memory; shapes, strides, threads and checks are the drivers' work.
#include <cstdint>

#include "runtime/device/device.h"
#include "runtime/ops/op.h"

namespace tsc {

inline constexpr int kOpCount = static_cast<int>(Op::window_argmax) + 1;

// out[i] = op(a[i], b[i], c[i]) for i < n; all contiguous, `out` apart from the inputs or equal to one.
// Returns true when an element has no result (division by zero, negative integer exponent).
using ElementLoop = bool (*)(void* out, const void* a, const void* b, const void* c, int64_t n);

// The canonical reduction order (runtime/kernels/reduce.cpp) in two pieces.
struct ReduceLoops {
  // lanes[(phase + i) % 64] combines x[i] for i < n, in order.
  void (*row)(void* lanes, const void* x, int64_t n, int64_t phase);
  // lanes[j] combines x[j] for j < n: one row of many columns.
  void (*column)(void* lanes, const void* x, int64_t n);
  // a[j] = a[j] op b[j] on accumulators.
  void (*combine)(void* a, const void* b, int64_t n);
  void (*fill_identity)(void* lanes, int64_t n);
  // out[j] = the result in the op's result dtype.
  void (*finish)(void* out, const void* lanes, int64_t n);
  int64_t accumulator_size;
};

// n elements from Philox words (f64 takes two words an element).
using RandomConvert = void (*)(void* out, const uint32_t* words, int64_t n);
struct RandomLoops {
  // The words of `count` consecutive blocks (runtime/random/philox.h); count is a multiple of 64.
  void (*words)(uint32_t* out, uint64_t seed, uint64_t offset, uint64_t first_block, int64_t count);
  RandomConvert convert[kDTypeCount];  // i32, i64, f32, f64
};

struct KernelTable {
  // By op and dtype of the value operands (select: of y and z). Null: the dtype rule refuses.
  ElementLoop element[kOpCount][kDTypeCount];
  ElementLoop cast[kDTypeCount][kDTypeCount];  // [from][to]
  // Index by op - Op::sum for sum, prod, amax, amin, argmax (unused), argmin (unused), any, all.
  ReduceLoops reduce[8][kDTypeCount];
  RandomLoops random;
};

const KernelTable& kernel_table(Isa isa);
inline const KernelTable& current_kernels() { return kernel_table(current_device().isa); }

}  // namespace tsc
