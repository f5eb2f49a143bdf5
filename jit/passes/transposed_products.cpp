#include "jit/passes/transposed_products.h"

#include <unordered_set>

#include "jit/passes/rewrite.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/liveness.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

class Turner {
 public:
  explicit Turner(Region& region) : region_(region), facts_(region), uses_(region.value_count()) {
    for (const Instruction& instruction : region.body.instructions)
      for_each_use(instruction, [&](ValueId value) { ++uses_[value]; });
  }

  bool run() {
    for_each_block(region_, [&](Block& block) { visit(block); });
    return changed_;
  }

 private:
  void visit(Block& block) {
    definition_.clear();
    dead_.clear();
    std::vector<Instruction> kept;
    kept.reserve(block.instructions.size());
    for (Instruction& instruction : block.instructions) {
      const bool turned = instruction.code == Code::Op && instruction.op == Op::permute && turn(instruction, &kept);
      changed_ |= turned;
      if (instruction.code == Code::Op)
        for (ValueId result : instruction.results) definition_[result] = kept.size();
      kept.push_back(std::move(instruction));
    }
    block.instructions = std::move(kept);
    if (dead_.empty()) return;
    Kept alive(block.instructions);
    for (size_t i = 0; i < block.instructions.size(); ++i)
      if (!dead_.count(i)) alive.keep(i);
    alive.finish();
  }

  const Instruction* maker(const std::vector<Instruction>& kept, ValueId value, Op op) const {
    const auto found = definition_.find(value);
    if (found == definition_.end() || kept[found->second].op != op) return nullptr;
    return &kept[found->second];
  }
  static bool swaps_last_two(const Instruction& permute) {
    const Sizes& axes = permute.attributes.axes;
    const size_t rank = axes.size();
    for (size_t i = 0; i + 2 < rank; ++i)
      if (axes[i] != static_cast<int64_t>(i)) return false;
    return rank >= 2 && axes[rank - 1] == static_cast<int64_t>(rank) - 2;
  }

  // permute(reshape(a @ b)) becomes reshape(b' @ a'). Only where `a` is a transposed matrix itself: then no
  // operand is further from the layout that the product reads than before.
  bool turn(Instruction& permute, std::vector<Instruction>* kept) {
    const ValueId flat = permute.operands[0];
    const Instruction* reshape = swaps_last_two(permute) ? maker(*kept, flat, Op::reshape) : nullptr;
    if (!reshape || uses_[flat] != 1 || region_.type(flat).sizes.size() != 2) return false;
    const ValueId product = reshape->operands[0];
    const Instruction* dot = maker(*kept, product, Op::dot);
    if (!dot || uses_[product] != 1) return false;
    const ValueList sizes = region_.type(product).sizes;
    if (facts_.constant(sizes[0]) != 1 || !facts_.equal(sizes[1], region_.type(flat).sizes[0])) return false;
    const Instruction* left = maker(*kept, dot->operands[0], Op::permute);
    if (!left || !swaps_last_two(*left)) return false;

    const ValueId a = dot->operands[0], b = dot->operands[1];
    const OpAttributes attributes = dot->attributes;
    const uint32_t origin = dot->origin;
    Type type = region_.type(product);
    type.sizes = {sizes[0], sizes[2], sizes[1]};
    dead_.insert(definition_.at(flat));
    dead_.insert(definition_.at(product));
    --uses_[a], --uses_[b];
    const ValueId first = transposed(b, origin, kept), second = transposed(a, origin, kept);
    const ValueId turned = region_.add_value(type);
    append(Op::dot, {first, second}, turned, attributes, origin, kept);
    permute.op = Op::reshape;
    permute.attributes = {};
    permute.operands = {turned, sizes[2], sizes[1]};
    return true;
  }

  ValueId transposed(ValueId value, uint32_t origin, std::vector<Instruction>* kept) {
    if (const Instruction* made = maker(*kept, value, Op::permute); made && swaps_last_two(*made)) {
      // The last reader of the permuted matrix takes over its use of the plain one.
      const bool takes_over = uses_[value] == 0 && dead_.insert(definition_.at(value)).second;
      if (!takes_over) ++uses_[made->operands[0]];
      return made->operands[0];
    }
    ++uses_[value];
    Type type = region_.type(value);
    std::swap(type.sizes[1], type.sizes[2]);
    OpAttributes attributes;
    attributes.axes = {0, 2, 1};
    const ValueId result = region_.add_value(type);
    append(Op::permute, {value}, result, attributes, origin, kept);
    return result;
  }

  void append(Op op, ValueList operands, ValueId result, const OpAttributes& attributes, uint32_t origin,
              std::vector<Instruction>* kept) {
    Instruction instruction;
    instruction.code = Code::Op;
    instruction.op = op;
    instruction.operands = std::move(operands);
    instruction.results = {result};
    instruction.attributes = attributes;
    instruction.origin = origin;
    uses_.resize(region_.value_count(), 1);
    definition_[result] = kept->size();
    kept->push_back(std::move(instruction));
  }

  Region& region_;
  EqualSizes facts_;
  std::vector<uint32_t> uses_;
  ValueMap<size_t> definition_;      // of the block's values, among those kept
  std::unordered_set<size_t> dead_;  // of those kept: what nobody reads any more
  bool changed_ = false;
};

}  // namespace

bool turn_transposed_products(Region& region) { return Turner(region).run(); }

}  // namespace tsc::jit
