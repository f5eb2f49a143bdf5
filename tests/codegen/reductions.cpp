// Reductions give the canonical order's bits, whatever the vector width and wherever the tail falls.
#include "catch2/catch.hpp"
#include "kernel_case.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

const std::vector<int64_t> kCounts = {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 1000};
const std::vector<int64_t> kChunks = {65535, 65536, 65537, 131072, 200000};

constexpr Reduction kReductions[] = {Reduction::sum, Reduction::prod, Reduction::amax,
                                     Reduction::amin};

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

// max, exp(x - max) into a scratch row with its sum, the quotient.
KernelProgram softmax(DType dtype) {
  ProgramBuilder b;
  uint32_t in = b.input(dtype), out = b.output(dtype), kept = b.scratch(DType::F32);
  NestValue highest = b.reduce(Reduction::amax, b.cast(DType::F32, b.load(in)));
  b.stage();
  NestValue shifted = b.apply(Op::sub, {b.cast(DType::F32, b.load(in)), highest});
  NestValue power = b.apply(Op::exp, {shifted});
  b.scratch_store(kept, power);
  NestValue total = b.reduce(Reduction::sum, power);
  b.stage();
  b.store(out, b.cast(dtype, b.apply(Op::div, {b.scratch_load(kept), total})));
  return b.program;
}

KernelProgram layer_norm() {
  ProgramBuilder b;
  uint32_t in = b.input(DType::F32), weight = b.input(DType::F32), out = b.output(DType::F32);
  uint32_t inverse = b.add_parameter(DType::F64);
  uint32_t saved = b.output(DType::F32, Access::Broadcast);
  b.row();
  NestValue scale = b.cast(DType::F32, b.parameter(inverse));
  b.element();
  NestValue sum = b.reduce(Reduction::sum, b.load(in));
  b.stage().row();
  NestValue mean = b.apply(Op::mul, {sum, scale});
  b.element();
  NestValue centred = b.apply(Op::sub, {b.load(in), mean});
  NestValue squares = b.reduce(Reduction::sum, b.apply(Op::mul, {centred, centred}));
  b.stage().row();
  NestValue variance = b.apply(Op::mul, {squares, scale});
  NestValue factor = b.apply(Op::rsqrt, {b.apply(Op::add, {variance, b.constant(1e-5)})});
  b.store(saved, factor);
  b.element();
  NestValue again = b.apply(Op::sub, {b.load(in), mean});
  b.store(out, b.apply(Op::mul, {b.apply(Op::mul, {again, factor}), b.load(weight)}));
  return b.program;
}

}  // namespace

TEST_CASE("row reductions of every dtype") {
  std::vector<KernelProgram> programs;
  for (Reduction reduction : kReductions)
    for (int dtype = 0; dtype < kDTypeCount; ++dtype)
      programs.push_back(row_reduction(reduction, static_cast<DType>(dtype)));
  check_programs(programs, sizes(kCounts, {0, 1, 3}));
}

TEST_CASE("row reductions over several chunks") {
  check_programs({row_reduction(Reduction::sum, DType::F32), row_reduction(Reduction::sum, DType::BF16),
                  row_reduction(Reduction::amax, DType::F64), row_reduction(Reduction::prod, DType::F32)},
                 sizes(kChunks, {1}));
}

TEST_CASE("column reductions of every dtype") {
  std::vector<KernelProgram> programs;
  for (Reduction reduction : kReductions)
    for (int dtype = 0; dtype < kDTypeCount; ++dtype)
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

TEST_CASE("softmax and layer norm as row programs") {
  auto layouts = sizes({1, 2, 10, 16, 63, 64, 65, 768, 1000}, {1, 4});
  const double number = 1.0 / 768;
  for (Layout& layout : layouts) layout.parameters = {std::bit_cast<int64_t>(number)};
  check_programs({softmax(DType::F32), softmax(DType::BF16), layer_norm()}, layouts);
  for (Layout& layout : layouts) layout.in_place = true;
  check_programs({softmax(DType::F32), layer_norm()}, layouts);
}
