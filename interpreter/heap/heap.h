#pragma once
// Memory of script objects: size-class free lists, reference counts that free at once, and a cycle
// collector over container objects (two generations; internal references are subtracted, what keeps
// a count is a root). Collections run only at safe points of the Vm, never inside native code.
// Knows: Object, Type. Must not know: what the objects mean (their slots traverse and destroy them).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "interpreter/value/type.h"

namespace tsc::interp {

class Heap {
 public:
  explicit Heap(Vm& vm) : vm_(vm) {}
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
    if (size > kLargestSmall) return free_large(memory);
    put_back(memory, (size + kGrain - 1) / kGrain);
  }

  // A new object of a type, with `extra` bytes behind it. Count 1 in the Local.
  template <class T, class... Arguments>
  Local<T> make_sized(Type* type, size_t extra, Arguments&&... arguments) {
    T* object = new (allocate(sizeof(T) + extra)) T(std::forward<Arguments>(arguments)...);
    object->type = type;
    if (type->type_flags & kScriptClass) ++type->reference_count;
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
  void release_state(InstanceState& state);

  void track(Object* object);
  void untrack(Object* object);
  // Frees unreachable cycles; the number of objects found. `full`: both generations.
  size_t collect(bool full = true);
  bool collection_due() const { return young_.size() > young_limit_; }
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }
  size_t tracked() const { return young_.size() + old_.size(); }

  // Bytes of script objects; `account` adds payloads kept elsewhere (vectors, strings).
  uint64_t bytes() const { return bytes_; }
  void account(int64_t delta) { bytes_ += static_cast<uint64_t>(delta); }
  // Vm shutdown: clears every container so that the rest dies by counting.
  void clear_everything();

 private:
  static constexpr size_t kGrain = 16;
  static constexpr size_t kLargestSmall = 512;
  static constexpr size_t kChunk = 64 << 10;
  static constexpr int kDestroyDepth = 48;
  struct FreeBlock {
    FreeBlock* next;
  };
  void* refill(size_t size_class);
  void put_back(void* memory, size_t size_class);
  void* allocate_large(size_t size);
  void free_large(void* memory);
  void release_type(Type* type);
  size_t collect_generation(std::vector<Object*>& objects, bool old);
  void promote_young();

  Vm& vm_;
  uint64_t bytes_ = 0;
  FreeBlock* free_[kLargestSmall / kGrain + 1] = {};
  char* chunk_ = nullptr;
  size_t chunk_left_ = 0;
  std::vector<void*> chunks_;
  std::vector<Object*> young_, old_, pending_;
  int destroy_depth_ = 0;
  bool enabled_ = true;
  bool collecting_ = false;
  size_t young_limit_ = 20000;
  size_t old_at_last_full_ = 0;
};

}  // namespace tsc::interp
