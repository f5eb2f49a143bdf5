// NVIDIA GPUs, as PTX text: made and looked at without a GPU.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include "jit/codegen/code_generation.h"
#include "jit/codegen/target.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
constexpr const char* kProcessor = "sm_80";
constexpr const char* kPtxVersion = "+ptx70";

class PtxTarget : public Target {
 public:
  PtxTarget() {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    initialize_code_generation();
    std::string error;
    target_ = llvm::TargetRegistry::lookupTarget(kTriple, error);
    TSC_CHECK(target_, error);
  }

  VectorTraits traits() const override {
    VectorTraits traits;
    traits.lanes = 1;
    traits.grid = true;
    return traits;
  }

  std::unique_ptr<llvm::TargetMachine> machine(llvm::CodeGenOptLevel level) const override {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    std::unique_ptr<llvm::TargetMachine> machine(
        target_->createTargetMachine(kTriple, kProcessor, kPtxVersion, options, std::nullopt, std::nullopt, level));
    TSC_CHECK(machine, "LLVM has no target machine for PTX");
    return machine;
  }

  void mark(llvm::Function& function) const override {
    llvm::LLVMContext& context = function.getContext();
    llvm::Metadata* kernel[] = {
        llvm::ValueAsMetadata::get(&function), llvm::MDString::get(context, "kernel"),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1))};
    function.getParent()->getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, kernel));
  }

  std::string description() const override { return std::string("nvptx64 ") + kProcessor; }

 private:
  const llvm::Target* target_ = nullptr;
};

}  // namespace

std::unique_ptr<Target> ptx_target() { return std::make_unique<PtxTarget>(); }

}  // namespace tsc::jit
