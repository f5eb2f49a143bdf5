#include "jit/passes/fuse.h"

#include "jit/passes/fuser.h"

namespace tsc::jit {

bool Fuser::used_only_by(ValueId value, size_t unit) const {
  return std::all_of(users_[value].begin(), users_[value].end(),
                     [&](size_t user) { return unit_of_code_[user] == unit; });
}

// The instruction number of a matrix product that only this pointwise group reads, row for row; kNone:
// there is none. `reshape` becomes the view through which it is read, or kNone.
size_t Fuser::product_of(size_t unit, size_t* reshape) const {
  const Unit& group = units_[unit];
  if (!group.alive || group.shape.split >= 0 || !worth_a_kernel(group)) return kNone;
  for (size_t k = group.members.size(); k-- > 0;)
    for (ValueId operand : code_[group.members[k]].operands) {
      size_t producer = unit_of(operand);
      if (producer == kNone || producer == unit || units_[producer].members.size() != 1) continue;
      if (!same_sizes(type(operand).sizes, group.shape.sizes)) continue;
      size_t made = units_[producer].members[0];
      *reshape = kNone;
      if (code_[made].code == Code::Op && code_[made].op == Op::reshape) {
        const size_t source = unit_of(code_[made].operands[0]);
        if (source == kNone || units_[source].members.size() != 1) continue;
        *reshape = made;
        made = units_[source].members[0];
      }
      if (code_[made].code != Code::Op || code_[made].op != Op::dot) continue;
      const ValueId product = code_[made].results[0];
      if (!facts_.equal(type(product).sizes[2], group.shape.sizes.back())) continue;
      if (used_only_by(operand, unit) && (product == operand || used_only_by(product, producer))) return made;
    }
  return kNone;
}

// A pointwise group that is the only reader of a matrix product works on its tiles while they are in cache.
void Fuser::absorb_products() {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    size_t reshape = kNone;
    const size_t product = product_of(unit, &reshape);
    if (product == kNone) continue;
    for (size_t instruction : {product, reshape}) {
      if (instruction == kNone) continue;
      const size_t old = unit_of(code_[instruction].results[0]);
      remove_unit(old);
      take(instruction, unit);
    }
    std::sort(units_[unit].members.begin(), units_[unit].members.end());
  }
}

std::vector<KernelShape> fuse(Region& region) { return Fuser(region).run(); }

}  // namespace tsc::jit
