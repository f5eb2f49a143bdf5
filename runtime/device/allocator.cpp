#include "runtime/device/allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"

namespace tsc {
namespace {

constexpr int64_t kSmallest = 64;
constexpr int64_t kHugeThreshold = int64_t{1} << 20;
constexpr int kPoison = 0xFF;  // NaN in every floating dtype, -1, no bool

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

int64_t CachingAllocator::rounded_size(int64_t bytes) {
  if (bytes <= kSmallest) return kSmallest;
  int exponent = 63 - __builtin_clzll(static_cast<unsigned long long>(bytes - 1));
  int64_t unit = std::max(kSmallest, (int64_t{1} << exponent) / 4);
  int64_t rounded = round_up(bytes, unit);
  return rounded > kHugeThreshold ? round_up(rounded, kHugePage) : rounded;
}

// Capacities are products of rounded_size: four steps in every power of two.
int CachingAllocator::class_of(int64_t capacity) {
  int exponent = 63 - __builtin_clzll(static_cast<unsigned long long>(capacity));
  int quarter = static_cast<int>((capacity >> (exponent - 2)) & 3);
  return (exponent - 6) * 4 + quarter;
}

bool CachingAllocator::take_kept(Block* block) {
  Lock lock(lock_);
  auto& list = free_blocks_[class_of(block->capacity)];
  const bool kept = !list.empty();
  if (kept) {
    block->data = list.back();
    list.pop_back();
    statistics_.cached_bytes -= block->capacity;
  }
  statistics_.used_bytes += block->capacity;
  statistics_.peak_used_bytes = std::max(statistics_.peak_used_bytes, statistics_.used_bytes);
  ++statistics_.allocations;
  if (!kept) ++statistics_.system_requests;
  return kept;
}

// A new block, charged; null when the system has none. LimitError beyond the budget.
std::byte* CachingAllocator::system_allocate(int64_t capacity) {
  if (capacity > kHugeThreshold) return map_huge_pages(capacity);
  // Under a limit every byte counts, and what a slab holds beside its blocks is charged to nobody.
  if (budget_->limit() == 0) {
    Lock lock(lock_);
    if (std::byte* data = slabs_.cut(capacity)) return data;
  }
  return static_cast<std::byte*>(std::aligned_alloc(kSmallest, capacity));
}

void CachingAllocator::system_free(std::byte* data, int64_t capacity) noexcept {
  if (capacity > kHugeThreshold) return unmap_huge_pages(data, capacity);
  if (capacity < Slabs::kSmallest || !slabs_.take_back(data)) std::free(data);
}

std::byte* CachingAllocator::request(int64_t capacity) {
  if (!budget_->try_charge(capacity)) {
    release_cached();
    budget_->reclaim();
    if (!budget_->try_charge(capacity)) budget_->refuse(capacity);
  }
  std::byte* data = system_allocate(capacity);
  if (!data) {
    release_cached();
    data = system_allocate(capacity);
  }
  if (!data) budget_->give_back(capacity);
  return data;
}

CachingAllocator::Block CachingAllocator::allocate(int64_t bytes) {
  if (bytes > kMaxBytes)
    throw Error(ErrorKind::MemoryError,
                "cannot allocate " + std::to_string(bytes) + " bytes: more than the address space");
  Block block{nullptr, rounded_size(bytes)};
  if (take_kept(&block)) {
    if (poison_) std::memset(block.data, kPoison, static_cast<size_t>(block.capacity));
    return block;
  }
  try {
    block.data = request(block.capacity);
    if (!block.data)
      throw Error(ErrorKind::MemoryError, "cannot allocate " + std::to_string(bytes) + " bytes: out of memory");
  } catch (const Error&) {
    Lock lock(lock_);
    statistics_.used_bytes -= block.capacity;
    throw;
  }
  if (poison_) std::memset(block.data, kPoison, static_cast<size_t>(block.capacity));
  return block;
}

void CachingAllocator::free(Block block) noexcept {
  if (poison_) std::memset(block.data, kPoison, static_cast<size_t>(block.capacity));
  Lock lock(lock_);
  statistics_.used_bytes -= block.capacity;
  try {
    free_blocks_[class_of(block.capacity)].push_back(block.data);
    statistics_.cached_bytes += block.capacity;
  } catch (const std::bad_alloc&) {  // no memory even for the list
    system_free(block.data, block.capacity);
    budget_->give_back(block.capacity);
  }
}

void CachingAllocator::release_cached() noexcept {
  Lock lock(lock_);
  slabs_.begin_count();
  for (const auto& list : free_blocks_)
    for (const std::byte* data : list) slabs_.count_idle(data);
  for (int index = 0; index < kClassCount; ++index) {
    const int64_t capacity = (int64_t{4 + index % 4} << (index / 4 + 6)) / 4;
    std::erase_if(free_blocks_[index], [&](std::byte* data) {
      if (slabs_.stays(data)) return false;
      system_free(data, capacity);
      budget_->give_back(capacity);
      statistics_.cached_bytes -= capacity;
      return true;
    });
  }
}

AllocatorStatistics CachingAllocator::statistics() const {
  Lock lock(lock_);
  return statistics_;
}

void CachingAllocator::reset_peak() {
  Lock lock(lock_);
  statistics_.peak_used_bytes = statistics_.used_bytes;
}

CachingAllocator::~CachingAllocator() { release_cached(); }

}  // namespace tsc
