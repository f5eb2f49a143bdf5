// Every elementwise op on every dtype that its rule admits, and every conversion.
#include "catch2/catch.hpp"
#include "jit/codegen/op_emitters.h"
#include "kernel_case.h"
#include "runtime/base/error.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

// What kernels hold: every dtype but the complex ones.
constexpr DType kAll[] = {DType::Bool, DType::U8,  DType::I8,   DType::I16, DType::I32,
                          DType::I64,  DType::F16, DType::BF16, DType::F32, DType::F64};

bool admits(Op op, DType dtype) {
  SmallVector<DType, 3> dtypes;
  for (int i = 0; i < op_row(op).tensors; ++i) dtypes.push_back(op == Op::select && i == 0 ? DType::Bool : dtype);
  try {
    infer_dtype(op, dtypes, {});
    return is_kernel_op(op, dtype);
  } catch (const Error&) {
    return false;
  }
}

KernelProgram program_of(Op op, DType dtype) {
  ProgramBuilder b;
  const int count = op_row(op).tensors;
  uint32_t slots[3];
  for (int i = 0; i < count; ++i) slots[i] = b.input(op == Op::select && i == 0 ? DType::Bool : dtype);
  NestValue x = b.load(slots[0]);
  NestValue y = count > 1 ? b.load(slots[1]) : 0, z = count > 2 ? b.load(slots[2]) : 0;
  NestValue result = count == 1 ? b.apply(op, {x}) : count == 2 ? b.apply(op, {x, y}) : b.apply(op, {x, y, z});
  b.store(b.output(b.dtype(result)), result);
  return b.program;
}

}  // namespace

TEST_CASE("every elementwise op has an emitter") {
  for (const OpRow& row : op_rows()) {
    if (!is_elementwise(row.op) || row.op == Op::cast || row.op == Op::bitcast) continue;
    INFO(row.name);
    CHECK(find_op_emitter(row.op) != nullptr);
  }
}

TEST_CASE("every op on every dtype") {
  std::vector<KernelProgram> programs;
  for (const OpRow& row : op_rows()) {
    if (!is_elementwise(row.op) || row.op == Op::cast || row.op == Op::bitcast) continue;
    for (DType dtype : kAll)
      if (admits(row.op, dtype)) programs.push_back(program_of(row.op, dtype));
  }
  CHECK(programs.size() > 250);
  check_programs(programs, sizes({1, 17, 1000}, {2}));
}

TEST_CASE("every conversion") {
  std::vector<KernelProgram> programs;
  for (DType from : kAll)
    for (DType to : kAll) {
      ProgramBuilder b;
      uint32_t in = b.input(from), out = b.output(to);
      b.store(out, b.cast(to, b.load(in)));
      programs.push_back(b.program);
    }
  const std::pair<DType, DType> same_width[] = {
      {DType::F32, DType::I32}, {DType::I32, DType::F32}, {DType::F64, DType::I64}, {DType::I64, DType::F64}};
  for (auto [from, to] : same_width) {
    ProgramBuilder b;
    uint32_t in = b.input(from), out = b.output(to);
    b.store(out, b.cast(to, b.load(in), Op::bitcast));
    programs.push_back(b.program);
  }
  check_programs(programs, sizes({1, 17, 3000}, {1}));
}

TEST_CASE("random numbers are those of rng_bits") {
  std::vector<KernelProgram> programs;
  for (DType dtype : {DType::I32, DType::I64, DType::F32, DType::F64}) {
    ProgramBuilder b;
    uint32_t seed = b.add_parameter(DType::I64), offset = b.add_parameter(DType::I64);
    uint32_t index = b.index(), out = b.output(dtype);
    b.row();
    NestValue s = b.parameter(seed), o = b.parameter(offset);
    b.element();
    b.store(out, b.philox(dtype, s, o, b.load(index)));
    programs.push_back(b.program);
  }
  auto layouts = sizes({0, 1, 5, 64, 1000});
  for (Layout& layout : layouts) layout.parameters = {0x123456789ABCDEF, int64_t{5} << 33};
  check_programs(programs, layouts);
}
