// The rules of bytecode.def, checked on a finished CodeObject. Tests verify everything they
// compile; the emitter is trusted at run time, stored bytecode as far as its references go.
#include <array>

#include "lang/bytecode/control_flow.h"
#include "lang/bytecode/disassemble.h"
#include "lang/bytecode/liveness.h"

namespace tsc::lang {
namespace {

class Verifier {
 public:
  explicit Verifier(const CodeObject& code) : code_(code) { set_limits(); }

  std::vector<std::string> references() {
    if (code_.instructions.empty()) return {"no instruction"};
    if (code_.spans.size() != code_.instructions.size()) report(0, "one span per instruction");
    check_names();
    check_registers();
    for (uint32_t pc = 0; pc < code_.instructions.size(); ++pc) check_instruction(pc);
    check_tables();
    return std::move(faults_);
  }

  std::vector<std::string> run() {
    faults_ = references();
    if (faults_.empty()) {
      check_windows();
      check_bound();
    }
    const auto add = [&](const CodeObject& inner) {
      for (std::string& fault : verify(inner.whole())) faults_.push_back(std::move(fault));
    };
    for (const auto& inner : code_.codes) add(*inner);
    if (code_.annotations) add(*code_.annotations);
    return std::move(faults_);
  }

 private:
  void report(uint32_t pc, const std::string& what) {
    faults_.push_back(code_.qualname + " pc " + std::to_string(pc) + ": " + what);
  }

  void set_limit(OperandKind kind, size_t limit) { limits_[static_cast<size_t>(kind)] = limit; }

  // What an operand of each kind stays below.
  void set_limits() {
    limits_.fill(SIZE_MAX);
    for (OperandKind kind : {OperandKind::Dst, OperandKind::Src, OperandKind::Upd})
      set_limit(kind, code_.register_count);
    for (OperandKind kind : {OperandKind::Const, OperandKind::Wide}) set_limit(kind, code_.constants.size());
    set_limit(OperandKind::Name, code_.names.size());
    set_limit(OperandKind::Site, code_.sites.size());
    set_limit(OperandKind::Code, code_.codes.size());
    set_limit(OperandKind::Shape, code_.call_shapes.size());
    set_limit(OperandKind::Free, code_.free_names.size());
  }

  void check_instruction(uint32_t pc) {
    const Instruction& instruction = code_.instructions[pc];
    if (static_cast<size_t>(instruction.op) >= kOpCount) return report(pc, "unknown opcode");
    const OpInfo& info = op_info(instruction.op);
    // The shape tells the length of a window.
    if (info.c == OperandKind::Shape && instruction.c >= code_.call_shapes.size())
      return report(pc, "operand out of range");
    check_operand(pc, info.a, instruction.a, instruction.flags & kReleaseA);
    check_operand(pc, info.b, info.b == OperandKind::Wide ? instruction.wide() : instruction.b,
                  instruction.flags & kReleaseB);
    check_operand(pc, info.c, instruction.c, instruction.flags & kReleaseC);
    if (is_jump(instruction.op)) {
      uint32_t target = jump_target(instruction, pc);
      if (target >= code_.instructions.size()) report(pc, "jump out of the code");
      if ((target <= pc) != (instruction.op == Op::JumpBack)) report(pc, "jump in the wrong direction");
    }
    if (pc + 1 == code_.instructions.size() && !ends_block(instruction.op)) {
      report(pc, "the code runs off its end");
    }
  }

  void check_operand(uint32_t pc, OperandKind kind, uint32_t value, bool released) {
    if (kind == OperandKind::None && !released) return;
    const Instruction& instruction = code_.instructions[pc];
    if (value >= limits_[static_cast<size_t>(kind)]) return report(pc, "operand out of range");
    uint64_t last = value;
    if (kind == OperandKind::Out) last += out_count(instruction);
    if (kind == OperandKind::Win) last += window_count(code_, instruction);
    bool is_range = kind == OperandKind::Out || kind == OperandKind::Win;
    if (is_range && last > code_.register_count) report(pc, "registers beyond the frame");
    if (!released) return;
    if (kind != OperandKind::Src) report(pc, "release of an operand that is no source");
    if (value < code_.register_names.size()) report(pc, "release of a named register");
    bool writes_a = op_info(instruction.op).a == OperandKind::Dst;
    if (writes_a && instruction.a == value) report(pc, "release of the register that is written");
  }

