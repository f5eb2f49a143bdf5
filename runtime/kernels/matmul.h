#pragma once
// The matrix product of every tier: C = A x B, batched, any strides of A and B, any number of
// threads, any instruction set, always the same bits. Element (i, j) is by definition
//   total = block_0; total = total + block_1; ...   where block_q is, for k in [512 q, 512 (q+1))
//   ascending, the chain t = 0; t = fma(a[i][k], b[k][j], t)
// Integers wrap; bf16 computes in f32 and rounds each element once, at the end. An empty k gives
// zeros. Knows raw memory only; shapes, dtypes and checks are the callers' work. Keeps: C never
// overlaps A or B.
#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace tsc {

inline constexpr int64_t kMatmulBlock = 512;  // part of the definition, not a tuning knob

// Called once for each finished tile of C, while the tile is in cache; tiles are disjoint, cover C,
// and come in any order from any thread.
struct MatmulEpilogue {
  void (*run)(void* context, int64_t batch, int64_t row0, int64_t rows, int64_t col0, int64_t cols) = nullptr;
  void* context = nullptr;
};

// Strides are in elements; those of A and B may be zero or negative.
struct MatmulOperand {
  const void* data = nullptr;
  int64_t row_stride = 0, column_stride = 0, batch_stride = 0;
};

struct MatmulArgs {
  DType dtype = DType::F32;  // any but bool
  int64_t batch = 1, m = 0, n = 0, k = 0;
  MatmulOperand a;    // (batch, m, k)
  MatmulOperand b;    // (batch, k, n)
  void* c = nullptr;  // (batch, m, n), columns contiguous
  int64_t c_row_stride = 0, c_batch_stride = 0;
  MatmulEpilogue epilogue;
};

// Uses the current device's threads, allocator and instruction set.
void matmul(const MatmulArgs& args);

}  // namespace tsc
