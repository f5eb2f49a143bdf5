#pragma once
// Lowering: a Kernel instruction to the row program that computes it, and how its operands are bound.
// Element values needed by a later stage than their own pass through a scratch row; loads are repeated.
// Knows regions and kernel programs; must not know strides (accesses are chosen at the call).
#include "jit/loops/kernel_program.h"
#include "jit/passes/fuse.h"
#include "jit/region/equal_sizes.h"

namespace tsc::jit {

struct KernelBinding {
  ValueId value = kNoValue;  // Input: the tensor read; Output: the result written
  enum class Space : uint8_t { Element, Row, Column, Index } space = Space::Element;
  ValueList sizes{};  // Output: the result's own sizes
};

// The matrix product whose tiles a pointwise kernel finishes while they are in cache.
struct TileProduct {
  ValueId left = kNoValue, right = kNoValue;  // tensors (batch, m, k) and (batch, k, n); none: no product
  ValueId value = kNoValue;                   // what the program loads: the product, of the kernel's sizes
  int output = -1;  // the operand that may take the product's memory: every element is read before
};

// Matrix products around the kernel's rows (jit/passes/strips.h).
struct StripProducts {
  ValueId left = kNoValue, right = kNoValue;  // (batch, rows, depth) and (batch, depth, columns); none: no strips
  int products = -1, weights = -1;            // the operands that read the first and make the left of the second
  bool stored = false;                        // the second product is not the only reader of the weights
  bool writes_memory = false;                 // so or by other outputs: the kernel has all columns of its rows
  ValueId values = kNoValue;                  // (batch, columns, width)
  ValueId result = kNoValue;                  // (batch, rows, width)
  ValueId across_left = kNoValue;             // (batch, height, rows); none: no third product
  ValueId across = kNoValue;                  // (batch, height, columns), across_left x weights
  // Where the bool operand `mask` is false the weights are zeros. After a softmax: or nan as their whole row is, and
  // if the scalar `fill` is -inf. Else: if `fill` is 0 and `factor`, which multiplies it, is finite (none: 1).
  int mask = -1;  // -1: no such mask
  bool softmax = false;
  ValueId fill = kNoValue, factor = kNoValue;
};

// A reduction over the rows of a row kernel, one for each Accumulator operand in their order.
struct RowReduction {
  Op op = Op::sum;
  DType dtype = DType::F32;  // of what is reduced
};

struct LoweredKernel {
  KernelProgram program;                // accesses: Contiguous, Row operands Broadcast
  uint32_t program_number = 0;          // the same of kernels with the same program (number_programs)
  std::vector<KernelBinding> bindings;  // one per operand
  std::vector<ValueId> parameters;      // scalar registers, in the program's order
  KernelShape shape;
  bool empty_raises = false;  // amax/amin over nothing: the block raises the error
  TileProduct product;
  StripProducts strips;
  std::vector<RowReduction> row_reductions;
  std::vector<ValueId> in_place;  // per operand: the input whose memory an Output may take
};

// The kernels of a region's body in the order of their numbers; `shapes` are what fuse() gave.
std::vector<LoweredKernel> lower(const Region& region, const std::vector<KernelShape>& shapes);

// Lets kernels write the last version of an input into the input's own memory where nothing reads the old
// version afterwards.
void plan_in_place(const Region& region, std::vector<LoweredKernel>* kernels);

}  // namespace tsc::jit
