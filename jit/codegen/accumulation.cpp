#include <limits>

#include "jit/codegen/op_emitters.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

Ir apply_binary(const Lanes& lanes, Op op, DType dtype, Ir x, Ir y) {
  const Ir inputs[] = {x, y};
  return apply_op(lanes, op, dtype, dtype, inputs);
}

Ir convert(const Lanes& lanes, DType from, DType to, Ir x) {
  const Ir inputs[] = {x};
  return apply_op(lanes, Op::cast, from, to, inputs);
}

// Flips the magnitude of negative numbers: floats and signed integers then have one order. Its own
// inverse.
Ir flip_negative(const Lanes& lanes, int bits, Ir x) {
  auto& b = lanes.b();
  Ir sign = b.CreateAShr(x, lanes.integer(bits, bits - 1));
  const int64_t magnitude = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return b.CreateXor(x, b.CreateAnd(sign, lanes.in_memory(lanes.integer(bits, magnitude))));
}

}  // namespace

bool Accumulation::ordered_as_integers() const {
  return is_floating(input) && !may_lose_nan && (reduction == Reduction::amax || reduction == Reduction::amin);
}

DType Accumulation::dtype() const {
  if (ordered_as_integers()) return input == DType::F64 ? DType::I64 : DType::I32;
  const DType dtype = accumulator_dtype(reduction, input);
  return dtype == DType::Bool ? DType::U8 : dtype;
}

Ir Accumulation::enter(const Lanes& lanes, Ir x) const {
  if (!ordered_as_integers()) return convert(lanes, input, dtype(), x);
  const int bits = input == DType::F64 ? 64 : 32;
  auto& b = lanes.b();
  Ir key = flip_negative(lanes, bits, b.CreateBitCast(x, lanes.integer_type(bits)));
  // nan becomes the extreme key: the bits of a nan of the winning sign.
  const int64_t highest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  Ir nan = lanes.in_memory(lanes.integer(bits, reduction == Reduction::amax ? highest : ~highest));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), nan, key);
}

Ir Accumulation::combine(const Lanes& lanes, Ir x, Ir y) const {
  if (may_lose_nan) return lanes.b().CreateSelect(lanes.b().CreateFCmpOGT(x, y), x, y);  // x86's max
  constexpr Op kOps[] = {Op::add, Op::mul, Op::maximum, Op::minimum};
  return apply_binary(lanes, kOps[static_cast<int>(reduction)], dtype(), x, y);
}

Ir Accumulation::identity(const Lanes& lanes) const {
  const DType to = dtype();
  if (reduction == Reduction::sum) return llvm::Constant::getNullValue(lanes.value_type(to));
  if (reduction == Reduction::prod)
    return is_floating(to) ? lanes.number(to, 1) : lanes.integer(memory_bytes(to) * 8, 1);
  if (may_lose_nan) return lanes.number(to, -std::numeric_limits<double>::infinity());
  const bool largest = reduction == Reduction::amin;
  const int bits = memory_bytes(to) * 8;
  if (ordered_as_integers()) {  // the key of an infinity
    const int64_t infinity = bits == 64 ? int64_t{0x7FF} << 52 : int64_t{0xFF} << 23;
    return lanes.integer(bits, largest ? infinity : ~infinity);
  }
  // Of bools, held as bytes, the largest is 1.
  if (input == DType::Bool) return lanes.integer(bits, largest);
  if (is_unsigned_dtype(to)) return lanes.integer(bits, largest ? -1 : 0);
  const int64_t lowest = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return lanes.integer(bits, largest ? ~lowest : lowest);
}

Ir Accumulation::leave(const Lanes& lanes, DType to, Ir accumulator) const {
  if (!ordered_as_integers()) return convert(lanes, dtype(), to, accumulator);
  const int bits = input == DType::F64 ? 64 : 32;
  const DType number = input == DType::F64 ? DType::F64 : DType::F32;
  Ir value = lanes.b().CreateBitCast(flip_negative(lanes, bits, accumulator), lanes.value_type(number));
  return convert(lanes, number, to, value);
}

}  // namespace tsc::jit
