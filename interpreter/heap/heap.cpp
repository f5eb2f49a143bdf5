#include "interpreter/heap/heap.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "interpreter/heap/patience.h"
#include "interpreter/vm/ends.h"
#include "interpreter/vm/vm_access.h"

#if defined(__SANITIZE_ADDRESS__)
#define TSC_HEAP_USES_MALLOC 1
#else
#define TSC_HEAP_USES_MALLOC 0
#endif

namespace tsc::interp {

namespace {

// Each thread works for one Vm at a time; see HeapScope.
thread_local Heap* heap_of_thread = nullptr;

// In front of every counted block.
struct alignas(16) Owner {
  Heap* heap;
};

}  // namespace

HeapScope::HeapScope(Heap* heap) : previous_(heap_of_thread) { heap_of_thread = heap; }
HeapScope::~HeapScope() { heap_of_thread = previous_; }

void* counted_allocate(size_t bytes) {
  Heap* heap = heap_of_thread;
  const size_t size = bytes + sizeof(Owner);
  if (heap) heap->charge(size);
  void* memory = std::malloc(size);
  if (!memory) {
    if (heap) heap->release(size);
    throw std::bad_alloc();
  }
  return new (memory) Owner{heap} + 1;
}

void* counted_reallocate(void* memory, size_t bytes, size_t wanted) {
  if (!memory) return counted_allocate(wanted);
  Owner* owner = static_cast<Owner*>(memory) - 1;
  Heap* heap = owner->heap;
  if (heap && wanted > bytes) heap->charge(wanted - bytes);
  Owner* moved = static_cast<Owner*>(std::realloc(static_cast<void*>(owner), wanted + sizeof(Owner)));
  if (!moved) {
    if (heap && wanted > bytes) heap->release(wanted - bytes);
    throw std::bad_alloc();
  }
  if (heap && wanted < bytes) heap->release(bytes - wanted);
  return moved + 1;
}

void counted_free(void* memory, size_t bytes) noexcept {
  if (!memory) return;
  Owner* owner = static_cast<Owner*>(memory) - 1;
  if (owner->heap) owner->heap->release(bytes + sizeof(Owner));
  std::free(owner);
}

bool Heap::is_current() const { return heap_of_thread == this; }

void hear_stop() {
  if (heap_of_thread) heap_of_thread->hear_stop();
}

void Heap::hear_stop() { vm_.hear_stop(); }

void check_text_room(size_t bytes) {
  constexpr size_t kWorthAsking = 16 << 10;
  if (bytes > kWorthAsking && heap_of_thread) heap_of_thread->check_room(2 * bytes);
}

void destroy_object(Object* object) { object->type->vm->heap().destroy(object); }

Heap::~Heap() {
  for (const Chunk& chunk : chunks_) std::free(chunk.begin);
  budget_->give_back(static_cast<int64_t>(chunks_.size() * kChunk));
}

// --- the budget ----------------------------------------------------------------------------------

bool Heap::try_charge(size_t bytes) {
  const auto amount = static_cast<int64_t>(bytes);
  if (budget_->try_charge(amount)) return true;
  if (exempt_) return budget_->force_charge(amount), true;
  trim();
  budget_->reclaim();
  return budget_->try_charge(amount);
}

void Heap::charge(size_t bytes) {
  if (!try_charge(bytes)) budget_->refuse(static_cast<int64_t>(bytes));
  bytes_ += bytes;
}

void Heap::check_room(size_t bytes) {
  const auto amount = static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX));
  if (exempt_ || budget_->has_room(amount)) return;
  trim();
  budget_->reclaim();
  if (!budget_->has_room(amount)) budget_->refuse(amount);
}

// Small objects are made where an error would be hard to bear, so the limit is heard at the next safe
// point; only what goes far beyond it (native code that makes objects without end) is refused at once.
bool Heap::charge_chunk() {
  if (try_charge(kChunk)) return true;
  vm_.stop(StopCause::Memory);
  const int64_t limit = budget_->limit();
  if (budget_->used() > limit + largest_excess(limit)) return false;
  budget_->force_charge(kChunk);
  return true;
}

void Heap::trim() {
  VmAccess::stack(vm_).trim();
  if (TSC_HEAP_USES_MALLOC || chunks_.empty()) return;
  try {
    trim_now();
  } catch (const std::bad_alloc&) {
    // No memory for the lists of what is free: all stays as it is.
  }
}

