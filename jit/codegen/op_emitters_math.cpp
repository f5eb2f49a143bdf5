// The scalar math functions as emitters: the templates of scalar_math.h run on LlvmMachine.
#include "jit/codegen/llvm_machine.h"
#include "jit/codegen/op_emitters.h"
#include "runtime/base/error.h"
#include "runtime/kernels/scalar_math.h"

namespace tsc::jit {
namespace {

template <Op op, class... X>
Ir emit_math(const Lanes& lanes, DType dtype, X... x) {
  TSC_CHECK(is_floating(dtype), "a function of the math library takes floats");
  if (dtype == DType::F64) {
    LlvmMachine<true> machine(lanes);
    return *scalar_math::apply(machine, op, x...);
  }
  LlvmMachine<false> machine(lanes);
  return *scalar_math::apply(machine, op, x...);
}

#define TSC_UNARY(name) \
  {Op::name, [](const Lanes& lanes, DType dtype, Ir x, Ir, Ir) { return emit_math<Op::name>(lanes, dtype, x); }},
#define TSC_BINARY(name) \
  {Op::name, [](const Lanes& lanes, DType dtype, Ir x, Ir y, Ir) { return emit_math<Op::name>(lanes, dtype, x, y); }},
constexpr OpEmitter kMathEmitters[] = {TSC_SCALAR_MATH_UNARY(TSC_UNARY) TSC_SCALAR_MATH_BINARY(TSC_BINARY)};
#undef TSC_UNARY
#undef TSC_BINARY

}  // namespace

std::span<const OpEmitter> math_emitters() { return kMathEmitters; }

}  // namespace tsc::jit
