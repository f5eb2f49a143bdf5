#pragma once
// Memory of script objects: size-class free lists, reference counts that free at once (after a stop for
// ten milliseconds; the rest is put off to the next call), and a cycle collector over container objects
// (two generations; internal references are subtracted, what keeps a count is a root). Collections run
// only at safe points of the Vm, never inside native code.
// Everything is charged to a memory budget: chunks of small objects, large blocks, and what containers
// take through counted_memory.h. Knows: Object, Type. Must not know: what the objects mean (their slots
// traverse and destroy them).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <unordered_set>
#include <vector>

#include "interpreter/value/type.h"
#include "runtime/base/memory_budget.h"
#include "runtime/base/stop.h"

namespace tsc::interp {

class Heap {
 public:
  Heap(Vm& vm, Ref<MemoryBudget> budget) : vm_(vm), budget_(budget ? std::move(budget) : make_ref<MemoryBudget>()) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  void* allocate(size_t size) {
    bytes_ += size;
    if (size > kLargestSmall) return allocate_large(size);
    FreeBlock*& list = free_[(size + kGrain - 1) / kGrain];
    if (FreeBlock* block = list) [[likely]] {
      list = block->next;
      return block;
    }
    return refill((size + kGrain - 1) / kGrain);
  }
  void free(void* memory, size_t size) {
    bytes_ -= size;
    if (size > kLargestSmall) return free_large(memory, size);
    put_back(memory, (size + kGrain - 1) / kGrain);
  }

  // A new object of a type, with `extra` bytes behind it. Count 1 in the Local.
  template <class T, class... Arguments>
  Local<T> make_sized(Type* type, size_t extra, Arguments&&... arguments) {
    if (type->slots.traverse) make_room_to_track();  // nothing is thrown once the object is there
    void* memory = allocate(sizeof(T) + extra);
    T* object = nullptr;
    try {
      object = new (memory) T(std::forward<Arguments>(arguments)...);
    } catch (...) {
      free(memory, sizeof(T) + extra);
      throw;
    }
    object->type = type;
    if (type->type_flags & kScriptClass) {
      ++type->reference_count;
      if (type->type_flags & kHasFinalizer) object->flags |= kHasEnd;
    }
    if (type->slots.traverse) track(object);
    return Local<T>(object);
  }
  template <class T, class... Arguments>
  Local<T> make(Type* type, Arguments&&... arguments) {
    return make_sized<T>(type, 0, std::forward<Arguments>(arguments)...);
  }
  // The end of a destroy slot: runs the destructor and frees `sizeof(T) + extra` bytes.
  template <class T>
  void finish(T* object, size_t extra = 0) {
    Type* type = object->type;
    if (object->flags & kTracked) untrack(object);
    if (InstanceState* state = instance_state(object)) release_state(*state);
    object->~T();
    free(object, sizeof(T) + extra);
    if (type->type_flags & kScriptClass) release_type(type);
  }

  // Called when a count falls to zero. Deep structures are freed in bounded C++ stack.
  void destroy(Object* object);
  // The script sees those objects die (vm/ends.h) that there are of a class that has just got __del__, or whose base
  // has.
  void mark_ends(const Type* type);
  // A stop is on its way to the host, who must not wait for what the script held: from now on containers are freed for
  // kFreeingNanoseconds, and what is left is put off until free_put_off().
  void hurry();
  void relax() noexcept {
    until_ = kNoHurry;
    late_ = frees_put_off_ = false;
  }
  // Frees what was put off, before a call begins. A stop ends it.
  void free_put_off();
  // What dies then has had its time: no code of the script runs for it.
  bool frees_put_off() const { return frees_put_off_; }
  // For release slots: whether the time for freeing is over.
  bool is_late() {
    if (until_ != kNoHurry && !late_ && ++ticks_ >= kTicks) [[unlikely]]
      look_at_clock();
    return late_;
  }
  // For release slots: whether there is time to give a block of this size back to the system.
  bool may_free(size_t bytes) {
    ticks_ += static_cast<uint32_t>(std::min(bytes, kLargeBlock) / kBytesPerTick);
    return frees_put_off_ || bytes < kLargeBlock;
  }
  void release_state(InstanceState& state);

  // `make_room_to_track` comes first: it may throw, `track` does not.
  void make_room_to_track() {
    if (young_.size() == young_.capacity()) [[unlikely]]
      young_.reserve(2 * young_.size() + 64);
  }
  void track(Object* object) noexcept;
  void untrack(Object* object);
  // Frees unreachable cycles; the number of objects found. `full`: both generations. Without the memory
  // to look for them, none; as many as a stop leaves time for.
  size_t collect(bool full = true);
  // Which of these objects nothing but the given references keeps alive; each entry is one reference.
  std::unordered_set<Object*> kept_only_by(std::span<Object* const> references);
  bool collection_due() const { return young_.size() > young_limit_; }
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }
  size_t tracked() const { return young_.size() + old_.size(); }

