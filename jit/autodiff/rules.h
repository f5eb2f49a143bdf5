#pragma once
// Gradient rules: for every primitive, how the gradients of its operands follow from the gradients of
// its results. Written once against OpBuilder: the region's autodiff emits them, the eager tape runs
// them at once. Closed over the primitives, so gradients of gradients work.
// Knows OpBuilder and the op table; no region, no tape.
#include <span>

#include "jit/region/builder.h"

namespace tsc::jit {

// One application of a rule. Ids are the builder's.
struct GradientCall {
  OpBuilder& b;
  std::span<const ValueId> operands;  // tensors
  std::span<const ValueId> scalars;
  std::span<const ValueId> results;
  std::span<const ValueId> gradients;  // of the results; kNoValue: none
  const OpAttributes& attributes;
  const bool* wanted;  // for each operand: is its gradient asked for
  ValueId* out;        // for each operand: its gradient, or kNoValue

  ValueId g() const { return gradients[0]; }
  ValueId x() const { return operands[0]; }
  ValueId y() const { return operands[1]; }
  ValueId r() const { return results[0]; }
};

// What a rule reads beside gradients and shapes: a set of operands and results.
enum Saved : uint8_t { kSavesX = 1, kSavesY = 2, kSavesZ = 4, kSavesR = 8, kSavesS = 16 };

struct GradientRow {
  Op op;
  void (*rule)(GradientCall& call);  // null: no gradient flows
  uint8_t saves[3];                  // for the gradient of operand 0, 1, 2
};

const GradientRow& gradient_row(Op op);

// True when a gradient of result `index` can flow to a floating operand.
inline bool is_differentiable(Op op) { return gradient_row(op).rule != nullptr; }

// What must stay alive for the wanted gradients.
uint8_t saved_set(Op op, std::span<const bool> wanted);

}  // namespace tsc::jit
