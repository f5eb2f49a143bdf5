#include "interpreter/capture/entry/conditions.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "interpreter/capture/program/turn_conditions.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/scalar_eval.h"

namespace tsc::interp {

using jit::ScalarOp;

std::optional<Scalar> Conditions::find_hint(ValueId id) {
  std::vector<jit::Instruction>& all = region_.body.instructions;
  for (; hints_seen_ < all.size(); ++hints_seen_) {
    const jit::Instruction& i = all[hints_seen_];
    if (i.code == jit::Code::Const) hints_[i.results[0]] = i.number;
    if (i.code != jit::Code::Scalar) continue;
    if (stays_nonnegative(i)) nonnegative_.insert(i.results[0]);
    note_bound(i);
    SmallVector<Scalar, 3> operands;
    bool known = true;
    for (ValueId operand : i.operands) {
      auto found = hints_.find(operand);
      if (found == hints_.end()) {
        known = false;
        break;
      }
      operands.push_back(found->second);
    }
    if (!known) continue;
    try {
      hints_[i.results[0]] = jit::eval_scalar(i.scalar_op, operands);
    } catch (const Error&) {
      // Raises at run time; it has no value to assume.
    }
  }
  const auto found = hints_.find(id);
  if (found != hints_.end()) return found->second;
  if (!turn_conditions_.is_open() || region_.type(id).kind != jit::ValueKind::Bool) return std::nullopt;
  const std::optional<bool> always = turn_conditions_.decided(id);
  return always ? std::optional(Scalar::of_bool(*always)) : std::nullopt;
}

bool Conditions::condition_holds(ValueId condition) {
  if (builder_.depth_of(condition) > 0) return turn_conditions_.assume_always(condition);
  std::optional<Scalar> now = hint(condition);
  if (!now || now->i == 0) return false;
  if (!builder_.known(condition)) holding_.insert(condition);
  return true;
}

bool Conditions::are_input_sizes(ValueId a, ValueId b) const { return input_sizes_.count(a) && input_sizes_.count(b); }

ValueId Conditions::combined(ScalarOp op, ValueId a, ValueId b) {
  const ValueId operands[] = {a, b};
  return builder_.scalar(op, operands);
}

bool Conditions::is_never_negative(ValueId number) const {
  const std::optional<int64_t> known = builder_.known_int(number);
  return known ? *known >= 0 : nonnegative_.count(number) != 0;
}

// What is made of sizes of tensors without subtracting.
bool Conditions::stays_nonnegative(const jit::Instruction& scalar) const {
  const auto holds = [&](size_t k) { return is_never_negative(scalar.operands[k]); };
  switch (scalar.scalar_op) {
    case ScalarOp::add:
    case ScalarOp::mul:
    case ScalarOp::minimum:
    case ScalarOp::floor_div: return holds(0) && holds(1);
    case ScalarOp::maximum: return holds(0) || holds(1);
    case ScalarOp::bool_to_int: return true;
    default: return false;
  }
}

std::optional<int64_t> Conditions::bound(ValueId number) const {
  if (const std::optional<int64_t> known = builder_.known_int(number)) {
    if (*known == std::numeric_limits<int64_t>::min()) return std::nullopt;
    return std::abs(*known);
  }
  const auto found = bounds_.find(number);
  return found == bounds_.end() ? std::nullopt : std::optional(found->second);
}

bool Conditions::is_bounded(ValueId number, int64_t most) const {
  const std::optional<int64_t> known = bound(number);
  return known && *known <= most;
}

void Conditions::note_bound(const jit::Instruction& scalar) {
  if (bounds_.empty() || region_.type(scalar.results[0]).kind != jit::ValueKind::Int) return;
  SmallVector<int64_t, 3> of;
  for (ValueId operand : scalar.operands) {
    const std::optional<int64_t> known = bound(operand);
    if (!known) return;
    of.push_back(*known);
  }
  int64_t most = 0;
  switch (scalar.scalar_op) {
    case ScalarOp::add:
    case ScalarOp::sub:
      if (__builtin_add_overflow(of[0], of[1], &most)) return;
      break;
    case ScalarOp::mul:
      if (__builtin_mul_overflow(of[0], of[1], &most)) return;
      break;
    case ScalarOp::minimum:
    case ScalarOp::maximum: most = std::max(of[0], of[1]); break;
    case ScalarOp::neg:
    case ScalarOp::abs: most = of[0]; break;
    default: return;
  }
  bounds_[scalar.results[0]] = most;
}

// False: only running can tell.
bool Conditions::is_nonnegative_at_entry(ValueId size) {
  if (builder_.known_int(size)) return true;  // the builder looks at what is known
  if (!hint(size) && !turn_conditions_.is_linear(size)) return false;
  if (nonnegative_.count(size)) return true;
  if (!assume_at_entry(combined(ScalarOp::le, builder_.constant(int64_t{0}), size))) return false;
  nonnegative_.insert(size);
  return true;
}

bool Conditions::assume_below(ValueId low, ValueId high) {
  if (builder_.known_equal(low, high)) return true;
  const ValueId holds = combined(ScalarOp::le, low, high);
  const std::optional<Scalar> known = builder_.known(holds);
  return known ? known->i != 0 : assume_at_entry(holds);
}

// Between -most and most.
bool Conditions::assume_within(ValueId number, int64_t most) {
  if (const std::optional<int64_t> known = builder_.known_int(number)) return *known >= -most && *known <= most;
  const std::optional<Scalar> now = hint(number);
  if (is_bounded(number, most)) return true;
  if (now ? now->i > most || now->i < -most : !turn_conditions_.is_linear(number)) return false;
  return (nonnegative_.count(number) || assume_below(builder_.constant(-most), number)) &&
         assume_below(number, builder_.constant(most));
}

// Scalars that the entry conditions need, then the conditions, then the program. All of it is pure and
// depends on inputs only, so it may stand in front. Sizes of inputs that are assumed to be equal have one name.
void Conditions::check_at_entry() {
  if (jit::share_input_sizes(region_) && holding_.empty()) {
    const ValueId size = *input_sizes_.begin();  // the guard through which inputs that do not agree leave
    const ValueId operands[] = {size, size};
    jit::Instruction& same = region_.body.instructions.emplace_back();
    same.code = jit::Code::Scalar;
    same.scalar_op = jit::ScalarOp::eq;
    same.operands = jit::ValueList(operands);
    same.results.push_back(region_.add_value({jit::ValueKind::Bool, {}, {}}));
    holding_.insert(same.results[0]);
  }
  if (holding_.empty()) return;
  ExitPlan miss;
  miss.form = ExitPlan::Form::Miss;
  plan_.exits.insert(plan_.exits.begin(), std::move(miss));
  std::vector<jit::Instruction> all = std::move(region_.body.instructions);
  std::vector<size_t> definition(region_.value_count(), all.size());  // by value
  for (size_t i = 0; i < all.size(); ++i)
    for (ValueId result : all[i].results) definition[result] = i;
  std::vector<bool> early(all.size());
  std::vector<ValueId> work(holding_.begin(), holding_.end());
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    const size_t found = definition[id];
    if (found == all.size() || early[found]) continue;
    early[found] = true;
    for (ValueId operand : all[found].operands) work.push_back(operand);
  }
  std::vector<jit::Instruction> ordered;
  ordered.reserve(all.size() + holding_.size());
  for (size_t i = 0; i < all.size(); ++i)
    if (early[i]) ordered.push_back(std::move(all[i]));
  for (ValueId condition : holding_) {
    jit::Instruction guard;
    guard.code = jit::Code::Guard;
    guard.operands.push_back(condition);
    guard.id = 0;
    ordered.push_back(std::move(guard));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (early[i]) continue;
    if (all[i].code == jit::Code::Exit || all[i].code == jit::Code::Guard) ++all[i].id;
    ordered.push_back(std::move(all[i]));
  }
  region_.body.instructions = std::move(ordered);
}

}  // namespace tsc::interp
