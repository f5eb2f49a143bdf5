#include "jit/codegen/op_emitters.h"

#include <limits>
#include <vector>

#include "jit/codegen/control.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

#define TSC_EMIT(name)                                                                                 \
  Ir emit_##name([[maybe_unused]] const Lanes& l, [[maybe_unused]] DType dtype, [[maybe_unused]] Ir x, \
                 [[maybe_unused]] Ir y, [[maybe_unused]] Ir z)

Ir zero(const Lanes&, Ir like) { return llvm::Constant::getNullValue(like->getType()); }
int bits_of(Ir value) { return static_cast<int>(value->getType()->getScalarSizeInBits()); }

// ---- unary ----

TSC_EMIT(neg) { return is_floating(dtype) ? l.b().CreateFNeg(x) : l.b().CreateNeg(x); }
TSC_EMIT(abs) {
  if (is_floating(dtype)) return l.call(llvm::Intrinsic::fabs, {x});
  if (is_unsigned_dtype(dtype)) return x;
  return l.b().CreateSelect(l.b().CreateICmpSLT(x, zero(l, x)), l.b().CreateNeg(x), x);
}
TSC_EMIT(sign) {
  auto& b = l.b();
  if (is_floating(dtype)) {
    Ir negative = b.CreateSelect(b.CreateFCmpOLT(x, zero(l, x)), l.number(dtype, -1), zero(l, x));
    return b.CreateSelect(b.CreateFCmpOGT(x, zero(l, x)), l.number(dtype, 1), negative);
  }
  const int bits = bits_of(x);
  if (is_unsigned_dtype(dtype)) return b.CreateSelect(b.CreateICmpNE(x, zero(l, x)), l.integer(bits, 1), x);
  Ir negative = b.CreateSelect(b.CreateICmpSLT(x, zero(l, x)), l.integer(bits, -1), x);
  return b.CreateSelect(b.CreateICmpSGT(x, zero(l, x)), l.integer(bits, 1), negative);
}
TSC_EMIT(floor) { return l.call(llvm::Intrinsic::floor, {x}); }
TSC_EMIT(ceil) { return l.call(llvm::Intrinsic::ceil, {x}); }
TSC_EMIT(trunc) { return l.call(llvm::Intrinsic::trunc, {x}); }
TSC_EMIT(round) { return l.call(llvm::Intrinsic::rint, {x}); }
TSC_EMIT(sqrt) { return l.call(llvm::Intrinsic::sqrt, {x}); }
TSC_EMIT(logical_not) {
  return is_floating(dtype) ? l.b().CreateFCmpOEQ(x, zero(l, x)) : l.b().CreateICmpEQ(x, zero(l, x));
}
TSC_EMIT(bitwise_not) { return l.b().CreateNot(x); }
TSC_EMIT(conj) { return x; }  // of real numbers

// ---- binary ----

TSC_EMIT(add) {
  if (dtype == DType::Bool) return l.b().CreateOr(x, y);
  return is_floating(dtype) ? l.b().CreateFAdd(x, y) : l.b().CreateAdd(x, y);
}
TSC_EMIT(sub) { return is_floating(dtype) ? l.b().CreateFSub(x, y) : l.b().CreateSub(x, y); }
TSC_EMIT(mul) {
  if (dtype == DType::Bool) return l.b().CreateAnd(x, y);
  return is_floating(dtype) ? l.b().CreateFMul(x, y) : l.b().CreateMul(x, y);
}
TSC_EMIT(div) { return l.b().CreateFDiv(x, y); }

