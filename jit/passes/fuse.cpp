#include "jit/passes/fuse.h"

#include <algorithm>
#include <unordered_map>

#include "jit/passes/fuse_rules.h"
#include "jit/passes/private_copies.h"
#include "jit/region/equal_sizes.h"

namespace tsc::jit {
namespace {

constexpr size_t kMaxMembers = 96;
constexpr size_t kMaxOperands = 40;
constexpr size_t kNone = SIZE_MAX;  // no unit

// A set of unit numbers; those beyond its words are not in it.
class UnitSet {
 public:
  bool operator[](size_t unit) const {
    return unit / 64 < words_.size() && (words_[unit / 64] >> unit % 64 & 1);
  }
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
      : region_(region),
        copies_(make_private_copies(region)),
        code_(region.body.instructions),
        facts_(region),
        unit_of_code_(code_.size(), kNone),
        definition_(region.value_count(), kNone),
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
    UnitSet more = needs_[on];
    more.add(on);
    needed_.add(on);
    needs_[unit].add(more);
    if (!needed_[unit]) return;  // as with every unit that has just begun
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
    for (ValueId result : code_[instruction].results) definition_[result] = unit;
  }

  void define(size_t instruction, size_t unit) {
    for (ValueId operand : code_[instruction].operands) {
      size_t producer = unit_of(operand);
      if (producer != kNone) add_need(unit, producer);
    }
  }

  // ---- placing ops ----

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
  }

  std::vector<size_t> producer_groups(const Instruction& instruction) const {
    std::vector<size_t> found;
    for (ValueId operand : instruction.operands) {
      size_t unit = unit_of(operand);
      bool fresh = unit != kNone && units_[unit].group &&
                   std::find(found.begin(), found.end(), unit) == found.end();
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
    for (ValueId operand : instruction.operands) {
      size_t producer = unit_of(operand);
      if (producer == kNone || producer == unit) continue;
      if (depends(producer, unit)) return false;
    }
    group.shape = shape;
    take(i, unit);
    attach_copies(i, unit);
    define(i, unit);
    for (ValueId operand : instruction.operands) try_merge(unit, operand);
    return true;
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
        const size_t producer = unit_of(value);
        follows |= producer == unit || (producer != kNone && depends(producer, unit));
      }
      if (!shares || follows) continue;
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
      if (copies_.is_copy(operand))
        external_operands(copy_instructions_.at(operand), out);
      else if (type(operand).kind == ValueKind::Tensor)
        out->push_back(operand);
    }
  }

  // Another producer with the same space becomes part of the group, if nothing stands between the two.
  void try_merge(size_t unit, ValueId operand) {
    size_t other = unit_of(operand);
    if (other == kNone || other == unit || !units_[other].group || units_[other].shape.column) return;
    Unit& a = units_[unit];
    Unit& b = units_[other];
    if (!same_sizes(a.shape.sizes, b.shape.sizes)) return;
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
    b.alive = false;
    b.members.clear();
  }

  // Whether a unit that needs `other` is needed by `unit`: then one of those whose values it reads does.
  bool stands_between(size_t unit, size_t other) const {
    for (size_t member : units_[unit].members)
      for (ValueId operand : code_[member].operands) {
        const size_t producer = unit_of(operand);
        if (producer != kNone && producer != unit && producer != other && needs_[producer][other])
          return true;
      }
    return false;
  }

  // Whether anything that is placed, `unit` aside, reads a value of `other`.
  bool is_read_elsewhere(size_t unit, size_t other) const {
    for (size_t member : units_[other].members)
      for (ValueId result : code_[member].results)
        for (size_t user : users_[result]) {
          const size_t reader = unit_of_code_[user];
          if (reader != kNone && reader != unit && reader != other) return true;
        }
    return false;
  }

  // Who needed `other` needs `unit` now, which holds its members, and what that needs.
  void pass_on_needs(size_t unit, size_t other) {
    UnitSet more = needs_[unit];
    more.add(unit);
    for (size_t u = 0; u < units_.size(); ++u)
      if (u != unit && needs_[u][other] && !needs_[u][unit]) needs_[u].add(more);
    needed_.add(unit);
  }

  void absorb_products();
  size_t product_of(size_t unit, size_t* reshape) const;
  bool used_only_by(ValueId value, size_t unit) const;

  size_t operand_count(size_t unit) const {
    size_t count = 0;
    for (size_t member : units_[unit].members)
      for (ValueId operand : code_[member].operands) count += !in_group(operand, unit);
    return count;
  }

  std::vector<KernelShape> rebuild();
  void find_escapes();
  std::vector<Instruction> broadcasts_outside(const Unit& unit,
                                              std::unordered_map<ValueId, bool>* leaves);
  bool used_inside(const Unit& unit, ValueId value) const;
  void emit_group(Unit& unit, std::vector<Instruction>* out, std::vector<KernelShape>* shapes);
  bool worth_a_kernel(const Unit& unit) const;
  std::vector<size_t> schedule() const;
  std::vector<size_t> sorted(const std::vector<std::vector<size_t>>& before) const;

  Region& region_;
  PrivateCopies copies_;
  std::vector<Instruction>& code_;
  EqualSizes facts_;
  std::vector<Unit> units_;
  std::vector<UnitSet> needs_;  // transitive
  UnitSet needed_;              // by any other unit
  std::vector<bool> escapes_;   // by value
  std::vector<size_t> column_units_;
  std::vector<size_t> unit_of_code_;        // by instruction; kNone: not placed yet
  std::vector<size_t> definition_;          // by value: the unit of what makes it, or kNone
  std::vector<std::vector<size_t>> users_;  // by value: instructions
  std::unordered_map<ValueId, size_t> copy_instructions_;  // a copy's result -> its instruction
};

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
      if (used_only_by(operand, unit) && (product == operand || used_only_by(product, producer)))
        return made;
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
      units_[old].alive = false;
      units_[old].members.clear();
      take(instruction, unit);
    }
    std::sort(units_[unit].members.begin(), units_[unit].members.end());
  }
}

