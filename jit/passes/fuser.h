#pragma once
// The fusion pass at work: units, how ops gather in them, and the region made of them. Private to fuse*.cpp:
// fuse.cpp places ops, fuse_merge.cpp makes one of two groups, fuse_rebuild.cpp writes the kernels.
#include <algorithm>
#include <bit>

#include "jit/passes/fuse.h"
#include "jit/passes/fuse_rules.h"
#include "jit/passes/private_copies.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/raises.h"

namespace tsc::jit {

inline constexpr size_t kMaxMembers = 96;
inline constexpr size_t kMaxOperands = 40;
inline constexpr size_t kNone = SIZE_MAX;  // no unit

// A set of unit numbers; those beyond its words are not in it.
class UnitSet {
 public:
  bool operator[](size_t unit) const { return unit / 64 < words_.size() && (words_[unit / 64] >> unit % 64 & 1); }
  void add(size_t unit) {
    if (unit / 64 >= words_.size()) words_.resize(unit / 64 + 1);
    words_[unit / 64] |= uint64_t{1} << unit % 64;
  }
  void add(const UnitSet& more) {
    if (more.words_.size() > words_.size()) words_.resize(more.words_.size());
    for (size_t i = 0; i < more.words_.size(); ++i) words_[i] |= more.words_[i];
  }
  void remove(size_t unit) {
    if (unit / 64 < words_.size()) words_[unit / 64] &= ~(uint64_t{1} << unit % 64);
  }
  // The units of this set that are not in the other.
  std::vector<size_t> beyond(const UnitSet& other) const {
    std::vector<size_t> units;
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t left = words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0); left; left &= left - 1)
        units.push_back(i * 64 + static_cast<size_t>(std::countr_zero(left)));
    return units;
  }

 private:
  std::vector<uint64_t> words_;
};

struct Unit {
  std::vector<size_t> members;  // instruction numbers, ascending
  bool group = false;           // may become a kernel
  bool alive = true;
  KernelShape shape;
};

class Fuser {
 public:
  explicit Fuser(Region& region)
      : region_(region), copies_(make_private_copies(region)), code_(region.body.instructions), facts_(region),
        raises_(region, facts_), unit_of_code_(code_.size(), kNone), definition_(region.value_count(), kNone),
        users_(region.value_count()) {
    for (size_t i = 0; i < code_.size(); ++i)
      for (ValueId operand : code_[i].operands)
        if (users_[operand].empty() || users_[operand].back() != i) users_[operand].push_back(i);
  }

  std::vector<KernelShape> run() {
    for (size_t i = 0; i < code_.size(); ++i)
      if (!code_[i].results.empty() && copies_.is_copy(code_[i].results[0]))
        copy_instructions_[code_[i].results[0]] = i;
    for (size_t i = 0; i < code_.size(); ++i)
      if (code_[i].results.empty() || !copies_.is_copy(code_[i].results[0])) place(i);
    merge_columns();
    absorb_products();
    return rebuild();
  }

 private:
  const Type& type(ValueId v) const { return region_.type(v); }

