#pragma once
// The memory of a simulated device: segments that exist twice in the address space, once where nobody may read or write
// (the device's address) and once where only the device's queue looks (the kernel's address). Blocks are cut from small
// segments or have one of their own; a freed block is kept for the next request on its stream. Knows bytes, streams by
// number, and events of other streams that have used a block. Thread safe.
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/memory_budget.h"
#include "runtime/device/backend.h"

namespace tsc {

// Goes when no block and no queued work has it.
class MemorySegment : public RefCounted {
 public:
  // Null: the system has no such memory.
  static Ref<MemorySegment> make(int64_t bytes, Ref<MemoryBudget> budget);
  ~MemorySegment() override;
  std::byte *device = nullptr, *kernel = nullptr;
  int64_t bytes = 0, used = 0;  // used: cut off so far
  int64_t live = 0;             // blocks of it that are handed out or waited for

 private:
  Ref<MemoryBudget> budget_;
};

struct MemoryPiece {
  Ref<MemorySegment> segment;
  std::byte *device = nullptr, *kernel = nullptr;
  int64_t capacity = 0, wanted = 0;  // wanted: what was asked for, rounded
  StreamId stream = kDefaultStream;
  const char* maker = "";
  bool is_fresh = true;                   // nothing was ever queued on it
  std::vector<StreamId> users;            // other streams
  std::vector<Ref<DeviceEvent>> awaited;  // behind their last work, once it is free
};

class SimulatedMemory {
 public:
  // `total`: bytes that the device has.
  SimulatedMemory(Place place, int64_t total, Ref<MemoryBudget> budget)
      : place_(place), total_(total), budget_(std::move(budget)) {}
  // Null: there is no room, whatever was kept; the caller frees more or reports.
  MemoryPiece* allocate(int64_t bytes, StreamId stream, const char* maker);
  void free(MemoryPiece* piece) noexcept;
  // Nothing may be queued.
  void release_cached() noexcept;
  void note_retry() { ++statistics_.retries; }
  [[noreturn]] void refuse(int64_t bytes);
  std::string holders() const;
  DeviceStatistics statistics() const;
  void reset_peaks();
  int64_t total() const { return total_; }

 private:
  using Kept = std::multimap<int64_t, MemoryPiece*>;  // by capacity
  MemoryPiece* take_kept(int64_t bytes, StreamId stream);
  MemoryPiece* cut(int64_t bytes);
  Ref<MemorySegment> make_segment(int64_t bytes);
  void collect_waiting();
  std::string holders_locked() const;

  const Place place_;
  const int64_t total_;
  Ref<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  std::unordered_map<MemoryPiece*, std::unique_ptr<MemoryPiece>> pieces_;
  std::unordered_map<StreamId, Kept> kept_;
  std::vector<MemoryPiece*> waiting_;  // free, but for work of other streams
  std::vector<Ref<MemorySegment>> segments_;
  Ref<MemorySegment> open_;  // from which small blocks are cut
  DeviceStatistics statistics_;
};

}  // namespace tsc
