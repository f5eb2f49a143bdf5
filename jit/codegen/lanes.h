#pragma once
// Emission of operations on several lanes at once: an IRBuilder that knows a lane count. With one
// lane the types are plain scalars, so the same emitters serve vector bodies, scalar tails, per-row
// arithmetic and GPU threads.
// Knows dtypes and LLVM; must not know programs. Keeps: inside a kernel a bool is an i1 and a small float
// (bf16, f16) is a float that it can represent; memory holds a byte and 16 bits. Complex numbers stay outside.
#include <llvm/IR/IRBuilder.h>

#include "runtime/tensor/dtype.h"

namespace tsc::jit {

using Ir = llvm::Value*;

class Lanes {
 public:
  Lanes(llvm::IRBuilder<>& builder, int count) : builder_(builder), count_(count) {}

  llvm::IRBuilder<>& b() const { return builder_; }
  int count() const { return count_; }
  Lanes with_count(int count) const { return Lanes(builder_, count); }

  llvm::Type* of(llvm::Type* scalar) const;  // the scalar, or the vector of it
  llvm::Type* value_type(DType dtype) const { return of(scalar_value_type(dtype)); }
  llvm::Type* memory_type(DType dtype) const { return of(scalar_memory_type(dtype)); }
  llvm::Type* scalar_value_type(DType dtype) const;
  llvm::Type* scalar_memory_type(DType dtype) const;
  llvm::Type* integer_type(int bits) const { return of(builder_.getIntNTy(bits)); }

  Ir splat(Ir scalar) const;
  Ir integer(int bits, int64_t value) const;
  Ir number(DType dtype, double value) const;  // floating dtypes; rounded to the dtype
  Ir iota(int bits) const;                     // 0, 1, 2, ...

  // The same constant, read from the module's memory where it has many lanes: one load instead of a
  // vector that instruction selection takes apart lane by lane.
  Ir in_memory(Ir constant) const;

  Ir from_memory(DType dtype, Ir raw) const;
  Ir to_memory(DType dtype, Ir value) const;
  // A float to the nearest value of a small float, kept as a float; every nan becomes the quiet one. Values of
  // any other dtype stay as they are.
  Ir round_to(DType dtype, Ir value) const;
  // Lanes [first, first + count) of a vector.
  Ir part(Ir vector, int first, int count) const;

  Ir call(llvm::Intrinsic::ID intrinsic, llvm::ArrayRef<Ir> arguments) const;

 private:
  Ir round_to_bf16(Ir value) const;
  Ir round_to_f16(Ir value) const;
  Ir f16_from_memory(Ir raw) const;
  Ir f16_to_memory(Ir value) const;
  bool converts_f16() const;  // the target has instructions for it

  llvm::IRBuilder<>& builder_;
  int count_;
};

inline constexpr bool is_unsigned_dtype(DType dtype) { return is_unsigned(dtype); }
inline constexpr int memory_bytes(DType dtype) { return static_cast<int>(dtype_size(dtype)); }

}  // namespace tsc::jit
