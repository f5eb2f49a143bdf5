// x / d for many x and one d, as in softmax: the processor divides a vector in the time of a dozen
// multiplications, and the correctly rounded quotient follows from y = 1 / d, rounded, and what it misses,
// e = 1 / d - y, in four:
//   q0 = x * y + x * e, q = q0 + (x - q0 * d) * y      each sum a fused multiply-add
// q0 is within one unit in the last place, its remainder is exact, and y is correctly rounded: so q is the
// correctly rounded quotient (P. Markstein, "Computation of elementary functions on the IBM RISC System/6000
// processor", 1990). The remainder is exact while x is well above the smallest numbers, as x * e is normal, which
// keeps it fast: a vector with another x, +0 aside, and every row with an extreme d, divide. So does a negative d,
// because the sums of zeros of two signs that it makes of +0 are +0.
#include "jit/codegen/control.h"
#include "jit/codegen/kernel_emitter.h"

namespace tsc::jit {
namespace {

// As bits: the magnitude of x in [2^-59, 2^100), d in [2^-20, 2^20). e is at least 2^-47 / d where it is not 0.
constexpr int64_t kLeastX = int64_t{127 - 59} << 23, kRangeX = int64_t{159} << 23;
constexpr int64_t kLeastD = int64_t{127 - 20} << 23, kRangeD = int64_t{40} << 23;

Ir in_range(const Lanes& lanes, Ir bits, int64_t least, int64_t range) {
  llvm::IRBuilder<>& b = lanes.b();
  return b.CreateICmpULT(b.CreateSub(bits, lanes.in_memory(lanes.integer(32, least))),
                         lanes.in_memory(lanes.integer(32, range)));
}

}  // namespace

bool KernelEmitter::divides_by_shared(const NestInstruction& in) const {
  return in.code == NestCode::Apply && in.op == Op::div && in.dtype == DType::F32 && traits_.masked_memory &&
         wide_.count() > 1;
}

// Before the loop over x.
void KernelEmitter::prepare_divisor(Binding* divisor) {
  if (divisor->inverse || divisor->dtype != DType::F32) return;
  Ir one = scalar_.number(DType::F32, 1.0);
  Ir inverse = b_.CreateFDiv(one, divisor->value);
  Ir rest = scalar_.call(llvm::Intrinsic::fma, {b_.CreateFNeg(inverse), divisor->value, one});
  divisor->inverse = wide_.splat(inverse);
  divisor->inverse_rest = wide_.splat(b_.CreateFMul(rest, inverse));
  divisor->is_moderate = in_range(scalar_, b_.CreateBitCast(divisor->value, b_.getInt32Ty()), kLeastD, kRangeD);
}

Ir KernelEmitter::divide_by_shared(Ir x, const Binding& divisor) {
  Ir d = divisor.splat, y = divisor.inverse;
  Ir bits = b_.CreateBitCast(x, wide_.integer_type(32));
  Ir magnitude = b_.CreateAnd(bits, wide_.in_memory(wide_.integer(32, 0x7FFFFFFF)));
  Ir fits = b_.CreateOr(in_range(wide_, magnitude, kLeastX, kRangeX), b_.CreateICmpEQ(bits, wide_.integer(32, 0)));
  Ir all = b_.CreateAnd(b_.CreateAndReduce(fits), divisor.is_moderate);
  const auto fma = [&](Ir a, Ir b, Ir c) { return wide_.call(llvm::Intrinsic::fma, {a, b, c}); };
  const auto multiply = [&] {
    Ir close = fma(x, y, b_.CreateFMul(x, divisor.inverse_rest));
    return fma(fma(b_.CreateFNeg(close), d, x), y, close);
  };
  return emit_either(b_, all, multiply, [&] { return b_.CreateFDiv(x, d); });
}

}  // namespace tsc::jit
