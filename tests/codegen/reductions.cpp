// Reductions give the canonical order's bits, whatever the vector width and wherever the tail
// falls.
#include "catch2/catch.hpp"
#include "jit/loops/nan_flow.h"
#include "sample_programs.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

const std::vector<int64_t> kCounts = {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 1000};
const std::vector<int64_t> kChunks = {65535, 65536, 65537, 131072, 200000};

constexpr Reduction kReductions[] = {Reduction::sum, Reduction::prod, Reduction::amax, Reduction::amin};

KernelProgram row_reduction(Reduction reduction, DType dtype) {
  ProgramBuilder b;
  uint32_t in = b.input(dtype);
  NestValue result = b.reduce(reduction, b.load(in));
  b.stage().row();
  b.store(b.output(b.dtype(result), Access::Broadcast), result);
  return b.program;
}

KernelProgram column_reduction(Reduction reduction, DType dtype, Access access) {
  ProgramBuilder b;
  b.program.kind = KernelProgram::Kind::Column;
  uint32_t in = b.input(dtype, access);
  NestValue result = b.reduce(reduction, b.load(in));
  b.row();
  b.store(b.output(b.dtype(result)), result);
  return b.program;
}

}  // namespace

TEST_CASE("row reductions of every dtype") {
  std::vector<KernelProgram> programs;
  for (Reduction reduction : kReductions)
    for (int dtype = 0; !is_complex(static_cast<DType>(dtype)); ++dtype)
      programs.push_back(row_reduction(reduction, static_cast<DType>(dtype)));
  check_programs(programs, sizes(kCounts, {0, 1, 3}));
}

TEST_CASE("row reductions over several chunks") {
  check_programs({row_reduction(Reduction::sum, DType::F32), row_reduction(Reduction::sum, DType::BF16),
                  row_reduction(Reduction::sum, DType::F16), row_reduction(Reduction::amin, DType::F16),
                  row_reduction(Reduction::amax, DType::I8), row_reduction(Reduction::amax, DType::F64),
                  row_reduction(Reduction::prod, DType::F32)},
                 sizes(kChunks, {1}));
}

TEST_CASE("column reductions of every dtype") {
  std::vector<KernelProgram> programs;
  for (Reduction reduction : kReductions)
    for (int dtype = 0; !is_complex(static_cast<DType>(dtype)); ++dtype)
      for (Access access : {Access::Contiguous, Access::Strided})
        programs.push_back(column_reduction(reduction, static_cast<DType>(dtype), access));
  check_programs(programs, sizes({0, 1, 3, 16, 17, 63, 64, 65, 130}, {0, 1, 2, 63, 64, 65, 200}));
}

TEST_CASE("column reductions over several chunks") {
  check_programs({column_reduction(Reduction::sum, DType::F32, Access::Contiguous),
                  column_reduction(Reduction::amin, DType::BF16, Access::Contiguous)},
                 sizes({1, 5}, {65535, 65536, 65537, 131073}));
}

TEST_CASE("two column reductions and arithmetic after them") {
  ProgramBuilder b;
  b.program.kind = KernelProgram::Kind::Column;
  uint32_t x = b.input(DType::F32), g = b.input(DType::F32), per_row = b.input(DType::F32, Access::Broadcast);
  uint32_t rate = b.add_parameter(DType::F64);
  NestValue gv = b.load(g);
  NestValue product = b.apply(Op::mul, {b.apply(Op::mul, {b.load(x), b.load(per_row)}), gv});
  NestValue weight = b.reduce(Reduction::sum, product), bias = b.reduce(Reduction::sum, gv);
  b.row();
  NestValue r = b.cast(DType::F32, b.parameter(rate));
  b.store(b.output(DType::F32), b.apply(Op::mul, {weight, r}));
  b.store(b.output(DType::F32), b.apply(Op::add, {bias, weight}));
  auto layouts = sizes({1, 16, 64, 100}, {1, 64, 100});
  const double number = 0.25;
  for (Layout& layout : layouts) layout.parameters = {std::bit_cast<int64_t>(number)};
  check_program(b.program, layouts);
}

