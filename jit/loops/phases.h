#pragma once
// A row program over few long rows, cut so that threads can share a row: one phase a stage, run on
// pieces of kReductionChunk columns. A phase leaves each reduction's result of its piece in memory;
// between the phases the pieces are combined in order, as the canonical order has it, so the bits
// are those of the whole program. Knows programs only; the runner launches phases and owns their
// memory.
#include "jit/loops/kernel_program.h"

namespace tsc::jit {

struct PhaseOperand {
  enum class Source : uint8_t {
    Own,      // operand `number` of the whole program
    Total,    // the finished result of reduction `number`, one a row
    Partial,  // where a piece leaves its result of reduction `number`
    Scratch   // scratch row `number`
  };
  Source source = Source::Own;
  uint32_t number = 0;
};

struct Phase {
  KernelProgram program;
  std::vector<PhaseOperand> operands;  // of `program`, in its order
  std::vector<uint32_t> reductions;    // whose pieces it makes
  bool per_row = false;                // no columns: runs once a row
};

struct PhasedProgram {
  struct Total {
    Reduction reduction;
    DType dtype;  // of the accumulator
  };
  std::vector<Phase> phases;
  std::vector<Total> totals;
};

PhasedProgram split_into_phases(const KernelProgram& program);

// Combines `count` pieces in order into *total.
void combine_pieces(const PhasedProgram::Total& how, const void* pieces, int64_t count, void* total);

}  // namespace tsc::jit
