#pragma once
// Assembles one CodeObject: instructions with labels, the constant and name tables, temporaries,
// exception ranges, statements.
// Knows: bytecode. Must not know: the syntax tree.
// Keeps: temporaries are a stack, so nothing live ever lies above a call's window.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

using Reg = uint32_t;

// Where a value is. A temporary is consumed by the instruction that reads it (flag Release).
struct Operand {
  Reg reg = 0;
  bool is_temporary = false;
  // The same value, read by somebody who must leave it there.
  Operand kept() const { return {reg, false}; }
};

struct JumpLabel {
  uint32_t id;
};

// Thrown inside the emitter alone, when a code object would break a limit of the format.
struct CodeLimit {
  std::string what;
};

class CodeBuilder {
 public:
  // With long jumps, instructions whose jump has 16 bits are not used over unknown distances.
  explicit CodeBuilder(bool long_jumps) : long_jumps_(long_jumps) {}

  CodeObject& code() { return *code_; }
  bool long_jumps() const { return long_jumps_; }
  uint32_t pc() const { return static_cast<uint32_t>(code_->instructions.size()); }

  // ---- registers
  void name_registers(std::vector<std::string> names);
  Reg top() const { return top_; }
  Reg allocate(uint32_t count = 1);
  // Forget all temporaries from `mark` on.
  void reset(Reg mark) { top_ = mark; }
  bool is_temporary(Reg reg) const { return reg >= code_->register_names.size(); }

  // ---- tables
  uint32_t constant(Literal literal);
  uint32_t name(std::string_view text);
  uint32_t site(SiteKind kind, std::string_view text);
  uint32_t shape(uint32_t positional, const std::vector<std::string_view>& keywords);
  uint32_t nested(CodeRef code);

  // ---- instructions. An Operand that is a temporary gets its release flag, unless it is also the
  // destination. Plain numbers are indices, windows and immediates.
  void emit(Op op, uint32_t a, uint32_t b, uint32_t c, InstructionSpan where, uint32_t mode = 0);
  void move(Reg to, Operand from, InstructionSpan where);
  void load_constant(Reg to, Literal literal, InstructionSpan where);
  // Dst operands are plain registers, Src operands are Operands.
  void unary(Op op, Reg to, Operand value, uint32_t c, InstructionSpan where, uint32_t mode = 0);
  void binary(Op op, Reg to, Operand left, Operand right, InstructionSpan where, uint32_t mode = 0);
  // Instructions whose a is a source.
  void effect(Op op, Operand a, InstructionSpan where);
  void effect(Op op, Operand a, uint32_t b, uint32_t c, InstructionSpan where);
  void effect(Op op, Operand a, Operand b, InstructionSpan where, uint32_t c = 0, uint32_t mode = 0);
  void effect(Op op, Operand a, Operand b, Operand c, InstructionSpan where);

  // ---- labels and jumps
  JumpLabel make_label();
  void place(JumpLabel label);
  void jump(JumpLabel target, InstructionSpan where);
  void jump_back(JumpLabel target, InstructionSpan where);
  void jump_if(Op op, Operand condition, JumpLabel target, InstructionSpan where);
  // JumpLt.. (right is a register) or JumpLtK.. (right is a constant index).
  void jump_compare(Op op, Operand left, Operand right, bool right_is_constant, bool sense, JumpLabel target,
                    InstructionSpan where);
  void for_iter(Reg to, Reg iterator, JumpLabel exhausted, InstructionSpan where);

  // ---- protected ranges. An entry covers what was emitted between open and close, except while
  // it was paused. Entries are ordered by when they are closed.
  size_t open_range(JumpLabel handler, Reg exception, Reg temporaries, bool is_cleanup = false);
  void pause_range(size_t range);
  void resume_range(size_t range);
  void close_range(size_t range);

  // ---- statements
  size_t begin_statement(Span span);
  void end_statement(size_t statement);

  // Resolves jumps and optimizes. Null when a 16-bit jump does not reach (then: long jumps).
  std::shared_ptr<CodeObject> finish();

 private:
  struct Fixup {
    uint32_t pc, label;
  };
  struct Range {
    JumpLabel handler;
    Reg exception, temporaries;
    bool is_active;
    uint32_t begin;
    std::vector<std::pair<uint32_t, uint32_t>> parts;
    bool is_cleanup;
  };
  struct PendingEntry {
    uint32_t begin, end, label;
    Reg exception, temporaries;
    bool is_cleanup;
  };
  uint8_t release(Operand operand, uint8_t flag, std::optional<Reg> written) const;
  uint32_t index_in(size_t index, const char* what) const;
  bool patch_jumps();

  std::shared_ptr<CodeObject> code_ = std::make_shared<CodeObject>();
  bool long_jumps_;
  Reg top_ = 0;
  std::vector<uint32_t> labels_;
  std::vector<Fixup> fixups_;
  std::vector<Range> ranges_;
  std::vector<PendingEntry> entries_;
  std::vector<size_t> open_statements_;
  std::map<std::string, uint32_t> constant_index_;
  std::map<std::string, uint32_t, std::less<>> name_index_;
  std::map<std::pair<SiteKind, uint32_t>, uint32_t> global_sites_;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> shape_index_;
};

}  // namespace tsc::lang
