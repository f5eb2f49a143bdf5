#include "jit/codegen/lanes.h"

#include <llvm/IR/Module.h>

#include <numeric>

#include "runtime/base/error.h"

namespace tsc::jit {

llvm::Type* Lanes::of(llvm::Type* scalar) const {
  if (count_ == 1) return scalar;
  return llvm::FixedVectorType::get(scalar, static_cast<unsigned>(count_));
}

llvm::Type* Lanes::scalar_value_type(DType dtype) const {
  switch (category_of(dtype)) {
    case Category::Bool: return builder_.getInt1Ty();
    case Category::Integer: return builder_.getIntNTy(static_cast<unsigned>(dtype_info(dtype).bits));
    case Category::Float: return dtype == DType::F64 ? builder_.getDoubleTy() : builder_.getFloatTy();
    case Category::Complex: break;
  }
  TSC_CHECK(false, "no values of that dtype in kernels");
}

llvm::Type* Lanes::scalar_memory_type(DType dtype) const {
  if (dtype == DType::Bool) return builder_.getInt8Ty();
  if (is_small_float(dtype)) return builder_.getInt16Ty();
  return scalar_value_type(dtype);
}

Ir Lanes::splat(Ir scalar) const {
  if (count_ == 1) return scalar;
  return builder_.CreateVectorSplat(static_cast<unsigned>(count_), scalar);
}

Ir Lanes::integer(int bits, int64_t value) const { return llvm::ConstantInt::getSigned(integer_type(bits), value); }

Ir Lanes::number(DType dtype, double value) const {
  if (dtype == DType::F64) return llvm::ConstantFP::get(value_type(dtype), value);
  const llvm::APFloat single(static_cast<float>(value));
  return llvm::ConstantFP::get(value_type(DType::F32), single);
}

Ir Lanes::iota(int bits) const {
  if (count_ == 1) return integer(bits, 0);
  llvm::SmallVector<llvm::Constant*, 64> items;
  for (int i = 0; i < count_; ++i)
    items.push_back(llvm::ConstantInt::get(builder_.getIntNTy(bits), static_cast<uint64_t>(i)));
  return llvm::ConstantVector::get(items);
}

Ir Lanes::in_memory(Ir value) const {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (count_ == 1 || !constant || constant->isNullValue() || constant->isAllOnesValue()) return value;
  llvm::Module& module = *builder_.GetInsertBlock()->getModule();
  llvm::GlobalVariable* place = nullptr;
  for (llvm::GlobalVariable& known : module.globals())
    if (known.getInitializer() == constant) place = &known;
  if (!place) {
    place = new llvm::GlobalVariable(module, constant->getType(), true, llvm::GlobalValue::PrivateLinkage, constant);
    place->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    place->setAlignment(llvm::Align(64));
  }
  llvm::LoadInst* load = builder_.CreateAlignedLoad(constant->getType(), place, llvm::Align(64));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
  return load;
}

Ir Lanes::from_memory(DType dtype, Ir raw) const {
  if (dtype == DType::Bool) return builder_.CreateICmpNE(raw, integer(8, 0));
  if (dtype == DType::F16) return f16_from_memory(raw);
  if (dtype != DType::BF16) return raw;
  Ir wide = builder_.CreateShl(builder_.CreateZExt(raw, integer_type(32)), integer(32, 16));
  return builder_.CreateBitCast(wide, value_type(DType::F32));
}

Ir Lanes::to_memory(DType dtype, Ir value) const {
  if (dtype == DType::Bool) return builder_.CreateZExt(value, integer_type(8));
  if (dtype == DType::F16) return f16_to_memory(value);
  if (dtype != DType::BF16) return value;
  Ir bits = builder_.CreateBitCast(value, integer_type(32));
  return builder_.CreateTrunc(builder_.CreateLShr(bits, integer(32, 16)), integer_type(16));
}

Ir Lanes::round_to(DType dtype, Ir value) const {
  if (dtype == DType::BF16) return round_to_bf16(value);
  return dtype == DType::F16 ? round_to_f16(value) : value;
}

Ir Lanes::round_to_bf16(Ir value) const {
  llvm::IRBuilder<>& b = builder_;
  Ir bits = b.CreateBitCast(value, integer_type(32));
  Ir odd = b.CreateAnd(b.CreateLShr(bits, integer(32, 16)), in_memory(integer(32, 1)));
  Ir rounded = b.CreateAdd(b.CreateAdd(bits, in_memory(integer(32, 0x7FFF))), odd);
  rounded = b.CreateAnd(rounded, in_memory(integer(32, static_cast<int32_t>(0xFFFF0000u))));
  Ir chosen = b.CreateSelect(b.CreateFCmpUNO(value, value), in_memory(integer(32, 0x7FC00000)), rounded);
  return b.CreateBitCast(chosen, value_type(DType::F32));
}

Ir Lanes::part(Ir vector, int first, int count) const {
  if (count == 1) return builder_.CreateExtractElement(vector, static_cast<uint64_t>(first));
  llvm::SmallVector<int, 64> lanes(static_cast<size_t>(count));
  std::iota(lanes.begin(), lanes.end(), first);
  return builder_.CreateShuffleVector(vector, lanes);
}

Ir Lanes::call(llvm::Intrinsic::ID intrinsic, llvm::ArrayRef<Ir> arguments) const {
  return builder_.CreateIntrinsic(intrinsic, {arguments[0]->getType()}, arguments);
}

}  // namespace tsc::jit
