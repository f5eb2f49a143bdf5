#include "jit/region/stores.h"

#include <algorithm>

#include "jit/region/liveness.h"
#include "jit/region/raises.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {
namespace {

class StoreFinder {
 public:
  explicit StoreFinder(const Region& region) : region_(region), code_(region.body.instructions) {}

  StoresIntoInputs run() {
    const auto is_store = [](const Instruction& one) { return one.code == Code::Op && one.op == Op::store; };
    const auto is_write = [](const Instruction& one) { return one.code == Code::WriteBack; };
    if (std::none_of(code_.begin(), code_.end(), is_store) || std::none_of(code_.begin(), code_.end(), is_write))
      return {};
    follow_views();
    find_raising();
    for (size_t i = 0; i < code_.size(); ++i) {
      if (is_write(code_[i])) follow(i);
    }
    return std::move(found_);
  }

 private:
  // The tensor that a value is a view of, and where the views of a tensor are used last.
  void follow_views() {
    for (size_t i = 0; i < code_.size(); ++i) {
      const Instruction& one = code_[i];
      const bool is_view = one.code == Code::Op && op_row(one.op).flags & kView;
      for (ValueId result : one.results) {
        made_[result] = i;
        base_[result] = is_view ? base_of(one.operands[0]) : result;
      }
      for_each_use(one, [&](ValueId used) {
        const bool is_target = one.code == Code::WriteBack && used == one.operands[0] && used != one.operands[1];
        if (!is_target) last_use_[base_of(used)] = i;
      });
    }
  }
  ValueId base_of(ValueId value) const {
    const auto found = base_.find(value);
    return found == base_.end() ? value : found->second;
  }

  void find_raising() {
    const EqualSizes facts(region_);
    const Raises raises(region_, facts);
    raising_in_front_.resize(code_.size() + 1);
    for (size_t i = 0; i < code_.size(); ++i)
      raising_in_front_[i + 1] = raising_in_front_[i] + raises.may_leave_early(code_[i]);
  }

  // From a write back through the versions that it ends, as long as each is made of the one before alone. Memory that
  // is written stays written: nothing behind the first such store may raise in front of the write.
  void follow(size_t write) {
    const ValueId input = code_[write].operands[0];
    std::vector<const Instruction*> chain;
    for (ValueId version = code_[write].operands[1]; made_.count(version);) {
      const size_t place = made_.at(version);
      const Instruction& store = code_[place];
      if (store.code != Code::Op || store.op != Op::store || place > write) return;
      if (raising_in_front_[write] != raising_in_front_[place + 1]) return;
      const ValueId before = store.operands[0];
      if (base_of(before) != before) return;
      const auto last = last_use_.find(before);
      if (last != last_use_.end() && last->second > place) return;
      chain.push_back(&store);
      const auto written = made_.find(before);
      const bool begins = before == input || (written != made_.end() && found_.count(&code_[written->second]));
      if (begins) {
        for (const Instruction* one : chain) found_[one] = input;
        return;
      }
      version = before;
    }
  }

  const Region& region_;
  const std::vector<Instruction>& code_;
  ValueMap<size_t> made_, last_use_;
  ValueMap<ValueId> base_;
  std::vector<size_t> raising_in_front_;
  StoresIntoInputs found_;
};

}  // namespace

StoresIntoInputs find_stores_into_inputs(const Region& region) { return StoreFinder(region).run(); }

void store_in_place(const Tensor& x, const Tensor& y, std::span<const Scalar> scalars) {
  const size_t rank = y.sizes().size();
  Sizes sizes, strides;
  for (size_t i = 0; i < rank; ++i) {
    sizes.push_back(scalars[1 + i].i);
    strides.push_back(scalars[1 + rank + i].i);
  }
  x.storage()->prepare_write();
  copy_into(view_as_strided(x, sizes, strides, x.offset() + scalars[0].i), y);
}

}  // namespace tsc::jit
