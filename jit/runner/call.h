#pragma once
// What kernel_call.cpp works out for one launch and phased_call.cpp reads. Private to this room.
#include "jit/runner/kernel_call.h"

namespace tsc::jit {

// One launch: the merged iteration space and every operand's base and strides in it.
struct CompiledKernels::Call {
  // Outer axes (looped by the driver), then rows and columns. Sizes and per-operand strides.
  Sizes sizes;                    // S at this run
  std::vector<Sizes> strides;     // per operand, one per axis of S (elements)
  std::vector<std::byte*> bases;  // per operand; Index: null
  std::vector<int64_t> index_bases;
  std::vector<Tensor> held;     // copies made for axes that would not merge
  std::vector<Tensor> outputs;  // per operand
  Tensor product;               // the matrix product that the kernel finishes
  Sizes outer;
  int64_t rows = 1, cols = 1;
  std::vector<Sizes> outer_strides;
  std::vector<OperandArgument> arguments;
  std::vector<Access> accesses;
  std::vector<bool> streamed;  // per operand
  std::vector<int64_t> parameters;

  uint64_t key() const;  // of accesses and streams: what a compiled form depends on
};

}  // namespace tsc::jit
