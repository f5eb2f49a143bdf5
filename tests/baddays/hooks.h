#pragma once
// Every allocation of the program goes through here (operator new, and the C functions that the
// project calls, by the linker's --wrap), so that a test can let the n-th one fail and count what
// is never freed. Knows: bytes. Must not know: the engine.
#include <cstdint>

namespace tsc::baddays {

struct AllocationCounts {
  int64_t asked = 0;   // since arm()
  int64_t failed = 0;  // of those, refused
};

// From now on this thread's allocations are counted; number `first` (from 1) and the `count - 1`
// after it fail. first 0: none.
void arm(int64_t first, int64_t count);
AllocationCounts disarm();

// Blocks that were handed out, on any thread, and not taken back.
int64_t live_blocks();

}  // namespace tsc::baddays
