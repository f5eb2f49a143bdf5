#include "lang/emit/optimize.h"

#include <algorithm>

#include "lang/bytecode/control_flow.h"
#include "lang/bytecode/liveness.h"

namespace tsc::lang {
namespace {

// Blocks that can run, from the entry along jumps and exceptions.
std::vector<bool> reachable_blocks(const ControlFlow& flow) {
  std::vector<bool> seen(flow.blocks().size(), false);
  std::vector<uint32_t> work;
  auto visit = [&](uint32_t block) {
    if (seen[block]) return;
    seen[block] = true;
    work.push_back(block);
  };
  visit(0);
  while (!work.empty()) {
    const BasicBlock& block = flow.blocks()[work.back()];
    work.pop_back();
    for (uint32_t successor : block.successors) visit(successor);
    if (block.handler >= 0) visit(static_cast<uint32_t>(block.handler));
  }
  return seen;
}

// Forward "certainly bound" analysis over the named registers. A state is the set of registers that
// are certainly bound; where paths meet it is the intersection.
class BoundAnalysis {
 public:
  BoundAnalysis(const CodeObject& code, const ControlFlow& flow)
      : code_(code), flow_(flow), named_(static_cast<uint32_t>(code.register_names.size())),
        at_entry_(flow.blocks().size(), std::vector<bool>(named_, true)), known_(flow.blocks().size(), false) {}

  // Marks the CheckBound instructions that cannot fail.
  void mark_useless(std::vector<bool>& dead) {
    std::vector<bool> first(named_, false);
    for (uint32_t i = 0; i < code_.parameters.count(); ++i) first[i] = true;
    std::vector<uint32_t> work;
    meet(0, first, work);
    while (!work.empty()) {
      uint32_t index = work.back();
      work.pop_back();
      run(index, nullptr, &work);
    }
    for (uint32_t index = 0; index < flow_.blocks().size(); ++index) {
      if (known_[index]) run(index, &dead, nullptr);
    }
  }

 private:
  void meet(uint32_t block, const std::vector<bool>& state, std::vector<uint32_t>& work) {
    bool changed = !known_[block];
    known_[block] = true;
    std::vector<bool>& old = at_entry_[block];
    for (uint32_t i = 0; i < named_; ++i) {
      if (old[i] && !state[i]) {
        old[i] = false;
        changed = true;
      }
    }
    if (changed) work.push_back(block);
  }

  void step(const Instruction& instruction, std::vector<bool>& bound) const {
    if (instruction.op == Op::ForIter) return;  // writes on one edge only: see run()
    RegisterUse use = register_use(code_, instruction);
    bool is_clear = instruction.op == Op::Clear;
    for (uint32_t reg : use.writes) {
      if (reg < named_) bound[reg] = !is_clear;
    }
    if (instruction.op == Op::CheckBound && instruction.a < named_) bound[instruction.a] = true;
  }

  void run(uint32_t index, std::vector<bool>* dead, std::vector<uint32_t>* work) {
    const BasicBlock& block = flow_.blocks()[index];
    std::vector<bool> bound = at_entry_[index];
    for (uint32_t pc = block.begin; pc < block.end; ++pc) {
      const Instruction& instruction = code_.instructions[pc];
      if (dead && instruction.op == Op::CheckBound && bound[instruction.a]) (*dead)[pc] = true;
      // An exception leaves before its instruction has written, so the handler sees what is bound
      // at the block's begin, less what the block clears.
      bool shrinks = pc == block.begin || instruction.op == Op::Clear;
      if (instruction.op == Op::Clear) step(instruction, bound);
      if (work && block.handler >= 0 && shrinks) {
        meet(static_cast<uint32_t>(block.handler), bound, *work);
      }
      if (instruction.op != Op::Clear) step(instruction, bound);
    }
    if (!work) return;
    const Instruction& last = code_.instructions[block.end - 1];
    for (size_t i = 0; i < block.successors.size(); ++i) {
      bool enters_body = last.op == Op::ForIter && i == 0 && last.a < named_;
      bool before = enters_body && bound[last.a];
      if (enters_body) bound[last.a] = true;
      meet(block.successors[i], bound, *work);
      if (enters_body) bound[last.a] = before;
    }
  }

