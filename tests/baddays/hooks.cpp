#include "hooks.h"

#include <stddef.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

extern "C" {
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void* memory);
void* __real_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset);
}

namespace tsc::baddays {
namespace {

// Written while none of the threads it is for allocates, or by the one.
struct Plan {
  std::atomic<bool> is_armed{false};
  std::atomic<int64_t> first{0}, count{0}, asked{0}, failed{0};

  void arm(int64_t first_one, int64_t how_many) {
    first = first_one, count = how_many, asked = 0, failed = 0;
    is_armed = true;
  }
  AllocationCounts disarm() {
    is_armed = false;
    return {asked, failed};
  }
  bool refuses() {
    if (!is_armed.load(std::memory_order_relaxed)) return false;
    const int64_t number = ++asked;
    if (first == 0 || number < first || number - first >= count) return false;
    ++failed;
    errno = ENOMEM;
    return true;
  }
};

thread_local Plan plan;
thread_local int pauses = 0;
Plan plan_of_others;
std::atomic<int64_t> live{0};

bool refuses() {
  if (pauses > 0) return false;
  return plan.is_armed ? plan.refuses() : plan_of_others.refuses();
}

void* counted(void* memory) {
  if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* make(size_t size) { return refuses() ? nullptr : counted(__real_malloc(size)); }

void* make_aligned(size_t size, std::align_val_t alignment) {
  const size_t unit = static_cast<size_t>(alignment);
  return refuses() ? nullptr : counted(__real_aligned_alloc(unit, (size + unit - 1) / unit * unit));
}

void* insist(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  __real_free(memory);
}

}  // namespace

void arm(int64_t first, int64_t count) { plan.arm(first, count); }

AllocationCounts disarm() { return plan.disarm(); }

void arm_others(int64_t first, int64_t count) { plan_of_others.arm(first, count); }

AllocationCounts disarm_others() { return plan_of_others.disarm(); }

void tsc_baddays_pause(int begins) { pauses += begins ? 1 : -1; }

int64_t live_blocks() { return live.load(); }

}  // namespace tsc::baddays

using namespace tsc::baddays;

extern "C" {
void* __wrap_malloc(size_t size) { return make(size); }
void* __wrap_calloc(size_t count, size_t size) { return refuses() ? nullptr : counted(__real_calloc(count, size)); }
void* __wrap_realloc(void* memory, size_t size) {
  if (refuses()) return nullptr;
  void* moved = __real_realloc(memory, size);
  if (memory == nullptr) counted(moved);
  return moved;
}
void* __wrap_aligned_alloc(size_t alignment, size_t size) { return make_aligned(size, std::align_val_t(alignment)); }
void __wrap_free(void* memory) { release(memory); }
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (refuses()) return MAP_FAILED;
  return __real_mmap(address, size, protection, flags, file, offset);
}
}

void* operator new(size_t size) { return insist(make(size)); }
void* operator new[](size_t size) { return insist(make(size)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return make(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return make(size); }
void* operator new(size_t size, std::align_val_t unit) { return insist(make_aligned(size, unit)); }
void* operator new[](size_t size, std::align_val_t unit) { return insist(make_aligned(size, unit)); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }
