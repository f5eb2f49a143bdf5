#include "runtime/backends/simulated_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>

#include "runtime/base/error.h"

namespace tsc {
namespace {

constexpr int64_t kUnit = 512, kPage = 4096;  // of blocks, of segments
constexpr int64_t kSmall = int64_t{1} << 20,
                  kSmallSegment = int64_t{2} << 20;  // blocks up to there are cut from such segments

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

std::string size_text(int64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  int unit = 0;
  for (; size >= 1024 && unit < 4; ++unit) size /= 1024;
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", size, kUnits[unit]);
  return text;
}

std::byte* map(int64_t bytes, int protection) {
  void* at = mmap(nullptr, static_cast<size_t>(bytes), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

Ref<MemorySegment> MemorySegment::make(int64_t bytes, Ref<MemoryBudget> budget) {
  if (!budget->try_charge(bytes)) {
    budget->reclaim();
    if (!budget->try_charge(bytes)) budget->refuse(bytes);
  }
  Ref<MemorySegment> made = make_ref<MemorySegment>();
  made->bytes = bytes;
  made->budget_ = std::move(budget);
  made->kernel = map(bytes, PROT_READ | PROT_WRITE);
  made->device = map(bytes, PROT_NONE);
  return made->kernel && made->device ? made : nullptr;
}

MemorySegment::~MemorySegment() {
  if (kernel) munmap(kernel, static_cast<size_t>(bytes));
  if (device) munmap(device, static_cast<size_t>(bytes));
  if (budget_) budget_->give_back(bytes);
}

// A block of this stream that is little larger.
MemoryPiece* SimulatedMemory::take_kept(int64_t bytes, StreamId stream) {
  Kept& kept = kept_[stream];
  const auto found = kept.lower_bound(bytes);
  if (found == kept.end() || found->first > bytes + bytes / 4) return nullptr;
  MemoryPiece* piece = found->second;
  kept.erase(found);
  return piece;
}

Ref<MemorySegment> SimulatedMemory::make_segment(int64_t bytes) {
  if (statistics_.reserved_bytes.current + bytes > total_) return nullptr;
  Ref<MemorySegment> segment = MemorySegment::make(bytes, budget_);
  if (!segment) return nullptr;
  segments_.push_back(segment);
  statistics_.reserved_bytes.add(bytes);
  statistics_.segments.add(1);
  return segment;
}

MemoryPiece* SimulatedMemory::cut(int64_t bytes) {
  Ref<MemorySegment> segment;
  if (bytes > kSmall) {
    segment = make_segment(round_up(bytes, kPage));
  } else {
    if (!open_ || open_->used + bytes > open_->bytes)
      open_ = make_segment(
          std::min(kSmallSegment,
                   std::max(round_up(bytes, kPage), total_ - statistics_.reserved_bytes.current) / kPage * kPage));
    segment = open_;
  }
  if (!segment) return nullptr;
  auto piece = std::make_unique<MemoryPiece>();
  piece->segment = segment;
  piece->device = segment->device + segment->used;
  piece->kernel = segment->kernel + segment->used;
  piece->capacity = bytes > kSmall ? segment->bytes : bytes;
  segment->used += piece->capacity;
  MemoryPiece* made = piece.get();
  pieces_.emplace(made, std::move(piece));
  return made;
}

MemoryPiece* SimulatedMemory::allocate(int64_t bytes, StreamId stream, const char* maker) {
  const std::lock_guard lock(mutex_);
  collect_waiting();
  const int64_t wanted = round_up(std::max<int64_t>(bytes, 1), kUnit);
  MemoryPiece* piece = take_kept(wanted, stream);
  if (!piece) piece = cut(wanted);
  if (!piece) return nullptr;
  piece->stream = stream;
  piece->maker = maker;
  piece->wanted = wanted;
  ++piece->segment->live;
  statistics_.allocated_bytes.add(wanted);
  statistics_.allocations.add(1);
  return piece;
}

void SimulatedMemory::free(MemoryPiece* piece) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.allocated_bytes.take(piece->wanted);
  statistics_.allocations.take(1);
  piece->wanted = 0;
  try {
    if (piece->awaited.empty()) {
      kept_[piece->stream].emplace(piece->capacity, piece);
      --piece->segment->live;
    } else {
      waiting_.push_back(piece);
    }
  } catch (const std::bad_alloc&) {  // no memory even for the list: it stays as if it were in use
  }
}

void SimulatedMemory::collect_waiting() {
  std::erase_if(waiting_, [&](MemoryPiece* piece) {
    for (const Ref<DeviceEvent>& event : piece->awaited)
      if (!event->is_done()) return false;
    piece->awaited.clear();
    kept_[piece->stream].emplace(piece->capacity, piece);
    --piece->segment->live;
    return true;
  });
}

void SimulatedMemory::release_cached() noexcept {
  const std::lock_guard lock(mutex_);
  collect_waiting();
  for (auto& [stream, kept] : kept_)
    std::erase_if(kept, [&](const auto& entry) {
      if (entry.second->segment->live > 0) return false;
      pieces_.erase(entry.second);
      return true;
    });
  std::erase_if(segments_, [&](const Ref<MemorySegment>& segment) {
    if (segment->live > 0) return false;
    statistics_.reserved_bytes.take(segment->bytes);
    statistics_.segments.take(1);
    if (open_ == segment) open_ = nullptr;
    return true;
  });
}

// What the live blocks were made for, those that take most first.
std::string SimulatedMemory::holders_locked() const {
  std::map<std::pair<std::string, int64_t>, int64_t> counts;
  for (const auto& [piece, owned] : pieces_)
    if (piece->wanted > 0) ++counts[{piece->maker, piece->wanted}];
  std::vector<std::pair<int64_t, std::string>> lines;
  for (const auto& [key, count] : counts)
    lines.emplace_back(key.second * count, std::to_string(count) + (count == 1 ? " block of " : " blocks of ") +
                                               size_text(key.second) + " from '" + key.first + "'");
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMost); ++i) text += (i ? ", " : "") + lines[i].second;
  if (lines.size() > kMost) text += ", and " + std::to_string(lines.size() - kMost) + " other kinds";
  return text;
}

std::string SimulatedMemory::holders() const {
  const std::lock_guard lock(mutex_);
  return holders_locked();
}

void SimulatedMemory::refuse(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++statistics_.out_of_memory;
  const int64_t allocated = statistics_.allocated_bytes.current, reserved = statistics_.reserved_bytes.current;
  const std::string held = holders_locked();
  throw Error(ErrorKind::DeviceMemoryError,
              "CUDA out of memory. Tried to allocate " + size_text(bytes) + ". GPU " + std::to_string(place_.index()) +
                  " has a total capacity of " + size_text(total_) + " of which " + size_text(total_ - reserved) +
                  " is free. Of the allocated memory " + size_text(allocated) + " is allocated by tensors, and " +
                  size_text(reserved - allocated) + " is reserved but unallocated." +
                  (held.empty() ? "" : " Tensors hold " + held + "."));
}

DeviceStatistics SimulatedMemory::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void SimulatedMemory::reset_peaks() {
  const std::lock_guard lock(mutex_);
  for (DeviceCount* count :
       {&statistics_.allocated_bytes, &statistics_.reserved_bytes, &statistics_.allocations, &statistics_.segments})
    count->peak = count->current;
}

}  // namespace tsc