  const CodeObject& code_;
  const ControlFlow& flow_;
  uint32_t named_;
  std::vector<std::vector<bool>> at_entry_;
  std::vector<bool> known_;
};

void set_target(Instruction& instruction, uint32_t pc, uint32_t target) {
  uint32_t distance = target - pc;
  if (op_info(instruction.op).b == OperandKind::Far) {
    instruction.b = static_cast<uint16_t>(distance & 0xFFFF);
    instruction.c = static_cast<uint16_t>(distance >> 16);
  } else {
    instruction.c = static_cast<uint16_t>(distance);
  }
}

// Takes the marked instructions out and moves everything that names a pc.
void remove_marked(CodeObject& code, const std::vector<bool>& dead) {
  uint32_t count = static_cast<uint32_t>(code.instructions.size());
  std::vector<uint32_t> new_pc(count + 1, 0);  // of a removed one: its next survivor's
  uint32_t kept = 0;
  for (uint32_t pc = 0; pc < count; ++pc) {
    new_pc[pc] = kept;
    kept += !dead[pc];
  }
  new_pc[count] = kept;
  for (uint32_t pc = 0; pc < count; ++pc) {
    if (dead[pc]) continue;
    Instruction instruction = code.instructions[pc];
    if (is_jump(instruction.op)) {
      set_target(instruction, new_pc[pc], new_pc[jump_target(instruction, pc)]);
    }
    code.instructions[new_pc[pc]] = instruction;
    code.spans[new_pc[pc]] = code.spans[pc];
  }
  code.instructions.resize(kept);
  code.spans.resize(kept);
  for (ExceptionEntry& entry : code.exceptions) {
    entry.begin = new_pc[entry.begin];
    entry.end = new_pc[entry.end];
    entry.handler = new_pc[entry.handler];
  }
  std::erase_if(code.exceptions, [](const ExceptionEntry& e) { return e.begin == e.end; });
  std::vector<int32_t> new_index(code.statements.size(), -1);
  size_t next = 0;
  for (size_t i = 0; i < code.statements.size(); ++i) {
    Statement statement = code.statements[i];
    statement.begin = new_pc[statement.begin];
    statement.end = new_pc[statement.end];
    if (statement.begin == statement.end) continue;
    if (statement.parent >= 0) statement.parent = new_index[static_cast<size_t>(statement.parent)];
    new_index[i] = static_cast<int32_t>(next);
    code.statements[next++] = statement;
  }
  code.statements.resize(next);
}

// A jump to a Jump goes straight to where that one leads.
void thread_jumps(CodeObject& code) {
  for (uint32_t pc = 0; pc < code.instructions.size(); ++pc) {
    Instruction& instruction = code.instructions[pc];
    if (!is_jump(instruction.op) || instruction.op == Op::JumpBack) continue;
    uint32_t target = jump_target(instruction, pc);
    while (code.instructions[target].op == Op::Jump) {
      target = jump_target(code.instructions[target], target);
    }
    bool reaches = op_info(instruction.op).b == OperandKind::Far || target - pc <= 32767;
    if (reaches) set_target(instruction, pc, target);
    // A Jump to a JumpBack is that JumpBack, unless it leads forward, to a loop that jumps to itself.
    const Instruction& there = code.instructions[target];
    if (instruction.op == Op::Jump && there.op == Op::JumpBack && jump_target(there, target) <= pc) {
      instruction.op = Op::JumpBack;
      set_target(instruction, pc, jump_target(there, target));
    }
  }
}

bool is_jump_to_next(const CodeObject& code, const std::vector<bool>& dead, uint32_t pc) {
  const Instruction& instruction = code.instructions[pc];
  if (instruction.op != Op::Jump) return false;
  uint32_t target = jump_target(instruction, pc);
  for (uint32_t between = pc + 1; between < target; ++between) {
    if (!dead[between]) return false;
  }
  return true;
}

}  // namespace

void optimize(CodeObject& code) {
  thread_jumps(code);
  std::vector<bool> dead(code.instructions.size(), false);
  ControlFlow flow(code);
  std::vector<bool> reachable = reachable_blocks(flow);
  for (size_t index = 0; index < flow.blocks().size(); ++index) {
    if (reachable[index]) continue;
    std::fill(dead.begin() + flow.blocks()[index].begin, dead.begin() + flow.blocks()[index].end, true);
  }
  // The analysis keeps one bit per block and variable; beyond 16 million the checks stay.
  size_t bits = flow.blocks().size() * code.register_names.size();
  if (bits < (size_t{1} << 24)) BoundAnalysis(code, flow).mark_useless(dead);
  for (uint32_t pc = static_cast<uint32_t>(code.instructions.size()); pc-- > 0;) {
    if (!dead[pc] && is_jump_to_next(code, dead, pc)) dead[pc] = true;
  }
  remove_marked(code, dead);
}

}  // namespace tsc::lang
