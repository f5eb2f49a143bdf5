#include "interpreter/capture/compiler/branches.h"

#include <vector>

namespace tsc::interp {

using lang::Instruction;
using lang::Op;

namespace {

constexpr uint32_t kSure = 2;       // a branch that went the same way so often, and never the other
constexpr uint64_t kRareRuns = 64;  // a guess that is wrong more than once in so many runs costs more than it saves

// What the condition is when the jump is taken; empty: no truth decides it.
std::optional<bool> taken_when(const Instruction& i) {
  switch (i.op) {
    case Op::JumpIfTrue: return true;
    case Op::JumpIfFalse: return false;
    case Op::JumpLt:
    case Op::JumpLe:
    case Op::JumpEq:
    case Op::JumpNe:
    case Op::JumpGt:
    case Op::JumpGe:
    case Op::JumpLtK:
    case Op::JumpLeK:
    case Op::JumpEqK:
    case Op::JumpNeK:
    case Op::JumpGtK:
    case Op::JumpGeK: return i.mode() != 0;
    default: return std::nullopt;
  }
}

// Whether everything from there on ends in a raise: the message of an assert, the arguments of an exception.
bool only_raises(const lang::CodeObject& code, uint32_t from) {
  std::vector<bool> seen(code.instructions.size());
  std::vector<uint32_t> work = {from};
  while (!work.empty()) {
    const uint32_t pc = work.back();
    work.pop_back();
    if (pc >= code.instructions.size()) return false;
    if (seen[pc]) continue;
    seen[pc] = true;
    const Instruction& i = code.instructions[pc];
    if (i.op == Op::Return || i.op == Op::ReturnNone || i.op == Op::JumpBack) return false;
    if (i.op == Op::Yield || i.op == Op::YieldFrom) return false;
    if (lang::is_jump(i.op)) work.push_back(lang::jump_target(i, pc));
    if (!lang::ends_block(i.op)) work.push_back(pc + 1);
  }
  return true;
}

}  // namespace

uint32_t way_of_branch(const lang::CodeObject& code, uint32_t pc, bool holds) {
  const Instruction& branch = code.instructions[pc];
  return *taken_when(branch) == holds ? lang::jump_target(branch, pc) : pc + 1;
}

std::optional<bool> Branches::without_raise(const CodeObject* of, uint32_t pc) {
  const lang::CodeObject& code = *of->code;
  const std::optional<bool> taken = taken_when(code.instructions[pc]);
  if (!taken) return std::nullopt;
  const bool jumps = only_raises(code, lang::jump_target(code.instructions[pc], pc)), stays = only_raises(code, pc + 1);
  if (jumps == stays) return std::nullopt;
  return jumps ? !*taken : *taken;
}

bool Branches::varies(const CodeObject* code, uint32_t pc) const {
  const auto found = records_.find({code, pc});
  return found != records_.end() && found->second.varies;
}

// However often a check has raised, a call that passes it is one region.
std::optional<bool> Branches::expected(const CodeObject* code, uint32_t pc) const {
  if (const std::optional<bool> way = without_raise(code, pc)) return way;
  const auto found = records_.find({code, pc});
  if (found == records_.end() || found->second.varies) return std::nullopt;
  for (int way : {0, 1})
    if (found->second.went[way] >= kSure) return way != 0;
  return std::nullopt;
}

void Branches::leave_at(const Frame& frame, const std::shared_ptr<Variant>& variant) {
  if (taken_when(frame.code->code->instructions[frame.pc])) waiting_ = {&frame, frame.code, frame.pc, variant};
}

std::shared_ptr<Variant> Branches::arrive_at(const Frame& frame) {
  if (waiting_.frame != &frame) return nullptr;
  const Waiting left = std::exchange(waiting_, {});
  if (frame.code != left.code) return nullptr;
  const Instruction& branch = left.code->code->instructions[left.pc];
  const uint32_t target = lang::jump_target(branch, left.pc);
  const bool jumped = frame.pc == target;
  if (target == left.pc + 1 || (!jumped && frame.pc != left.pc + 1)) return nullptr;
  Record& record = records_[{left.code, left.pc}];
  record.keeps_alive = Local<CodeObject>(const_cast<CodeObject*>(left.code));
  const std::optional<bool> before = expected(left.code, left.pc);
  ++record.went[*taken_when(branch) == jumped];
  record.varies |= record.went[0] && record.went[1];
  const std::optional<bool> now = expected(left.code, left.pc);
  version_ += now != before;
  return now ? left.variant.lock() : nullptr;
}

bool Branches::was_wrong(const CodeObject* code, uint32_t pc, uint64_t runs, bool is_turn) {
  if (without_raise(code, pc)) return false;
  Record& record = records_[{code, pc}];
  record.keeps_alive = Local<CodeObject>(const_cast<CodeObject*>(code));
  bool& varies = is_turn ? record.first_turn_varies : record.varies;
  if (varies || ++record.wrong * kRareRuns <= runs + kRareRuns) return varies;
  varies = true;
  ++version_;
  return true;
}

bool Branches::has_first_turn(const CodeObject* code, uint32_t pc) const {
  const auto found = records_.find({code, pc});
  return found == records_.end() || !found->second.first_turn_varies;
}

}  // namespace tsc::interp
