#pragma once
// IR to an object file or assembly with a short pipeline of our own.
// Knows LLVM's code generator; must not know programs.
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace tsc::jit {

// Once a process; called by the targets.
void initialize_code_generation();

llvm::SmallVector<char, 0> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType type);

// The same with LLVM's complete pipeline: for targets whose lowering needs it.
llvm::SmallVector<char, 0> generate_code_fully(llvm::Module& module, llvm::TargetMachine& machine,
                                               llvm::CodeGenFileType type);

}  // namespace tsc::jit
