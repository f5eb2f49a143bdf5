#pragma once
// Memory of containers, charged to the Vm that is current on this thread: every std::vector<Value>
// and every hash table accounts for itself. Knows bytes and the current heap. Must not know: objects.
// Keeps: a block remembers who was charged, so it may be freed under any Vm or none.
#include <cstddef>
#include <cstdint>
#include <new>

namespace tsc::interp {

class Heap;

// LimitError beyond the budget of the current heap, std::bad_alloc when the system refuses.
void* counted_allocate(size_t bytes);
// Of a block that counted_allocate gave or of none: the bytes move, what is left of `bytes` after `wanted` is lost.
void* counted_reallocate(void* memory, size_t bytes, size_t wanted);
void counted_free(void* memory, size_t bytes) noexcept;
// Asks for room for a text of that size that native code is about to build and to copy into an object.
// LimitError when there is none.
void check_text_room(size_t bytes);

// For the standard containers of native code whose size a script decides.
template <class T>
struct Counted {
  using value_type = T;
  Counted() noexcept = default;
  template <class U>
  Counted(const Counted<U>&) noexcept {}
  T* allocate(size_t count) {
    if (count > PTRDIFF_MAX / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(counted_allocate(count * sizeof(T)));
  }
  void deallocate(T* memory, size_t count) noexcept { counted_free(memory, count * sizeof(T)); }
  friend bool operator==(const Counted&, const Counted&) noexcept { return true; }
};

// While it lives, this thread's containers are charged to `heap` (null: to nobody).
class HeapScope {
 public:
  explicit HeapScope(Heap* heap);
  ~HeapScope();
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;

 private:
  Heap* previous_;
};

}  // namespace tsc::interp