void floats_only(DType dtype) { TSC_CHECK(is_floating(dtype), "an integer op that can raise stays out of kernels"); }
TSC_EMIT(quot) {
  floats_only(dtype);
  return l.call(llvm::Intrinsic::trunc, {l.b().CreateFDiv(x, y)});
}
// The short way of scalar::rem in every lane; where it does not hold for one of them, fmod of each.
Ir float_rem(const Lanes& l, Ir x, Ir y) {
  auto& b = l.b();
  const bool is_float = bits_of(x) == 32;
  llvm::Type* type = l.value_type(DType::F64);
  const auto abs = [&](Ir value) {
    return l.call(llvm::Intrinsic::fabs, {is_float ? b.CreateFPExt(value, type) : value});
  };
  const auto number = [&](double value) { return l.number(DType::F64, value); };
  Ir dividend = abs(x), divisor = abs(y);
  Ir q = l.call(llvm::Intrinsic::trunc, {b.CreateFDiv(dividend, divisor)});
  Ir r = is_float ? b.CreateFSub(dividend, b.CreateFMul(q, divisor))
                  : l.call(llvm::Intrinsic::fma, {b.CreateFNeg(q), divisor, dividend});
  r = b.CreateSelect(b.CreateFCmpOLT(r, zero(l, r)), b.CreateFAdd(r, divisor), r);
  if (is_float) r = b.CreateFPTrunc(r, x->getType());
  Ir short_way = l.call(llvm::Intrinsic::copysign, {r, x});
  Ir holds = b.CreateAnd(b.CreateFCmpOLT(q, number(is_float ? 0x1p29 : 0x1p52)),
                         b.CreateFCmpOLE(divisor, number(is_float ? 0x1p128 : 0x1p1000)));
  if (!is_float) holds = b.CreateAnd(holds, b.CreateFCmpOGE(divisor, number(0x1p-900)));
  if (l.count() > 1) holds = b.CreateAndReduce(holds);
  return emit_either(b, holds, [&] { return short_way; }, [&] { return b.CreateFRem(x, y); });
}
TSC_EMIT(rem) {
  floats_only(dtype);
  return float_rem(l, x, y);
}
// Whether a remainder must move to the sign of the divisor.
Ir signs_differ(const Lanes& l, Ir r, Ir y) {
  auto& b = l.b();
  Ir differ = b.CreateXor(b.CreateFCmpOLT(r, zero(l, r)), b.CreateFCmpOLT(y, zero(l, y)));
  return b.CreateAnd(b.CreateFCmpUNE(r, zero(l, r)), differ);
}
TSC_EMIT(floor_div) {
  floats_only(dtype);
  auto& b = l.b();
  Ir quotient = b.CreateFDiv(x, y), r = float_rem(l, x, y);
  Ir d = b.CreateFDiv(b.CreateFSub(x, r), y);
  d = b.CreateSelect(signs_differ(l, r, y), b.CreateFSub(d, l.number(dtype, 1)), d);
  Ir floored = l.call(llvm::Intrinsic::floor, {d});
  Ir above = b.CreateFCmpOGT(b.CreateFSub(d, floored), l.number(dtype, 0.5));
  floored = b.CreateSelect(above, b.CreateFAdd(floored, l.number(dtype, 1)), floored);
  Ir signed_zero = l.call(llvm::Intrinsic::copysign, {zero(l, x), quotient});
  Ir result = b.CreateSelect(b.CreateFCmpUNE(d, zero(l, d)), floored, signed_zero);
  return b.CreateSelect(b.CreateFCmpOEQ(y, zero(l, y)), quotient, result);
}
TSC_EMIT(remainder) {
  floats_only(dtype);
  Ir r = float_rem(l, x, y);
  return l.b().CreateSelect(signs_differ(l, r, y), l.b().CreateFAdd(r, y), r);
}

