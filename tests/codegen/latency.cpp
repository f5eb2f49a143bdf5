// How long kernels take to compile and to run: printed, and held against generous bounds, because a
// test machine may be busy. What is checked instead is how much IR they are made of, which is what
// time follows.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "catch2/catch.hpp"
#include "runtime/tensor/small_floats.h"
#include "sample_programs.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

// Of this thread: what a busy machine does not change.
double thread_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Ref<CompiledKernel> timed_compile(KernelCompiler& compiler, const KernelProgram& program, CompileTimes& typical,
                                  double& cpu_ms) {
  std::vector<double> ir, codegen, link;
  Ref<CompiledKernel> kernel;
  cpu_ms = 1e30;
  for (int i = 0; i < 15; ++i) {
    CompileTimes times;
    const double start = thread_milliseconds();
    kernel = make_kernel(compiler, program, &times);
    cpu_ms = std::min(cpu_ms, thread_milliseconds() - start);
    ir.push_back(times.ir_ms);
    codegen.push_back(times.codegen_ms);
    link.push_back(times.link_ms);
  }
  typical = {median(ir), median(codegen), median(link)};
  return kernel;
}

// Instructions of a module's text.
int instructions(const std::string& text) {
  int count = 0;
  for (size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at + 1)) ++count;
  return count;
}

int64_t row_stride(const KernelProgram& program, const Operand& operand, int64_t cols) {
  if (program.kind == KernelProgram::Kind::Column && operand.kind == Operand::Kind::Output) return 0;
  return operand.access == Access::Broadcast ? 1 : cols;
}

double nanoseconds_per_element(const KernelProgram& program, KernelFunction function, int64_t rows, int64_t cols) {
  std::vector<std::vector<float>> blocks;
  std::vector<OperandArgument> arguments;
  for (const Operand& operand : program.operands) {
    if (operand.kind == Operand::Kind::Index) {
      arguments.push_back({nullptr, cols, 1});
      continue;
    }
    blocks.emplace_back(static_cast<size_t>(rows * cols));
    for (size_t i = 0; i < blocks.back().size(); ++i) {
      const float number = static_cast<float>(i * 7 % 1000) / 500 - 1;
      if (operand.dtype == DType::BF16) reinterpret_cast<BFloat16*>(blocks.back().data())[i] = float_to_bf16(number);
      else blocks.back()[i] = number;
    }
    arguments.push_back({blocks.back().data(), row_stride(program, operand, cols), 1});
  }
  const double number = 1.0 / static_cast<double>(cols);
  const int64_t parameters[] = {std::bit_cast<int64_t>(number), std::bit_cast<int64_t>(0.5)};
  std::vector<std::byte> scratch(static_cast<size_t>(scratch_bytes(program, cols)) + 64);
  auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63};
  double best = 1e30;
  for (int i = 0; i < 60; ++i) {
    const auto start = Clock::now();
    for (int j = 0; j < 8; ++j) function(arguments.data(), parameters, rows, cols, reinterpret_cast<void*>(aligned));
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best / 8 / static_cast<double>(rows * cols);
}

}  // namespace

TEST_CASE("compile latency and speed of typical kernels") {
  struct Sample {
    const char* name;
    KernelProgram program;
    int most_masked, most;  // instructions, where memory is masked and elsewhere
  };
  const Sample samples[] = {
      {"gelu (tanh)", gelu_program(true), 135, 185},
      {"gelu (erf)", gelu_program(false), 165, 222},
      {"softmax f32", softmax_program(DType::F32), 226, 425},
      {"softmax bf16", softmax_program(DType::BF16), 257, 455},
      {"softmax by division", softmax_program(DType::F32, true), 256, 472},
      {"layer norm", layer_norm_program(), 206, 423},
      {"layer norm back", layer_norm_backward_program(), 231, 448},
      {"sum f32", sum_program(DType::F32), 107, 166},
      {"adam", adam_program(), 157, 150},
      {"sum of rows", column_sum_program(), 133, 133},
      {"add", add_program(), 74, 63},
      {"dropout", dropout_program(), 133, 193},
  };
  for (auto& under_test : compilers()) {
    std::printf("%-6s %s\n", under_test.name.c_str(), under_test.compiler->target_description().c_str());
    const bool masked = under_test.compiler->target_description().find("masked memory") != std::string::npos;
    for (const Sample& sample : samples) {
      const KernelProgram& program = sample.program;
      const int emitted = instructions(under_test.compiler->emit(program, "llvm"));
      CompileTimes times;
      double cpu_ms = 0;
      auto kernel = timed_compile(*under_test.compiler, program, times, cpu_ms);
      const double speed = nanoseconds_per_element(program, kernel->function, 8, 768);
      std::printf(
          "  %-15s %d instructions of IR, cpu %.2f ms (ir %.2f codegen %.2f link %.2f), %lld "
          "bytes, "
          "%.3f ns/element\n",
          sample.name, emitted, cpu_ms, times.ir_ms, times.codegen_ms, times.link_ms,
          static_cast<long long>(kernel->code_bytes), speed);
      CHECK(cpu_ms < 60);
      CHECK(emitted <= (masked ? sample.most_masked : sample.most));
    }
    std::vector<const KernelProgram*> batch;
    std::vector<std::string> symbols;
    for (const Sample& sample : samples) {
      batch.push_back(&sample.program);
      symbols.push_back("kernel_" + std::to_string(batch.size()));
    }
    const double start = thread_milliseconds();
    under_test.compiler->compile(batch, symbols, nullptr);
    std::printf("  all %zu in one module: cpu %.2f ms\n", batch.size(), thread_milliseconds() - start);
  }
}
