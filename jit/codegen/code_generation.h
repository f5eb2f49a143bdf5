#pragma once
// IR to an object file or assembly with a short pipeline of our own.
// Knows LLVM's code generator; must not know programs.
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

namespace tsc::jit {

// Once a process; called by the targets.
void initialize_code_generation();

// Passes that stay set up from module to module: setting them up takes as long as a small kernel.
// Modules of one pipeline share its context. For one thread at a time.
class CodePipeline {
 public:
  CodePipeline(std::unique_ptr<llvm::TargetMachine> machine, llvm::CodeGenFileType type);

  llvm::LLVMContext& context() { return context_; }
  llvm::TargetMachine& machine() { return *machine_; }
  llvm::SmallVector<char, 0> run(llvm::Module& module);
  // Modules so far: a context keeps their constants.
  int runs() const { return runs_; }

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_;
  llvm::legacy::PassManager passes_;
  int runs_ = 0;
};

// IR to code with LLVM's complete pipeline: for targets whose lowering needs it.
llvm::SmallVector<char, 0> generate_code_fully(llvm::Module& module, llvm::TargetMachine& machine,
                                               llvm::CodeGenFileType type);

}  // namespace tsc::jit
