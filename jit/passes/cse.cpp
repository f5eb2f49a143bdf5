#include "jit/passes/cse.h"

#include "jit/passes/rewrite.h"
#include "runtime/base/hash.h"

namespace tsc::jit {
namespace {

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
    if (instruction.code != Code::Op || instruction.op == Op::copy) return false;
    return !(op_row(instruction.op).flags & kDynamicSize);
  }

  // Everything that tells instructions apart, as bytes.
  static std::string key(const Instruction& instruction) {
    std::string bytes;
    const auto put = [&bytes](uint64_t word) {
      bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
    };
    put(static_cast<uint64_t>(instruction.code) << 32 |
        static_cast<uint64_t>(instruction.op) << 16 |
        static_cast<uint64_t>(instruction.scalar_op) << 8 |
        static_cast<uint64_t>(instruction.number.kind));
    put(static_cast<uint64_t>(instruction.number.i));
    put(static_cast<uint64_t>(instruction.attributes.dtype));
    put(static_cast<uint64_t>(instruction.attributes.mode));
    put(instruction.attributes.axes.size());
    for (int64_t axis : instruction.attributes.axes) put(static_cast<uint64_t>(axis));
    for (ValueId operand : instruction.operands) put(operand);
    return bytes;
  }

  using Results = SmallVector<ValueId, 2>;
  bool both_escape(const Results& first, const Results& second) const {
    for (size_t i = 0; i < first.size(); ++i)
      if (escapes_.contains(first[i]) && escapes_.contains(second[i])) return true;
    return false;
  }

  // What a nested block has added is forgotten behind it.
  void visit(Block& block, bool nested = false) {
    std::vector<std::string> added;
    std::vector<ValueId> guards;
    std::vector<Instruction> kept;
    kept.reserve(block.instructions.size());
    for (Instruction& instruction : block.instructions) {
      replacements_.apply_to(instruction);
      if (mergeable(instruction) && merge(instruction, nested ? &added : nullptr)) continue;
      if (instruction.code == Code::Guard) {
        const ValueId condition = instruction.operands[0];
        if (!passed_.insert(condition).second) {  // it held, or this is not reached
          changed_ = true;
          continue;
        }
        guards.push_back(condition);
      }
      for (const auto& inner : instruction.blocks) visit(*inner, true);
      kept.push_back(std::move(instruction));
    }
    block.instructions = std::move(kept);
    for (const std::string& text : added) seen_.erase(text);
    for (ValueId condition : guards) passed_.erase(condition);
  }

  // The same computation gives the same sizes, whatever values stood for them.
  void same_sizes(ValueId kept, ValueId gone) {
    const ValueList &x = region_.type(kept).sizes, &y = region_.type(gone).sizes;
    for (size_t k = 0; k < x.size(); ++k)
      if (replacements_.resolve(x[k]) != replacements_.resolve(y[k]))
        region_.assumptions.push_back({x[k], y[k]});
  }

  bool merge(const Instruction& instruction, std::vector<std::string>* added) {
    std::string text = key(instruction);
    const auto found = seen_.find(text);
    if (found == seen_.end()) {
      if (added) added->push_back(text);
      seen_.emplace(std::move(text), instruction.results);
      return false;
    }
    const Results& first = found->second;
    if (both_escape(first, instruction.results)) return false;
    for (size_t i = 0; i < first.size(); ++i) {
      replacements_.replace(instruction.results[i], first[i]);
      same_sizes(first[i], instruction.results[i]);
      if (escapes_.contains(instruction.results[i])) escapes_.add(first[i]);
    }
    return true;
  }

  Region& region_;
  Escapes escapes_;
  Replacements replacements_;
  std::unordered_map<std::string, Results> seen_;
  bool changed_ = false;
  std::unordered_set<ValueId> passed_;  // conditions of guards in front, in this block or around it
};

}  // namespace

bool merge_common_subexpressions(Region& region) { return Merger(region).run(); }

}  // namespace tsc::jit
