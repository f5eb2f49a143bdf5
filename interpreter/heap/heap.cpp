#include "interpreter/heap/heap.h"

#include <algorithm>
#include <cstdlib>

#include "interpreter/vm/vm.h"

#if defined(__SANITIZE_ADDRESS__)
#define TSC_HEAP_USES_MALLOC 1
#else
#define TSC_HEAP_USES_MALLOC 0
#endif

namespace tsc::interp {

void destroy_object(Object* object) { object->type->vm->heap().destroy(object); }

Heap::~Heap() {
  for (void* chunk : chunks_) std::free(chunk);
}

void* Heap::allocate_large(size_t size) {
  void* memory = std::malloc(size);
  if (!memory) {
    bytes_ -= size;
    throw std::bad_alloc();
  }
  return memory;
}

void Heap::free_large(void* memory) { std::free(memory); }

void* Heap::refill(size_t size_class) {
  size_t size = size_class * kGrain;
  if (TSC_HEAP_USES_MALLOC) return allocate_large(size);
  if (chunk_left_ < size) {
    chunk_ = static_cast<char*>(std::malloc(kChunk));
    if (!chunk_) throw std::bad_alloc();
    chunks_.push_back(chunk_);
    chunk_left_ = kChunk;
  }
  void* memory = chunk_;
  chunk_ += size;
  chunk_left_ -= size;
  return memory;
}

void Heap::put_back(void* memory, size_t size_class) {
  if (TSC_HEAP_USES_MALLOC) return std::free(memory);
  FreeBlock* block = static_cast<FreeBlock*>(memory);
  block->next = free_[size_class];
  free_[size_class] = block;
}

// Nested frees recurse a bounded number of times; what lies deeper waits in a list.
void Heap::destroy(Object* object) {
  if (object->flags & kBeingFreed) return;
  if (destroy_depth_ >= kDestroyDepth) {
    object->flags |= kBeingFreed;
    pending_.push_back(object);
    return;
  }
  ++destroy_depth_;
  object->flags |= kBeingFreed;
  object->type->slots.destroy(vm_, object);
  while (destroy_depth_ == 1 && !pending_.empty()) {
    Object* next = pending_.back();
    pending_.pop_back();
    next->type->slots.destroy(vm_, next);
  }
  --destroy_depth_;
}

void Heap::release_state(InstanceState& state) {
  if (!state.slots) return;
  for (uint32_t i = 0; i < state.capacity; ++i) state.slots[i].~Value();
  free(state.slots, state.capacity * sizeof(Value));
  state.slots = nullptr;
  state.capacity = 0;
}

void Heap::release_type(Type* type) {
  if (--type->reference_count == 0) destroy(type);
}

void Heap::track(Object* object) {
  object->gc_index = static_cast<uint32_t>(young_.size());
  object->flags |= kTracked;
  young_.push_back(object);
  if (young_.size() > young_limit_ && enabled_) [[unlikely]] vm_.interrupt(kInterruptCollect);
}

void Heap::untrack(Object* object) {
  std::vector<Object*>& list = object->flags & kOldObject ? old_ : young_;
  Object* last = list.back();
  list[object->gc_index] = last;
  last->gc_index = object->gc_index;
  list.pop_back();
  object->flags &= ~(kTracked | kOldObject);
}

void Heap::promote_young() {
  for (Object* object : young_) {
    object->flags |= kOldObject;
    object->gc_index = static_cast<uint32_t>(old_.size());
    old_.push_back(object);
  }
  young_.clear();
}

namespace {

// An object's script class is referred to as well, though no traverse slot says so.
void traverse_all(Object* object, Visitor& visit) {
  if (object->type->type_flags & kScriptClass) visit(object->type);
  object->type->slots.traverse(object, visit);
}

struct Subtract final : Visitor {
  std::vector<int64_t>& counts;
  bool old;
  Subtract(std::vector<int64_t>& c, bool o) : counts(c), old(o) {}
  void visit(Object* o) override {
    if ((o->flags & kTracked) && bool(o->flags & kOldObject) == old) --counts[o->gc_index];
  }
};

struct Mark final : Visitor {
  std::vector<int64_t>& counts;
  std::vector<Object*>& stack;
  bool old;
  Mark(std::vector<int64_t>& c, std::vector<Object*>& s, bool o) : counts(c), stack(s), old(o) {}
  void visit(Object* o) override {
    if (!(o->flags & kTracked) || bool(o->flags & kOldObject) != old) return;
    if (counts[o->gc_index] == kReachable) return;
    counts[o->gc_index] = kReachable;
    stack.push_back(o);
  }
  static constexpr int64_t kReachable = int64_t{1} << 60;
};

}  // namespace

size_t Heap::collect_generation(std::vector<Object*>& objects, bool old) {
  std::vector<int64_t> counts(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) counts[i] = objects[i]->reference_count;
  Subtract subtract(counts, old);
  for (Object* object : objects) traverse_all(object, subtract);
  std::vector<Object*> stack;
  Mark mark(counts, stack, old);
  for (size_t i = 0; i < objects.size(); ++i)
    if (counts[i] > 0) mark.visit(objects[i]);
  while (!stack.empty()) {
    Object* object = stack.back();
    stack.pop_back();
    traverse_all(object, mark);
  }
  std::vector<Value> garbage;
  for (size_t i = 0; i < objects.size(); ++i)
    if (counts[i] != Mark::kReachable && !(objects[i]->flags & kBeingFreed))
      garbage.push_back(Value(objects[i]));
  for (const Value& v : garbage)
    if (auto clear = v.object()->type->slots.clear) clear(vm_, v.object());
  return garbage.size();
}

size_t Heap::collect(bool full) {
  if (collecting_ || destroy_depth_) return 0;
  collecting_ = true;
  if (!full && old_.size() > old_at_last_full_ + old_at_last_full_ / 4 + 50000) full = true;
  size_t found = 0;
  if (full) {
    promote_young();
    found = collect_generation(old_, true);
    old_at_last_full_ = old_.size();
  } else {
    found = collect_generation(young_, false);
  }
  promote_young();
  collecting_ = false;
  return found;
}

void Heap::clear_everything() {
  enabled_ = false;
  promote_young();
  std::vector<Value> all;
  for (Object* object : old_)
    if (object->kind != Kind::Type) all.push_back(Value(object));
  for (const Value& v : all)
    if (auto clear = v.object()->type->slots.clear) clear(vm_, v.object());
}

}  // namespace tsc::interp
