#include "jit/passes/cse.h"

#include <unordered_set>

#include "jit/passes/rewrite.h"
#include "runtime/base/hash.h"

namespace tsc::jit {
namespace {

// Instructions that give the same results are equal.
struct Hash {
  size_t operator()(const Instruction* instruction) const {
    uint64_t hash = static_cast<uint64_t>(instruction->code) << 16 | static_cast<uint64_t>(instruction->op) << 8 |
                    static_cast<uint64_t>(instruction->scalar_op);
    for (ValueId operand : instruction->operands) hash = hash_mix(hash, operand);
    for (int64_t axis : instruction->attributes.axes) hash = hash_mix(hash, static_cast<uint64_t>(axis));
    return hash_mix(hash, static_cast<uint64_t>(instruction->number.i));
  }
};
struct Equal {
  bool operator()(const Instruction* a, const Instruction* b) const {
    return a->code == b->code && a->op == b->op && a->scalar_op == b->scalar_op && a->operands == b->operands &&
           a->number.kind == b->number.kind && a->number.i == b->number.i && a->attributes == b->attributes;
  }
};

class Merger {
 public:
  explicit Merger(Region& region) : region_(region), escapes_(region) {}

  bool run() {
    visit(region_.body);
    replacements_.apply_to(region_);
    return changed_ || !replacements_.empty();
  }

 private:
  static bool mergeable(const Instruction& instruction) {
    if (instruction.code == Code::Const || instruction.code == Code::Scalar) return true;
    return instruction.code == Code::Op && instruction.op != Op::copy;
  }

  using Results = SmallVector<ValueId, 2>;
  bool both_escape(const Results& first, const Results& second) const {
    for (size_t i = 0; i < first.size(); ++i)
      if (escapes_.contains(first[i]) && escapes_.contains(second[i])) return true;
    return false;
  }

  // What a nested block has added is forgotten behind it.
  void visit(Block& block, bool nested = false) {
    std::vector<const Instruction*> added;
    std::vector<ValueId> guards;
    Kept kept(block.instructions);
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      Instruction& instruction = block.instructions[i];
      replacements_.apply_to(instruction);
      const bool may_merge = mergeable(instruction);
      if (may_merge && merge(instruction)) continue;
      if (instruction.code == Code::Guard) {
        const ValueId condition = instruction.operands[0];
        if (!passed_.insert(condition)) {  // it held, or this is not reached
          changed_ = true;
          continue;
        }
        guards.push_back(condition);
      }
      for (const auto& inner : instruction.blocks) visit(*inner, true);
      const Instruction& stays = kept.keep(i);
      if (may_merge && seen_.insert(&stays).second && nested) added.push_back(&stays);
    }
    kept.finish();
    for (const Instruction* instruction : added) seen_.erase(instruction);
    for (ValueId condition : guards) passed_.erase(condition);
  }

  // The same computation gives the same sizes, whatever values stood for them.
  void same_sizes(ValueId kept, ValueId gone) {
    const ValueList &x = region_.type(kept).sizes, &y = region_.type(gone).sizes;
    for (size_t k = 0; k < x.size(); ++k)
      if (replacements_.resolve(x[k]) != replacements_.resolve(y[k])) region_.assumptions.push_back({x[k], y[k]});
  }

  bool merge(const Instruction& instruction) {
    const auto found = seen_.find(&instruction);
    if (found == seen_.end()) return false;
    const Results& first = (*found)->results;
    if (both_escape(first, instruction.results)) return false;
    for (size_t i = 0; i < first.size(); ++i) {
      replacements_.replace(instruction.results[i], first[i]);
      if (instruction.code == Code::Op && op_row(instruction.op).flags & kDynamicSize)  // which it defines
        replacements_.replace(region_.type(instruction.results[i]).sizes[0], region_.type(first[i]).sizes[0]);
      same_sizes(first[i], instruction.results[i]);
      if (escapes_.contains(instruction.results[i])) escapes_.add(first[i]);
    }
    return true;
  }

  Region& region_;
  Escapes escapes_;
  Replacements replacements_;
  std::unordered_set<const Instruction*, Hash, Equal> seen_;  // where they stand now
  bool changed_ = false;
  ValueSet passed_;  // conditions of guards in front, in this block or around it
};

}  // namespace

bool merge_common_subexpressions(Region& region) { return Merger(region).run(); }

}  // namespace tsc::jit
