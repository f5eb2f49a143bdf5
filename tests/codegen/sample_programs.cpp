#include "sample_programs.h"

namespace tsc::jit {
namespace {

NestValue add(ProgramBuilder& b, NestValue x, NestValue y) { return b.apply(Op::add, {x, y}); }
NestValue mul(ProgramBuilder& b, NestValue x, NestValue y) { return b.apply(Op::mul, {x, y}); }

}  // namespace

KernelProgram gelu_program(bool tanh_form) {
  ProgramBuilder b;
  uint32_t x = b.input(DType::F32), a = b.input(DType::F32), shift = b.input(DType::F32), c = b.input(DType::F32),
           out = b.output(DType::F32);
  NestValue v = add(b, mul(b, b.load(x), b.load(a)), b.load(shift));
  NestValue half = mul(b, v, b.constant(0.5)), y;
  if (tanh_form) {
    const double factor = 0.7978845608028654;
    NestValue slope = b.apply(Op::fma, {mul(b, v, v), b.constant(0.044715 * factor), b.constant(factor)});
    y = mul(b, half, add(b, b.apply(Op::tanh, {mul(b, v, slope)}), b.constant(1)));
  } else {
    NestValue inner = b.apply(Op::erf, {mul(b, v, b.constant(0.7071067811865476))});
    y = mul(b, half, add(b, inner, b.constant(1)));
  }
  b.store(out, mul(b, y, b.load(c)));
  return b.program;
}

KernelProgram softmax_program(DType dtype, bool divides) {
  ProgramBuilder b;
  uint32_t in = b.input(dtype), out = b.output(dtype), kept = b.scratch(DType::F32);
  NestValue highest = b.reduce(Reduction::amax, b.cast(DType::F32, b.load(in)));
  b.stage();
  NestValue shifted = b.apply(Op::sub, {b.cast(DType::F32, b.load(in)), highest});
  NestValue power = b.apply(Op::exp, {shifted});
  b.scratch_store(kept, power);
  NestValue total = b.reduce(Reduction::sum, power);
  b.stage();
  if (divides) {
    b.store(out, b.cast(dtype, b.apply(Op::div, {b.scratch_load(kept), total})));
    return b.program;
  }
  b.row();
  NestValue inverse = b.apply(Op::reciprocal, {total});
  b.element();
  b.store(out, b.cast(dtype, mul(b, b.scratch_load(kept), inverse)));
  return b.program;
}

KernelProgram layer_norm_program() {
  ProgramBuilder b;
  uint32_t in = b.input(DType::F32), weight = b.input(DType::F32), out = b.output(DType::F32);
  uint32_t inverse = b.add_parameter(DType::F64);
  uint32_t saved = b.output(DType::F32, Access::Broadcast);
  b.row();
  NestValue scale = b.cast(DType::F32, b.parameter(inverse));
  b.element();
  NestValue sum = b.reduce(Reduction::sum, b.load(in));
  b.stage().row();
  NestValue mean = mul(b, sum, scale);
  b.element();
  NestValue centred = b.apply(Op::sub, {b.load(in), mean});
  NestValue squares = b.reduce(Reduction::sum, mul(b, centred, centred));
  b.stage().row();
  NestValue variance = mul(b, squares, scale);
  NestValue factor = b.apply(Op::rsqrt, {add(b, variance, b.constant(1e-5))});
  b.store(saved, factor);
  b.element();
  NestValue again = b.apply(Op::sub, {b.load(in), mean});
  b.store(out, mul(b, mul(b, again, factor), b.load(weight)));
  return b.program;
}

KernelProgram layer_norm_backward_program() {
  ProgramBuilder b;
  uint32_t g = b.input(DType::F32), centred = b.input(DType::F32), weight = b.input(DType::F32),
           factor = b.input(DType::F32, Access::Broadcast), out = b.output(DType::F32);
  uint32_t first = b.scratch(DType::F32), second = b.scratch(DType::F32);
  uint32_t inverse = b.add_parameter(DType::F64);
  b.row();
  NestValue scale = b.cast(DType::F32, b.parameter(inverse));
  NestValue f = b.load(factor);
  NestValue cube = mul(b, mul(b, f, f), f);
  b.element();
  NestValue gv = b.load(g), x = b.load(centred);
  b.accumulate(Reduction::sum, gv);
  b.accumulate(Reduction::sum, mul(b, gv, mul(b, x, f)));
  NestValue scaled = mul(b, gv, b.load(weight));
  NestValue total = b.reduce(Reduction::sum, mul(b, scaled, x));
  b.scratch_store(first, mul(b, scaled, f));
  b.stage().row();
  NestValue step = mul(b, mul(b, total, cube), scale);
  b.element();
  NestValue part = mul(b, step, b.load(centred));
  NestValue inner = add(b, add(b, b.scratch_load(first), part), part);
  NestValue sum = b.reduce(Reduction::sum, inner);
  b.scratch_store(second, inner);
  b.stage().row();
  NestValue mean = mul(b, sum, scale);
  b.element();
  b.store(out, add(b, b.scratch_load(second), mean));
  return b.program;
}

KernelProgram sum_program(DType dtype) {
  ProgramBuilder b;
  uint32_t in = b.input(dtype);
  NestValue result = b.reduce(Reduction::sum, b.load(in));
  b.stage().row();
  b.store(b.output(b.dtype(result), Access::Broadcast), result);
  return b.program;
}

KernelProgram adam_program() {
  ProgramBuilder b;
  uint32_t p = b.input(DType::F32), g = b.input(DType::F32), m = b.input(DType::F32), v = b.input(DType::F32);
  uint32_t rate = b.add_parameter(DType::F64), correction = b.add_parameter(DType::F64);
  uint32_t p_out = b.output(DType::F32), m_out = b.output(DType::F32), v_out = b.output(DType::F32);
  b.row();
  NestValue step = b.cast(DType::F32, b.parameter(rate));
  NestValue root = b.cast(DType::F32, b.parameter(correction));
  b.element();
  NestValue gradient = b.load(g);
  NestValue first = add(b, mul(b, b.load(m), b.constant(0.9)), mul(b, gradient, b.constant(0.1)));
  NestValue squared = mul(b, mul(b, gradient, gradient), b.constant(0.001));
  NestValue second = add(b, mul(b, b.load(v), b.constant(0.999)), squared);
  NestValue down = add(b, b.apply(Op::div, {b.apply(Op::sqrt, {second}), root}), b.constant(1e-8));
  NestValue change = b.apply(Op::div, {mul(b, first, step), down});
  b.store(p_out, b.apply(Op::sub, {b.load(p), change}));
  b.store(m_out, first);
  b.store(v_out, second);
  return b.program;
}

KernelProgram column_sum_program() {
  ProgramBuilder b;
  b.program.kind = KernelProgram::Kind::Column;
  uint32_t in = b.input(DType::F32);
  NestValue result = b.reduce(Reduction::sum, b.load(in));
  b.row();
  b.store(b.output(DType::F32), result);
  return b.program;
}

KernelProgram add_program() {
  ProgramBuilder b;
  uint32_t x = b.input(DType::F32), y = b.input(DType::F32), out = b.output(DType::F32);
  b.store(out, add(b, b.load(x), b.load(y)));
  return b.program;
}

KernelProgram dropout_program() {
  ProgramBuilder b;
  uint32_t seed = b.add_parameter(DType::I64), offset = b.add_parameter(DType::I64);
  uint32_t in = b.input(DType::F32), index = b.index(), out = b.output(DType::F32);
  b.row();
  NestValue s = b.parameter(seed), o = b.parameter(offset);
  b.element();
  NestValue uniform = b.philox(DType::F32, s, o, b.load(index));
  NestValue keep = b.apply(Op::lt, {uniform, b.constant(0.9)});
  NestValue scaled = mul(b, b.load(in), b.constant(1 / 0.9));
  b.store(out, b.apply(Op::select, {keep, scaled, b.constant(0)}));
  return b.program;
}

}  // namespace tsc::jit