// Units in an order that keeps dependencies and the program order of effects. A write into an input's
// memory comes after everything that reads that memory.
std::vector<size_t> Fuser::schedule() const {
  std::vector<std::vector<size_t>> before(units_.size());
  std::unordered_map<ValueId, ValueId> base;  // views of inputs
  std::unordered_map<ValueId, std::vector<size_t>> readers;
  for (ValueId input : region_.body.parameters) base[input] = input;
  size_t last_effect = kNone;
  for (size_t i = 0; i < code_.size(); ++i) {
    const Instruction& instruction = code_[i];
    size_t u = unit_of_code_[i];
    for (ValueId operand : instruction.operands) {
      size_t producer = unit_of(operand);
      if (producer != kNone && producer != u) before[u].push_back(producer);
      if (auto found = base.find(operand); found != base.end()) readers[found->second].push_back(u);
    }
    // The sizes of a result are values that exist before it.
    for (ValueId result : instruction.results)
      for (ValueId size : type(result).sizes)
        if (size_t producer = unit_of(size); producer != kNone && producer != u)
          before[u].push_back(producer);
    if (instruction.code == Code::Op && op_row(instruction.op).flags & kView)
      if (auto found = base.find(instruction.operands[0]); found != base.end())
        base[instruction.results[0]] = found->second;
    bool effect = instruction.code != Code::Op && instruction.code != Code::Const &&
                  instruction.code != Code::Scalar;
    if (!effect) continue;
    if (last_effect != kNone) before[u].push_back(last_effect);
    last_effect = u;
  }
  // Readers in front of the write; those behind it in the program get a copy when the executor writes.
  for (size_t i = 0; i < code_.size(); ++i) {
    if (code_[i].code != Code::WriteBack) continue;
    size_t writer = unit_of_code_[i];
    for (size_t reader : readers[code_[i].operands[0]])
      if (reader != writer && units_[reader].members[0] < i && !needs_[reader][writer])
        before[writer].push_back(reader);
  }
  return sorted(before);
}

// The units behind those that they need; empty when they need each other in a circle.
std::vector<size_t> Fuser::sorted(const std::vector<std::vector<size_t>>& before) const {
  std::vector<size_t> order;
  std::vector<uint8_t> state(units_.size());
  std::vector<std::pair<size_t, size_t>> stack;
  for (size_t root = 0; root < units_.size(); ++root) {
    if (!units_[root].alive || state[root]) continue;
    stack.push_back({root, 0});
    state[root] = 1;
    while (!stack.empty()) {
      auto& [u, next] = stack.back();
      if (next < before[u].size()) {
        size_t v = before[u][next++];
        if (state[v] == 1) return {};  // a cycle through a write: no fusion
        if (!state[v]) {
          state[v] = 1;
          stack.push_back({v, 0});
        }
        continue;
      }
      state[u] = 2;
      order.push_back(u);
      stack.pop_back();
    }
  }
  return order;
}

