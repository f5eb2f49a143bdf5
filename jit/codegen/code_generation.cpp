#include "jit/codegen/code_generation.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/InitializePasses.h>
#include <llvm/PassInfo.h>
#include <llvm/PassRegistry.h>

#include <algorithm>
#include <string_view>

#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

// Passes of LLVM's pipeline that our kernels (one function, loops in their final form, no debug
// information, no exceptions) do without: each would still walk them. Found by leaving out one
// after the other and comparing machine code and run time; docs/performance.md tells what that
// brings.
constexpr std::string_view kLeftOut[] = {
    // Find no work.
    "early-tailduplication", "stack-coloring", "localstackalloc", "machinelicm", "tailduplication", "shrink-wrap",
    "postra-machine-sink", "early-ifcvt", "stack-slot-coloring", "fentry-insert", "xray-instrumentation",
    "patchable-function", "livedebugvalues", "stackmap-liveness", "funclet-layout", "removeredundantdebugvalues",
    "lower-amx-intrinsics", "lower-amx-type", "gc-lowering", "shadow-stack-gc-lowering", "expandvp",
    "post-inline-ee-instrument", "indirectbr-expand", "callbrprepare", "safe-stack", "stack-protector",
    "x86argumentstackrebase", "x86-slh", "x86-avoid-SFB", "tilepreconfig", "tileconfig", "lowertilecopy",
    "regallocscoringpass", "x86-lvi-load", "x86-lvi-ret", "x86-seses", "x86-return-thunks",
    "fixup-statepoint-caller-saved", "kcfi", "gc-analysis", "machine-sanmd", "stack-frame-layout", "cfi-instr-inserter",
    "pseudo-probe-inserter", "init-undef", "atomic-expand", "detect-dead-lanes",
    // Order instructions: the order of the program is a good one, and processors have their own.
    "machine-scheduler", "post-RA-sched", "lrshrink",
    // Look for what we do not emit. (Common subexpressions are looked for: they share constants.)
    "opt-phis", "machine-combiner", "machine-latecleanup", "rename-independent-subregs", "dead-mi-elimination",
    // Find next to nothing: a copy, a jump, an instruction that could stand later.
    "machine-cp", "branch-folder", "machine-sink", "x86-fixup-vector-constants",
    // Choose between forms that run alike here.
    "x86-domain-reassignment", "x86-execution-domain-fix", "break-false-deps", "x86-cmov-conversion", "x86-fixup-setcc",
    "x86-optimize-LEAs", "x86-cf-opt", "x86-fixup-bw-insts", "x86-fixup-LEAs", "x86-fixup-inst-tuning"};

// Hands passes on, less those of the table.
class PassSieve : public llvm::legacy::PassManagerBase {
 public:
  explicit PassSieve(llvm::legacy::PassManager& passes) : passes_(passes) {}
  void add(llvm::Pass* pass) override {
    const llvm::PassInfo* info = llvm::Pass::lookupPassInfo(pass->getPassID());
    const llvm::StringRef name = info ? info->getPassArgument() : llvm::StringRef();
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), std::string_view(name)) == std::end(kLeftOut))
      return passes_.add(pass);
    delete pass;
  }

 private:
  llvm::legacy::PassManager& passes_;
};

}  // namespace

void initialize_code_generation() { llvm::initializeCodeGen(*llvm::PassRegistry::getPassRegistry()); }

// LLVM's own pipeline at its default level, less the passes over the IR: we emit loops and
// addresses in their final form, so only the lowering passes of level None are wanted there. That
// is a quarter to a third of the time; the passes left out above are another quarter. Instruction
// selection and registers stay at the default level: without them the constants of a polynomial are
// reloaded for every element.
CodePipeline::CodePipeline(std::unique_ptr<llvm::TargetMachine> owned, llvm::CodeGenFileType type)
    : machine_(std::move(owned)), stream_(bytes_) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(*machine_);
  const llvm::CodeGenOptLevel level = machine.getOptLevel();
  auto* information = new llvm::MachineModuleInfoWrapperPass(&machine);
  PassSieve sieve(passes_);
  llvm::TargetPassConfig* config = machine.createPassConfig(sieve);
  config->setDisableVerify(true);
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
  failed = failed || machine.addAsmPrinter(passes_, stream_, nullptr, type, information->getMMI().getContext());
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