TEST_CASE("a column program's uniform values serve both of its parts") {
  ProgramBuilder b;
  b.program.kind = KernelProgram::Kind::Column;
  uint32_t in = b.input(DType::F32), rate = b.add_parameter(DType::F64);
  b.row();
  NestValue r = b.cast(DType::F32, b.parameter(rate));
  NestValue twice = b.apply(Op::add, {r, r});
  b.element();
  NestValue sum = b.reduce(Reduction::sum, b.apply(Op::mul, {b.load(in), twice}));
  b.row();
  b.store(b.output(DType::F32), b.apply(Op::mul, {sum, r}));
  auto layouts = sizes({0, 1, 65}, {1, 70});
  const double number = 0.3;
  for (Layout& layout : layouts) layout.parameters = {std::bit_cast<int64_t>(number)};
  check_program(b.program, layouts);
}

namespace {

// How many maxima of the program may leave nan out.
int softmax_maxima(const KernelProgram& program) {
  int found = 0;
  for (const NestStage& stage : program.stages)
    for (const NestInstruction& in : stage.element) found += is_softmax_maximum(program, in);
  return found;
}

}  // namespace

TEST_CASE("a maximum of which only a softmax is made") {
  const bool divides = GENERATE(false, true);
  const KernelProgram softmax = softmax_program(DType::F32, divides);
  CHECK(softmax_maxima(softmax) == 1);
  CHECK(softmax_maxima(softmax_program(DType::BF16, divides)) == 1);
  CHECK(softmax_maxima(row_reduction(Reduction::amax, DType::F32)) == 0);
  CHECK(softmax_maxima(layer_norm_program()) == 0);
  // Each instruction of it in turn as another one.
  for (size_t stage = 0; stage < softmax.stages.size(); ++stage)
    for (size_t i = 0; i < softmax.stages[stage].element.size(); ++i) {
      KernelProgram other = softmax;
      NestInstruction& in = other.stages[stage].element[i];
      if (in.code == NestCode::Apply && in.op != Op::cast) in.op = Op::maximum;
      else if (in.code == NestCode::Reduce) in.reduction = Reduction::prod;
      else continue;
      INFO(print(other));
      CHECK(softmax_maxima(other) == 0);
    }
  // Somebody else reads the maximum, the difference, the exponential, or what is kept of it.
  for (const NestStage& stage : softmax.stages)
    for (const NestInstruction& in : stage.element) {
      if (!defines_value(in) || in.code == NestCode::Load || in.op == Op::cast) continue;
      const bool is_result = in.code == NestCode::Apply && (in.op == Op::div || in.op == Op::mul);
      const bool is_sum = in.code == NestCode::Reduce && in.reduction == Reduction::sum;
      KernelProgram other = softmax;
      NestInstruction store;
      store.code = NestCode::Store;
      store.inputs.push_back(in.result);
      other.stages.back().element.push_back(store);
      INFO(print(other));
      CHECK(softmax_maxima(other) == (is_result || is_sum ? 1 : 0));
    }
}

TEST_CASE("softmax and layer norm as row programs") {
  auto layouts = sizes({1, 2, 10, 16, 63, 64, 65, 768, 1000}, {1, 4});
  const double number = 1.0 / 768;
  for (Layout& layout : layouts) layout.parameters = {std::bit_cast<int64_t>(number)};
  check_programs({softmax_program(DType::F32), softmax_program(DType::BF16), softmax_program(DType::F32, true),
                  softmax_program(DType::BF16, true), softmax_program(DType::F16), layer_norm_program()},
                 layouts);
  for (Layout& layout : layouts) layout.in_place = true;
  check_programs({softmax_program(DType::F32), softmax_program(DType::F32, true), layer_norm_program()}, layouts);
}

TEST_CASE("rows join accumulators beside row reductions") {
  std::vector<KernelProgram> programs;
  for (Reduction reduction : kReductions)
    for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16}) {
      ProgramBuilder b;
      const uint32_t x = b.input(dtype), g = b.input(dtype), out = b.output(dtype);
      const NestValue gv = b.load(g), product = b.apply(Op::mul, {b.load(x), gv});
      const NestValue total = b.reduce(Reduction::sum, product);
      b.accumulate(reduction, gv);
      b.accumulate(reduction, product);
      b.stage();
      const NestValue scaled = b.apply(Op::mul, {b.load(x), total});
      b.store(out, scaled);
      b.accumulate(reduction, scaled);
      b.accumulate(reduction, total);
      programs.push_back(b.program);
    }
  auto layouts = sizes({0, 1, 3, 16, 17, 63, 64, 65, 130, 768}, {0, 1, 5});
  check_programs(programs, layouts);
  for (Layout& layout : layouts) layout.broadcast_rows = true;  // every row of one lane
  check_programs(programs, layouts);
}
