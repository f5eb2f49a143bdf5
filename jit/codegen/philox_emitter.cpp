// runtime/random/philox.h. Words travel in 64-bit lanes, because a round is two products
// of 32 by 32 to 64 bits, and vector units have that product.
#include "jit/codegen/philox_emitter.h"

#include "jit/codegen/control.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

constexpr int64_t kLowWord = 0xFFFFFFFF;

struct Block {
  Ir words[4];
};

// The rounds are a loop: unrolled, their products make instruction selection take a hundred times
// as long, and ten turns of a loop cost nothing beside them.
Block emit_rounds(const Lanes& l, const Block& start, Ir first_key0, Ir first_key1) {
  auto& b = l.b();
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = new_block(b, "philox");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  auto phi = [&](Ir first) {
    llvm::PHINode* node = b.CreatePHI(first->getType(), 2);
    node->addIncoming(first, before);
    return node;
  };
  llvm::PHINode *words[4], *key0 = phi(first_key0), *key1 = phi(first_key1);
  for (int i = 0; i < 4; ++i) words[i] = phi(start.words[i]);
  llvm::PHINode* round = phi(b.getInt32(0));

  const Ir low_word = l.integer(64, kLowWord);
  auto low = [&](Ir x) { return b.CreateAnd(x, low_word); };
  auto high = [&](Ir x) { return b.CreateLShr(x, l.integer(64, 32)); };
  // The masks state that the factors have 32 bits.
  Ir product0 = b.CreateMul(l.integer(64, 0xD2511F53), low(words[0]));
  Ir product1 = b.CreateMul(l.integer(64, 0xCD9E8D57), low(words[2]));
  const Block next = {{b.CreateXor(b.CreateXor(high(product1), words[1]), l.splat(key0)), low(product1),
                       b.CreateXor(b.CreateXor(high(product0), words[3]), l.splat(key1)), low(product0)}};
  for (int i = 0; i < 4; ++i) words[i]->addIncoming(next.words[i], head);
  auto advance = [&](llvm::PHINode* key, uint64_t step) {
    key->addIncoming(b.CreateAnd(b.CreateAdd(key, b.getInt64(step)), b.getInt64(kLowWord)), head);
  };
  advance(key0, 0x9E3779B9);
  advance(key1, 0xBB67AE85);
  Ir count = b.CreateAdd(round, b.getInt32(1));
  round->addIncoming(count, head);
  llvm::BasicBlock* after = new_block(b, "drawn");
  b.CreateCondBr(b.CreateICmpULT(count, b.getInt32(10)), head, after);
  b.SetInsertPoint(after);
  return next;
}

// Word `which` (0 to 3, per lane) of the block.
Ir pick(const Lanes& l, const Block& block, Ir which) {
  auto& b = l.b();
  Ir odd = b.CreateICmpNE(b.CreateAnd(which, l.integer(64, 1)), l.integer(64, 0));
  Ir low = b.CreateSelect(odd, block.words[1], block.words[0]);
  Ir high = b.CreateSelect(odd, block.words[3], block.words[2]);
  return b.CreateSelect(b.CreateICmpUGT(which, l.integer(64, 1)), high, low);
}

Ir low_half(llvm::IRBuilder<>& b, Ir x) { return b.CreateAnd(x, b.getInt64(kLowWord)); }
Ir high_half(llvm::IRBuilder<>& b, Ir x) { return b.CreateLShr(x, b.getInt64(32)); }

Block draw(const Lanes& l, Ir seed, Ir offset, Ir block) {
  auto& b = l.b();
  const Block counter = {{b.CreateAnd(block, l.integer(64, kLowWord)), b.CreateLShr(block, l.integer(64, 32)),
                          l.splat(low_half(b, offset)), l.splat(high_half(b, offset))}};
  return emit_rounds(l, counter, low_half(b, seed), high_half(b, seed));
}

// A 32-bit word as the dtype's element.
Ir element_of(const Lanes& l, DType dtype, Ir word) {
  auto& b = l.b();
  if (dtype == DType::I32) return word;
  TSC_CHECK(dtype == DType::F32, "philox gives i32, i64, f32 or f64");
  Ir bits = b.CreateLShr(word, l.integer(32, 8));  // 24 bits: exact as a signed integer too
  return b.CreateFMul(b.CreateSIToFP(bits, l.value_type(dtype)), l.in_memory(l.number(dtype, 0x1p-24)));
}

}  // namespace

Ir emit_philox(const Lanes& l, DType dtype, Ir seed, Ir offset, Ir index) {
  auto& b = l.b();
  const int per_block_bits = dtype == DType::F64 ? 1 : 2;
  Ir block = b.CreateLShr(index, l.integer(64, per_block_bits));
  Ir place = b.CreateAnd(index, l.integer(64, (1 << per_block_bits) - 1));
  const Block result = draw(l, seed, offset, block);
  if (dtype == DType::F64) {
    Ir second = b.CreateICmpNE(place, l.integer(64, 0));
    Ir high = b.CreateSelect(second, result.words[2], result.words[0]);
    Ir low = b.CreateSelect(second, result.words[3], result.words[1]);
    Ir bits = b.CreateLShr(b.CreateOr(b.CreateShl(high, l.integer(64, 32)), low), l.integer(64, 11));
    return b.CreateFMul(b.CreateUIToFP(bits, l.value_type(dtype)), l.number(dtype, 0x1p-53));
  }
  Ir word = pick(l, result, place);
  if (dtype == DType::I64) return word;
  return element_of(l, dtype, b.CreateTrunc(word, l.integer_type(32)));
}

bool shares_philox_blocks(const Lanes& l, DType dtype) {
  return l.count() >= 4 && (dtype == DType::F32 || dtype == DType::I32);
}

// The run begins anywhere in its first block, so its words go through memory: all of the blocks in
// order, and from there those that begin at the first index.
Ir emit_philox_run(const Lanes& l, DType dtype, Ir seed, Ir offset, Ir first, Ir memory) {
  auto& b = l.b();
  const int count = l.count();
  const Lanes blocks = l.with_count(count / 2);  // count / 4 + 1 are needed
  Ir numbers = b.CreateAdd(blocks.splat(b.CreateLShr(first, b.getInt64(2))), blocks.iota(64));
  const Block drawn = draw(blocks, seed, offset, numbers);
  auto pair = [&](Ir low, Ir high) { return b.CreateOr(low, b.CreateShl(high, blocks.integer(64, 32))); };
  Ir front = pair(drawn.words[0], drawn.words[1]), back = pair(drawn.words[2], drawn.words[3]);
  for (int half = 0; half < 2; ++half) {
    llvm::SmallVector<int, 32> order;
    for (int i = 0; i < count / 2; ++i) order.push_back(half * (count / 4) + i / 2 + i % 2 * (count / 2));
    Ir place = b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), memory, static_cast<uint64_t>(half * count));
    b.CreateAlignedStore(b.CreateShuffleVector(front, back, order), place, llvm::Align(8));
  }
  Ir start = b.CreateInBoundsGEP(b.getInt32Ty(), memory, b.CreateAnd(first, b.getInt64(3)));
  return element_of(l, dtype, b.CreateAlignedLoad(l.integer_type(32), start, llvm::Align(4)));
}

}  // namespace tsc::jit
