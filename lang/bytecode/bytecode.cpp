#include "lang/bytecode/bytecode.h"

#include <cstring>

#include "lang/bytecode/control_flow.h"
#include "lang/bytecode/liveness.h"

namespace tsc::lang {
namespace {

constexpr OpInfo kOps[] = {
#define OPCODE(name, a, b, c, effects, semantics) \
  {#name, OperandKind::a, OperandKind::b, OperandKind::c, static_cast<uint8_t>(effects), semantics},
#include "lang/bytecode/bytecode.def"
#undef OPCODE
};

bool same_bits(double a, double b) {
  uint64_t x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  return x == y;
}

}  // namespace

const OpInfo& op_info(Op op) { return kOps[static_cast<size_t>(op)]; }

bool Literal::operator==(const Literal& other) const {
  return kind == other.kind && integer == other.integer && same_bits(real, other.real) && text == other.text &&
         items == other.items;
}

CodeObject::CodeObject() = default;
CodeObject::~CodeObject() = default;

uint32_t CodeObject::line_of(uint32_t pc) const {
  if (!source || pc >= spans.size()) return 0;
  return source->line_of(spans[pc].whole.begin);
}

void CodeObject::fill_body() const {
  // Whoever shares the code sees the tables after the first call only: no one's view of it changes.
  body_once_.call([this] {
    body_->fill(const_cast<CodeObject&>(*this));
    lacks_body_.store(false, std::memory_order_release);
  });
}

const ControlFlow& CodeObject::control_flow() const {
  flow_once_.call([this] { flow_ = std::make_unique<const ControlFlow>(whole()); });
  return *flow_;
}

const LivenessTable& CodeObject::liveness() const {
  liveness_once_.call([this] { liveness_ = std::make_unique<const LivenessTable>(whole()); });
  return *liveness_;
}

uint32_t out_count(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::UnpackSequence: return instruction.c;
    case Op::UnpackEx: return (instruction.c & 255u) + 1u + (instruction.c >> 8);
    case Op::LoadMethod: return 2;
    case Op::ExceptionInfo: return 3;
    case Op::LoadContext: return 4;
    default: return 0;
  }
}

uint32_t window_count(const CodeObject& code, const Instruction& instruction) {
  switch (instruction.op) {
    case Op::BuildTuple:
    case Op::BuildList:
    case Op::BuildSet:
    case Op::BuildString: return instruction.c;
    case Op::BuildMap: return 2u * instruction.c;
    case Op::BuildSlice: return 3;
    case Op::Call: return 1u + instruction.c;
    case Op::CallMethod: return 2u + instruction.c;
    case Op::CallKw: return 1 + code.call_shapes[instruction.c].count();
    case Op::CallMethodKw:
    case Op::MakeClass: return 2 + code.call_shapes[instruction.c].count();
    case Op::CallEx: return 2u + instruction.c;
    case Op::MakeClassEx: return 4;
    case Op::MatchClass: return 2;
    case Op::MakeFunction: return static_cast<uint32_t>(__builtin_popcount(instruction.mode() & 15));
    default: return 0;
  }
}

bool is_jump(Op op) {
  const OpInfo& info = op_info(op);
  return info.b == OperandKind::Far || info.c == OperandKind::Jump;
}

uint32_t jump_target(const Instruction& instruction, uint32_t pc) {
  bool is_far = op_info(instruction.op).b == OperandKind::Far;
  return pc + static_cast<uint32_t>(is_far ? instruction.far_distance() : instruction.near_distance());
}

bool ends_block(Op op) {
  switch (op) {
    case Op::Jump:
    case Op::JumpBack:
    case Op::Return:
    case Op::ReturnNone:
    case Op::Raise:
    case Op::RaiseFrom:
    case Op::RaiseHandled:
    case Op::Reraise: return true;
    default: return false;
  }
}

const ExceptionEntry* find_handler(const CodeObject& code, uint32_t pc) {
  for (const ExceptionEntry& entry : code.exceptions) {
    if (entry.begin <= pc && pc < entry.end) return &entry;
  }
  return nullptr;
}

const ExceptionEntry* find_cleanup(const CodeObject& code, uint32_t pc) {
  for (const ExceptionEntry& entry : code.exceptions) {
    if (entry.is_cleanup && entry.begin <= pc && pc < entry.end) return &entry;
  }
  return nullptr;
}

int32_t statement_at(const CodeObject& code, uint32_t pc) {
  // Sorted by begin: the candidate is the last one that begins at or before pc, or one around it.
  size_t low = 0, high = code.statements.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (code.statements[middle].begin <= pc) low = middle + 1;
    else high = middle;
  }
  int32_t index = static_cast<int32_t>(low) - 1;
  while (index >= 0 && code.statements[static_cast<size_t>(index)].end <= pc) {
    index = code.statements[static_cast<size_t>(index)].parent;
  }
  return index;
}

}  // namespace tsc::lang
