#include "jit/autodiff/rules.h"

#include "jit/autodiff/rules_support.h"

namespace tsc::jit {
namespace {

constexpr uint8_t X = kSavesX, Y = kSavesY, R = kSavesR, S = kSavesS;

constexpr GradientRow kRows[] = {
#define GRADIENT(op, rule, x, y, z) {Op::op, rule, {x, y, z}},
#include "jit/autodiff/rules.def"
};

constexpr Op kOps[] = {
#define OP(name, ...) Op::name,
#include "runtime/ops/ops.def"
};

constexpr bool rows_match_ops() {
  for (size_t i = 0; i < std::size(kRows) && i < std::size(kOps); ++i)
    if (kRows[i].op != kOps[i]) return false;
  return true;
}
static_assert(std::size(kRows) == std::size(kOps), "every op of ops.def needs a row in rules.def");
static_assert(rows_match_ops(), "rules.def follows the order of ops.def");

}  // namespace

const GradientRow& gradient_row(Op op) { return kRows[static_cast<size_t>(op)]; }

uint8_t saved_set(Op op, std::span<const bool> wanted) {
  uint8_t set = 0;
  const GradientRow& row = gradient_row(op);
  for (size_t i = 0; i < wanted.size() && i < 3; ++i)
    if (wanted[i]) set |= row.saves[i];
  return set;
}

}  // namespace tsc::jit
