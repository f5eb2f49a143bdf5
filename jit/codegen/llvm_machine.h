#pragma once
// The Machine of runtime/kernels/scalar_math.h whose values are IR: the one text of exp, log, tanh
// ... then emits vector code with the bits of the reference kernels. Knows Lanes. Keeps: no
// fast-math flag on any instruction; a fused multiply-add only where the function asks for one.
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "jit/codegen/lanes.h"
#include "runtime/kernels/scalar_math_machine.h"

namespace tsc::jit {

template <bool kIsDouble>
class LlvmMachine {
 public:
  static constexpr bool kDouble = kIsDouble;
  static constexpr int kBits = kIsDouble ? 64 : 32;
  static constexpr DType kDType = kIsDouble ? DType::F64 : DType::F32;
  using F = Ir;
  using I = Ir;
  using Mask = Ir;
  using Wide = LlvmMachine<true>;

  explicit LlvmMachine(const Lanes& lanes) : lanes_(lanes), b_(lanes.b()) {}

  F constant(double value) { return lanes_.in_memory(lanes_.number(kDType, value)); }
  I integer(int64_t value) { return lanes_.in_memory(lanes_.integer(kBits, value)); }

  F add(F a, F c) { return b_.CreateFAdd(a, c); }
  F sub(F a, F c) { return b_.CreateFSub(a, c); }
  F mul(F a, F c) { return b_.CreateFMul(a, c); }
  F div(F a, F c) { return b_.CreateFDiv(a, c); }
  F fma(F a, F x, F y) { return lanes_.call(llvm::Intrinsic::fma, {a, x, y}); }
  F neg(F a) { return b_.CreateFNeg(a); }
  F abs(F a) { return lanes_.call(llvm::Intrinsic::fabs, {a}); }
  F sqrt(F a) { return lanes_.call(llvm::Intrinsic::sqrt, {a}); }
  F trunc(F a) { return lanes_.call(llvm::Intrinsic::trunc, {a}); }
  F floor(F a) { return lanes_.call(llvm::Intrinsic::floor, {a}); }

  Mask lt(F a, F c) { return b_.CreateFCmpOLT(a, c); }
  Mask le(F a, F c) { return b_.CreateFCmpOLE(a, c); }
  Mask eq(F a, F c) { return b_.CreateFCmpOEQ(a, c); }
  Mask is_nan(F a) { return b_.CreateFCmpUNO(a, a); }
  Mask int_lt(I a, I c) { return b_.CreateICmpSLT(a, c); }
  Mask int_eq(I a, I c) { return b_.CreateICmpEQ(a, c); }
  Mask mask_and(Mask a, Mask c) { return b_.CreateAnd(a, c); }
  Mask mask_or(Mask a, Mask c) { return b_.CreateOr(a, c); }
  Mask mask_not(Mask a) { return b_.CreateNot(a); }
  F select(Mask mask, F yes, F no) { return b_.CreateSelect(mask, yes, no); }
  I select_int(Mask mask, I yes, I no) { return b_.CreateSelect(mask, yes, no); }

  I as_int(F a) { return b_.CreateBitCast(a, lanes_.integer_type(kBits)); }
  F as_float(I a) { return b_.CreateBitCast(a, lanes_.value_type(kDType)); }
  I int_add(I a, I c) { return b_.CreateAdd(a, c); }
  I int_sub(I a, I c) { return b_.CreateSub(a, c); }
  I int_and(I a, I c) { return b_.CreateAnd(a, c); }
  I int_or(I a, I c) { return b_.CreateOr(a, c); }
  I int_xor(I a, I c) { return b_.CreateXor(a, c); }
  I shift_left(I a, int count) { return b_.CreateShl(a, lanes_.integer(kBits, count)); }
  I shift_right_logical(I a, int count) { return b_.CreateLShr(a, lanes_.integer(kBits, count)); }
  I shift_right_arithmetic(I a, int count) { return b_.CreateAShr(a, lanes_.integer(kBits, count)); }

  // Sixteen floats are one 512-bit register, and that unit scales in one instruction.
  bool scales_zero_by_any() const { return !kIsDouble && lanes_.count() == 16; }
  F scale(F x, F k) {
    if (!scales_zero_by_any()) return scale_in_two_steps(*this, x, k);
    Ir every = llvm::ConstantInt::get(b_.getInt16Ty(), 0xFFFF);
    Ir current_rounding = b_.getInt32(4);
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                              {x, k, llvm::UndefValue::get(x->getType()), every, current_rounding});
  }
  Wide wide() { return Wide(lanes_); }
  Ir widen(F a) { return kIsDouble ? a : b_.CreateFPExt(a, lanes_.value_type(DType::F64)); }
  F narrow(Ir a) { return kIsDouble ? a : b_.CreateFPTrunc(a, lanes_.value_type(DType::F32)); }

  // Branches around the slow path when no lane wants it.
  template <class Slow, class... Fast>
  std::array<Ir, sizeof...(Fast)> rare(Mask where, Slow&& slow, Fast... fast) {
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* block = llvm::BasicBlock::Create(b_.getContext(), "rare", function);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "common", function);
    Ir any = lanes_.count() == 1 ? where : b_.CreateOrReduce(where);
    b_.CreateCondBr(any, block, after);
    b_.SetInsertPoint(block);
    std::array<Ir, sizeof...(Fast)> quick{fast...}, slow_values = slow();
    for (size_t i = 0; i < quick.size(); ++i) slow_values[i] = b_.CreateSelect(where, slow_values[i], quick[i]);
    llvm::BasicBlock* slow_end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    for (size_t i = 0; i < quick.size(); ++i) {
      llvm::PHINode* phi = b_.CreatePHI(quick[i]->getType(), 2);
      phi->addIncoming(quick[i], before);
      phi->addIncoming(slow_values[i], slow_end);
      quick[i] = phi;
    }
    return quick;
  }

 private:
  Lanes lanes_;
  llvm::IRBuilder<>& b_;
};

}  // namespace tsc::jit