  // Bytes of script objects and of their containers.
  uint64_t bytes() const { return bytes_; }
  MemoryBudget& budget() { return *budget_; }
  // Charges memory kept outside the heap. LimitError when there is no room, also after what is kept
  // for reuse was given back.
  void charge(size_t bytes);
  void release(size_t bytes) noexcept {
    bytes_ -= bytes;
    budget_->give_back(static_cast<int64_t>(bytes));
  }
  // Asks for room for something large that is about to be built.
  void check_room(size_t bytes);
  // How far small objects may go beyond a limit until it is heard.
  static constexpr int64_t largest_excess(int64_t limit) { return limit / 32 + static_cast<int64_t>(8 * kChunk); }
  // Gives chunks without objects back to the system.
  void trim();
  void hear_stop();  // see patience.h
  // Whether this thread's containers are charged here: it is the one that works for the Vm.
  bool is_current() const;

  // While it lives nothing is refused: for the error that says that the memory is full, and for
  // collections.
  class Exempt {
   public:
    explicit Exempt(Heap& heap) : heap_(heap) { ++heap_.exempt_; }
    ~Exempt() { --heap_.exempt_; }
    Exempt(const Exempt&) = delete;

   private:
    Heap& heap_;
  };

  // Vm shutdown: clears every container so that the rest dies by counting.
  void clear_everything();

 private:
  static constexpr size_t kGrain = 16;
  static constexpr size_t kLargestSmall = 512;
  static constexpr size_t kChunk = 64 << 10;
  static constexpr int kDestroyDepth = 48;
  static constexpr int64_t kFreeingNanoseconds = 10'000'000;
  static constexpr int64_t kNoHurry = INT64_MAX;
  static constexpr uint32_t kTicks = 64;
  static constexpr size_t kLargeBlock = 16 << 20;
  static constexpr size_t kBytesPerTick = 128 << 10;
  struct FreeBlock {
    FreeBlock* next;
  };
  void* refill(size_t size_class);
  void add_chunk();
  void put_back(void* memory, size_t size_class);
  void* allocate_large(size_t size);
  void free_large(void* memory, size_t size);
  bool charge_chunk();
  bool try_charge(size_t bytes);
  void release_type(Type* type);
  void look_at_clock();
  void destroy_now(Object* object);
  bool meet_end(Object* object);
  void finalize_garbage(const std::vector<Object*>& objects, bool old, std::vector<Value>& garbage);
  bool put_off(Object* object) noexcept;
  void free_last_put_off();
  void destroy_with_pending(Object* object);
  void destroy_pending();
  std::vector<bool> find_reachable(const std::vector<Object*>& objects, bool old,
                                   std::span<Object* const> ignored) const;
  const StopFlag* stop() const;
  size_t collect_generation(std::vector<Object*>& objects, bool old);
  void promote_young();
  size_t collect_now(bool full);
  void trim_now();

  Vm& vm_;
  uint64_t bytes_ = 0;
  FreeBlock* free_[kLargestSmall / kGrain + 1] = {};
  // Small objects lie in chunks; `used` bytes of one were handed out since it was made.
  struct Chunk {
    char* begin;
    size_t used;
  };
  std::vector<Chunk> chunks_;
  Ref<MemoryBudget> budget_;
  int exempt_ = 0;
  std::vector<Object*> young_, old_;
  std::vector<Object*> pending_;  // die when the object that is being destroyed is gone
  std::vector<Object*> put_off_;
  int64_t until_ = kNoHurry;  // of steady_nanoseconds(): the end of the time for freeing
  uint32_t ticks_ = 0;
  bool late_ = false, frees_put_off_ = false;
  int destroy_depth_ = 0;
  bool enabled_ = true;
  bool collecting_ = false;
  size_t young_limit_ = 20000;
  size_t old_at_last_full_ = 0;
};

// Charges memory outside the heap for as long as its owner lives.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(Heap& heap, size_t bytes) : heap_(&heap), bytes_(bytes) { heap.charge(bytes); }
  MemoryCharge(MemoryCharge&& other) noexcept : heap_(std::exchange(other.heap_, nullptr)), bytes_(other.bytes_) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() {
    if (heap_) heap_->release(bytes_);
  }

 private:
  Heap* heap_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tsc::interp
