#include "jit/passes/simplify.h"

#include <cmath>

#include "jit/passes/rewrite.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/scalar_eval.h"

namespace tsc::jit {
namespace {

class Simplifier {
 public:
  explicit Simplifier(Region& region) : region_(region), facts_(region), escapes_(region) {}

  bool run() {
    visit(region_.body);
    replacements_.apply_to(region_);
    return changed_ || !replacements_.empty();
  }

 private:
  void visit(Block& block) {
    Kept kept(block.instructions);
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      Instruction& instruction = block.instructions[i];
      replacements_.apply_to(instruction);
      if (instruction.code == Code::Const) constants_[instruction.results[0]] = instruction.number;
      if (instruction.code == Code::Guard && is_true(instruction.operands[0])) {
        changed_ = true;
        continue;
      }
      if (instruction.code == Code::Scalar) fold(instruction);
      if (instruction.code == Code::Op && simplify_op(instruction)) continue;
      for (const auto& inner : instruction.blocks) visit(*inner);
      const Instruction& stays = kept.keep(i);
      if (stays.code == Code::Op && stays.results.size() == 1) definitions_[stays.results[0]] = &stays;
    }
    kept.finish();
  }

  bool is_true(ValueId value) const {
    const auto found = constants_.find(value);
    return found != constants_.end() && found->second.i;
  }

  void fold(Instruction& instruction) {
    std::vector<Scalar> numbers;
    for (ValueId operand : instruction.operands) {
      const auto found = constants_.find(operand);
      if (found == constants_.end()) return;
      numbers.push_back(found->second);
    }
    try {
      instruction.number = eval_scalar(instruction.scalar_op, numbers);
    } catch (const Error&) {
      return;  // it raises when it runs
    }
    instruction.code = Code::Const;
    instruction.operands.clear();
    constants_[instruction.results[0]] = instruction.number;
    changed_ = true;
  }

  const Instruction* definition(ValueId value, Op op) const {
    const auto found = definitions_.find(value);
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }
  const Type& type(ValueId value) const { return region_.type(value); }
  bool same_sizes(ValueId a, ValueId b) const {
    const ValueList &x = type(a).sizes, &y = type(b).sizes;
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
      if (!facts_.equal(x[i], y[i])) return false;
    return true;
  }
  // Every element is this constant (through broadcasts).
  bool is_full_of(ValueId value, double number) const {
    while (const Instruction* view = definition(value, Op::broadcast)) value = view->operands[0];
    const Instruction* full = definition(value, Op::full);
    if (!full) return false;
    const auto found = constants_.find(full->operands[0]);
    if (found == constants_.end()) return false;
    const double held = found->second.as_float();
    return held == number && std::signbit(held) == std::signbit(number);
  }

  // True when the instruction is gone.
  bool simplify_op(Instruction& instruction) {
    collapse(instruction);
    const ValueId same = equivalent(instruction);
    if (same != kNoValue) {
      const ValueId result = instruction.results[0];
      const bool view = op_row(instruction.op).flags & kView;
      if (view || !escapes_.contains(result)) {
        if (escapes_.contains(result)) escapes_.add(same);
        replacements_.replace(result, same);
        return true;
      }
      // Its memory is seen: it stays a tensor of its own.
      if (instruction.op != Op::copy) {
        instruction.op = Op::copy;
        instruction.operands = {same};
        instruction.attributes = {};
        changed_ = true;
      }
    }
    return false;
  }

  // A view of a view of the same kind looks at the inner one's operand.
  void collapse(Instruction& instruction) {
    const Op op = instruction.op;
    if (op != Op::reshape && op != Op::permute && op != Op::broadcast) return;
    const ValueId operand = instruction.operands[0];
    if (const Instruction* full = definition(operand, Op::full)) {
      if (!escapes_.contains(instruction.results[0])) return become_full(instruction, *full);
    }
    const Instruction* inner = definition(operand, op);
    if (!inner) return;
    // Both copies of a reshape of memory that is seen could become one view: leave them.
    if (op == Op::reshape && escapes_.contains(instruction.results[0])) return;
    if (op == Op::permute) {
      Sizes axes;
      for (int64_t axis : instruction.attributes.axes) axes.push_back(inner->attributes.axes[axis]);
      instruction.attributes.axes = axes;
    }
    instruction.operands[0] = inner->operands[0];
    changed_ = true;
  }
  void become_full(Instruction& instruction, const Instruction& full) {
    instruction.op = Op::full;
    instruction.attributes = full.attributes;
    instruction.operands = {full.operands[0]};
    for (ValueId size : type(instruction.results[0]).sizes) instruction.operands.push_back(size);
    changed_ = true;
  }

  // A value with the same elements, or kNoValue.
  ValueId equivalent(const Instruction& instruction) const {
    const ValueList& operands = instruction.operands;
    if (operands.empty()) return kNoValue;
    const ValueId x = operands[0], result = instruction.results[0];
    switch (instruction.op) {
      case Op::detach:
      case Op::save_for_backward:
      case Op::copy: return x;
      case Op::cast: return type(x).dtype == type(result).dtype ? x : kNoValue;
      case Op::reshape:
      case Op::broadcast: return same_sizes(x, result) ? x : kNoValue;
      case Op::permute: return is_identity(instruction.attributes.axes) ? x : kNoValue;
      case Op::slice: return is_whole(instruction) ? x : kNoValue;
      case Op::mul:
        if (is_full_of(operands[1], 1)) return x;
        return is_full_of(x, 1) ? operands[1] : kNoValue;
      case Op::div: return is_full_of(operands[1], 1) ? x : kNoValue;
      case Op::sub: return is_full_of(operands[1], 0) ? x : kNoValue;
      case Op::add:
        if (is_floating(type(x).dtype)) return is_full_of(operands[1], -0.0) ? x : kNoValue;
        return is_full_of(operands[1], 0) ? x : is_full_of(x, 0) ? operands[1] : kNoValue;
      case Op::neg: {
        const Instruction* inner = definition(x, Op::neg);
        return inner ? inner->operands[0] : kNoValue;
      }
      case Op::select: return operands[1] == operands[2] ? operands[1] : kNoValue;
      default: return kNoValue;
    }
  }
  static bool is_identity(const Sizes& axes) {
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != static_cast<int64_t>(i)) return false;
    return true;
  }
  bool is_whole(const Instruction& instruction) const {
    const ValueList& operands = instruction.operands;
    const ValueId size = type(operands[0]).sizes[instruction.attributes.axes[0]];
    return facts_.constant(operands[1]) == 0 && facts_.constant(operands[3]) == 1 && facts_.equal(operands[2], size);
  }

  Region& region_;
  EqualSizes facts_;
  Escapes escapes_;
  Replacements replacements_;
  ValueMap<Scalar> constants_;
  ValueMap<const Instruction*> definitions_;  // ops of one result, where they stand now
  bool changed_ = false;
};

}  // namespace

bool simplify(Region& region) { return Simplifier(region).run(); }

}  // namespace tsc::jit
