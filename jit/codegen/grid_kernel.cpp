// Pointwise row programs on a GPU: one thread an element, in strides of the whole grid.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "jit/codegen/control.h"
#include "jit/codegen/kernel_emitter.h"

namespace tsc::jit {

std::string grid_obstacle(const KernelProgram& program) {
  if (program.kind == KernelProgram::Kind::Column) return "it reduces over rows";
  if (program.stages.size() > 1) return "it has several stages";
  if (!program.scratch.empty()) return "it keeps scratch rows";
  for (const NestInstruction& in : program.stages[0].element)
    if (in.code == NestCode::Reduce || in.code == NestCode::Accumulate) return "it holds a reduction";
  return {};
}

void KernelEmitter::emit_grid() {
  auto special = [&](llvm::Intrinsic::ID id) { return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty()); };
  Ir block_size = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Ir first = b_.CreateAdd(b_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), block_size),
                          special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
  Ir threads = b_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), block_size);
  const NestStage& stage = program_.stages[0];
  emit_loop(b_, first, b_.CreateMul(rows_, cols_), threads, "element", [&](Ir element) {
    Ir row = b_.CreateUDiv(element, cols_);
    const Point point{scalar_, b_.CreateURem(element, cols_), cols_};
    access_.enter_row(row);
    emit_part(stage.row, point, true);
    emit_part(stage.element, point, false);
  });
}

}  // namespace tsc::jit
