#include "jit/region/liveness.h"

namespace tsc::jit {

class LastUseFinder {
 public:
  explicit LastUseFinder(const Region& region) : region_(region), owner_(region.value_count()) {}

  LastUses run() {
    visit(region_.body);
    return std::move(uses_);
  }

 private:
  void visit(const Block& block) {
    const uint32_t number = ++blocks_;
    const auto own = [&](ValueId value) {
      if (region_.type(value).kind == ValueKind::Tensor) owner_[value] = number;
    };
    for (ValueId parameter : block.parameters) own(parameter);
    for (const Instruction& instruction : block.instructions)
      for (ValueId result : instruction.results) own(result);
    LastUses::OfBlock found;
    found.ends_.resize(block.instructions.size() + 1);
    for (size_t i = block.instructions.size(); i-- > 0;) {
      const auto last_use = [&](ValueId value) {
        if (owner_[value] != number) return;
        owner_[value] = 0;
        found.values_.push_back(value);
      };
      for (ValueId result : block.instructions[i].results) last_use(result);
      for_each_use(block.instructions[i], last_use);
      found.ends_[i] = found.values_.size();
      for (const auto& inner : block.instructions[i].blocks) visit(*inner);
    }
    uses_.blocks_.emplace(&block, std::move(found));
  }

  const Region& region_;
  std::vector<uint32_t> owner_;  // by value: the block that defines it; 0: none, or its last use is known
  uint32_t blocks_ = 0;
  LastUses uses_;
};

LastUses find_last_uses(const Region& region) { return LastUseFinder(region).run(); }

}  // namespace tsc::jit