void Heap::trim_now() {
  auto chunk_of = [](const void* block) { return reinterpret_cast<uintptr_t>(block) / kChunk * kChunk; };
  std::unordered_map<uintptr_t, size_t> free_bytes;
  for (size_t size_class = 0; size_class < std::size(free_); ++size_class)
    for (FreeBlock* block = free_[size_class]; block; block = block->next)
      free_bytes[chunk_of(block)] += size_class * kGrain;
  std::unordered_set<uintptr_t> empty;
  for (const Chunk& chunk : chunks_)
    if (auto found = free_bytes.find(chunk_of(chunk.begin)); found != free_bytes.end() && found->second == chunk.used)
      empty.insert(chunk_of(chunk.begin));
  if (empty.empty()) return;
  for (FreeBlock*& list : free_)
    for (FreeBlock** link = &list; *link;) {
      if (empty.count(chunk_of(*link))) *link = (*link)->next;
      else link = &(*link)->next;
    }
  std::erase_if(chunks_, [&](const Chunk& chunk) {
    const bool gone = empty.count(chunk_of(chunk.begin)) > 0;
    if (gone) std::free(chunk.begin);
    return gone;
  });
  budget_->give_back(static_cast<int64_t>(empty.size() * kChunk));
}

// --- memory --------------------------------------------------------------------------------------

void* Heap::allocate_large(size_t size) {
  if (!try_charge(size)) {
    bytes_ -= size;
    budget_->refuse(static_cast<int64_t>(size));
  }
  void* memory = std::malloc(size);
  if (!memory) {
    bytes_ -= size;
    budget_->give_back(static_cast<int64_t>(size));
    throw std::bad_alloc();
  }
  return memory;
}

void Heap::free_large(void* memory, size_t size) {
  std::free(memory);
  budget_->give_back(static_cast<int64_t>(size));
}

void Heap::add_chunk() {
  // What is left of the last chunk serves smaller requests.
  if (!chunks_.empty() && kChunk - chunks_.back().used >= kGrain) {
    Chunk& last = chunks_.back();
    put_back(last.begin + last.used, (kChunk - last.used) / kGrain);
    last.used = kChunk;
  }
  if (chunks_.size() == chunks_.capacity()) chunks_.reserve(2 * chunks_.size() + 8);
  if (!charge_chunk()) budget_->refuse(kChunk);
  char* begin = static_cast<char*>(std::aligned_alloc(kChunk, kChunk));
  if (!begin) {
    budget_->give_back(kChunk);
    throw std::bad_alloc();
  }
  chunks_.push_back({begin, 0});
}

void* Heap::refill(size_t size_class) {
  const size_t size = size_class * kGrain;
  if (TSC_HEAP_USES_MALLOC) return allocate_large(size);
  try {
    if (chunks_.empty() || kChunk - chunks_.back().used < size) add_chunk();
  } catch (...) {
    bytes_ -= size;
    throw;
  }
  void* memory = chunks_.back().begin + chunks_.back().used;
  chunks_.back().used += size;
  return memory;
}

void Heap::put_back(void* memory, size_t size_class) {
  if (TSC_HEAP_USES_MALLOC) return free_large(memory, size_class * kGrain);
  FreeBlock* block = static_cast<FreeBlock*>(memory);
  block->next = free_[size_class];
  free_[size_class] = block;
}

// Nested frees recurse a bounded number of times; what lies deeper waits in a list.
void Heap::destroy(Object* object) {
  // Nothing dies with a text, unless a class of the script gave it attributes.
  const Type* type = object->type;
  if (object->kind == Kind::Str && !(type->type_flags & kScriptClass) && !(object->flags & kHasEnd) &&
      until_ == kNoHurry) {
    type->slots.destroy(vm_, object);
    return;
  }
  if (object->flags & (kBeingFreed | kHasEnd)) [[unlikely]]
    if (object->flags & kBeingFreed || !meet_end(object)) return;
  object->flags |= kBeingFreed;
  if (destroy_depth_ >= kDestroyDepth) {
    try {
      pending_.push_back(object);
      return;
    } catch (const std::bad_alloc&) {
      // No memory to put it off: it goes now, deeper in the stack.
    }
  }
  destroy_with_pending(object);
}

// Runs what the script has for the end of this object. False: it lives on. The object is whole and held meanwhile; what
// dies with it is not collected, as others may be half freed further out.
bool Heap::meet_end(Object* object) {
  ++object->reference_count;
  ++destroy_depth_;
  call_finalizer(vm_, object);
  const bool dies = object->reference_count == 1;
  if (dies) clear_references(vm_, {&object, 1});
  --destroy_depth_;
  if (--object->reference_count > 0) return false;  // also what a callback found again
  object->flags &= static_cast<uint8_t>(~kHasEnd);
  return true;
}

