#include "lang/bytecode/control_flow.h"

namespace tsc::lang {
namespace {

// Marks every instruction that begins a block.
std::vector<bool> find_leaders(const CodeObject& code) {
  size_t count = code.instructions.size();
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (uint32_t pc = 0; pc < count; ++pc) {
    const Instruction& instruction = code.instructions[pc];
    if (is_jump(instruction.op)) leader[jump_target(instruction, pc)] = true;
    if (is_jump(instruction.op) || ends_block(instruction.op)) leader[pc + 1] = true;
  }
  for (const ExceptionEntry& entry : code.exceptions) {
    leader[entry.begin] = leader[entry.end] = leader[entry.handler] = true;
  }
  return leader;
}

}  // namespace

ControlFlow::ControlFlow(const CodeObject& code) : block_of_(code.instructions.size()) {
  uint32_t count = static_cast<uint32_t>(code.instructions.size());
  if (count == 0) return;
  std::vector<bool> leader = find_leaders(code);
  for (uint32_t pc = 0; pc < count; ++pc) {
    if (leader[pc]) {
      blocks_.emplace_back();
      blocks_.back().begin = pc;
    }
    block_of_[pc] = static_cast<uint32_t>(blocks_.size() - 1);
    blocks_.back().end = pc + 1;
  }
  // Earlier entries are inner ones: the first that covers a block keeps it.
  for (const ExceptionEntry& entry : code.exceptions) {
    uint32_t handler = block_of_[entry.handler];
    for (uint32_t pc = entry.begin; pc < entry.end;) {
      BasicBlock& block = blocks_[block_of_[pc]];
      if (block.handler < 0) block.handler = static_cast<int32_t>(handler);
      pc = block.end;
    }
  }
  for (uint32_t index = 0; index < blocks_.size(); ++index) {
    uint32_t last = blocks_[index].end - 1;
    const Instruction& instruction = code.instructions[last];
    auto connect = [&](uint32_t target) {
      blocks_[index].successors.push_back(block_of_[target]);
      blocks_[block_of_[target]].predecessors.push_back(index);
    };
    if (!ends_block(instruction.op) && last + 1 < count) connect(last + 1);
    if (is_jump(instruction.op)) connect(jump_target(instruction, last));
    if (instruction.op == Op::JumpBack) {
      blocks_[block_of_[jump_target(instruction, last)]].is_loop_head = true;
    }
  }
}

}  // namespace tsc::lang
