// float16 on lanes: the instructions of F16C and its kin where the target has them, else the integer text of
// runtime/tensor/small_floats.h, which gives the same bits.
#include <llvm/IR/Function.h>

#include "jit/codegen/lanes.h"

namespace tsc::jit {

bool Lanes::converts_f16() const {
  const llvm::Attribute features = builder_.GetInsertBlock()->getParent()->getFnAttribute("target-features");
  return features.isStringAttribute() && features.getValueAsString().contains("+f16c");
}

Ir Lanes::f16_from_memory(Ir raw) const {
  llvm::IRBuilder<>& b = builder_;
  if (converts_f16()) return b.CreateFPExt(b.CreateBitCast(raw, of(b.getHalfTy())), value_type(DType::F32));
  Ir wide = b.CreateZExt(raw, integer_type(32));
  Ir sign = b.CreateShl(b.CreateAnd(wide, integer(32, 0x8000)), integer(32, 16));
  Ir magnitude = b.CreateAnd(wide, integer(32, 0x7FFF));
  Ir special = b.CreateICmpUGE(magnitude, integer(32, 0x7C00));
  Ir bias = b.CreateSelect(special, integer(32, int64_t{224} << 23), integer(32, int64_t{112} << 23));
  Ir normal = b.CreateAdd(b.CreateShl(magnitude, integer(32, 13)), bias);
  Ir small = b.CreateFMul(b.CreateSIToFP(magnitude, value_type(DType::F32)), number(DType::F32, 0x1p-24));
  Ir chosen =
      b.CreateSelect(b.CreateICmpULT(magnitude, integer(32, 0x400)), b.CreateBitCast(small, integer_type(32)), normal);
  return b.CreateBitCast(b.CreateOr(chosen, sign), value_type(DType::F32));
}

// The value is one that a float16 can represent.
Ir Lanes::f16_to_memory(Ir value) const {
  llvm::IRBuilder<>& b = builder_;
  if (converts_f16()) return b.CreateBitCast(b.CreateFPTrunc(value, of(b.getHalfTy())), integer_type(16));
  Ir bits = b.CreateBitCast(value, integer_type(32));
  Ir sign = b.CreateAnd(b.CreateLShr(bits, integer(32, 16)), integer(32, 0x8000));
  Ir magnitude = b.CreateAnd(bits, integer(32, 0x7FFFFFFF));
  Ir normal = b.CreateLShr(b.CreateSub(magnitude, integer(32, int64_t{112} << 23)), integer(32, 13));
  Ir shifted = b.CreateFAdd(b.CreateBitCast(magnitude, value_type(DType::F32)), number(DType::F32, 0.5));
  Ir small = b.CreateSub(b.CreateBitCast(shifted, integer_type(32)), integer(32, 0x3F000000));
  Ir finite = b.CreateSelect(b.CreateICmpULT(magnitude, integer(32, 0x38800000)), small, normal);
  Ir infinite = b.CreateSelect(b.CreateICmpUGE(magnitude, integer(32, 0x7F800000)), integer(32, 0x7C00), finite);
  Ir number = b.CreateSelect(b.CreateICmpUGT(magnitude, integer(32, 0x7F800000)), integer(32, 0x7E00),
                             b.CreateOr(infinite, sign));
  return b.CreateTrunc(number, integer_type(16));
}

// In the range of normal numbers 13 bits go, as 16 do for bf16; below it the sum with 0.5 rounds.
Ir Lanes::round_to_f16(Ir value) const {
  llvm::IRBuilder<>& b = builder_;
  Ir nan = b.CreateFCmpUNO(value, value);
  Ir quiet = b.CreateBitCast(integer(32, 0x7FC00000), value_type(DType::F32));
  if (converts_f16()) {
    Ir rounded = b.CreateFPExt(b.CreateFPTrunc(value, of(b.getHalfTy())), value_type(DType::F32));
    return b.CreateSelect(nan, quiet, rounded);
  }
  Ir bits = b.CreateBitCast(value, integer_type(32));
  Ir sign = b.CreateAnd(bits, integer(32, static_cast<int32_t>(0x80000000u)));
  Ir magnitude = b.CreateAnd(bits, integer(32, 0x7FFFFFFF));
  Ir odd = b.CreateAnd(b.CreateLShr(magnitude, integer(32, 13)), integer(32, 1));
  Ir normal = b.CreateAdd(b.CreateAdd(magnitude, integer(32, 0xFFF)), odd);
  normal = b.CreateAnd(normal, integer(32, static_cast<int32_t>(0xFFFFE000u)));
  Ir half = number(DType::F32, 0.5);
  Ir shifted = b.CreateFAdd(b.CreateBitCast(magnitude, value_type(DType::F32)), half);
  Ir small = b.CreateBitCast(b.CreateFSub(shifted, half), integer_type(32));
  Ir finite = b.CreateSelect(b.CreateICmpULT(magnitude, integer(32, 0x38800000)), small, normal);
  Ir number = b.CreateSelect(b.CreateICmpUGE(magnitude, integer(32, 0x477FF000)), integer(32, 0x7F800000), finite);
  return b.CreateSelect(nan, quiet, b.CreateBitCast(b.CreateOr(number, sign), value_type(DType::F32)));
}

}  // namespace tsc::jit
