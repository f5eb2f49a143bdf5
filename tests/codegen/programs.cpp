// The program's text as its identity, its verifier, and the stages of --emit.
#include <sstream>

#include "catch2/catch.hpp"
#include "runtime/base/error.h"
#include "sample_programs.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

KernelProgram scaled(double factor) {
  ProgramBuilder b;
  uint32_t in = b.input(DType::F32), out = b.output(DType::F32);
  b.store(out, b.apply(Op::mul, {b.load(in), b.constant(factor)}));
  return b.program;
}

}  // namespace

TEST_CASE("the text names the program and nothing else") {
  CHECK(print(scaled(2)) ==
        "row kernel(in f32 row, out f32 row) parameters() scratch()\n"
        "stage 0\n"
        "  element\n"
        "    %0 = load $0 : f32\n"
        "    %1 = constant 0x1p+1 : f32\n"
        "    %2 = mul %0 %1 : f32\n"
        "    store $1 %2 : f32\n");
  CHECK(print(scaled(2)) != print(scaled(2.0000001)));
  KernelProgram renumbered = scaled(2);
  renumbered.values = 9;
  auto& part = renumbered.stages[0].element;
  part[2].result = 7;
  part[3].inputs[0] = 7;
  CHECK(print(renumbered) == print(scaled(2)));
}

TEST_CASE("the verifier refuses programs that make no sense") {
  KernelProgram program = scaled(2);
  verify(program);
  auto broken = [&](auto change) {
    KernelProgram copy = program;
    change(copy);
    CHECK_THROWS_AS(verify(copy), InternalFault);
  };
  broken([](KernelProgram& p) { p.stages.clear(); });
  broken([](KernelProgram& p) { p.stages[0].element[2].inputs[1] = 2; });
  broken([](KernelProgram& p) { p.stages[0].element[2].inputs[1] = 99; });
  broken([](KernelProgram& p) { p.stages[0].element[0].slot = 5; });
  broken([](KernelProgram& p) { p.stages[0].element[0].slot = 1; });
  broken([](KernelProgram& p) { p.stages[0].element[0].dtype = DType::F64; });
  broken([](KernelProgram& p) { p.stages[0].element[3].slot = 0; });
  broken([](KernelProgram& p) { p.stages[0].element[2].op = Op::sum; });
  broken([](KernelProgram& p) { p.stages[0].element[1].result = 0; });
  ProgramBuilder b;
  uint32_t in = b.input(DType::I64), out = b.output(DType::I64);
  NestValue x = b.load(in);
  b.store(out, b.apply(Op::quot, {x, x}));
  CHECK_THROWS_AS(verify(b.program), InternalFault);
}

TEST_CASE("a value does not survive its stage") {
  ProgramBuilder b;
  uint32_t in = b.input(DType::F32), out = b.output(DType::F32);
  NestValue x = b.load(in);
  b.stage();
  b.store(out, x);
  CHECK_THROWS_AS(verify(b.program), InternalFault);
}

TEST_CASE("the stages of --emit") {
  for (auto& under_test : compilers()) {
    INFO(under_test.name);
    const std::string ir = under_test.compiler->emit(scaled(3), "llvm");
    CHECK(ir.find("define void @kernel") != std::string::npos);
    CHECK(ir.find("fmul <") != std::string::npos);
    CHECK(ir.find("fast") == std::string::npos);
    CHECK(under_test.compiler->emit(scaled(3), "asm").find("mulps") != std::string::npos);
    CHECK(under_test.compiler->emit(scaled(3), "ptx").find(".visible .entry kernel") != std::string::npos);
    CHECK_THROWS_AS(under_test.compiler->emit(scaled(3), "nonsense"), InternalFault);
    CHECK(under_test.compiler->target_description().find("-bit vectors") != std::string::npos);
  }
}

TEST_CASE("PTX of pointwise kernels, a clear text for the others") {
  KernelCompiler& compiler = *compilers()[0].compiler;
  const std::string gelu = compiler.emit(gelu_program(true), "ptx");
  CHECK(gelu.find(".target sm_80") != std::string::npos);
  CHECK(gelu.find(".visible .entry kernel") != std::string::npos);
  CHECK(gelu.find("fma.rn.f32") != std::string::npos);
  CHECK(gelu.find("call") == std::string::npos);
  const std::string scaled_text = compiler.emit(scaled(3), "ptx");
  CHECK(scaled_text.find("mul.rn.f32") != std::string::npos);
  CHECK(compiler.emit(softmax_program(DType::F32), "ptx").find("several stages") != std::string::npos);
  CHECK(compiler.emit(dropout_program(), "ptx").find(".entry") != std::string::npos);
}

namespace {

// out = 2 * x past the caches, with or without the sum of the row besides.
KernelProgram streaming(bool reduces) {
  ProgramBuilder b;
  const uint32_t x = b.input(DType::F32), out = b.output(DType::F32);
  const NestValue doubled = b.apply(Op::mul, {b.load(x), b.constant(2)});
  b.store(out, doubled);
  b.program.operands[out].streamed = true;
  if (!reduces) return b.program;
  const NestValue sum = b.reduce(Reduction::sum, doubled);
  b.stage().row();
  b.store(b.output(DType::F32, Access::Broadcast), sum);
  return b.program;
}

bool stores_past_caches(KernelCompiler& compiler, const KernelProgram& program) {
  return compiler.emit(program, "llvm").find("!nontemporal") != std::string::npos;
}

}  // namespace

TEST_CASE("a stage that reduces stores past the caches as well") {
  for (auto& under_test : compilers()) {
    INFO(under_test.name);
    CHECK(stores_past_caches(*under_test.compiler, streaming(true)) ==
          stores_past_caches(*under_test.compiler, streaming(false)));
  }
}

// Large tensors begin at the same place of a page, where the processor takes a load for one of what was just stored.
TEST_CASE("an element's stores stand behind its loads") {
  ProgramBuilder b;
  const uint32_t x = b.input(DType::F32), y = b.input(DType::F32);
  const uint32_t first = b.output(DType::F32), second = b.output(DType::F32);
  b.store(first, b.apply(Op::mul, {b.load(x), b.constant(2)}));
  b.store(second, b.apply(Op::mul, {b.load(y), b.constant(3)}));
  for (auto& under_test : compilers()) {
    std::istringstream ir(under_test.compiler->emit(b.program, "llvm"));
    bool stored = false;
    int loads = 0;
    for (std::string line; std::getline(ir, line);) {
      if (!line.starts_with(" ")) stored = false;  // the next block
      const bool lanes = line.find("float") != std::string::npos;
      if (line.find(" store ") != std::string::npos || line.find("masked.store") != std::string::npos) stored |= lanes;
      if (line.find(" load ") == std::string::npos && line.find("masked.load") == std::string::npos) continue;
      INFO(under_test.name << ": " << line);
      CHECK_FALSE((lanes && stored));
      loads += lanes;
    }
    CHECK(loads >= 2);
  }
}
