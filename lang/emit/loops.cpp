// for and while, break and continue.
#include "lang/emit/emitter.h"

namespace tsc::lang {

void Emitter::for_step(const Expr* target, Reg iterator, JumpLabel head, JumpLabel exhausted, InstructionSpan where) {
  Reg mark = b_.top();
  std::optional<Reg> variable = variable_register(target);
  Reg to = variable ? *variable : b_.allocate();
  JumpLabel end = exhausted;
  if (b_.long_jumps()) {
    // The near jump of ForIter leads to a far one just behind it; the body begins beyond.
    end = b_.make_label();
    JumpLabel body = b_.make_label();
    b_.place(head);
    b_.for_iter(to, iterator, end, where);
    b_.jump(body, where);
    b_.place(end);
    b_.jump(exhausted, where);
    b_.place(body);
  } else {
    b_.place(head);
    b_.for_iter(to, iterator, end, where);
  }
  if (!variable) store(target, {to, true});
  b_.reset(mark);
}

void Emitter::emit_for(const For& node) {
  Reg mark = b_.top();
  Operand iterable = expr(node.iter);
  b_.reset(mark);
  Reg iterator = b_.allocate();
  b_.unary(Op::GetIter, iterator, iterable, 0, at(node.iter));
  JumpLabel head = b_.make_label(), exhausted = b_.make_label(), end = b_.make_label();
  ControlBlock block{ControlBlock::Kind::Loop};
  block.break_label = end;
  block.continue_label = head;
  block.iterator = iterator;
  blocks_.push_back(block);
  for_step(node.target, iterator, head, exhausted, at(node.iter));
  statements(node.body);
  b_.jump_back(head, at(node.iter));
  blocks_.pop_back();
  b_.place(exhausted);
  statements(node.orelse);
  b_.place(end);
  b_.reset(mark);
}

void Emitter::emit_while(const While& node) {
  JumpLabel head = b_.make_label(), finished = b_.make_label(), end = b_.make_label();
  ControlBlock block{ControlBlock::Kind::Loop};
  block.break_label = end;
  block.continue_label = head;
  blocks_.push_back(block);
  b_.place(head);
  jump_if(node.test, false, finished);
  statements(node.body);
  b_.jump_back(head, at(node.test));
  blocks_.pop_back();
  b_.place(finished);
  statements(node.orelse);
  b_.place(end);
}

void Emitter::emit_break(Span span) {
  size_t loop = blocks_.size() - 1;
  while (blocks_[loop].kind != ControlBlock::Kind::Loop) --loop;
  leave_blocks(loop + 1, span);
  if (blocks_[loop].iterator) b_.emit(Op::Clear, *blocks_[loop].iterator, 0, 0, at(span));
  b_.jump(blocks_[loop].break_label, at(span));
  resume_blocks(loop + 1);
}

void Emitter::emit_continue(Span span) {
  size_t loop = blocks_.size() - 1;
  while (blocks_[loop].kind != ControlBlock::Kind::Loop) --loop;
  leave_blocks(loop + 1, span);
  b_.jump_back(blocks_[loop].continue_label, at(span));
  resume_blocks(loop + 1);
}

}  // namespace tsc::lang
