#pragma once
// Memory of containers, charged to the Vm that is current on this thread: every std::vector<Value>
// and every hash table accounts for itself. Knows bytes and the current heap. Must not know: objects.
// Keeps: a block remembers who was charged, so it may be freed under any Vm or none.
#include <cstddef>

namespace tsc::interp {

class Heap;

// LimitError beyond the budget of the current heap, std::bad_alloc when the system refuses.
void* counted_allocate(size_t bytes);
void counted_free(void* memory, size_t bytes) noexcept;
// Asks for room for a text of that size that native code is about to build and to copy into an object.
// LimitError when there is none.
void check_text_room(size_t bytes);

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
