// Kernels over few long rows: the phases of the program one after the other, each in pieces of a
// row on all threads.
#include <algorithm>

#include "jit/runner/launch.h"
#include "runtime/device/device.h"

namespace tsc::jit {
namespace {

constexpr int64_t kFewRows = 4;

bool reduces(const KernelProgram& program) {
  for (const NestStage& stage : program.stages)
    for (const NestInstruction& in : stage.element)
      if (in.code == NestCode::Reduce) return true;
  return false;
}

}  // namespace

// A choice of sizes alone, so that every thread count runs the same code.
bool CompiledKernels::wants_phases(const LoweredKernel& lowered, const Launch& launch) {
  return lowered.program.kind == KernelProgram::Kind::Row && lowered.shape.split >= 0 &&
         lowered.row_reductions.empty() && launch.outer.empty() && launch.rows <= kFewRows &&
         launch.cols > kReductionChunk && reduces(lowered.program);
}

const CompiledKernels::CompiledPhases* CompiledKernels::phased_variant(size_t number, const Launch& launch) {
  std::unique_ptr<CompiledPhases>& made = phased_[number][launch.form()];
  if (!made) {
    auto phases = std::make_unique<CompiledPhases>();
    phases->split = split_into_phases(program_of(number, launch));
    std::vector<KernelCache::Wanted> wanted;
    for (size_t i = 0; i < phases->split.phases.size(); ++i)
      wanted.push_back({phases->split.phases[i].program, symbol_of(number) + "_" + std::to_string(i)});
    if (is_being_compiled(wanted)) return nullptr;
    for (const KernelCache::Wanted& one : wanted)
      phases->kernels.push_back(cache_->get(one.program, one.symbol, report_));
    made = std::move(phases);
  }
  const auto& kernels = made->kernels;
  const bool complete = std::all_of(kernels.begin(), kernels.end(), [](const auto& k) { return k.get() != nullptr; });
  return complete ? made.get() : nullptr;
}

namespace {

// The memory between the phases.
struct Between {
  Between(const PhasedProgram& split, const std::vector<DType>& scratch_dtypes, int64_t rows, int64_t cols,
          int64_t pieces) {
    for (const PhasedProgram::Total& total : split.totals) {
      totals.push_back(Storage::allocate(rows * dtype_size(total.dtype)));
      partials.push_back(Storage::allocate(rows * pieces * dtype_size(total.dtype)));
    }
    for (DType dtype : scratch_dtypes)
      scratch.push_back(Storage::allocate(checked_mul(rows * cols, dtype_size(dtype))));
  }
  std::vector<Ref<Storage>> totals, partials, scratch;
};

struct Piece {
  int64_t row, number, pieces;
  int64_t begin() const { return number * kReductionChunk; }
};

OperandArgument at(void* base, int64_t element, DType dtype, int64_t row_stride, int64_t col_stride) {
  return {static_cast<std::byte*>(base) + element * dtype_size(dtype), row_stride, col_stride};
}

OperandArgument argument_of(const PhaseOperand& operand, const Operand& type, const Between& between,
                            const OperandArgument* own, int64_t cols, const Piece& piece) {
  const uint32_t number = operand.number;
  switch (operand.source) {
    case PhaseOperand::Source::Own: {
      OperandArgument argument = own[number];
      const int64_t offset = piece.row * argument.row_stride + piece.begin() * argument.col_stride;
      if (type.kind == Operand::Kind::Index)
        argument.base = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(argument.base) + offset);
      else argument.base = static_cast<std::byte*>(argument.base) + offset * dtype_size(type.dtype);
      return argument;
    }
    case PhaseOperand::Source::Total: return at(between.totals[number]->data(), piece.row, type.dtype, 1, 0);
    case PhaseOperand::Source::Partial:
      return at(between.partials[number]->data(), piece.row * piece.pieces + piece.number, type.dtype, 0, 0);
    case PhaseOperand::Source::Scratch:
      return at(between.scratch[number]->data(), piece.row * cols + piece.begin(), type.dtype, 0, 1);
  }
  TSC_CHECK(false, "no such phase operand");
}

}  // namespace

void CompiledKernels::run_phases(const CompiledPhases& phases, const LoweredKernel& lowered, const Launch& launch) {
  const int64_t pieces = (launch.cols + kReductionChunk - 1) / kReductionChunk;
  const Between between(phases.split, lowered.program.scratch, launch.rows, launch.cols, pieces);
  for (size_t i = 0; i < phases.kernels.size(); ++i) {
    const Phase& phase = phases.split.phases[i];
    auto launch_piece = [&](const Piece& piece, int64_t rows, int64_t cols) {
      std::vector<OperandArgument> arguments;
      for (size_t o = 0; o < phase.operands.size(); ++o)
        arguments.push_back(argument_of(phase.operands[o], phase.program.operands[o], between, launch.arguments.data(),
                                        launch.cols, piece));
      phases.kernels[i]->function(arguments.data(), launch.parameters.data(), rows, cols, nullptr);
    };
    if (phase.per_row) {
      launch_piece({0, 0, pieces}, launch.rows, 1);
      continue;
    }
    parallel_for(launch.rows * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const Piece piece{item / pieces, item % pieces, pieces};
        launch_piece(piece, 1, std::min(kReductionChunk, launch.cols - piece.begin()));
      }
    });
    for (uint32_t reduction : phase.reductions) {
      const PhasedProgram::Total& how = phases.split.totals[reduction];
      const int64_t size = dtype_size(how.dtype);
      for (int64_t row = 0; row < launch.rows; ++row)
        combine_pieces(how, between.partials[reduction]->data() + row * pieces * size, pieces,
                       between.totals[reduction]->data() + row * size);
    }
  }
}

}  // namespace tsc::jit
