#pragma once
// What machine code is made for: the CPU found at run time, or a GPU (PTX text).
// Knows LLVM targets; must not know programs.
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "jit/codegen/operand_access.h"

namespace tsc::jit {

// What a target may be told; the defaults describe the machine that runs us. Tests force narrower
// instruction sets with it.
struct KernelCompilerOptions {
  std::string cpu;       // empty: the host's
  std::string features;  // "+avx2,+fma,-avx512f"; empty with an empty cpu: the host's
};

class Target {
 public:
  virtual ~Target() = default;
  virtual VectorTraits traits() const = 0;
  virtual std::unique_ptr<llvm::TargetMachine> machine(llvm::CodeGenOptLevel level) const = 0;
  // Attributes of every kernel function.
  virtual void mark(llvm::Function& function) const = 0;
  virtual std::string description() const = 0;
};

std::unique_ptr<Target> cpu_target(const KernelCompilerOptions& options);
std::unique_ptr<Target> ptx_target();

}  // namespace tsc::jit
