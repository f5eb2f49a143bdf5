#pragma once
// Basic blocks of a CodeObject. A block ends at a jump, at a jump's target and where the protecting
// exception entry changes, so all instructions of a block share one handler.
#include <cstdint>
#include <vector>

#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

struct BasicBlock {
  uint32_t begin = 0, end = 0;       // instructions [begin, end)
  std::vector<uint32_t> successors;  // the fall-through first, then the jump's target
  std::vector<uint32_t> predecessors;
  int32_t handler = -1;       // block that catches its exceptions
  bool is_loop_head = false;  // a JumpBack leads here
};

class ControlFlow {
 public:
  explicit ControlFlow(const CodeObject& code);
  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  // Index of the block that holds pc.
  uint32_t block_of(uint32_t pc) const { return block_of_[pc]; }

 private:
  std::vector<BasicBlock> blocks_;
  std::vector<uint32_t> block_of_;
};

}  // namespace tsc::lang
