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
// The same for all threads that are not armed themselves, together.
void arm_others(int64_t first, int64_t count);
AllocationCounts disarm_others();

// While one lives, nothing is counted on this thread and nothing fails: what a library does that
// cannot bear it. (C linkage: a module of the test reaches it too.)
extern "C" [[gnu::visibility("default")]] void tsc_baddays_pause(int begins);

// Blocks that were handed out, on any thread, and not taken back.
int64_t live_blocks();

}  // namespace tsc::baddays
