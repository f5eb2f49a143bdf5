#pragma once
// The caching allocator of tensor memory: a freed block is kept for the next request of its size class,
// because fresh pages cost far more than the arithmetic on them (a fault per 4 KiB page). Blocks above
// 1 MiB, and those above 4 KiB once there are many and no limit is set, lie in huge pages.
// Knows bytes only. Thread safe. Keeps: every block, kept ones included, is charged to the engine's
// budget; kept blocks go back to the system before a request is refused.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/base/memory_budget.h"
#include "runtime/base/ref.h"
#include "runtime/device/huge_pages.h"

namespace tsc {

struct AllocatorStatistics {
  int64_t used_bytes = 0;       // handed out now (rounded up to the size class)
  int64_t peak_used_bytes = 0;  // the largest it has been since reset_peak()
  int64_t cached_bytes = 0;     // kept for reuse
  int64_t allocations = 0;      // requests served
  int64_t system_requests = 0;  // of those, not served from the cache
};

class CachingAllocator : public RefCounted {
 public:
  struct Block {
    std::byte* data = nullptr;
    int64_t capacity = 0;
  };

  explicit CachingAllocator(Ref<MemoryBudget> budget = make_ref<MemoryBudget>()) : budget_(std::move(budget)) {}
  ~CachingAllocator() override;

  // At least `bytes` bytes, aligned to 64. LimitError beyond the budget, MemoryError when the system
  // refuses.
  Block allocate(int64_t bytes);
  void free(Block block) noexcept;

  MemoryBudget& budget() const { return *budget_; }
  // Gives every cached block back to the system, but for those that share a slab with one in use.
  void release_cached() noexcept;
  AllocatorStatistics statistics() const;
  void reset_peak();
  // For tests: memory that is handed out, and memory that comes back, is filled with bytes that are no
  // sensible number, so that whoever reads what he has not written gives other results.
  void set_poison(bool on) { poison_ = on; }

  // The capacity that a request is rounded up to: at most 25 % more.
  static int64_t rounded_size(int64_t bytes);

 private:
  static constexpr int kClassCount = 168;  // four per power of two up to 2^47
  static int class_of(int64_t capacity);
  bool take_kept(Block* block);
  std::byte* request(int64_t capacity);
  std::byte* system_allocate(int64_t capacity);
  void system_free(std::byte* data, int64_t capacity) noexcept;  // the lock is held

  // A spin lock: the critical sections are a few instructions and almost never contended. Those that call the
  // system, for a new slab and in release_cached(), are rare.
  class Lock {
   public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    ~Lock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& flag_;
  };

  mutable std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
  std::array<std::vector<std::byte*>, kClassCount> free_blocks_;
  Slabs slabs_;
  AllocatorStatistics statistics_;
  bool poison_ = false;
  Ref<MemoryBudget> budget_;
};

}  // namespace tsc