bool Fuser::worth_a_kernel(const Unit& unit) const {
  if (!unit.group) return false;
  for (size_t member : unit.members) {
    Op op = code_[member].op;
    if (is_elementwise(op) || is_reduction(op) || op == Op::rng_bits) return true;
  }
  return false;
}

// Values that another unit than their own uses.
void Fuser::find_escapes() {
  escapes_.assign(region_.value_count(), false);
  for (size_t u = 0; u < units_.size(); ++u)
    for (size_t member : units_[u].members)
      for (ValueId operand : code_[member].operands)
        if (!in_group(operand, u)) escapes_[operand] = true;
}

void Fuser::emit_group(Unit& unit, std::vector<Instruction>* out, std::vector<KernelShape>* shapes) {
  std::unordered_map<ValueId, bool> inside;
  for (size_t member : unit.members)
    for (ValueId result : code_[member].results) inside[result] = escapes_[result];
  std::vector<Instruction> views = broadcasts_outside(unit, &inside);
  Instruction kernel;
  kernel.code = Code::Kernel;
  kernel.id = static_cast<uint32_t>(shapes->size());
  kernel.origin = code_[unit.members.back()].origin;
  kernel.blocks.push_back(std::make_unique<Block>());
  Block& body = *kernel.blocks[0];
  Instruction yield;
  yield.code = Code::Yield;
  std::unordered_map<ValueId, ValueId> renamed;
  for (size_t member : unit.members) {
    Instruction copy = clone_instruction(code_[member]);
    for (ValueId& operand : copy.operands)
      if (auto found = renamed.find(operand); found != renamed.end()) operand = found->second;
    const bool moved = std::any_of(views.begin(), views.end(), [&](const Instruction& view) {
      return view.results[0] == copy.results[0];
    });
    if (moved && !used_inside(unit, copy.results[0])) continue;
    for (ValueId& result : copy.results) {
      if (!inside[result] && !moved) continue;
      ValueId fresh = region_.add_value(Type(region_.type(result)));
      renamed[result] = fresh;
      if (!moved) {
        kernel.results.push_back(result);
        yield.operands.push_back(fresh);
      }
      result = fresh;
    }
    body.instructions.push_back(std::move(copy));
  }
  body.instructions.push_back(std::move(yield));
  shapes->push_back(unit.shape);
  out->push_back(std::move(kernel));
  for (Instruction& view : views) out->push_back(std::move(view));
}

bool Fuser::used_inside(const Unit& unit, ValueId value) const {
  for (size_t member : unit.members)
    for (ValueId operand : code_[member].operands)
      if (operand == value) return true;
  return false;
}

// A broadcast row that leaves the kernel leaves as the row: the view of it is made outside.
std::vector<Instruction> Fuser::broadcasts_outside(const Unit& unit,
                                                   std::unordered_map<ValueId, bool>* leaves) {
  std::vector<Instruction> views;
  for (size_t member : unit.members) {
    const Instruction& instruction = code_[member];
    const bool made_here = leaves->count(instruction.operands.empty() ? kNoValue : instruction.operands[0]);
    if (instruction.op != Op::broadcast || !(*leaves)[instruction.results[0]] || !made_here) continue;
    views.push_back(clone_instruction(instruction));
    (*leaves)[instruction.results[0]] = false;
    (*leaves)[instruction.operands[0]] = true;
  }
  return views;
}

std::vector<KernelShape> Fuser::rebuild() {
  std::vector<size_t> order = schedule();
  if (order.empty()) return {};
  find_escapes();
  std::vector<KernelShape> shapes;
  std::vector<Instruction> out;
  std::unordered_map<ValueId, bool> used;
  for (const Instruction& instruction : code_)
    for (ValueId operand : instruction.operands) used[operand] = true;
  for (size_t u : order) {
    Unit& unit = units_[u];
    const Instruction& first = code_[unit.members[0]];
    if (first.code == Code::Op && first.op == Op::full && !unit.group && !used[first.results[0]]) continue;
    if (worth_a_kernel(unit)) {
      emit_group(unit, &out, &shapes);
      continue;
    }
    for (size_t member : unit.members) out.push_back(clone_instruction(code_[member]));
  }
  code_ = std::move(out);
  return shapes;
}

}  // namespace

std::vector<KernelShape> fuse(Region& region) { return Fuser(region).run(); }

}  // namespace tsc::jit