// nan wins; equal operands combine by their bits, which orders the two zeros.
Ir float_extreme(const Lanes& l, Ir x, Ir y, bool larger) {
  auto& b = l.b();
  llvm::Type* integer = l.integer_type(bits_of(x));
  Ir xi = b.CreateBitCast(x, integer), yi = b.CreateBitCast(y, integer);
  Ir both = b.CreateBitCast(larger ? b.CreateAnd(xi, yi) : b.CreateOr(xi, yi), x->getType());
  Ir better = larger ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  Ir chosen = b.CreateSelect(b.CreateOr(better, b.CreateFCmpUNO(x, x)), x, y);
  return b.CreateSelect(b.CreateFCmpOEQ(x, y), both, chosen);
}
TSC_EMIT(maximum) {
  if (dtype == DType::Bool) return l.b().CreateOr(x, y);
  if (is_floating(dtype)) return float_extreme(l, x, y, true);
  return l.call(is_unsigned_dtype(dtype) ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, {x, y});
}
TSC_EMIT(minimum) {
  if (dtype == DType::Bool) return l.b().CreateAnd(x, y);
  if (is_floating(dtype)) return float_extreme(l, x, y, false);
  return l.call(is_unsigned_dtype(dtype) ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, {x, y});
}
TSC_EMIT(bitwise_and) { return l.b().CreateAnd(x, y); }
TSC_EMIT(bitwise_or) { return l.b().CreateOr(x, y); }
TSC_EMIT(bitwise_xor) { return l.b().CreateXor(x, y); }

// An amount outside [0, width) is one unsigned comparison; the shift itself sees a masked amount,
// because a larger one would be undefined.
Ir inside_width(const Lanes& l, Ir amount) {
  return l.b().CreateICmpULT(amount, l.integer(bits_of(amount), bits_of(amount)));
}
TSC_EMIT(shift_left) {
  auto& b = l.b();
  if (dtype == DType::Bool) return b.CreateAnd(x, b.CreateNot(y));
  Ir masked = b.CreateAnd(y, l.integer(bits_of(y), bits_of(y) - 1));
  return b.CreateSelect(inside_width(l, y), b.CreateShl(x, masked), zero(l, x));
}
TSC_EMIT(shift_right) {
  auto& b = l.b();
  if (dtype == DType::Bool) return b.CreateAnd(x, b.CreateNot(y));
  Ir last = l.integer(bits_of(y), bits_of(y) - 1);
  if (is_unsigned_dtype(dtype))
    return b.CreateSelect(inside_width(l, y), b.CreateLShr(x, b.CreateAnd(y, last)), zero(l, x));
  return b.CreateAShr(x, b.CreateSelect(inside_width(l, y), y, last));
}

TSC_EMIT(eq) { return is_floating(dtype) ? l.b().CreateFCmpOEQ(x, y) : l.b().CreateICmpEQ(x, y); }
TSC_EMIT(ne) { return is_floating(dtype) ? l.b().CreateFCmpUNE(x, y) : l.b().CreateICmpNE(x, y); }
TSC_EMIT(lt) {
  if (is_floating(dtype)) return l.b().CreateFCmpOLT(x, y);
  return is_unsigned_dtype(dtype) ? l.b().CreateICmpULT(x, y) : l.b().CreateICmpSLT(x, y);
}
TSC_EMIT(le) {
  if (is_floating(dtype)) return l.b().CreateFCmpOLE(x, y);
  return is_unsigned_dtype(dtype) ? l.b().CreateICmpULE(x, y) : l.b().CreateICmpSLE(x, y);
}

// ---- ternary ----

TSC_EMIT(select) { return l.b().CreateSelect(x, y, z); }
TSC_EMIT(fma) { return l.call(llvm::Intrinsic::fma, {x, y, z}); }
#undef TSC_EMIT

#define TSC_ROW(name) {Op::name, emit_##name}
constexpr OpEmitter kPlainEmitters[] = {
    TSC_ROW(neg),         TSC_ROW(abs),        TSC_ROW(sign),        TSC_ROW(floor),       TSC_ROW(ceil),
    TSC_ROW(trunc),       TSC_ROW(round),      TSC_ROW(sqrt),        TSC_ROW(logical_not), TSC_ROW(bitwise_not),
    TSC_ROW(add),         TSC_ROW(sub),        TSC_ROW(mul),         TSC_ROW(div),         TSC_ROW(quot),
    TSC_ROW(rem),         TSC_ROW(floor_div),  TSC_ROW(remainder),   TSC_ROW(maximum),     TSC_ROW(minimum),
    TSC_ROW(bitwise_and), TSC_ROW(bitwise_or), TSC_ROW(bitwise_xor), TSC_ROW(shift_left),  TSC_ROW(shift_right),
    TSC_ROW(eq),          TSC_ROW(ne),         TSC_ROW(lt),          TSC_ROW(le),          TSC_ROW(select),
    TSC_ROW(fma),         TSC_ROW(conj),
};
#undef TSC_ROW

