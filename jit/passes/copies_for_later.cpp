#include "jit/passes/copies_for_later.h"

#include <algorithm>
#include <map>
#include <set>

#include "jit/passes/fuse_rules.h"
#include "jit/passes/rewrite.h"
#include "jit/region/op_cost.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

constexpr size_t kMostOps = 16;  // computed again for one value

// A set of levels, ascending: most have one or two.
class Levels {
 public:
  void insert(int level) {
    const auto place = std::lower_bound(levels_.begin(), levels_.end(), level);
    if (place == levels_.end() || *place != level) levels_.insert(static_cast<size_t>(place - levels_.begin()), level);
  }
  void insert(const Levels& more) {
    for (int level : more.levels_) insert(level);
  }
  bool includes(const Levels& others) const { return std::includes(begin(), end(), others.begin(), others.end()); }
  size_t size() const { return levels_.size(); }
  const int* begin() const { return levels_.begin(); }
  const int* end() const { return levels_.end(); }
  bool operator==(const Levels&) const = default;

 private:
  SmallVector<int, 4> levels_;
};

class LaterKernels {
 public:
  LaterKernels(Region& region, PrivateCopies* copies)
      : region_(region), copies_(*copies), code_(region.body.instructions) {}

  void run() {
    find_levels();
    find_in_memory();
    find_late_reads();
    if (late_.empty()) return;
    for (size_t i = code_.size(); i-- > 0;)
      for (ValueId result : code_[i].results) decide(result);
    if (!again_.empty()) emit();
  }

 private:
  bool is_tensor(ValueId value) const { return region_.type(value).kind == ValueKind::Tensor; }
  const Instruction* maker(ValueId value) const {
    const auto found = definition_.find(value);
    return found == definition_.end() ? nullptr : &code_[found->second];
  }
  static bool is_view(const Instruction& made) { return made.code == Code::Op && op_row(made.op).flags & kView; }
  // Outside kernels: what reads and writes memory whatever is fused.
  bool is_barrier(const Instruction& instruction) const {
    if (instruction.code == Code::Const || instruction.code == Code::Scalar) return false;
    return !is_view(instruction) && !(instruction.code == Code::Op && can_fuse(region_, instruction));
  }
  bool is_big(ValueId value, ValueId beside) const {
    return region_.type(value).sizes.size() >= region_.type(beside).sizes.size();
  }
  int64_t bytes(ValueId value) const { return dtype_size(region_.type(value).dtype); }

  ValueId root(ValueId value) const {
    const Instruction* made = maker(value);
    while (made && is_view(*made)) {
      value = made->operands[0];
      made = maker(value);
    }
    return value;
  }

  // The level of an instruction: how many barriers stand in front of it, on the longest path.
  void find_levels() {
    level_.resize(code_.size());
    for (size_t i = 0; i < code_.size(); ++i) {
      for (ValueId result : code_[i].results) definition_[result] = i;
      for (ValueId operand : code_[i].operands) {
        const auto found = definition_.find(operand);
        if (found == definition_.end() || !is_tensor(operand)) continue;
        const size_t from = found->second;
        level_[i] = std::max(level_[i], level_[from] + (is_barrier(code_[from]) ? 1 : 0));
      }
    }
  }
  int level_of(ValueId value) const {
    const auto found = definition_.find(value);
    return found == definition_.end() ? 0 : level_[found->second];
  }

  void find_in_memory() {
    for (ValueId input : region_.body.parameters) in_memory_.insert(input);
    for (const Instruction& instruction : code_) {
      const bool barrier = is_barrier(instruction);
      // A product's result stays in the tiles of its epilogue.
      const bool product = instruction.code == Code::Op && instruction.op == Op::dot;
      const bool reduction = instruction.code == Code::Op && is_reduction(instruction.op);
      if ((barrier && !product) || reduction) in_memory_.insert(instruction.results.begin(), instruction.results.end());
      if (!barrier) continue;
      for (ValueId operand : instruction.operands)
        if (is_tensor(operand)) in_memory_.insert(root(operand));
    }
  }

  // An instruction that may have private copies.
  bool takes_copies(const Instruction& instruction) const {
    return instruction.code == Code::Op && can_fuse(region_, instruction) && starts_group(region_, instruction);
  }

