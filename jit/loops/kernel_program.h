#pragma once
// The loop-nest form of one fused kernel: a 2-D ROW PROGRAM. The iteration space is rows x cols; every
// outer dimension, threading, and matmul tiles are C++ drivers that call the kernel on blocks.
// Kernel identity is the canonical text of the program: no sizes, no addresses, no source places, so
// equal layers share one compiled kernel.
// Knows the op table; must not know regions, LLVM or launch details.
//
// Row programs run, for each row: stage 0 over all columns, stage 1 over all columns, ... A value is
//   Uniform  the same everywhere (scalar parameters, constants),
//   PerRow   one per row: a Broadcast load, the result of a row reduction, arithmetic on those,
//   PerElement.
// A reduction makes its result available to later stages. Element values do not survive a stage: a
// later stage recomputes them from loads or reads a scratch row that an earlier stage stored.
// Column programs have exactly one stage over a (rows x cols) space and reduce over the ROWS: results
// are PerColumn and may be stored (Output operands with row stride 0), with PerColumn arithmetic after.
//
// A row program may reduce over its rows too, one step of it: Accumulate adds a row to lane accumulators in
// the caller's memory. The caller gives each row those of its lane and combines the lanes afterwards.
//
// Reduction order (canonical, a function of the count n alone): chunks of 65536 in order; in a chunk
// lane l = index % 64 starts at the identity and accumulates its elements in order; the lanes are combined by
// the tree l with l+32, l+16, l+8, l+4, l+2, l+1; chunk results are combined in order, starting from
// the first. sums of small floats accumulate in f32, of integer sums in i64; bool any/all as max/min on u8.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/small_vector.h"
#include "runtime/ops/op.h"

namespace tsc::jit {

enum class Access : uint8_t {
  Contiguous,  // element (r, c) at base + r * row_stride + c
  Broadcast,   // element (r, c) at base + r * row_stride: one value for the whole row
  Strided,     // element (r, c) at base + r * row_stride + c * col_stride
};

struct Operand {
  enum class Kind : uint8_t {
    Input,
    Output,
    Accumulator,  // lane accumulators of an Accumulate: read and written, contiguous
    Index,        // no memory: the i64 value base + r * row_stride + c * col_stride (iota, rng positions)
  };
  Kind kind = Kind::Input;
  DType dtype = DType::F32;
  Access access = Access::Contiguous;
  // An Output that no cache will hold: stores go past the caches. Its rows start on 64-byte boundaries.
  bool streamed = false;
};

enum class NestCode : uint8_t {
  Load,          // operand number -> value (Index operands give i64)
  Store,         // value -> Output operand number
  Constant,      // `number` as dtype
  Parameter,     // run-time scalar number -> Uniform value of dtype F64 or I64
  Apply,         // elementwise `op` (Unary, Binary, Ternary, cast, bitcast) over values of one dtype
  Philox,        // inputs: seed (I64 Uniform), offset (I64 Uniform), linear index (I64) -> dtype as
                 // rng_bits defines for I32, I64, F32, F64
  Reduce,        // `reduction` of a PerElement value over the row (Row program) or rows (Column program)
  Accumulate,    // Row program: a PerElement value joins the Accumulator operand's element of its column
  ScratchStore,  // value -> scratch row number
  ScratchLoad,   // scratch row number -> value
};

enum class Reduction : uint8_t { sum, prod, amax, amin };

using NestValue = uint32_t;

struct NestInstruction {
  NestCode code = NestCode::Load;
  Op op = Op::add;
  Reduction reduction = Reduction::sum;
  DType dtype = DType::F32;          // dtype of the result
  SmallVector<NestValue, 3> inputs;  // values
  uint32_t slot = 0;                 // operand, parameter or scratch number
  Scalar number;                     // Constant
  NestValue result = 0;
};

// False of stores and of Accumulate.
bool defines_value(const NestInstruction& instruction);

// A stage's `row` part runs once per row before its column loop (PerRow arithmetic, Broadcast loads,
// stores of PerRow values to Broadcast outputs); the `element` part runs for every column. Uniform
// instructions sit in the first stage's row part.
struct NestStage {
  std::vector<NestInstruction> row;
  std::vector<NestInstruction> element;
};

struct KernelProgram {
  enum class Kind : uint8_t { Row, Column };
  Kind kind = Kind::Row;
  std::vector<Operand> operands;
  uint32_t parameters = 0;              // run-time scalars, 8 bytes each
  std::vector<DType> parameter_dtypes;  // F64 or I64
  std::vector<DType> scratch;           // scratch rows: cols elements of that dtype each
  std::vector<NestStage> stages;        // Column: one stage; its `row` part holds what runs once per
                                        // column AFTER the reductions (PerColumn arithmetic and stores)
  uint32_t values = 0;                  // number of NestValues
  // Arithmetic weight per element in rough nanoseconds x 1000 (for the threading cost model).
  uint32_t cost = 1000;
  // The last stage may run beside the stage in front of it, one row behind (see may_join_rows).
  bool two_rows = false;
};

std::string print(const KernelProgram& program);
// Its first line.
std::string print_title(const KernelProgram& program);
// InternalFault when a value is used before its definition or outside its stage, dtypes disagree, ...
void verify(const KernelProgram& program);

// Run-time side of one operand: strides in ELEMENTS. For Index operands `base` is the integer itself.
struct OperandArgument {
  void* base;
  int64_t row_stride;
  int64_t col_stride;
};

// `scratch` points to 64-byte aligned memory of scratch_bytes(program, cols).
// Exact aliasing of an Output with an Input (same base and strides) is allowed when the planner proved
// that every load of an element precedes the store to it.
using KernelFunction = void (*)(const OperandArgument* operands, const int64_t* parameters, int64_t rows, int64_t cols,
                                void* scratch);

int64_t scratch_bytes(const KernelProgram& program, int64_t cols);

// Whether the last stage may run beside the stage in front of it, one row behind, over rows of this many columns:
// longer ones are not in the caches any more. Scratch memory is that of two rows then, whether a target does it or not.
bool may_join_rows(const KernelProgram& program, int64_t cols);

inline constexpr int64_t kReductionLanes = 64;
inline constexpr int64_t kReductionChunk = 65536;
// Column programs work through the columns in blocks of this many: each row brings 512 bytes from a page of its own,
// and the lane accumulators of float32 stay in L1.
inline constexpr int64_t kColumnBlock = 128;

// The dtype in which a reduction of `input` accumulates.
DType accumulator_dtype(Reduction reduction, DType input);
// The same of an Accumulate, as the reference kernels keep it: small floats in f32 always. Floating dtypes only.
DType row_accumulator_dtype(Reduction reduction, DType input);
// Bytes of one scratch row; rows lie one after the other in their order. They are multiples of this, the largest
// register of columns (16 of 8 bytes): whole registers are stored and loaded there, and no mask is needed.
inline constexpr int64_t kScratchUnit = 128;
int64_t scratch_row_bytes(DType dtype, int64_t cols);
// True for the elementwise ops that a kernel may hold: not the integer ops that raise.
bool is_kernel_op(Op op, DType dtype);

}  // namespace tsc::jit
