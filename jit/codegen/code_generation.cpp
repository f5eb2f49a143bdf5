#include "jit/codegen/code_generation.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/InitializePasses.h>
#include <llvm/PassRegistry.h>

#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

// Passes that never find work in our kernels (one function, few blocks, no debug information, no
// exceptions), each of which would still walk them.
void disable_idle_passes(llvm::TargetPassConfig& config) {
  char* const idle[] = {&llvm::EarlyTailDuplicateID,
                        &llvm::StackColoringID,
                        &llvm::LocalStackSlotAllocationID,
                        &llvm::MachineLICMID,
                        &llvm::TailDuplicateID,
                        &llvm::ShrinkWrapID,
                        &llvm::PostRAMachineSinkingID,
                        &llvm::EarlyIfConverterID,
                        &llvm::StackSlotColoringID,
                        &llvm::FEntryInserterID,
                        &llvm::XRayInstrumentationID,
                        &llvm::PatchableFunctionID,
                        &llvm::LiveDebugValuesID,
                        &llvm::StackMapLivenessID,
                        &llvm::FuncletLayoutID,
                        &llvm::RemoveRedundantDebugValuesID};
  for (char* id : idle) config.disablePass(id);
}

}  // namespace

void initialize_code_generation() {
  llvm::initializeCodeGen(*llvm::PassRegistry::getPassRegistry());
}

// LLVM's own pipeline at its default level, less the passes over the IR: we emit loops and
// addresses in their final form, so only the lowering passes of level None are wanted there. That
// is a quarter to a third of the time. Instruction selection and registers stay at the default
// level: without them the constants of a polynomial are reloaded for every element.
CodePipeline::CodePipeline(std::unique_ptr<llvm::TargetMachine> owned, llvm::CodeGenFileType type)
    : machine_(std::move(owned)), stream_(bytes_) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(*machine_);
  const llvm::CodeGenOptLevel level = machine.getOptLevel();
  auto* information = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes_);
  config->setDisableVerify(true);
  disable_idle_passes(*config);
  passes_.add(config);
  passes_.add(information);
  passes_.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));

  machine.setOptLevel(llvm::CodeGenOptLevel::None);
  config->addIRPasses();
  config->addISelPrepare();
  machine.setOptLevel(level);
  bool failed = config->addInstSelector();
  passes_.add(llvm::Pass::createPass(&llvm::FinalizeISelID));
  config->addMachinePasses();
  config->setInitialized();
  failed = failed || machine.addAsmPrinter(passes_, stream_, nullptr, type,
                                           information->getMMI().getContext());
  passes_.add(llvm::createFreeMachineFunctionPass());
  TSC_CHECK(!failed, "LLVM cannot generate code for this target");
}

llvm::SmallVector<char, 0> CodePipeline::run(llvm::Module& module) {
  bytes_.clear();
  passes_.run(module);
  ++runs_;
  return bytes_;
}

llvm::SmallVector<char, 0> generate_code_fully(llvm::Module& module, llvm::TargetMachine& machine,
                                               llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const bool failed = machine.addPassesToEmitFile(passes, stream, nullptr, type, true);
  TSC_CHECK(!failed, "LLVM cannot generate code for this target");
  passes.run(module);
  return bytes;
}

}  // namespace tsc::jit
