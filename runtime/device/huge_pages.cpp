#include "runtime/device/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace tsc {
namespace {

// AddressSanitizer sees a read beyond a block only if the block is its own.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kUseSlabs = false;
#else
constexpr bool kUseSlabs = true;
#endif

constexpr int64_t kWithoutSlabs = int64_t{2} << 20;  // bytes asked for before the first slab
constexpr int64_t kLargestSlab = int64_t{16} << 20;
// Between blocks: those of the same size would all begin at the same place of a page, where a load waits
// for a store to another block.
constexpr int64_t kApart = 192;

}  // namespace

std::byte* map_huge_pages(int64_t capacity) {
  // One huge page more than asked for; the aligned part is kept.
  const int64_t mapped = capacity + kHugePage;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > begin) munmap(raw, aligned - begin);
  const uintptr_t end = aligned + capacity;
  if (begin + mapped > end) munmap(reinterpret_cast<void*>(end), begin + mapped - end);
  madvise(reinterpret_cast<void*>(aligned), capacity, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(aligned);
}

void unmap_huge_pages(std::byte* data, int64_t capacity) { munmap(data, capacity); }

Slabs::~Slabs() {
  for (const Slab& slab : slabs_) unmap_huge_pages(slab.data, slab.capacity);
}

// As large as all before it, within bounds: what stays unused at the end of one is little then.
bool Slabs::add_slab() {
  int64_t capacity = 0;
  for (const Slab& slab : slabs_) capacity += slab.capacity;
  capacity = std::clamp(capacity, kHugePage, kLargestSlab);
  try {
    slabs_.reserve(slabs_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  std::byte* data = map_huge_pages(capacity);
  if (data) slabs_.push_back({data, capacity});
  return data != nullptr;
}

std::byte* Slabs::cut(int64_t capacity) {
  if (!kUseSlabs || capacity < kSmallest || capacity > kLargest) return nullptr;
  if (slabs_.empty()) {
    asked_ += capacity;
    if (asked_ <= kWithoutSlabs) return nullptr;
  }
  const bool full = slabs_.empty() || slabs_.back().cut + capacity > slabs_.back().capacity;
  if (full && !add_slab()) return nullptr;
  Slab& slab = slabs_.back();
  std::byte* data = slab.data + slab.cut;
  slab.cut += capacity + kApart;
  ++slab.blocks;
  return data;
}

Slabs::Slab* Slabs::slab_of(const std::byte* data) noexcept {
  for (Slab& slab : slabs_)
    if (data >= slab.data && data < slab.data + slab.capacity) return &slab;
  return nullptr;
}

bool Slabs::take_back(std::byte* data) noexcept {
  Slab* slab = slab_of(data);
  if (!slab) return false;
  if (slab->idle > 0) --slab->idle;
  if (--slab->blocks > 0) return true;
  unmap_huge_pages(slab->data, slab->capacity);
  slabs_.erase(slabs_.begin() + (slab - slabs_.data()));
  if (slabs_.empty()) asked_ = 0;
  return true;
}

void Slabs::begin_count() noexcept {
  for (Slab& slab : slabs_) slab.idle = 0;
}

void Slabs::count_idle(const std::byte* data) noexcept {
  if (Slab* slab = slab_of(data)) ++slab->idle;
}

bool Slabs::stays(const std::byte* data) noexcept {
  const Slab* slab = slab_of(data);
  return slab && slab->idle < slab->blocks;
}

}  // namespace tsc