  bool same_sizes(const ValueList& a, const ValueList& b) const {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!facts_.equal(a[i], b[i])) return false;
    return true;
  }

  // Sizes of a Row value: S[:k], then nothing or ones.
  bool row_sizes(const ValueList& sizes, const KernelShape& shape) const {
    if (shape.split < 0 || shape.column) return false;
    size_t k = static_cast<size_t>(shape.split);
    if (sizes.size() != k && sizes.size() != shape.sizes.size()) return false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i < k ? !facts_.equal(sizes[i], shape.sizes[i]) : facts_.constant(sizes[i]) != 1) return false;
    }
    return true;
  }

  void attach_copies(size_t instruction, size_t unit) {
    const std::vector<ValueId>* copies = copies_.of(code_[instruction].results[0]);
    if (!copies) return;
    for (ValueId value : *copies) {
      const size_t copy = copy_instructions_.at(value);
      attach_copies(copy, unit);
      take(copy, unit);
      define(copy, unit);
    }
    std::sort(units_[unit].members.begin(), units_[unit].members.end());
  }

  // ---- units ----

  size_t unit_of(ValueId v) const { return definition_[v]; }

  bool depends(size_t unit, size_t on) const { return needs_[unit][on]; }

  void add_need(size_t unit, size_t on) {
    if (unit == on || needs_[unit][on]) return;
    needed_.add(on);
    needs_[unit].add(needs_[on]);
    needs_[unit].add(on);
    if (!needed_[unit]) return;  // nobody inherits it: so it is with every unit that has just begun
    UnitSet more = needs_[on];
    more.add(on);
    for (size_t u = 0; u < units_.size(); ++u)
      if (needs_[u][unit]) needs_[u].add(more);
  }

  size_t new_unit(size_t instruction, bool group) {
    needs_.emplace_back();
    units_.emplace_back();
    units_.back().group = group;
    take(instruction, units_.size() - 1);
    return units_.size() - 1;
  }

  void take(size_t instruction, size_t unit) {
    units_[unit].members.push_back(instruction);
    unit_of_code_[instruction] = unit;
    const Instruction& taken = code_[instruction];
    for (ValueId result : taken.results) definition_[result] = unit;
    if (taken.code != Code::Op || !(op_row(taken.op).flags & kDynamicSize)) return;
    size_t& found = definition_[type(taken.results[0]).sizes[0]];
    if (found == kNone) found = unit;
  }

  // The units whose values an instruction needs: its operands, and the sizes of its results, which exist before these.
  template <class Visit>
  void for_each_producer(size_t instruction, Visit visit) const {
    const auto see = [&](ValueId value) {
      if (const size_t producer = unit_of(value); producer != kNone) visit(producer);
    };
    for (ValueId operand : code_[instruction].operands) see(operand);
    for (ValueId result : code_[instruction].results)
      for (ValueId size : type(result).sizes) see(size);
  }

  void define(size_t instruction, size_t unit) {
    for_each_producer(instruction, [&](size_t producer) { add_need(unit, producer); });
  }

  // ---- placing ops ----

  // What has become part of another unit: nobody asks any more what it needs.
  void remove_unit(size_t unit) {
    units_[unit].alive = false;
    units_[unit].members.clear();
    needs_[unit] = UnitSet();
  }

  void place(size_t i) {
    const Instruction& instruction = code_[i];
    if (instruction.code == Code::Op && can_fuse(region_, instruction)) {
      for (size_t unit : producer_groups(instruction))
        if (join(i, unit)) return;
      if (starts_group(region_, instruction)) {
        const KernelShape shape = starting_shape(region_, instruction);
        if (shape.column && join_columns(i, shape)) return;
        size_t unit = new_unit(i, true);
        units_[unit].shape = shape;
        if (shape.column) column_units_.push_back(unit);
        attach_copies(i, unit);
        return define(i, unit);
      }
    }
    size_t unit = new_unit(i, false);
    define(i, unit);
    keep_order(i, unit);
  }

  // Effects keep the program's order, and what may raise its place among them.
  void keep_order(size_t i, size_t unit) {
    const bool effect = has_effect(code_[i]);
    if (!effect && !raises_.may_raise(code_[i])) return;
    if (last_effect_ != kNone) add_order(unit, last_effect_);
    if (!effect) return raising_.push_back(unit);
    for (size_t other : raising_) add_order(unit, other);
    raising_.clear();
    last_effect_ = unit;
  }
  void add_order(size_t unit, size_t on) {
    add_need(unit, on);
    order_.push_back({unit, on});
  }

  std::vector<size_t> producer_groups(const Instruction& instruction) const {
    std::vector<size_t> found;
    for (ValueId operand : instruction.operands) {
      size_t unit = unit_of(operand);
      bool fresh = unit != kNone && units_[unit].group && std::find(found.begin(), found.end(), unit) == found.end();
      if (fresh) found.push_back(unit);
    }
    // The youngest producer first: its values are still in registers.
    std::sort(found.rbegin(), found.rend());
    return found;
  }

  // A kernel of one row needs its operands in one piece: a view of other strides would be copied first.
  bool is_view(ValueId v) const {
    const size_t unit = unit_of(v);
    if (unit == kNone || units_[unit].group) return false;
    const Instruction& made = code_[units_[unit].members[0]];
    return made.code == Code::Op && made.op != Op::reshape && op_row(made.op).flags & kView;
  }
  bool reads_views(size_t unit, const Instruction& next) const {
    for (ValueId operand : next.operands)
      if (is_view(operand)) return true;
    return reads_views(unit);
  }
  bool reads_views(size_t unit) const {
    for (size_t member : units_[unit].members)
      for (ValueId operand : code_[member].operands)
        if (is_view(operand)) return true;
    return false;
  }

  bool in_group(ValueId v, size_t unit) const { return unit_of(v) == unit; }

  // Whether the op fits the group's space; may fix the split.
  bool fits(const Instruction& instruction, size_t unit, KernelShape* shape) const {
    if (shape->column) return false;
    const ValueList& sizes = type(instruction.results[0]).sizes;
    Op op = instruction.op;
    if (is_reduction(op)) {
      int k = trailing_split(region_, instruction);
      if (k < 0 || !same_sizes(type(instruction.operands[0]).sizes, shape->sizes)) return false;
      if (shape->split >= 0 && shape->split != k) return false;
      shape->split = k;
      return true;
    }
    bool element = same_sizes(sizes, shape->sizes);
    bool row = row_sizes(sizes, *shape);
    if (op == Op::reshape) {
      if (!in_group(instruction.operands[0], unit)) return false;
      const ValueList& from = type(instruction.operands[0]).sizes;
      return (row && row_sizes(from, *shape)) || (element && same_sizes(from, shape->sizes));
    }
    if (op == Op::broadcast)
      return element && in_group(instruction.operands[0], unit) &&
             row_sizes(type(instruction.operands[0]).sizes, *shape) &&
             type(instruction.operands[0]).sizes.size() == shape->sizes.size();
    if (op == Op::full || op == Op::rng_bits) return false;
    if (op == Op::detach || op == Op::copy) {
      if (op == Op::detach && !in_group(instruction.operands[0], unit)) return false;
      return element || row;
    }
    return element || row;
  }

  bool join(size_t i, size_t unit) {
    Unit& group = units_[unit];
    const Instruction& instruction = code_[i];
    KernelShape shape = group.shape;
    if (group.members.size() >= kMaxMembers || operand_count(unit) >= kMaxOperands) return false;
    if (!fits(instruction, unit, &shape)) return false;
    if (shape.split == 0 && reads_views(unit, instruction)) return false;
    if (comes_behind(i, unit)) return false;
    group.shape = shape;
    take(i, unit);
    attach_copies(i, unit);
    define(i, unit);
    for (ValueId operand : instruction.operands) try_merge(unit, operand);
    return true;
  }

  // Whether the instruction, or a private copy it brings along, needs what needs the unit: it cannot be part of it.
  bool comes_behind(size_t i, size_t unit) const {
    bool behind = false;
    for_each_producer(i, [&](size_t producer) { behind = behind || (producer != unit && depends(producer, unit)); });
    for (ValueId operand : code_[i].operands)
      if (!behind && unit_of(operand) == kNone && copies_.is_copy(operand))
        behind = comes_behind(copy_instructions_.at(operand), unit);
    return behind;
  }

  // Two reductions over the same leading axes that read the same tensor read it once.
  bool join_columns(size_t i, const KernelShape& shape) {
    for (size_t unit : column_units_) {
      const Unit& group = units_[unit];
      if (!group.alive || group.shape.split != shape.split) continue;
      if (group.members.size() >= kMaxMembers / 2 || operand_count(unit) >= kMaxOperands / 2) continue;
      if (!same_sizes(group.shape.sizes, shape.sizes)) continue;
      std::vector<ValueId> read;
      external_operands(i, &read);
      bool shares = false, follows = false;
      for (ValueId value : read) {
        for (size_t member : group.members)
          for (ValueId operand : code_[member].operands) shares |= operand == value;
        follows |= unit_of(value) == unit;
      }
      if (!shares || follows || comes_behind(i, unit)) continue;
      take(i, unit);
      attach_copies(i, unit);
      define(i, unit);
      return true;
    }
    return false;
  }

  // Tensors that the instruction and its private copies read.
  void external_operands(size_t i, std::vector<ValueId>* out) const {
    for (ValueId operand : code_[i].operands) {
      if (copies_.is_copy(operand)) external_operands(copy_instructions_.at(operand), out);
      else if (type(operand).kind == ValueKind::Tensor) out->push_back(operand);
    }
  }

  void try_merge(size_t unit, ValueId operand);
  bool are_rows_of(const Unit& rows, const KernelShape& shape) const;
  bool stands_between(size_t unit, size_t other) const;
  bool is_read_elsewhere(size_t unit, size_t other) const;
  void pass_on_needs(size_t unit, size_t other);

  void merge_columns();
  size_t rows_beside(size_t column) const;
  bool can_take_columns(size_t unit, size_t column) const;
  std::vector<ValueId> elements_read(size_t column) const;
  bool is_broadcast(ValueId value) const;
  void unite(size_t unit, size_t column);

  void absorb_products();
  size_t product_of(size_t unit, size_t* reshape) const;
  bool used_only_by(ValueId value, size_t unit) const;

  // What the unit's ops read from outside: tensors, and the number of a `full`. Numbers behind the first operand are
  // sizes, which are no operands of a kernel.
  size_t operand_count(size_t unit) const {
    size_t count = 0;
    for (size_t member : units_[unit].members) {
      const ValueList& operands = code_[member].operands;
      for (size_t i = 0; i < operands.size(); ++i)
        count += (i == 0 || type(operands[i]).kind == ValueKind::Tensor) && !in_group(operands[i], unit);
    }
    return count;
  }

  std::vector<KernelShape> rebuild();
  void find_escapes();
  std::vector<Instruction> broadcasts_outside(const Unit& unit);
  bool used_inside(const Unit& unit, ValueId value) const;
  void emit_group(Unit& unit, std::vector<Instruction>* out, std::vector<KernelShape>* shapes);
  bool worth_a_kernel(const Unit& unit) const;
  using Units = SmallVector<size_t, 8>;
  std::vector<size_t> schedule() const;
  void finish_before_writing(std::vector<Units>* before) const;
  std::vector<size_t> sorted(const std::vector<Units>& before) const;

  Region& region_;
  PrivateCopies copies_;
  std::vector<Instruction>& code_;
  EqualSizes facts_;
  Raises raises_;
  std::vector<Unit> units_;
  std::vector<UnitSet> needs_;  // transitive
  UnitSet needed_;              // by any other unit
  std::vector<bool> escapes_;   // by value
  std::vector<size_t> column_units_;
  size_t last_effect_ = kNone;                    // units
  std::vector<size_t> raising_;                   // since then
  std::vector<std::pair<size_t, size_t>> order_;  // units and those that stay in front of them
  std::vector<size_t> unit_of_code_;              // by instruction; kNone: not placed yet
  std::vector<size_t> definition_;                // by value: the unit of what makes it, or kNone
  std::vector<SmallVector<size_t, 3>> users_;     // by value: instructions
  ValueMap<bool> inside_;                         // the values of the group that is emitted: does another unit use it?
  ValueMap<ValueId> renamed_;                     // and what they are called inside the kernel
  ValueMap<size_t> copy_instructions_;            // a copy's result -> its instruction
};

}  // namespace tsc::jit
