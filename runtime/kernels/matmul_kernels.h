#pragma once
// The inner loops of matmul, as tables that kernels/vector/matmul_*.cpp fill once per instruction
// set and matmul.cpp chooses from. Knows raw memory only.
#include <cstdint>

#include "runtime/device/device.h"
#include "runtime/kernels/matmul_turned.h"
#include "runtime/tensor/dtype.h"

namespace tsc {

inline constexpr int kMaxTileVectors = 4;
inline constexpr int kMaxTileRows = 14;

// What a tile makes of C: the chains from 0, C plus these, or C's own chains and how they go on.
enum class TileSum : uint8_t { Store, Add, Continue };

// One tile of C, for one block of k or a part of it: rows x (vectors * lanes) columns, the last vector holding
// only `last_columns` of them. Each step of k
// asks for the cache line at `next`, which then moves by next_step bytes: what later tiles will
// need.
template <class T>
using TileKernel = void (*)(const T* a, int64_t a_row_stride, const T* b, int64_t b_row_stride, T* c,
                            int64_t c_row_stride, int64_t k, int last_columns, TileSum mode, const char* next,
                            int64_t next_step);

// dst[i * dst_stride + j] = src[i * row_stride + j * column_stride], converted, for rows x columns.
template <class T>
using PackKernel = void (*)(T* dst, int64_t dst_stride, const void* src, int64_t row_stride, int64_t column_stride,
                            int64_t rows, int64_t columns);

// What forbids leaving out products with zero.
template <class T>
struct FloatChecks {
  bool (*all_finite)(const T* x, int64_t n) = nullptr;
  bool (*holds_negative_zero)(const T* x, int64_t n) = nullptr;
};

template <class T>
struct TileKernels {
  int lanes = 0;                       // columns of a vector; 0: this instruction set has no tiles
  int vectors = 0;                     // vectors of the widest tile
  int rows[kMaxTileVectors + 1] = {};  // the most rows of a tile of that many vectors
  TileKernel<T> tile[kMaxTileVectors + 1][kMaxTileRows + 1] = {};
};

// `columns` or `wide_columns` columns of C, for one block of k; `add`: to what is there. `b` is of the operands' own
// type.
template <class T>
using TurnedKernel = void (*)(const T* a, int64_t a_row_stride, const void* b, int64_t b_column_stride, T* c,
                              int64_t c_row_stride, int64_t k, bool add);
template <class T>
struct TurnedKernels {
  int64_t columns = 0, wide_columns = 0;  // 0: this instruction set has none
  TurnedKernel<T> narrow[kTurnedRows + 1] = {}, wide[kTurnedWideRows + 1] = {};
};

// The plain loop, for integers and for processors without fused multiply-add: all of one row of C.
using RowKernel = void (*)(void* c, const void* a, int64_t a_column_stride, const void* b, int64_t b_row_stride,
                           int64_t b_column_stride, int64_t k, int64_t n);

// The product of complex numbers, whose right operand lies in planes: for each k the real parts of kPlaneColumns
// columns, then their imaginary parts.
inline constexpr int64_t kPlaneColumns = 64;
struct ComplexKernels {
  void (*split)(void* planes, const void* b, int64_t row_stride, int64_t column_stride, int64_t k, int64_t width);
  void (*row)(void* c, const void* a, int64_t a_column_stride, const void* planes, int64_t k, int64_t width);
};

struct MatmulKernels {
  ComplexKernels c64, c128;
  TileKernels<float> f32;
  TileKernels<double> f64;
  TurnedKernels<float> turned_f32, turned_bf16;
  TurnedKernels<double> turned_f64;
  PackKernel<float> pack_f32, pack_bf16, pack_f16;
  PackKernel<double> pack_f64;
  FloatChecks<float> checks_f32;
  FloatChecks<double> checks_f64;
  RowKernel row[kDTypeCount];  // null for bool
};

const MatmulKernels& matmul_kernels(Isa isa);

}  // namespace tsc
