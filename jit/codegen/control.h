#pragma once
// Loops and branches as IR. Induction variables are phis made here, because no pass cleans up after
// us. Knows IRBuilder only.
#include <llvm/IR/IRBuilder.h>

#include "jit/codegen/lanes.h"

namespace tsc::jit {

inline llvm::BasicBlock* new_block(llvm::IRBuilder<>& b, const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

// for (i64 i = begin; i < end; i += step) body(i); the builder ends up after the loop.
template <class Body>
void emit_loop(llvm::IRBuilder<>& b, Ir begin, Ir end, Ir step, const char* name, Body&& body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b, name);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b.getContext(), "end");
  b.CreateCondBr(b.CreateICmpSLT(begin, end), head, after);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2, "i");
  i->addIncoming(begin, before);
  body(i);
  Ir next = b.CreateNSWAdd(i, step);
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), head, after);
  after->insertInto(head->getParent());
  b.SetInsertPoint(after);
}

template <class Body>
void emit_loop(llvm::IRBuilder<>& b, Ir begin, Ir end, int64_t step, const char* name,
               Body&& body) {
  emit_loop(b, begin, end, b.getInt64(static_cast<uint64_t>(step)), name, body);
}

// for (i64 i = first; i >= 1; i /= 2) body(i), for a constant power of two.
template <class Body>
void emit_halving_loop(llvm::IRBuilder<>& b, int64_t first, Body&& body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b, "halve");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2, "distance");
  i->addIncoming(b.getInt64(static_cast<uint64_t>(first)), before);
  body(i);
  Ir next = b.CreateLShr(i, b.getInt64(1));
  i->addIncoming(next, b.GetInsertBlock());
  llvm::BasicBlock* after = new_block(b, "end");
  b.CreateCondBr(b.CreateICmpNE(next, b.getInt64(0)), head, after);
  b.SetInsertPoint(after);
}

template <class Body>
void emit_if(llvm::IRBuilder<>& b, Ir condition, Body&& body) {
  llvm::BasicBlock* then = new_block(b, "then");
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b.getContext(), "end");
  b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  body();
  b.CreateBr(after);
  after->insertInto(then->getParent());
  b.SetInsertPoint(after);
}

}  // namespace tsc::jit
