#include "lang/bytecode/liveness.h"

#include "lang/bytecode/control_flow.h"

namespace tsc::lang {
namespace {

void add_use(RegisterUse& use, const CodeObject& code, const Instruction& instruction, OperandKind kind,
             uint32_t first) {
  switch (kind) {
    case OperandKind::Dst: use.writes.push_back(first); break;
    case OperandKind::Src: use.reads.push_back(first); break;
    case OperandKind::Upd:
      use.reads.push_back(first);
      use.writes.push_back(first);
      break;
    case OperandKind::Out:
      for (uint32_t i = 0; i < out_count(instruction); ++i) use.writes.push_back(first + i);
      break;
    case OperandKind::Win:
      for (uint32_t i = 0; i < window_count(code, instruction); ++i) {
        use.reads.push_back(first + i);
        use.writes.push_back(first + i);
      }
      break;
    default: break;
  }
}

}  // namespace

bool RegisterSet::merge(const RegisterSet& other) {
  bool changed = false;
  for (size_t i = 0; i < words_.size(); ++i) {
    uint64_t merged = words_[i] | other.words_[i];
    changed |= merged != words_[i];
    words_[i] = merged;
  }
  return changed;
}

std::vector<uint32_t> RegisterSet::to_vector() const {
  std::vector<uint32_t> out;
  for (uint32_t reg = 0; reg < words_.size() * 64; ++reg) {
    if (contains(reg)) out.push_back(reg);
  }
  return out;
}

RegisterUse register_use(const CodeObject& code, const Instruction& instruction) {
  const OpInfo& info = op_info(instruction.op);
  RegisterUse use;
  add_use(use, code, instruction, info.a, instruction.a);
  add_use(use, code, instruction, info.b, instruction.b);
  // FormatValue without a format spec has nothing in c.
  bool c_is_read = instruction.op != Op::FormatValue || (instruction.mode() & 4);
  if (c_is_read) add_use(use, code, instruction, info.c, instruction.c);
  if (instruction.flags & kReleaseA) use.writes.push_back(instruction.a);
  if (instruction.flags & kReleaseB) use.writes.push_back(instruction.b);
  if (instruction.flags & kReleaseC) use.writes.push_back(instruction.c);
  if (instruction.op == Op::Clear) use.reads.clear();
  return use;
}

namespace {

// Backwards over one block from what is live after it. A register that a handler needs is live
// before every instruction of the block that may fail: the exception leaves from inside.
class BlockScan {
 public:
  explicit BlockScan(const CodeObject& code) : code_(code) {}

  RegisterSet live_at_handler(const BasicBlock& block, const std::vector<RegisterSet>& live_in) const {
    RegisterSet live(code_.register_count);
    if (block.handler < 0) return live;
    live = live_in[static_cast<size_t>(block.handler)];
    const ExceptionEntry* entry = find_handler(code_, block.begin);
    for (uint32_t reg = entry->temporaries; reg < code_.register_count; ++reg) live.erase(reg);
    live.erase(entry->reg);
    return live;
  }

  RegisterSet live_out(const BasicBlock& block, const std::vector<RegisterSet>& live_in) const {
    RegisterSet live(code_.register_count);
    if (block.successors.empty()) return live;
    // ForIter writes its target on the way into the body (the fall-through) and keeps it on the
    // other.
    const Instruction& last = code_.instructions[block.end - 1];
    live = live_in[block.successors[0]];
    if (last.op == Op::ForIter) live.erase(last.a);
    for (uint32_t successor : block.successors) {
      if (successor != block.successors[0]) live.merge(live_in[successor]);
    }
    return live;
  }

  template <class Visit>
  void scan(const BasicBlock& block, RegisterSet live, const RegisterSet& at_handler, Visit visit) const {
    for (uint32_t pc = block.end; pc-- > block.begin;) {
      RegisterUse use = register_use(code_, code_.instructions[pc]);
      bool handled_above = code_.instructions[pc].op == Op::ForIter;
      for (uint32_t reg : use.writes) {
        if (!handled_above) live.erase(reg);
      }
      for (uint32_t reg : use.reads) live.insert(reg);
      if (op_info(code_.instructions[pc].op).effects & (kRaise | kCall)) live.merge(at_handler);
      visit(pc, live);
    }
  }

 private:
  const CodeObject& code_;
};

}  // namespace

LivenessTable::LivenessTable(const CodeObject& code)
    : before_(code.instructions.size(), RegisterSet(code.register_count)) {
  const ControlFlow& flow = code.control_flow();
  const auto& blocks = flow.blocks();
  std::vector<RegisterSet> live_in(blocks.size(), RegisterSet(code.register_count));
  BlockScan scanner(code);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t index = blocks.size(); index-- > 0;) {
      RegisterSet last = scanner.live_out(blocks[index], live_in);
      RegisterSet at_handler = scanner.live_at_handler(blocks[index], live_in);
      RegisterSet first = last;
      scanner.scan(blocks[index], last, at_handler, [&](uint32_t, const RegisterSet& live) { first = live; });
      if (live_in[index].merge(first)) changed = true;
    }
  }
  for (const BasicBlock& block : blocks) {
    scanner.scan(block, scanner.live_out(block, live_in), scanner.live_at_handler(block, live_in),
                 [&](uint32_t pc, const RegisterSet& live) { before_[pc] = live; });
  }
}

const RegisterSet& live_registers(const CodeObject& code, uint32_t pc) { return code.liveness().live_before(pc); }

}  // namespace tsc::lang
