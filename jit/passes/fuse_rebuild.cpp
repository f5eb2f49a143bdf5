// Fusion, the last part: the units in an order, each group as one Kernel instruction.
#include "jit/passes/fuser.h"

namespace tsc::jit {

// Units in an order that keeps dependencies and the program order of effects. A write into an input's
// memory comes after everything that reads that memory. There is one: what a unit needs is known when an instruction
// joins it (comes_behind), effects need those in front of them, and a write waits only for readers that do not need it.
std::vector<size_t> Fuser::schedule() const {
  std::vector<Units> before(units_.size());
  ValueMap<ValueId> base;   // views of inputs
  ValueMap<Units> readers;  // of inputs
  for (ValueId input : region_.body.parameters) base[input] = input;
  for (const auto& [unit, on] : order_) before[unit].push_back(on);
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
        if (size_t producer = unit_of(size); producer != kNone && producer != u) before[u].push_back(producer);
    if (instruction.code == Code::Op && op_row(instruction.op).flags & kView)
      if (auto found = base.find(instruction.operands[0]); found != base.end())
        base[instruction.results[0]] = found->second;
  }
  // Readers in front of the write; those behind it in the program get a copy when the executor writes.
  for (size_t i = 0; i < code_.size(); ++i) {
    if (code_[i].code != Code::WriteBack) continue;
    size_t writer = unit_of_code_[i];
    for (size_t reader : readers[code_[i].operands[0]])
      if (reader != writer && units_[reader].members[0] < i && !needs_[reader][writer])
        before[writer].push_back(reader);
  }
  std::vector<Units> late = before;
  finish_before_writing(&late);
  std::vector<size_t> order = sorted(late);
  return order.empty() ? sorted(before) : order;
}

// A kernel that may write an input's memory in place comes, where it can, behind what may still raise in front of
// that write: otherwise it has to write to memory of its own, which is copied (plan_in_place).
void Fuser::finish_before_writing(std::vector<Units>* before) const {
  std::vector<size_t> raising;  // places in the program
  for (size_t i = 0; i < code_.size(); ++i) {
    if (raises_.may_leave_early(code_[i])) raising.push_back(i);
    if (code_[i].code != Code::WriteBack) continue;
    const size_t writer = unit_of(code_[i].operands[1]);
    if (writer == kNone || !units_[writer].group) continue;
    for (size_t k = raising.size(); k-- > 0;) {
      const size_t unit = unit_of_code_[raising[k]];
      if (unit == writer || needs_[unit][writer]) continue;
      if (!needs_[writer][unit]) (*before)[writer].push_back(unit);
      if (has_effect(code_[raising[k]])) break;  // which has all others in front of it
    }
  }
}

// The units behind those that they need; empty when they need each other in a circle.
std::vector<size_t> Fuser::sorted(const std::vector<Units>& before) const {
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
        if (state[v] == 1) return {};
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

namespace {

// Consumers have copies of what is made quickly: in one kernel they are one.
const Instruction* find_equal(const Block& block, const Instruction& wanted) {
  for (const Instruction& made : block.instructions)
    if (made.code == Code::Op && wanted.code == Code::Op && made.op == wanted.op && made.results.size() == 1 &&
        made.operands == wanted.operands && made.attributes == wanted.attributes)
      return &made;
  return nullptr;
}

}  // namespace

void Fuser::emit_group(Unit& unit, std::vector<Instruction>* out, std::vector<KernelShape>* shapes) {
  inside_.clear();
  renamed_.clear();
  for (size_t member : unit.members)
    for (ValueId result : code_[member].results) inside_[result] = escapes_[result];
  std::vector<Instruction> views = broadcasts_outside(unit);
  Instruction kernel;
  kernel.code = Code::Kernel;
  kernel.id = static_cast<uint32_t>(shapes->size());
  kernel.origin = code_[unit.members.back()].origin;
  kernel.blocks.push_back(std::make_unique<Block>());
  Block& body = *kernel.blocks[0];
  body.instructions.reserve(unit.members.size() + 1);
  ValueList outside;  // made by a view alone
  for (const Instruction& view : views)
    if (!used_inside(unit, view.results[0])) outside.push_back(view.results[0]);
  Instruction yield;
  yield.code = Code::Yield;
  for (size_t member : unit.members) {
    Instruction instruction = std::move(code_[member]);
    for (ValueId& operand : instruction.operands)
      if (auto found = renamed_.find(operand); found != renamed_.end()) operand = found->second;
    const bool moved = std::any_of(views.begin(), views.end(),
                                   [&](const Instruction& view) { return view.results[0] == instruction.results[0]; });
    if (std::find(outside.begin(), outside.end(), instruction.results[0]) != outside.end()) continue;
    if (const Instruction* same = find_equal(body, instruction); same && !moved) {
      renamed_[instruction.results[0]] = same->results[0];
      if (!inside_[instruction.results[0]]) continue;
      kernel.results.push_back(instruction.results[0]);
      yield.operands.push_back(same->results[0]);
      continue;
    }
    for (ValueId& result : instruction.results) {
      if (!inside_[result] && !moved) continue;
      ValueId fresh = region_.add_value(Type(region_.type(result)));
      renamed_[result] = fresh;
      if (!moved) {
        kernel.results.push_back(result);
        yield.operands.push_back(fresh);
      }
      result = fresh;
    }
    body.instructions.push_back(std::move(instruction));
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
std::vector<Instruction> Fuser::broadcasts_outside(const Unit& unit) {
  std::vector<Instruction> views;
  for (size_t member : unit.members) {
    const Instruction& instruction = code_[member];
    const bool made_here = inside_.count(instruction.operands.empty() ? kNoValue : instruction.operands[0]);
    if (instruction.op != Op::broadcast || !inside_[instruction.results[0]] || !made_here) continue;
    views.push_back(clone_instruction(instruction));
    inside_[instruction.results[0]] = false;
    inside_[instruction.operands[0]] = true;
  }
  return views;
}

std::vector<KernelShape> Fuser::rebuild() {
  const std::vector<size_t> order = schedule();
  TSC_CHECK(!order.empty(), "the units of fusion need each other in a circle");
  find_escapes();
  std::vector<KernelShape> shapes;
  std::vector<Instruction> out;
  out.reserve(code_.size());
  std::vector<bool> used(region_.value_count());
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
    for (size_t member : unit.members) out.push_back(std::move(code_[member]));
  }
  code_ = std::move(out);
  return shapes;
}

}  // namespace tsc::jit