  void find_late_reads() {
    for (size_t i = 0; i < code_.size(); ++i) {
      if (is_barrier(code_[i]) || is_view(code_[i])) continue;
      for (ValueId operand : code_[i].operands) {
        if (!is_tensor(operand)) continue;
        const ValueId base = root(operand);
        reads_[base].insert(level_[i]);
        if (in_memory_.count(base) || level_of(base) >= level_[i]) continue;
        // Through a view, or for a reader without copies of its own, the value is needed in one piece.
        if (base != operand || !takes_copies(code_[i])) in_memory_.insert(base);
        else late_[base].insert(level_[i]);
      }
    }
    for (ValueId value : in_memory_) late_.erase(value);
  }

  struct Again {
    size_t ops = 0;
    std::set<ValueId> leaves;
  };

  bool read_at(ValueId value, int level) const {
    const auto found = reads_.find(value);
    return found != reads_.end() && std::binary_search(found->second.begin(), found->second.end(), level);
  }

  // The ops and the values in memory that make the value. False: something in it is not cheap, where the
  // value's own op need not be when it is `moved`, not repeated.
  bool expand(ValueId value, const Levels& levels, bool moved, Again* again) const {
    const Instruction* made = maker(value);
    if (!made || made->code != Code::Op || !can_fuse(region_, *made)) return false;
    if (made->op == Op::full) return true;
    if (!is_elementwise(made->op) || !(moved || is_cheap(made->op))) return false;
    if (++again->ops > kMostOps) return false;
    for (size_t i = 0; i < tensor_count(*made); ++i) {
      const ValueId operand = made->operands[i], base = root(operand);
      const auto late = late_.find(base);
      const bool kept = late != late_.end() && late->second.includes(levels);
      if (in_memory_.count(base) || (kept && base == operand)) {
        again->leaves.insert(base);
      } else if (base != operand || !expand(base, levels, false, again)) {
        return false;
      }
    }
    return true;
  }

  void decide(ValueId value) {
    const auto found = late_.find(value);
    if (found == late_.end() || in_memory_.count(value)) return;
    const Levels levels = found->second;
    const bool moved = levels.size() == 1 && reads_.at(value) == levels;  // nobody else reads it
    Again again;
    bool worth = expand(value, levels, moved, &again);
    if (worth) {
      int64_t cost = 0;
      for (ValueId leaf : again.leaves) {
        if (!is_big(leaf, value)) continue;
        for (int level : levels)
          if (!read_at(leaf, level)) cost += bytes(leaf);
      }
      worth = cost < bytes(value) * static_cast<int64_t>(1 + levels.size());
    }
    if (!worth) {
      in_memory_.insert(value);
      return;
    }
    again_.insert(value);
    for (ValueId leaf : again.leaves) reads_[leaf].insert(levels);
  }

  void emit() {
    struct Use {
      ValueId* operand;
      ValueId copy;
    };
    std::vector<Use> changed;  // at the end: what is copied is what was there
    for (size_t i = 0; i < code_.size(); ++i) {
      if (!takes_copies(code_[i])) continue;
      for (ValueId& operand : code_[i].operands)
        if (again_.count(operand) && level_of(operand) < level_[i])
          changed.push_back({&operand, copy(operand, level_[i], i)});
    }
    for (const Use& use : changed) *use.operand = use.copy;
    copied_in_front_.put_into(code_);
  }

  // For the instruction with the number `reader`.
  ValueId copy(ValueId value, int level, size_t reader) {
    const auto known = copied_.find({value, level});
    if (known != copied_.end()) return known->second;
    Instruction made = clone_instruction(*maker(value));
    for (size_t i = 0; i < tensor_count(made); ++i)
      if (!in_memory_.count(root(made.operands[i]))) made.operands[i] = copy(made.operands[i], level, reader);
    made.results[0] = region_.add_value(Type(region_.type(value)));
    const ValueId result = made.results[0];
    copies_.add(code_[reader].results[0], result);
    copied_[{value, level}] = result;
    copied_in_front_.add(reader, std::move(made));
    return result;
  }

  Region& region_;
  PrivateCopies& copies_;
  std::vector<Instruction>& code_;
  ValueMap<size_t> definition_;
  std::vector<int> level_;
  ValueSet in_memory_;      // whatever is decided here
  ValueMap<Levels> reads_;  // of a value in memory: the levels that read it
  ValueMap<Levels> late_;   // levels behind a value's own that read it
  ValueSet again_;          // computed again at each of those
  std::map<std::pair<ValueId, int>, ValueId> copied_;
  Insertions copied_in_front_;
};

}  // namespace

void copy_for_later_kernels(Region& region, PrivateCopies* copies) { LaterKernels(region, copies).run(); }

}  // namespace tsc::jit