// ---- conversions (they know two dtypes, so they stand beside the table) ----

// `truncated` of runtime/kernels/scalar_ops.h.
Ir emit_truncated(const Lanes& l, DType from, DType to, Ir x) {
  auto& b = l.b();
  const bool is_long = memory_bytes(to) == 8 || (is_unsigned_dtype(to) && from == DType::F64);
  const double lowest = is_long ? -0x1p63 : -0x1p31;
  Ir low = llvm::ConstantFP::get(x->getType(), lowest);
  Ir inside = b.CreateAnd(b.CreateFCmpOGE(x, low), b.CreateFCmpOLT(x, llvm::ConstantFP::get(x->getType(), -lowest)));
  Ir whole = b.CreateFPToSI(b.CreateSelect(inside, x, low), l.value_type(is_long ? DType::I64 : DType::I32));
  return b.CreateTrunc(whole, l.value_type(to));
}

Ir emit_cast(const Lanes& l, DType from, DType to, Ir x) {
  auto& b = l.b();
  llvm::Type* target = l.value_type(to);
  if (from == to) return x;
  if (to == DType::Bool) return is_floating(from) ? b.CreateFCmpUNE(x, zero(l, x)) : b.CreateICmpNE(x, zero(l, x));
  if (is_floating(from) && is_floating(to)) {
    if (from == DType::F64) x = b.CreateFPTrunc(x, l.value_type(DType::F32));
    if (to == DType::F64) return b.CreateFPExt(x, target);
    return l.round_to(to, x);
  }
  if (is_floating(from)) return emit_truncated(l, from, to, x);
  const bool is_unsigned = is_unsigned_dtype(from);
  if (!is_floating(to)) return is_unsigned ? b.CreateZExtOrTrunc(x, target) : b.CreateSExtOrTrunc(x, target);
  x = is_unsigned ? b.CreateUIToFP(x, target) : b.CreateSIToFP(x, target);
  return l.round_to(to, x);
}

Ir emit_bitcast(const Lanes& l, DType to, Ir x) {
  if (to == DType::Bool || x->getType()->isIntOrIntVectorTy(1))
    return l.from_memory(to, l.b().CreateZExtOrTrunc(x, l.integer_type(8)));
  return l.b().CreateBitCast(x, l.value_type(to));
}

}  // namespace

std::span<const OpEmitter> op_emitters() {
  static const std::vector<OpEmitter> all = [] {
    std::vector<OpEmitter> rows(std::begin(kPlainEmitters), std::end(kPlainEmitters));
    const auto math = math_emitters();
    rows.insert(rows.end(), math.begin(), math.end());
    return rows;
  }();
  return all;
}

const OpEmitter* find_op_emitter(Op op) {
  for (const OpEmitter& row : op_emitters())
    if (row.op == op) return &row;
  return nullptr;
}

Ir apply_op(const Lanes& lanes, Op op, DType from, DType to, std::span<const Ir> inputs) {
  if (op == Op::cast) return emit_cast(lanes, from, to, inputs[0]);
  if (op == Op::bitcast) return emit_bitcast(lanes, to, inputs[0]);
  const OpEmitter* emitter = find_op_emitter(op);
  TSC_CHECK(emitter, "no emitter for op " + std::string(op_name(op)));
  Ir x = inputs[0], y = inputs.size() > 1 ? inputs[1] : nullptr;
  Ir z = inputs.size() > 2 ? inputs[2] : nullptr;
  const DType computed = computing_dtype(from);
  Ir result = emitter->emit(lanes, computed, x, y, z);
  return op == Op::select ? result : lanes.round_to(to, result);
}

}  // namespace tsc::jit
