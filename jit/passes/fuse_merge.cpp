// Fusion of groups with groups.
#include <map>
#include <set>

#include "jit/passes/fuser.h"

namespace tsc::jit {

// Whether each value of a pointwise group is one number for a row of that shape.
bool Fuser::are_rows_of(const Unit& rows, const KernelShape& shape) const {
  if (rows.shape.split >= 0 || !row_sizes(rows.shape.sizes, shape)) return false;
  return std::none_of(rows.members.begin(), rows.members.end(),
                      [&](size_t member) { return code_[member].op == Op::rng_bits; });
}

// Another producer with the same space, or of the space's rows, becomes part of the group, if nothing stands
// between the two.
void Fuser::try_merge(size_t unit, ValueId operand) {
  const size_t other = unit_of(operand);
  if (other == kNone || other == unit || !units_[other].group || units_[other].shape.column) return;
  Unit& a = units_[unit];
  Unit& b = units_[other];
  if (!same_sizes(a.shape.sizes, b.shape.sizes) && !are_rows_of(b, a.shape)) return;
  if (a.shape.split >= 0 && b.shape.split >= 0 && a.shape.split != b.shape.split) return;
  if (a.members.size() + b.members.size() > kMaxMembers) return;
  if (std::max(a.shape.split, b.shape.split) == 0 && (reads_views(unit) || reads_views(other))) return;
  if (operand_count(unit) + operand_count(other) > kMaxOperands) return;
  if (needs_[other][unit] || stands_between(unit, other)) return;
  const bool read_elsewhere = is_read_elsewhere(unit, other);
  for (size_t member : b.members) take(member, unit);
  std::sort(a.members.begin(), a.members.end());
  if (a.shape.split < 0) a.shape.split = b.shape.split;
  needs_[unit].add(needs_[other]);
  needs_[unit].remove(other);
  needs_[unit].remove(unit);
  if (read_elsewhere) pass_on_needs(unit, other);
  remove_unit(other);
}

// Whether a unit that needs `other` is needed by `unit`: then one of those whose values it reads does.
bool Fuser::stands_between(size_t unit, size_t other) const {
  for (size_t member : units_[unit].members)
    for (ValueId operand : code_[member].operands) {
      const size_t producer = unit_of(operand);
      if (producer != kNone && producer != unit && producer != other && needs_[producer][other]) return true;
    }
  return false;
}

// Whether anything that is placed, `unit` aside, reads a value of `other`.
bool Fuser::is_read_elsewhere(size_t unit, size_t other) const {
  for (size_t member : units_[other].members)
    for (ValueId result : code_[member].results)
      for (size_t user : users_[result]) {
        const size_t reader = unit_of_code_[user];
        if (reader != kNone && reader != unit && reader != other) return true;
      }
  return false;
}

// Who needed `other` needs `unit` now, which holds its members, and what that needs.
void Fuser::pass_on_needs(size_t unit, size_t other) {
  UnitSet more = needs_[unit];
  more.add(unit);
  for (size_t u = 0; u < units_.size(); ++u)
    if (u != unit && needs_[u][other] && !needs_[u][unit]) needs_[u].add(more);
  needed_.add(unit);
}

// A reduction over leading axes joins the group that reduces the rows of the same tensors: one kernel reads
// them once, and what the group computes for the reduction need not be written.
void Fuser::merge_columns() {
  for (size_t column : column_units_) {
    const size_t rows = units_[column].alive ? rows_beside(column) : kNone;
    if (rows != kNone) unite(rows, column);
  }
}

// The group that shares most tensors with the reductions over leading axes; kNone: none may take them.
size_t Fuser::rows_beside(size_t column) const {
  for (size_t member : units_[column].members)
    if (is_reduction(code_[member].op) && !is_floating(type(code_[member].operands[0]).dtype)) return kNone;
  std::map<size_t, size_t> shared;  // tensors, by unit
  for (ValueId value : elements_read(column)) {
    std::set<size_t> units;
    if (unit_of(value) != kNone) units.insert(unit_of(value));
    for (size_t user : users_[value]) units.insert(unit_of_code_[user]);
    for (size_t unit : units) ++shared[unit];
  }
  size_t best = kNone, most = 0;
  for (const auto& [unit, count] : shared) {
    if (count <= most || !can_take_columns(unit, column)) continue;
    best = unit;
    most = count;
  }
  return best;
}

bool Fuser::can_take_columns(size_t unit, size_t column) const {
  const Unit &group = units_[unit], &leading = units_[column];
  return unit != column && group.alive && group.group && !group.shape.column &&
         group.shape.split == leading.shape.split && same_sizes(group.shape.sizes, leading.shape.sizes) &&
         group.members.size() + leading.members.size() <= kMaxMembers &&
         operand_count(unit) + operand_count(column) <= kMaxOperands && !needs_[unit][column] &&
         !stands_between(unit, column) && !stands_between(column, unit);
}

// Tensors of the whole space that the reductions and what is computed for them read.
std::vector<ValueId> Fuser::elements_read(size_t column) const {
  std::vector<ValueId> read;
  for (size_t member : units_[column].members)
    for (ValueId operand : code_[member].operands) {
      if (type(operand).kind != ValueKind::Tensor || in_group(operand, column)) continue;
      if (!same_sizes(type(operand).sizes, units_[column].shape.sizes) || is_broadcast(operand)) continue;
      if (std::find(read.begin(), read.end(), operand) == read.end()) read.push_back(operand);
    }
  return read;
}

// A view in which a smaller tensor stands many times.
bool Fuser::is_broadcast(ValueId value) const {
  const size_t unit = unit_of(value);
  if (unit == kNone || units_[unit].group) return false;
  const Instruction& made = code_[units_[unit].members[0]];
  return made.code == Code::Op && made.op == Op::broadcast;
}

// The reductions over leading axes become the unit's.
void Fuser::unite(size_t unit, size_t column) {
  for (size_t member : units_[column].members) take(member, unit);
  std::sort(units_[unit].members.begin(), units_[unit].members.end());
  const std::vector<size_t> fresh = needs_[column].beyond(needs_[unit]);  // few: the two read the same tensors
  needs_[unit].add(needs_[column]);
  needs_[unit].remove(column);
  needs_[unit].remove(unit);
  UnitSet more = needs_[unit];
  more.add(unit);
  for (size_t u = 0; u < units_.size(); ++u) {  // who needs both needs all of it already
    if (u == unit || needs_[u][unit] == needs_[u][column]) continue;
    if (needs_[u][column]) needs_[u].add(more);
    else
      for (size_t need : fresh) needs_[u].add(need);
  }
  needed_.add(unit);
  remove_unit(column);
}

}  // namespace tsc::jit
