#include "lang/emit/code_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "lang/emit/optimize.h"

namespace tsc::lang {
namespace {

constexpr uint32_t kUnplaced = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kMaxRegisters = 60000;
// `finally` bodies are copied into every way out, so a hostile nesting could double forever.
constexpr uint32_t kMaxInstructions = 1u << 21;

void append_number(std::string& key, uint64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Two literals have the same key when they are the same constant.
void append_key(std::string& key, const Literal& literal) {
  key += static_cast<char>(literal.kind);
  uint64_t bits;
  std::memcpy(&bits, &literal.real, sizeof bits);
  append_number(key, static_cast<uint64_t>(literal.integer));
  append_number(key, bits);
  append_number(key, literal.text.size());
  key += literal.text;
  append_number(key, literal.items.size());
  for (const Literal& item : literal.items) append_key(key, item);
}

uint16_t u16(uint32_t value) { return static_cast<uint16_t>(value); }

}  // namespace

void CodeBuilder::name_registers(std::vector<std::string> names) {
  if (names.size() > kMaxRegisters) throw CodeLimit{"local variables"};
  code_->register_names = std::move(names);
  top_ = static_cast<Reg>(code_->register_names.size());
  code_->register_count = top_;
}

Reg CodeBuilder::allocate(uint32_t count) {
  Reg first = top_;
  top_ += count;
  if (top_ > kMaxRegisters) throw CodeLimit{"values alive at once"};
  code_->register_count = std::max(code_->register_count, top_);
  return first;
}

uint32_t CodeBuilder::index_in(size_t index, const char* what) const {
  if (index > 0xFFFF) throw CodeLimit{what};
  return static_cast<uint32_t>(index);
}

uint32_t CodeBuilder::constant(Literal literal) {
  std::string key;
  append_key(key, literal);
  auto [found, added] = constant_index_.emplace(key, static_cast<uint32_t>(code_->constants.size()));
  if (added) code_->constants.push_back(std::move(literal));
  return found->second;
}

uint32_t CodeBuilder::name(std::string_view text) {
  auto found = name_index_.find(text);
  if (found != name_index_.end()) return found->second;
  uint32_t index = index_in(code_->names.size(), "names");
  code_->names.emplace_back(text);
  name_index_.emplace(text, index);
  return index;
}

uint32_t CodeBuilder::site(SiteKind kind, std::string_view text) {
  uint32_t index = index_in(code_->sites.size(), "attribute and global uses");
  Site site{kind, name(text)};
  // What a global means does not depend on the place of use, so all uses share one cache.
  if (kind == SiteKind::Global || kind == SiteKind::Name) {
    auto [found, added] = global_sites_.emplace(std::pair{kind, site.name}, index);
    if (!added) return found->second;
  }
  code_->sites.push_back(site);
  return index;
}

uint32_t CodeBuilder::shape(uint32_t positional, const std::vector<std::string_view>& keywords) {
  CallShape shape{u16(positional), {}};
  for (std::string_view keyword : keywords) shape.keywords.push_back(name(keyword));
  auto found = shape_index_.find({positional, shape.keywords});
  if (found != shape_index_.end()) return found->second;
  uint32_t index = index_in(code_->call_shapes.size(), "kinds of keyword calls");
  shape_index_.emplace(std::pair{positional, shape.keywords}, index);
  code_->call_shapes.push_back(std::move(shape));
  return index;
}

uint32_t CodeBuilder::nested(CodeRef code) {
  uint32_t index = index_in(code_->codes.size(), "nested functions");
  code_->codes.push_back(std::move(code));
  return index;
}

void CodeBuilder::emit(Op op, uint32_t a, uint32_t b, uint32_t c, InstructionSpan where, uint32_t mode) {
  if (pc() >= kMaxInstructions) throw CodeLimit{"instructions"};
  code_->instructions.push_back({op, static_cast<uint8_t>(mode << 3), u16(a), u16(b), u16(c)});
  code_->spans.push_back(where);
}

uint8_t CodeBuilder::release(Operand operand, uint8_t flag, std::optional<Reg> written) const {
  return operand.is_temporary && written != operand.reg ? flag : 0;
}

void CodeBuilder::move(Reg to, Operand from, InstructionSpan where) {
  if (to == from.reg) return;
  unary(Op::Move, to, from, 0, where);
}

void CodeBuilder::load_constant(Reg to, Literal literal, InstructionSpan where) {
  uint32_t index = constant(std::move(literal));
  emit(Op::LoadConst, to, index & 0xFFFF, index >> 16, where);
}

void CodeBuilder::unary(Op op, Reg to, Operand value, uint32_t c, InstructionSpan where, uint32_t mode) {
  emit(op, to, value.reg, c, where, mode);
  // `to` may be an index, and an Out operand writes several registers.
  OperandKind kind = op_info(op).a;
  uint32_t written = kind == OperandKind::Dst   ? 1
                     : kind == OperandKind::Out ? out_count(code_->instructions.back())
                                                : 0;
  bool is_overwritten = to <= value.reg && value.reg < to + written;
  if (!is_overwritten) code_->instructions.back().flags |= release(value, kReleaseB, {});
}

void CodeBuilder::binary(Op op, Reg to, Operand left, Operand right, InstructionSpan where, uint32_t mode) {
  emit(op, to, left.reg, right.reg, where, mode);
  code_->instructions.back().flags |= release(left, kReleaseB, to) | release(right, kReleaseC, to);
}

void CodeBuilder::effect(Op op, Operand a, InstructionSpan where) { effect(op, a, 0, 0, where); }

void CodeBuilder::effect(Op op, Operand a, uint32_t b, uint32_t c, InstructionSpan where) {
  emit(op, a.reg, b, c, where);
  code_->instructions.back().flags |= release(a, kReleaseA, {});
}

void CodeBuilder::effect(Op op, Operand a, Operand b, InstructionSpan where, uint32_t c, uint32_t mode) {
  emit(op, a.reg, b.reg, c, where, mode);
  code_->instructions.back().flags |= release(a, kReleaseA, {}) | release(b, kReleaseB, {});
}

void CodeBuilder::effect(Op op, Operand a, Operand b, Operand c, InstructionSpan where) {
  emit(op, a.reg, b.reg, c.reg, where);
  code_->instructions.back().flags |= release(a, kReleaseA, {}) | release(b, kReleaseB, {}) | release(c, kReleaseC, {});
}

JumpLabel CodeBuilder::make_label() {
  labels_.push_back(kUnplaced);
  return {static_cast<uint32_t>(labels_.size() - 1)};
}

void CodeBuilder::place(JumpLabel label) { labels_[label.id] = pc(); }

void CodeBuilder::jump(JumpLabel target, InstructionSpan where) {
  fixups_.push_back({pc(), target.id});
  emit(Op::Jump, 0, 0, 0, where);
}

void CodeBuilder::jump_back(JumpLabel target, InstructionSpan where) {
  fixups_.push_back({pc(), target.id});
  emit(Op::JumpBack, 0, 0, 0, where);
}

void CodeBuilder::jump_if(Op op, Operand condition, JumpLabel target, InstructionSpan where) {
  fixups_.push_back({pc(), target.id});
  effect(op, condition, 0, 0, where);
}

void CodeBuilder::jump_compare(Op op, Operand left, Operand right, bool right_is_constant, bool sense, JumpLabel target,
                               InstructionSpan where) {
  fixups_.push_back({pc(), target.id});
  emit(op, left.reg, right.reg, 0, where, sense);
  uint8_t flags = release(left, kReleaseA, {});
  if (!right_is_constant) flags |= release(right, kReleaseB, {});
  code_->instructions.back().flags |= flags;
}

void CodeBuilder::for_iter(Reg to, Reg iterator, JumpLabel exhausted, InstructionSpan where) {
  fixups_.push_back({pc(), exhausted.id});
  emit(Op::ForIter, to, iterator, 0, where);
}

size_t CodeBuilder::open_range(JumpLabel handler, Reg exception, Reg temporaries, bool is_cleanup) {
  ranges_.push_back({handler, exception, temporaries, true, pc(), {}, is_cleanup});
  return ranges_.size() - 1;
}

void CodeBuilder::pause_range(size_t range) {
  Range& r = ranges_[range];
  if (!r.is_active) return;
  if (r.begin < pc()) r.parts.emplace_back(r.begin, pc());
  r.is_active = false;
}

void CodeBuilder::resume_range(size_t range) {
  ranges_[range].is_active = true;
  ranges_[range].begin = pc();
}

void CodeBuilder::close_range(size_t range) {
  pause_range(range);
  const Range& r = ranges_[range];
  for (auto [begin, end] : r.parts) {
    entries_.push_back({begin, end, r.handler.id, r.exception, r.temporaries, r.is_cleanup});
  }
}

size_t CodeBuilder::begin_statement(Span span) {
  int32_t parent = open_statements_.empty() ? -1 : static_cast<int32_t>(open_statements_.back());
  code_->statements.push_back({pc(), pc(), span, parent});
  open_statements_.push_back(code_->statements.size() - 1);
  return open_statements_.back();
}

void CodeBuilder::end_statement(size_t statement) {
  code_->statements[statement].end = pc();
  open_statements_.pop_back();
}

bool CodeBuilder::patch_jumps() {
  for (Fixup fixup : fixups_) {
    Instruction& instruction = code_->instructions[fixup.pc];
    TSC_CHECK(labels_[fixup.label] != kUnplaced, "a label was never placed");
    int64_t distance = static_cast<int64_t>(labels_[fixup.label]) - fixup.pc;
    if (op_info(instruction.op).c == OperandKind::Jump) {
      if (distance > 32767) return false;
      instruction.c = static_cast<uint16_t>(distance);
    } else {
      uint32_t bits = static_cast<uint32_t>(distance);
      instruction.b = u16(bits & 0xFFFF);
      instruction.c = u16(bits >> 16);
    }
  }
  return true;
}

std::shared_ptr<CodeObject> CodeBuilder::finish() {
  if (!patch_jumps()) return nullptr;
  for (const PendingEntry& entry : entries_) {
    code_->exceptions.push_back(
        {entry.begin, entry.end, labels_[entry.label], u16(entry.exception), u16(entry.temporaries), entry.is_cleanup});
  }
  optimize(*code_);
  return code_;
}

}  // namespace tsc::lang
