// Places in memory: rows, broadcasts, strides, aliases, tails, empty spaces.
#include "catch2/catch.hpp"
#include "kernel_case.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

const std::vector<int64_t> kTails = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 1000};

// (x * a + b) > c ? x : a over operands of different access.
KernelProgram mixed(Access x_access, Access out_access) {
  ProgramBuilder b;
  uint32_t x = b.input(DType::F32, x_access), a = b.input(DType::F32), c = b.input(DType::F32, Access::Broadcast),
           out = b.output(DType::F32, out_access);
  b.row();
  NestValue cv = b.load(c);
  NestValue two = b.constant(2);
  NestValue twice = b.apply(Op::mul, {cv, two});
  b.element();
  NestValue xv = b.load(x), av = b.load(a);
  NestValue sum = b.apply(Op::add, {b.apply(Op::mul, {xv, av}), twice});
  b.store(out, b.apply(Op::select, {b.apply(Op::lt, {cv, sum}), xv, av}));
  return b.program;
}

}  // namespace

TEST_CASE("tails of every length") {
  check_program(mixed(Access::Contiguous, Access::Contiguous), sizes(kTails, {0, 1, 3}));
}

TEST_CASE("large rows") {
  check_program(mixed(Access::Contiguous, Access::Contiguous), sizes({65535, 65536, 65537, 200000}, {1}));
}

TEST_CASE("strided operands, forwards and backwards") {
  for (int64_t stride : {3, 1, 0, -1, -5}) {
    auto layouts = sizes(kTails, {2});
    for (Layout& layout : layouts) layout.col_stride = stride;
    check_program(mixed(Access::Strided, Access::Contiguous), layouts);
    if (stride != 0) check_program(mixed(Access::Strided, Access::Strided), layouts);
  }
}

TEST_CASE("strided operands of every dtype") {
  std::vector<KernelProgram> programs;
  for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
    if (is_complex(static_cast<DType>(dtype))) continue;
    ProgramBuilder b;
    uint32_t in = b.input(static_cast<DType>(dtype), Access::Strided);
    uint32_t out = b.output(static_cast<DType>(dtype), Access::Strided);
    b.store(out, b.load(in));
    programs.push_back(b.program);
  }
  check_programs(programs, sizes(kTails, {2}));
}

TEST_CASE("an output may be its input") {
  auto layouts = sizes(kTails, {1, 3});
  for (Layout& layout : layouts) layout.in_place = true;
  check_program(mixed(Access::Contiguous, Access::Contiguous), layouts);
  check_program(mixed(Access::Strided, Access::Strided), layouts);
}

TEST_CASE("one row serves all rows") {
  auto layouts = sizes({1, 17, 64}, {3});
  for (Layout& layout : layouts) layout.broadcast_rows = true;
  check_program(mixed(Access::Contiguous, Access::Contiguous), layouts);
}

TEST_CASE("index operands") {
  std::vector<KernelProgram> programs;
  for (Access access : {Access::Contiguous, Access::Broadcast, Access::Strided}) {
    ProgramBuilder b;
    uint32_t index = b.index(access), out = b.output(DType::I64), as_float = b.output(DType::F32);
    NestValue i = b.load(index);
    b.store(out, b.apply(Op::add, {i, i}));
    b.store(as_float, b.cast(DType::F32, i));
    programs.push_back(b.program);
  }
  check_programs(programs, sizes(kTails, {3}));
}

TEST_CASE("parameters and uniform arithmetic") {
  ProgramBuilder b;
  uint32_t rate = b.add_parameter(DType::F64), steps = b.add_parameter(DType::I64);
  uint32_t in = b.input(DType::F32), out = b.output(DType::F32);
  b.row();
  NestValue r = b.cast(DType::F32, b.parameter(rate));
  NestValue s = b.cast(DType::F32, b.parameter(steps));
  NestValue product = b.apply(Op::mul, {r, s});
  b.element();
  b.store(out, b.apply(Op::mul, {b.load(in), product}));
  auto layouts = sizes({1, 16, 65}, {2});
  const double number = 0.1;
  for (Layout& layout : layouts) layout.parameters = {std::bit_cast<int64_t>(number), 7};
  check_program(b.program, layouts);
}
