#pragma once
// Type inference of primitives over symbolic sizes: dtype by the op table, sizes as Int values that
// a SizeAlgebra computes. The builder's algebra emits scalar instructions, the verifier's only checks.
// Knows the op table's families; no instruction lists.
#include <span>

#include "jit/region/region.h"

namespace tsc::jit {

class SizeAlgebra {
 public:
  virtual ~SizeAlgebra() = default;
  virtual ValueId constant(int64_t value) = 0;
  virtual ValueId scalar(ScalarOp op, ValueId a, ValueId b) = 0;
  virtual std::optional<int64_t> known_int(ValueId value) = 0;
  // True when a and b are equal sizes, or may be taken to be (a guard was recorded).
  virtual bool equal(ValueId a, ValueId b) = 0;
  // The factors of a size that is a product, or the size alone.
  virtual void factors(ValueId size, std::vector<ValueId>* out) = 0;
  // A size that only the run will tell.
  virtual ValueId fresh() = 0;
};

// Type of result `index`. Raises tsc::Error as the op itself would: for known sizes with the very text
// of the reference kernel, for unknown ones naming the op and both sizes.
Type infer_type(SizeAlgebra& algebra, Op op, std::span<const Type* const> tensors, std::span<const ValueId> scalars,
                const OpAttributes& attributes, int index = 0);

// How many of an op's first scalars are no sizes: the value of full and pad, seed and offset of random bits.
size_t free_scalars(Op op);

// The attributes that matter to the op; others at their defaults, so that equal ops compare equal.
OpAttributes normal_attributes(Op op, const OpAttributes& attributes);

}  // namespace tsc::jit
