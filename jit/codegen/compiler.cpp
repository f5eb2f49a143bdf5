#include "jit/codegen/compiler.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <mutex>

#include "jit/codegen/code_generation.h"
#include "jit/codegen/kernel_emitter.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A pipeline is made once and lent out, one to a thread.
class PipelinePool {
 public:
  explicit PipelinePool(const Target& target) : target_(target) {}

  std::unique_ptr<CodePipeline> take() {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto pipeline = std::move(free_.back());
        free_.pop_back();
        return pipeline;
      }
    }
    return std::make_unique<CodePipeline>(target_.machine(llvm::CodeGenOptLevel::Default),
                                          llvm::CodeGenFileType::ObjectFile);
  }
  void give_back(std::unique_ptr<CodePipeline> pipeline) {
    constexpr int kMostRuns = 256;  // then its context's memory is given back
    if (pipeline->runs() >= kMostRuns) return;
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(pipeline));
  }

 private:
  const Target& target_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CodePipeline>> free_;
};

class LlvmCompiler : public KernelCompiler {
 public:
  explicit LlvmCompiler(const KernelCompilerOptions& options) : target_(cpu_target(options)), pipelines_(*target_) {}

  std::vector<CodeImage> compile(std::span<const KernelProgram* const> programs, std::span<const std::string> symbols,
                                 CompileTimes* times) override;
  std::string emit(const KernelProgram& program, const std::string& stage) override;
  std::string target_description() const override { return target_->description(); }

 private:
  static void build(const Target& target, llvm::Module& module, const llvm::TargetMachine& machine,
                    const KernelProgram& program, const std::string& symbol);

  std::unique_ptr<Target> target_;
  PipelinePool pipelines_;
};

void LlvmCompiler::build(const Target& target, llvm::Module& module, const llvm::TargetMachine& machine,
                         const KernelProgram& program, const std::string& symbol) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  verify(program);
  target.mark(*KernelEmitter(module, program, target.traits()).emit(symbol));
}

std::vector<CodeImage> LlvmCompiler::compile(std::span<const KernelProgram* const> programs,
                                             std::span<const std::string> symbols, CompileTimes* times) {
  TSC_CHECK(programs.size() == symbols.size(), "one symbol a program");
  if (programs.empty()) return {};
  const auto start = Clock::now();
  auto pipeline = pipelines_.take();
  llvm::SmallVector<char, 0> bytes;
  double ir_ms = 0;
  {
    llvm::Module module(symbols[0], pipeline->context());
    for (size_t i = 0; i < programs.size(); ++i) build(*target_, module, pipeline->machine(), *programs[i], symbols[i]);
    ir_ms = milliseconds_since(start);
    bytes = pipeline->run(module);
  }
  pipelines_.give_back(std::move(pipeline));
  const double codegen_ms = milliseconds_since(start) - ir_ms;

  std::vector<CodeImage> images;
  for (const std::string& symbol : symbols) images.push_back(link_image({bytes.data(), bytes.size()}, symbol));
  if (times) *times = {ir_ms, codegen_ms, milliseconds_since(start) - ir_ms - codegen_ms};
  return images;
}

std::string LlvmCompiler::emit(const KernelProgram& program, const std::string& stage) {
  TSC_CHECK(stage == "llvm" || stage == "asm" || stage == "ptx", "no stage '" + stage + "': llvm, asm or ptx");
  const bool device = stage == "ptx";
  if (const std::string why = device ? grid_obstacle(program) : ""; !why.empty())
    return "// no device code for this kernel yet: " + why + "\n";
  const std::unique_ptr<Target> ptx = device ? ptx_target() : nullptr;
  const Target& target = device ? *ptx : *target_;
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  auto machine = target.machine(llvm::CodeGenOptLevel::Default);
  build(target, module, *machine, program, "kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  const bool broken = llvm::verifyModule(module, &stream);
  TSC_CHECK(!broken, text);
  if (stage == "llvm") {
    module.print(stream, nullptr);
    return text;
  }
  const auto type = llvm::CodeGenFileType::AssemblyFile;
  auto bytes =
      device ? generate_code_fully(module, *machine, type) : CodePipeline(std::move(machine), type).run(module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace

std::unique_ptr<KernelCompiler> create_kernel_compiler(const KernelCompilerOptions& options) {
  return std::make_unique<LlvmCompiler>(options);
}

}  // namespace tsc::jit