void Heap::mark_ends(const Type* type) {
  for (const std::vector<Object*>* list : {&young_, &old_})
    for (Object* object : *list)
      if (object->type->is_subtype_of(type)) object->flags |= kHasEnd;
}

inline void Heap::destroy_with_pending(Object* object) {
  ++destroy_depth_;
  destroy_now(object);
  if (destroy_depth_ == 1 && !pending_.empty()) [[unlikely]]
    destroy_pending();
  --destroy_depth_;
}

void Heap::destroy_pending() {
  while (!pending_.empty()) {
    Object* next = pending_.back();
    pending_.pop_back();
    // Links of a long chain. (A class is known to its bases without being counted.)
    if (next->kind != Kind::Instance || !is_late() || !put_off(next)) destroy_now(next);
  }
}

inline void Heap::destroy_now(Object* object) {
  const TypeSlots& slots = object->type->slots;
  if (until_ != kNoHurry) [[unlikely]]
    if (slots.release && !slots.release(*this, object) && put_off(object)) return;
  slots.destroy(vm_, object);
}

// False: there is no memory for it.
bool Heap::put_off(Object* object) noexcept {
  try {
    put_off_.push_back(object);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Heap::hurry() {
  if (until_ == kNoHurry) until_ = steady_nanoseconds() + kFreeingNanoseconds;
}

void Heap::look_at_clock() {
  ticks_ = 0;
  const bool stopped = frees_put_off_ && vm_.stop_flag().requested();
  late_ = stopped || steady_nanoseconds() > until_;
}

void Heap::free_last_put_off() {
  Object* object = put_off_.back();
  put_off_.pop_back();
  destroy_with_pending(object);
}

void Heap::free_put_off() {
  if (put_off_.empty()) return;
  until_ = kNoHurry - 1;
  frees_put_off_ = true;
  while (!put_off_.empty() && !late_) {
    free_last_put_off();
    look_at_clock();
  }
  relax();
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

void Heap::track(Object* object) noexcept {
  object->gc_index = static_cast<uint32_t>(young_.size());
  object->flags |= kTracked;
  young_.push_back(object);
  if (young_.size() > young_limit_ && enabled_) [[unlikely]]
    vm_.interrupt(kInterruptCollect);
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
  const size_t needed = old_.size() + young_.size();
  if (needed > old_.capacity()) old_.reserve(std::max(needed, 2 * old_.capacity()));
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

// Steps of a collection, which may be given up: throws Stopped now and then when the program is to stop. (Patience
// would raise an exception of the script, an object, which a collection must not make.)
class Steps {
 public:
  explicit Steps(const StopFlag* stop) : stop_(stop) {}
  void step() {
    if (++count_ % kBetween == 0 && stop_) stop_->poll();
  }

 private:
  static constexpr uint32_t kBetween = 16 << 10;
  const StopFlag* stop_;
  uint32_t count_ = 0;
};

struct Subtract final : Visitor {
  std::vector<int64_t>& counts;
  bool old;
  Steps& steps;
  Subtract(std::vector<int64_t>& c, bool o, Steps& s) : counts(c), old(o), steps(s) {}
  void visit(Object* o) override {
    steps.step();
    if ((o->flags & kTracked) && bool(o->flags & kOldObject) == old) --counts[o->gc_index];
  }
};

struct Mark final : Visitor {
  std::vector<int64_t>& counts;
  std::vector<Object*>& stack;
  bool old;
  Steps& steps;
  Mark(std::vector<int64_t>& c, std::vector<Object*>& s, bool o, Steps& n) : counts(c), stack(s), old(o), steps(n) {}
  void visit(Object* o) override {
    steps.step();
    if (!(o->flags & kTracked) || bool(o->flags & kOldObject) != old) return;
    if (counts[o->gc_index] == kReachable) return;
    counts[o->gc_index] = kReachable;
    stack.push_back(o);
  }
  static constexpr int64_t kReachable = int64_t{1} << 60;
};

}  // namespace

// For each object of a generation whether something reaches it from outside, other than by `ignored`. Throws Stopped.
std::vector<bool> Heap::find_reachable(const std::vector<Object*>& objects, bool old,
                                       std::span<Object* const> ignored) const {
  Steps steps(stop());
  std::vector<int64_t> counts;
  counts.reserve(objects.size());
  for (Object* object : objects) steps.step(), counts.push_back(object->reference_count);
  Subtract subtract(counts, old, steps);
  for (Object* object : objects) steps.step(), traverse_all(object, subtract);
  for (Object* object : ignored) subtract.visit(object);
  std::vector<Object*> stack;
  Mark mark(counts, stack, old, steps);
  for (size_t i = 0; i < objects.size(); ++i)
    if (counts[i] > 0) mark.visit(objects[i]);
  while (!stack.empty()) {
    Object* object = stack.back();
    stack.pop_back();
    traverse_all(object, mark);
  }
  std::vector<bool> reachable(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) reachable[i] = counts[i] == Mark::kReachable;
  return reachable;
}

std::unordered_set<Object*> Heap::kept_only_by(std::span<Object* const> references) {
  promote_young();
  std::unordered_set<Object*> kept;
  try {
    const std::vector<bool> reachable = find_reachable(old_, true, references);
    for (Object* object : references)
      if ((object->flags & kTracked) && !reachable[object->gc_index]) kept.insert(object);
  } catch (const Stopped&) {
    // What is not known is taken to be alive.
  }
  return kept;
}

// What ends a collection before it is over. The last one of all goes on to its end.
const StopFlag* Heap::stop() const { return VmAccess::shutting_down(vm_) ? nullptr : &vm_.stop_flag(); }

size_t Heap::collect_generation(std::vector<Object*>& objects, bool old) {
  const std::vector<bool> reachable = find_reachable(objects, old, {});
  std::vector<Value> garbage;
  for (size_t i = 0; i < objects.size(); ++i)
    if (!reachable[i] && !(objects[i]->flags & kBeingFreed)) garbage.push_back(Value(objects[i]));
  if (vm_.sees_ends()) finalize_garbage(objects, old, garbage);
  Steps steps(stop());
  for (const Value& v : garbage) {
    steps.step();
    if (auto clear = v.object()->type->slots.clear) clear(vm_, v.object());
  }
  return garbage.size();
}

// Weak references to what is garbage are emptied, and callbacks called of those that are not garbage themselves, before
// any __del__ runs; what that made reachable again stays, with all that it refers to.
void Heap::finalize_garbage(const std::vector<Object*>& objects, bool old, std::vector<Value>& garbage) {
  std::vector<Object*> ending;
  for (const Value& v : garbage)
    if (v.object()->flags & kHasEnd) ending.push_back(v.object());
  if (ending.empty()) return;
  for (const Value& v : garbage)
    if (WeakReference* reference = weak_reference(vm_, v.object())) reference->callback.reset();
  clear_references(vm_, ending);
  bool finalizes = false;
  for (Object* object : ending) {
    finalizes |= (object->type->type_flags & kHasFinalizer) && !(object->flags & kFinalized);
    call_finalizer(vm_, object);
  }
  if (!finalizes) return;
  std::vector<Object*> held;
  for (const Value& v : garbage) held.push_back(v.object());
  const std::vector<bool> reachable = find_reachable(objects, old, held);
  std::erase_if(garbage, [&](const Value& v) {
    const Object* o = v.object();
    return !(o->flags & kTracked) || bool(o->flags & kOldObject) != old || reachable[o->gc_index];
  });
}

size_t Heap::collect(bool full) {
  if (collecting_ || destroy_depth_) return 0;
  Exempt exempt(*this);
  collecting_ = true;
  size_t found = 0;
  try {
    found = collect_now(full);
  } catch (const std::bad_alloc&) {
    // Nothing was freed, or what is left is found the next time.
  } catch (const Stopped&) {
  }
  collecting_ = false;
  return found;
}

size_t Heap::collect_now(bool full) {
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
  return found;
}

// Needs no memory, as a host closes engines because there is none. Nothing dies while it goes over the
// lists: every object that was there is held until all are empty.
void Heap::clear_everything() {
  Exempt exempt(*this);
  relax();
  while (!put_off_.empty()) free_last_put_off();
  enabled_ = false;
  collecting_ = true;
  const std::pair<std::vector<Object*>*, size_t> lists[] = {{&old_, old_.size()}, {&young_, young_.size()}};
  for (const auto& [list, count] : lists)
    for (size_t i = 0; i < count; ++i) ++(*list)[i]->reference_count;
  for (const auto& [list, count] : lists)
    for (size_t i = 0; i < count; ++i) {
      Object* object = (*list)[i];
      if (object->kind == Kind::Type) continue;
      if (auto clear = object->type->slots.clear) clear(vm_, object);
    }
  // From the end: who dies leaves its place to the last of the list.
  for (const auto& [list, count] : lists)
    for (size_t i = count; i-- > 0;)
      if (Object* object = (*list)[i]; --object->reference_count == 0) destroy(object);
  collecting_ = false;
}

}  // namespace tsc::interp
