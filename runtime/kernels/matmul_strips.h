#pragma once
// Two matrix products one after the other, strip by strip: a few rows of A x B are made, the caller turns them
// into rows of weights while they are in cache, and those are multiplied by V. Rows go to the caller in groups. What
// lies between the products is never whole in memory: attention. Every element has the bits that two calls of matmul()
// and the caller's function over whole rows would give it.
//
// The weights may have a third product, as its right operand: each strip's rows are a piece of its sums, which go
// on where the strip before left them.
//
// Where the caller knows that a group's weights are zeros from some column on (a causal mask), neither product
// goes there. A product with zero changes nothing unless the value is not finite or the sum is -0: such strips
// run again over all columns.
// Knows raw memory only. f32 and f64.
#include "runtime/kernels/matmul.h"

namespace tsc {

inline constexpr int64_t kGroupRows = 6;  // the rows of the widest tiles; changes no bit

// `count` rows of `columns` products and of as many weights; strides are in elements.
struct StripRows {
  void *products, *weights;
  int64_t products_stride, weights_stride;
  int64_t batch, row0, count, columns;
};

struct StripArgs {
  DType dtype = DType::F32;
  int64_t batch = 1, rows = 0, depth = 0, columns = 0, width = 0;
  MatmulOperand a;      // (batch, rows, depth)
  MatmulOperand b;      // (batch, depth, columns)
  MatmulOperand v;      // (batch, columns, width)
  void* out = nullptr;  // (batch, rows, width), contiguous
  // Where the weights are to stay: (batch, rows, columns), contiguous. Null: they do not.
  void* weights = nullptr;
  // Weights from products, for the rows of a group. Any thread; `scratch` are scratch_bytes bytes that no other
  // thread uses.
  void (*weigh)(void* context, const StripRows& rows, void* scratch) = nullptr;
  void* context = nullptr;
  int64_t scratch_bytes = 0;
  // For each group: from which column on its weights are zero where its products are not nan. Null: unknown.
  const int64_t* ends = nullptr;
  // weigh() gets all columns whatever the ends, as always with a third product; the products behind a group's end
  // are then any numbers.
  bool whole_rows = false;
  // And all products: what the ends say holds of the weights alone.
  bool whole_products = false;
  // The third product: across = l x weights. Null: none.
  MatmulOperand l;         // (batch, height, rows)
  void* across = nullptr;  // (batch, height, columns), contiguous
  int64_t height = 0;
};

inline int64_t group_count(int64_t rows) { return (rows + kGroupRows - 1) / kGroupRows; }

// Uses the current device's threads, allocator and instruction set. No size is zero.
void matmul_strips(const StripArgs& args);

}  // namespace tsc
