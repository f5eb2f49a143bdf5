#pragma once
// Uninitialised memory from an engine's allocator, for the length of a scope: what a kernel's threads need
// beside their operands.
#include "runtime/device/allocator.h"

namespace tsc {

template <class T>
class Scratch {
 public:
  Scratch(CachingAllocator& allocator, int64_t count) : allocator_(allocator) {
    if (count > 0) block_ = allocator.allocate(count * static_cast<int64_t>(sizeof(T)));
  }
  ~Scratch() {
    if (block_.data) allocator_.free(block_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return reinterpret_cast<T*>(block_.data); }

 private:
  CachingAllocator& allocator_;
  CachingAllocator::Block block_;
};

}  // namespace tsc
