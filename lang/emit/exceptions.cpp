// try, with, and the ways out of them. Nothing is hidden: a `finally` body is emitted for every way
// out, a handler says when it begins and ends handling, and whoever unwinds through a handler first
// restores what was handled before.
#include "lang/emit/emitter.h"

namespace tsc::lang {

void Emitter::leave_blocks(size_t depth, Span span) {
  std::vector<ControlBlock> all = blocks_;
  for (size_t i = all.size(); i-- > depth;) {
    if (all[i].range >= 0) b_.pause_range(static_cast<size_t>(all[i].range));
    blocks_.resize(i);
    leave_block(all[i], span);
  }
  blocks_ = std::move(all);
}

void Emitter::resume_blocks(size_t depth) {
  for (size_t i = depth; i < blocks_.size(); ++i) {
    if (blocks_[i].range >= 0) b_.resume_range(static_cast<size_t>(blocks_[i].range));
  }
}

void Emitter::leave_block(const ControlBlock& block, Span span) {
  Reg mark = b_.top();
  switch (block.kind) {
    case ControlBlock::Kind::Loop:
      if (block.iterator) b_.emit(Op::Clear, *block.iterator, 0, 0, at(span));
      break;
    case ControlBlock::Kind::Protected: break;
    case ControlBlock::Kind::Finally: statements(block.finalbody); break;
    case ControlBlock::Kind::Handler:
      b_.effect(Op::PopHandled, {block.previous_handled, true}, at(span));
      b_.emit(Op::Clear, block.exception, 0, 0, at(span));
      break;
    case ControlBlock::Kind::HandlerName: forget_handler_name(*block.handler); break;
    case ControlBlock::Kind::With: {
      // __exit__ moves above a pending return value: its window has to be the topmost.
      Reg call = b_.allocate(5);
      for (Reg i = 0; i < 2; ++i) b_.move(call + i, {block.exit_pair + i, true}, at(block.span));
      for (Reg i = 2; i < 5; ++i) b_.load_constant(call + i, none_literal(), at(block.span));
      b_.emit(Op::CallMethod, call, call, 3, at(block.span));
      b_.emit(Op::Clear, call, 0, 0, at(block.span));
      break;
    }
  }
  b_.reset(mark);
}

void Emitter::restore_and_reraise(Reg exception, Reg previous, Span span) {
  b_.effect(Op::PopHandled, {previous, true}, at(span));
  b_.effect(Op::Reraise, {exception, true}, at(span));
}

void Emitter::emit_try(const Try& node) {
  if (!node.finalbody.empty()) emit_finally(node);
  else emit_try_except(node);
}

void Emitter::emit_finally(const Try& node) {
  Reg mark = b_.top();
  Reg exception = b_.allocate(), previous = b_.allocate();
  JumpLabel on_exception = b_.make_label(), end = b_.make_label();
  size_t range = b_.open_range(on_exception, exception, b_.top(), true);
  ControlBlock block{ControlBlock::Kind::Finally};
  block.range = static_cast<int>(range);
  block.finalbody = node.finalbody;
  blocks_.push_back(block);
  if (node.handlers.empty()) statements(node.body);
  else emit_try_except(node);
  blocks_.pop_back();
  b_.close_range(range);
  statements(node.finalbody);
  b_.jump(end, at(node.finalbody.back()->span));

  b_.place(on_exception);
  Span span = node.finalbody[0]->span;
  b_.unary(Op::PushHandled, previous, {exception, false}, 0, at(span));
  JumpLabel on_second = b_.make_label();
  Reg second = b_.top();
  size_t handling = b_.open_range(on_second, second, second);
  ControlBlock handler{ControlBlock::Kind::Handler};
  handler.range = static_cast<int>(handling);
  handler.exception = exception;
  handler.previous_handled = previous;
  blocks_.push_back(handler);
  statements(node.finalbody);
  blocks_.pop_back();
  b_.close_range(handling);
  restore_and_reraise(exception, previous, span);
  b_.place(on_second);
  b_.allocate();
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  restore_and_reraise(second, previous, span);
  b_.place(end);
  b_.reset(mark);
}

void Emitter::emit_try_except(const Try& node) {
  Reg mark = b_.top();
  Reg exception = b_.allocate();
  JumpLabel on_exception = b_.make_label(), end = b_.make_label();
  b_.allocate();
  size_t range = b_.open_range(on_exception, exception, b_.top());
  ControlBlock block{ControlBlock::Kind::Protected};
  block.range = static_cast<int>(range);
  blocks_.push_back(block);
  statements(node.body);
  blocks_.pop_back();
  b_.close_range(range);
  statements(node.orelse);
  b_.jump(end, at(node.handlers[0]->span));
  b_.place(on_exception);
  if (node.is_star) emit_star_handlers(node, exception, end);
  else emit_handlers(node, exception, end);
  b_.place(end);
  b_.reset(mark);
}

void Emitter::emit_handlers(const Try& node, Reg exception, JumpLabel end) {
  Reg previous = exception + 1;
  Span span = node.handlers[0]->span;
  b_.unary(Op::PushHandled, previous, {exception, false}, 0, at(span));
  JumpLabel on_second = b_.make_label();
  Reg second = b_.top();
  size_t handling = b_.open_range(on_second, second, second);
  ControlBlock block{ControlBlock::Kind::Handler};
  block.range = static_cast<int>(handling);
  block.exception = exception;
  block.previous_handled = previous;
  blocks_.push_back(block);
  for (const ExceptHandler* handler : node.handlers) {
    emit_handler(*handler, exception, previous, static_cast<int>(handling), end);
  }
  blocks_.pop_back();
  b_.close_range(handling);
  restore_and_reraise(exception, previous, span);
  b_.place(on_second);
  b_.allocate();
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  restore_and_reraise(second, previous, span);
  b_.reset(second);
}

void Emitter::emit_handler(const ExceptHandler& handler, Reg exception, Reg previous, int range, JumpLabel end) {
  Reg mark = b_.top();
  JumpLabel next = b_.make_label();
  InstructionSpan where = at(handler.type ? handler.type->span : handler.span);
  if (handler.type) {
    Operand type = expr(handler.type);
    b_.reset(mark);
    Reg matches = b_.allocate();
    b_.binary(Op::MatchException, matches, {exception, false}, type, where);
    b_.jump_if(Op::JumpIfFalse, {matches, true}, next, where);
    b_.reset(mark);
  }
  if (handler.name.empty()) b_.emit(Op::Clear, exception, 0, 0, where);
  else store_binding(handler.binding, handler.name, {exception, true}, at(handler.name_span));
  emit_handler_body(handler);
  b_.pause_range(static_cast<size_t>(range));
  if (!handler.name.empty()) forget_handler_name(handler);
  b_.effect(Op::PopHandled, {previous, true}, where);
  b_.jump(end, where);
  b_.resume_range(static_cast<size_t>(range));
  b_.place(next);
}

// The body; whichever way it is left by an exception, the handler's name is forgotten.
void Emitter::emit_handler_body(const ExceptHandler& handler) {
  if (handler.name.empty()) return statements(handler.body);
  JumpLabel on_exception = b_.make_label(), done = b_.make_label();
  Reg second = b_.top();
  size_t range = b_.open_range(on_exception, second, second);
  ControlBlock block{ControlBlock::Kind::HandlerName};
  block.range = static_cast<int>(range);
  block.handler = &handler;
  blocks_.push_back(block);
  statements(handler.body);
  blocks_.pop_back();
  b_.close_range(range);
  b_.jump(done, at(handler.span));
  b_.place(on_exception);
  b_.allocate();
  forget_handler_name(handler);
  b_.effect(Op::Reraise, {second, true}, at(handler.span));
  b_.reset(second);
  b_.place(done);
}

// Each except* takes its part of the group and leaves the rest to the next; what they raise is collected,
// and raised together with what none has taken. Only an error of a class's expression leaves before the end.
void Emitter::emit_star_handlers(const Try& node, Reg exception, JumpLabel end) {
  Reg previous = exception + 1;
  Span span = node.handlers[0]->span;
  b_.unary(Op::PushHandled, previous, {exception, false}, 0, at(span));
  JumpLabel on_second = b_.make_label(), over = b_.make_label();
  Reg second = b_.top();
  size_t handling = b_.open_range(on_second, second, second);
  Reg rest = b_.allocate(), raised = b_.allocate();
  b_.move(rest, {exception, false}, at(span));
  b_.emit(Op::BuildList, raised, raised, 0, at(span));
  for (const ExceptHandler* handler : node.handlers) emit_star_handler(*handler, rest, raised);
  b_.effect(Op::ListAppend, {raised, false}, {rest, true}, at(span));
  b_.binary(Op::GatherRaised, rest, {exception, false}, {raised, true}, at(span));
  b_.jump_if(Op::JumpIfNone, {rest, false}, over, at(span));
  b_.close_range(handling);
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  restore_and_reraise(rest, previous, span);
  b_.place(over);
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  b_.effect(Op::PopHandled, {previous, true}, at(span));
  b_.jump(end, at(span));
  b_.reset(second);
  b_.place(on_second);
  b_.allocate();
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  restore_and_reraise(second, previous, span);
  b_.reset(second);
}

void Emitter::emit_star_handler(const ExceptHandler& handler, Reg rest, Reg raised) {
  Reg mark = b_.top();
  JumpLabel next = b_.make_label();
  InstructionSpan where = at(handler.type->span);
  Operand type = expr(handler.type);
  b_.reset(mark);
  Reg match = b_.allocate();
  b_.binary(Op::MatchGroup, match, {rest, false}, type, where);
  b_.jump_if(Op::JumpIfNone, {match, false}, next, where);
  if (handler.name.empty()) b_.emit(Op::Clear, match, 0, 0, where);
  else store_binding(handler.binding, handler.name, {match, true}, at(handler.name_span));
  b_.reset(mark);
  emit_star_body(handler, raised);
  b_.place(next);
  b_.reset(mark);
}

void Emitter::emit_star_body(const ExceptHandler& handler, Reg raised) {
  InstructionSpan where = at(handler.span);
  JumpLabel on_exception = b_.make_label(), done = b_.make_label();
  Reg second = b_.top();
  size_t range = b_.open_range(on_exception, second, second);
  ControlBlock block{ControlBlock::Kind::Protected};
  block.range = static_cast<int>(range);
  blocks_.push_back(block);
  statements(handler.body);
  blocks_.pop_back();
  b_.close_range(range);
  if (!handler.name.empty()) forget_handler_name(handler);
  b_.jump(done, where);
  b_.place(on_exception);
  b_.allocate();
  if (!handler.name.empty()) forget_handler_name(handler);
  b_.effect(Op::ListAppend, {raised, false}, {second, true}, where);
  b_.reset(second);
  b_.place(done);
}

// As `name = None; del name`: the body may have deleted it already.
void Emitter::forget_handler_name(const ExceptHandler& handler) {
  InstructionSpan where = at(handler.name_span);
  if (handler.binding.access == Access::Local) {
    b_.emit(Op::Clear, local_register(handler.binding.index), 0, 0, where);
    return;
  }
  Operand none = constant(none_literal(), {}, where);
  store_binding(handler.binding, handler.name, none, where);
  delete_binding(handler.binding, handler.name, where);
  b_.reset(none.reg);
}

void Emitter::emit_with(List<WithItem*> items, List<Stmt*> body, Span span) {
  if (items.empty()) return statements(body);
  const WithItem& item = *items.front();
  Span place = item.context_expr->span;
  Reg mark = b_.top();
  Reg exception = b_.allocate(), previous = b_.allocate();
  Reg exit_pair = b_.top();
  Operand manager = expr(item.context_expr);
  b_.reset(exit_pair);
  b_.allocate(4);
  b_.unary(Op::LoadContext, exit_pair, manager, 0, at(place));
  Reg entered = exit_pair + 2;
  b_.emit(Op::CallMethod, entered, entered, 0, at(place));
  b_.reset(entered + 1);
  JumpLabel on_exception = b_.make_label(), end = b_.make_label();
  size_t range = b_.open_range(on_exception, exception, entered, true);
  ControlBlock block{ControlBlock::Kind::With};
  block.range = static_cast<int>(range);
  block.exit_pair = exit_pair;
  block.span = place;
  blocks_.push_back(block);
  if (item.optional_vars) store(item.optional_vars, {entered, true});
  else b_.emit(Op::Clear, entered, 0, 0, at(place));
  b_.reset(entered);
  emit_with(items.subspan(1), body, span);
  blocks_.pop_back();
  b_.close_range(range);
  for (Reg i = 0; i < 3; ++i) b_.load_constant(b_.allocate(), none_literal(), at(place));
  b_.emit(Op::CallMethod, exit_pair, exit_pair, 3, at(place));
  b_.emit(Op::Clear, exit_pair, 0, 0, at(place));
  b_.jump(end, at(place));
  b_.place(on_exception);
  with_handler(exception, previous, exit_pair, end, place);
  b_.place(end);
  b_.reset(mark);
}

void Emitter::with_handler(Reg exception, Reg previous, Reg exit_pair, JumpLabel end, Span span) {
  b_.unary(Op::PushHandled, previous, {exception, false}, 0, at(span));
  JumpLabel on_second = b_.make_label(), suppressed = b_.make_label();
  Reg second = exit_pair;
  size_t range = b_.open_range(on_second, second, exit_pair);
  b_.unary(Op::ExceptionInfo, exit_pair + 2, {exception, false}, 0, at(span));
  b_.emit(Op::CallMethod, exit_pair, exit_pair, 3, at(span));
  b_.jump_if(Op::JumpIfTrue, {exit_pair, true}, suppressed, at(span));
  b_.close_range(range);
  restore_and_reraise(exception, previous, span);
  b_.place(suppressed);
  b_.effect(Op::PopHandled, {previous, true}, at(span));
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  b_.jump(end, at(span));
  b_.place(on_second);
  b_.emit(Op::Clear, exception, 0, 0, at(span));
  restore_and_reraise(second, previous, span);
}

}  // namespace tsc::lang