  void check_names() {
    for (const Site& site : code_.sites)
      if (site.name >= code_.names.size()) report(0, "a site without a name");
    for (const CallShape& shape : code_.call_shapes)
      for (uint32_t name : shape.keywords)
        if (name >= code_.names.size()) report(0, "a keyword without a name");
  }

  void check_registers() {
    const ParameterList& parameters = code_.parameters;
    uint32_t parameter_count =
        uint32_t{parameters.positional} + parameters.keyword_only + parameters.has_varargs + parameters.has_varkwargs;
    if (parameter_count != parameters.count() || parameters.positional_only > parameters.positional)
      report(0, "parameters and their names differ");
    if (parameters.count() > code_.register_count) report(0, "a parameter beyond the frame");
    if (code_.register_names.size() > code_.register_count) report(0, "a name beyond the frame");
    if (code_.cell_begin > code_.cell_end || code_.cell_end > code_.register_count)
      report(0, "a cell beyond the frame");
  }

  void check_tables() {
    size_t count = code_.instructions.size();
    for (const ExceptionEntry& entry : code_.exceptions) {
      bool in_range =
          entry.begin < entry.end && entry.end <= count && entry.handler < count && entry.reg < code_.register_count;
      if (!in_range) report(entry.begin, "exception entry out of range");
      else if (entry.begin <= entry.handler && entry.handler < entry.end) {
        report(entry.begin, "a handler protects itself");
      }
    }
    for (size_t i = 0; i < code_.statements.size(); ++i) {
      const Statement& inner = code_.statements[i];
      if (inner.begin >= inner.end || inner.end > count) report(inner.begin, "statement range");
      if (inner.parent < 0) continue;
      if (static_cast<size_t>(inner.parent) >= i) {
        report(inner.begin, "a statement before the one around it");
        continue;
      }
      const Statement& outer = code_.statements[static_cast<size_t>(inner.parent)];
      if (inner.begin < outer.begin || inner.end > outer.end) report(inner.begin, "statement nesting");
    }
  }

  void check_windows() {
    for (uint32_t pc = 0; pc < code_.instructions.size(); ++pc) {
      const Instruction& instruction = code_.instructions[pc];
      const OpInfo& info = op_info(instruction.op);
      const OperandKind kinds[] = {info.a, info.b, info.c};
      const uint32_t values[] = {instruction.a, instruction.b, instruction.c};
      for (int i = 0; i < 3; ++i) {
        if (kinds[i] != OperandKind::Win) continue;
        if (window_count(code_, instruction) == 0) continue;
        uint32_t above = values[i] + window_count(code_, instruction);
        for (uint32_t reg = above; reg < code_.register_count; ++reg) {
          if (live_registers(code_, pc).contains(reg)) report(pc, "a live register above a window");
        }
      }
    }
  }

  // A register that is live at the entry is read on some path before any write: only parameters may
  // be, and registers whose reader accepts an unbound one.
  void check_bound() {
    const RegisterSet& live = live_registers(code_, 0);
    for (uint32_t reg : live.to_vector()) {
      if (reg >= code_.register_names.size())
        report(0, "temporary r" + std::to_string(reg) + " is read before any write");
    }
  }

  const CodeObject& code_;
  std::array<size_t, static_cast<size_t>(OperandKind::Far) + 1> limits_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> verify(const CodeObject& code) { return Verifier(code).run(); }
std::vector<std::string> verify_references(const CodeObject& code) { return Verifier(code).references(); }

}  // namespace tsc::lang
