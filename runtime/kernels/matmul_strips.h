#pragma once
// Two matrix products one after the other, strip by strip: a few rows of A x B are made, the caller turns them
// into rows of weights while they are in cache, and those are multiplied by V. What lies between the products
// is never whole in memory: attention. Every element has the bits that two calls of matmul() and the caller's
// function over whole rows would give it.
//
// Where the caller knows that a strip's weights are zeros from some column on (a causal mask), neither product
// goes there. A product with zero changes nothing unless the value is not finite or the sum is -0: such strips
// run again over all columns.
// Knows raw memory only. f32 and f64.
#include "runtime/kernels/matmul.h"

namespace tsc {

inline constexpr int64_t kStripRows = 24;  // a multiple of most tiles' rows; changes no bit

struct StripArgs {
  DType dtype = DType::F32;
  int64_t batch = 1, rows = 0, depth = 0, columns = 0, width = 0;
  MatmulOperand a;      // (batch, rows, depth)
  MatmulOperand b;      // (batch, depth, columns)
  MatmulOperand v;      // (batch, columns, width)
  void* out = nullptr;  // (batch, rows, width), contiguous
  // Weights from products, both `count` rows of `columns` elements, `stride` elements apart. Any thread.
  void (*weigh)(void* context, void* products, void* weights, int64_t stride, int64_t batch,
                int64_t row0, int64_t count, int64_t columns) = nullptr;
  void* context = nullptr;
  // For each strip: from which column on its weights are zero where its products are not nan. Null: unknown.
  const int64_t* ends = nullptr;
};

inline int64_t strip_count(int64_t rows) { return (rows + kStripRows - 1) / kStripRows; }

// Uses the current device's threads, allocator and instruction set. No size is zero.
void matmul_strips(const StripArgs& args);

}  // namespace tsc
