#pragma once
// Reverse mode of Loop: its turns backwards, in a loop that counts down. A turn's backward is that of a region of its
// own (split.h), which is given what the turn was: the number, values from outside, and rows of tensors that the loop
// stacks for it. Sums go on from turn to turn, term by term in the order of the eager tape. The last turns stand in
// front of the loop, written out, as long as fewer gradients arrive at them than at the turns before. Knows regions;
// must not know where the gradients go in the end.
#include "jit/autodiff/gradient.h"
#include "jit/autodiff/sliced_gradient.h"

namespace tsc::jit {

// Turns that are written out at most: loops whose gradients are asked for have two more at least.
inline constexpr int kMostTurnsWrittenOut = 2;

// The sums of the terms that have arrived at values outside of the loop.
class GradientSums {
 public:
  // Whether a gradient is to come to that tensor.
  virtual bool needed(ValueId value) const = 0;
  // kNoValue: nothing has arrived.
  virtual ValueId so_far(ValueId value) = 0;
  // Whether a term of this region has, in any run; what other nodes have contributed is not known.
  virtual bool has_arrived(ValueId value) = 0;
  // The Bool value by which terms of this region have arrived in some runs alone; kNoValue: in all of them, or in none.
  virtual ValueId condition(ValueId value) = 0;
  // Whether what has arrived is certainly one term, and no sum of several; whether it has come from behind the region,
  // and nothing else.
  virtual bool is_one_term(ValueId value) = 0;
  virtual bool is_from_behind(ValueId value) = 0;
  // `gradient` holds what has arrived, too. With a condition it is a negative zero, which changes no sum, or what other
  // nodes have contributed, where the condition does not hold.
  virtual void set(ValueId value, ValueId gradient, ValueId condition = kNoValue) = 0;
  // A term that joins what has arrived. With a condition it is none, and may be anything, where that does not hold.
  virtual void add(ValueId value, ValueId gradient, ValueId condition) = 0;
  virtual void add_slice(ValueId whole, const SlicePart& part, ValueId condition = kNoValue) = 0;

 protected:
  ~GradientSums() = default;
};

// Appends the backward of the loop that is instruction number `loop` of the body, and gives that more stacked results
// where it needs them. Appends to `saving` as append_backward does. NotImplementedError: the loop is none of those
// whose terms keep their order.
void append_loop_backward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
                          std::vector<ValueId>* saving);

}  // namespace tsc::jit
