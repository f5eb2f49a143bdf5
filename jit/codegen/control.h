#pragma once
// Loops and branches as IR. Induction variables are phis made here, because no pass cleans up after
// us. Knows IRBuilder only.
#include <llvm/IR/IRBuilder.h>

#include <utility>
#include <vector>

#include "jit/codegen/lanes.h"

namespace tsc::jit {

inline llvm::BasicBlock* new_block(llvm::IRBuilder<>& b, const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

// for (i64 i = begin; i < end; i += step) body(i); the builder ends up after the loop. A loop that
// `runs` has at least one turn.
template <class Body>
void emit_loop(llvm::IRBuilder<>& b, Ir begin, Ir end, Ir step, const char* name, Body&& body, bool runs = false) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b, name);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b.getContext(), "end");
  if (runs) b.CreateBr(head);
  else b.CreateCondBr(b.CreateICmpSLT(begin, end), head, after);
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
void emit_loop(llvm::IRBuilder<>& b, Ir begin, Ir end, int64_t step, const char* name, Body&& body, bool runs = false) {
  emit_loop(b, begin, end, b.getInt64(static_cast<uint64_t>(step)), name, body, runs);
}

// The same with values that go from turn to turn: the body finds them in their places and leaves
// the next ones there, and after the loop the places hold the last ones. The test stands in front
// of the body, so that a value has one phi and not another one behind the loop.
template <class Body>
void emit_carrying_loop(llvm::IRBuilder<>& b, Ir begin, Ir end, int64_t step, const char* name,
                        const std::vector<Ir*>& carried, Body&& body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b, name);
  llvm::BasicBlock* turn = new_block(b, "turn");
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b.getContext(), "end");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  const auto phi = [&](Ir first) {
    llvm::PHINode* node = b.CreatePHI(first->getType(), 2);
    node->addIncoming(first, before);
    return node;
  };
  llvm::PHINode* i = phi(begin);
  std::vector<llvm::PHINode*> phis;
  for (Ir* place : carried) *place = phis.emplace_back(phi(*place));
  b.CreateCondBr(b.CreateICmpSLT(i, end), turn, after);

  b.SetInsertPoint(turn);
  body(i);
  Ir next = b.CreateNSWAdd(i, b.getInt64(static_cast<uint64_t>(step)));
  i->addIncoming(next, b.GetInsertBlock());
  for (size_t k = 0; k < carried.size(); ++k) {
    phis[k]->addIncoming(*carried[k], b.GetInsertBlock());
    *carried[k] = phis[k];
  }
  b.CreateBr(head);
  after->insertInto(head->getParent());
  b.SetInsertPoint(after);
}

// for (i64 i = first;; i /= 2) body(i), down to and with 0, for a constant power of two.
template <class Body>
void emit_halving_loop(llvm::IRBuilder<>& b, int64_t first, Body&& body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b, "halve");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2, "distance");
  i->addIncoming(b.getInt64(static_cast<uint64_t>(first)), before);
  body(i);
  i->addIncoming(b.CreateLShr(i, b.getInt64(1)), b.GetInsertBlock());
  llvm::BasicBlock* after = new_block(b, "end");
  b.CreateCondBr(b.CreateICmpNE(i, b.getInt64(0)), head, after);
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

// condition ? then() : otherwise(), of which one is computed.
template <class Then, class Otherwise>
Ir emit_either(llvm::IRBuilder<>& b, Ir condition, Then&& then, Otherwise&& otherwise) {
  llvm::BasicBlock* first = new_block(b, "then");
  llvm::BasicBlock* second = new_block(b, "otherwise");
  llvm::BasicBlock* after = new_block(b, "either");
  b.CreateCondBr(condition, first, second);
  const auto in_block = [&](llvm::BasicBlock* block, auto& make) {
    b.SetInsertPoint(block);
    Ir made = make();
    llvm::BasicBlock* end = b.GetInsertBlock();
    b.CreateBr(after);
    return std::pair(made, end);
  };
  const auto one = in_block(first, then), other = in_block(second, otherwise);
  b.SetInsertPoint(after);
  llvm::PHINode* result = b.CreatePHI(one.first->getType(), 2);
  result->addIncoming(one.first, one.second);
  result->addIncoming(other.first, other.second);
  return result;
}

}  // namespace tsc::jit
