#pragma once
// Support: programs written in few words, operands full of awkward numbers, and the comparison of a
// compiled kernel with the evaluator, bit by bit (any nan equals any nan), on every instruction set
// that this machine has.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/codegen/compiler.h"
#include "jit/loops/kernel_program.h"

namespace tsc::jit {

// Appends instructions to a program's current part.
class ProgramBuilder {
 public:
  ProgramBuilder() { program.stages.emplace_back(); }
  uint32_t input(DType dtype, Access access = Access::Contiguous) {
    return operand(Operand::Kind::Input, dtype, access);
  }
  uint32_t output(DType dtype, Access access = Access::Contiguous) {
    return operand(Operand::Kind::Output, dtype, access);
  }
  uint32_t index(Access access = Access::Contiguous) { return operand(Operand::Kind::Index, DType::I64, access); }
  uint32_t operand(Operand::Kind kind, DType dtype, Access access);
  uint32_t add_parameter(DType dtype);
  uint32_t scratch(DType dtype);

  // Parts: `row()` and `element()` choose where the next instructions go; `stage()` opens another.
  ProgramBuilder& row();
  ProgramBuilder& element();
  ProgramBuilder& stage();

  NestValue load(uint32_t slot);
  void store(uint32_t slot, NestValue value);
  NestValue constant(double number, DType dtype = DType::F32);
  NestValue parameter(uint32_t slot);
  NestValue apply(Op op, std::initializer_list<NestValue> inputs);
  NestValue cast(DType dtype, NestValue x, Op op = Op::cast);
  NestValue philox(DType dtype, NestValue seed, NestValue offset, NestValue index);
  NestValue reduce(Reduction reduction, NestValue x);
  void accumulate(Reduction reduction, NestValue x);  // into an operand of its own
  void scratch_store(uint32_t slot, NestValue value);
  NestValue scratch_load(uint32_t slot);
  DType dtype(NestValue value) const { return dtypes_[value]; }

  KernelProgram program;

 private:
  NestInstruction& push(NestCode code, DType dtype, bool defines);
  std::vector<DType> dtypes_;
  bool in_row_ = false;
};

struct CompilerUnderTest {
  std::string name;
  std::unique_ptr<KernelCompiler> compiler;
};
// One for each instruction set of this machine.
std::vector<CompilerUnderTest>& compilers();

// Compiles and loads.
Ref<CompiledKernel> make_kernel(KernelCompiler& compiler, const KernelProgram& program, CompileTimes* times = nullptr);

// How the operands of one run lie in memory.
struct Layout {
  int64_t rows = 1, cols = 1;
  int64_t padding = 3;          // elements between two rows
  int64_t col_stride = 3;       // of Strided operands; may be negative
  bool in_place = false;        // outputs alias the input of their dtype and access, if there is one
  bool broadcast_rows = false;  // inputs and accumulators have row stride 0
  uint64_t seed = 1;
  std::vector<int64_t> parameters;
};

// Compiles on every instruction set and compares over all layouts.
void check_program(const KernelProgram& program, const std::vector<Layout>& layouts);
void check_programs(const std::vector<KernelProgram>& programs, const std::vector<Layout>& layouts);
// The sizes at which tails, lanes and chunks change.
std::vector<Layout> sizes(const std::vector<int64_t>& cols, const std::vector<int64_t>& rows = {1, 3});

}  // namespace tsc::jit
