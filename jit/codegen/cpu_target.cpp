#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "jit/codegen/code_generation.h"
#include "jit/codegen/target.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

std::string host_features() {
  std::string text;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (!text.empty()) text += ',';
    text += feature.second ? '+' : '-';
    text += feature.first().str();
  }
  return text;
}

class CpuTarget : public Target {
 public:
  explicit CpuTarget(const KernelCompilerOptions& options) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    initialize_code_generation();
    triple_ = llvm::sys::getProcessTriple();
    const bool host = options.cpu.empty() && options.features.empty();
    cpu_ = options.cpu.empty() ? llvm::sys::getHostCPUName().str() : options.cpu;
    features_ = host ? host_features() : options.features;
    std::string error;
    target_ = llvm::TargetRegistry::lookupTarget(triple_, error);
    TSC_CHECK(target_, error);
    find_traits();
  }

  VectorTraits traits() const override { return traits_; }

  std::unique_ptr<llvm::TargetMachine> machine(llvm::CodeGenOptLevel level) const override {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a*b+c is never contracted
    options.MCOptions.AsmVerbose = false;
    options.FunctionSections = true;  // an image holds one function of its module
    std::unique_ptr<llvm::TargetMachine> machine(target_->createTargetMachine(
        triple_, cpu_, features_, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, level, true));
    TSC_CHECK(machine, "LLVM has no target machine for " + triple_);
    return machine;
  }

  void mark(llvm::Function& function) const override {
    function.addFnAttr("target-cpu", cpu_);
    function.addFnAttr("target-features", features_);
    // Without these, LLVM splits 512-bit vectors on CPUs whose tuning prefers 256 bits.
    function.addFnAttr("prefer-vector-width", std::to_string(vector_bits_));
    function.addFnAttr("min-legal-vector-width", std::to_string(vector_bits_));
    function.addFnAttr("no-trapping-math", "true");
  }

  std::string description() const override {
    std::string arch = triple_.substr(0, triple_.find('-'));
    return arch + " " + cpu_ + ", " + std::to_string(vector_bits_) + "-bit vectors" +
           (traits_.masked_memory ? ", masked memory" : "");
  }

 private:
  void find_traits() {
    std::unique_ptr<llvm::MCSubtargetInfo> info(target_->createMCSubtargetInfo(triple_, cpu_, features_));
    const bool avx512 =
        has(*info, "avx512f") && has(*info, "avx512bw") && has(*info, "avx512vl") && has(*info, "avx512dq");
    vector_bits_ = avx512 ? 512 : has(*info, "avx2") ? 256 : 128;
    traits_.lanes = vector_bits_ / 32;
    traits_.masked_memory = avx512;
    traits_.gathers = avx512;
    traits_.streams = has(*info, "avx2");
    // Zen 4 sees five streams by itself, and what asks for them takes the place of loads: docs/performance.md.
    traits_.asks_ahead = cpu_ != "znver4";
  }
  static bool has(const llvm::MCSubtargetInfo& info, const char* feature) {
    for (const llvm::SubtargetFeatureKV& known : info.getAllProcessorFeatures())
      if (llvm::StringRef(known.Key) == feature) return info.checkFeatures(std::string("+") + feature);
    return false;
  }

  std::string triple_, cpu_, features_;
  const llvm::Target* target_ = nullptr;
  VectorTraits traits_;
  int vector_bits_ = 128;
};

}  // namespace

std::unique_ptr<Target> cpu_target(const KernelCompilerOptions& options) {
  return std::make_unique<CpuTarget>(options);
}

}  // namespace tsc::jit
