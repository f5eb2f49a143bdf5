#pragma once
// Bytes-like objects: bytes, bytearray, array.array and memoryview. `Buffer` is the one place that says what is
// bytes-like; whatever takes bytes takes its argument through it. It holds the memory: while a Buffer lives, its object
// keeps its size. Memory of a bytearray or an array is SharedBytes, which views and tensors hold as well.
// Knows: objects, the heap's budget. Must not know: what the methods of these types do.
// Keeps: memory that is exported is neither moved nor given back.
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/value/containers.h"
#include "interpreter/value/packed_items.h"
#include "interpreter/value/string.h"
#include "runtime/base/memory_budget.h"

namespace tsc::interp {

// The memory itself. Tensors over it may die on any thread and later than all that is of the script, so it is charged
// to the budget and not to a heap.
struct SharedBlock : RefCounted {
  explicit SharedBlock(Ref<MemoryBudget> b) : budget(std::move(b)) {}
  ~SharedBlock() override;
  Ref<MemoryBudget> budget;
  char* data = nullptr;
  size_t capacity = 0;
};

// Bytes that may change and grow, of one bytearray or array.
class SharedBytes : public RefCounted {
 public:
  explicit SharedBytes(Heap& heap);
  char* data() const { return block_->data + head_; }
  size_t size() const { return size_; }
  size_t capacity() const { return block_->capacity - head_; }
  std::string_view view() const { return {data(), size_}; }
  // How many views and calls need the memory where it is.
  void begin_export() { ++exports_; }
  void end_export() { --exports_; }
  bool exported() const { return exports_ > 0 || (storage_ && storage_->use_count() > 1); }
  // New bytes have no content yet. Only while nothing is exported.
  void resize(Heap& heap, size_t size);
  // Puts `inserted`, which lies elsewhere, in the place of [begin, end). Only where the size stays or nothing is
  // exported.
  void replace(Heap& heap, size_t begin, size_t end, std::string_view inserted);
  // What tensors have as their storage: one over all of the memory, so that two tensors are seen to share it. Whoever
  // makes it lets it hold the block; the memory is exported while anybody but this refers to it.
  const Ref<RefCounted>& storage() const { return storage_; }
  void set_storage(Ref<RefCounted> storage) { storage_ = std::move(storage); }
  const Ref<SharedBlock>& block() const { return block_; }

 private:
  void reallocate(Heap& heap, size_t capacity);
  void take_head_back();
  Ref<SharedBlock> block_;
  size_t head_ = 0;  // bytes in front that were taken away: what is removed there moves nothing
  size_t size_ = 0;
  int64_t exports_ = 0;
  Ref<RefCounted> storage_;
};

// Counts as one export for as long as it lives.
class Export {
 public:
  Export() = default;
  explicit Export(Ref<SharedBytes> memory) : memory_(std::move(memory)) {
    if (memory_) memory_->begin_export();
  }
  Export(const Export& other) : Export(other.memory_) {}
  Export(Export&& other) noexcept : memory_(std::move(other.memory_)) {}
  Export& operator=(Export other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Export() {
    if (memory_) memory_->end_export();
  }
  const Ref<SharedBytes>& memory() const { return memory_; }

 private:
  Ref<SharedBytes> memory_;
};

struct ByteArrayObject : Object {
  static constexpr Kind kKind = Kind::ByteArray;
  Ref<SharedBytes> memory;
  InstanceState state;  // attributes of script subclasses
  ByteArrayObject() : Object(Kind::ByteArray) {}
};

struct ArrayObject : Object {
  static constexpr Kind kKind = Kind::Array;
  Ref<SharedBytes> memory;
  const ItemFormat* format = nullptr;
  InstanceState state;
  ArrayObject() : Object(Kind::Array) {}
  size_t length() const { return memory->size() / format->size; }
};

// A map over the memory of another object: how many items lie along each axis, and how many bytes apart.
struct MemoryViewObject : Object {
  static constexpr Kind kKind = Kind::MemoryView;
  Value owner;           // the object that has the memory; None once released
  Export exported;       // of that memory; of none for bytes
  char* data = nullptr;  // the first item
  const ItemFormat* item = nullptr;
  std::string format;                   // as cast() was told: "i" or "@i"
  std::vector<int64_t> shape, strides;  // strides in bytes
  bool read_only = false;
  bool released = false;
  int64_t users = 0;  // Buffers that need it unreleased
  MemoryViewObject() : Object(Kind::MemoryView) {}
  int64_t items() const;  // of all axes
  int64_t bytes() const { return items() * item->size; }
  bool is_contiguous() const;
};

// The memory of a bytes-like object, held.
class Buffer {
 public:
  // TypeError "a bytes-like object is required, not 'int'" unless it is one; BufferError for a view with gaps,
  // ValueError for a released one.
  Buffer(Vm& vm, const Value& v);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;
  // Of an object that may not be bytes-like: the test goes first.
  static bool is_bytes_like(const Value& v);
  // The same without views that have gaps.
  static bool is_plain_bytes(const Value& v);

  std::string_view bytes() const { return bytes_; }
  operator std::string_view() const { return bytes_; }
  bool read_only() const { return read_only_; }
  // Where a writer may write, unless it is read-only.
  char* data() const { return const_cast<char*>(bytes_.data()); }
  const Export& exported() const { return exported_; }

 private:
  Value owner_;
  Export exported_;
  MemoryViewObject* view_ = nullptr;
  std::string_view bytes_;
  bool read_only_ = true;
};

// "argument must be read-write bytes-like object, not bytes", with the argument's name as Python puts it.
Buffer writable_buffer(Vm& vm, const Value& v, const char* argument = "argument");
// Of a bytes or bytearray, without holding it: for what runs no code of the script meanwhile.
inline bool is_byte_string(const Value& v) { return is_kind(v, Kind::Bytes) || is_kind(v, Kind::ByteArray); }
inline std::string_view byte_string(const Value& v) {
  return is_kind(v, Kind::Bytes) ? std::string_view(cast<BytesObject>(v)->data)
                                 : cast<ByteArrayObject>(v)->memory->view();
}
// The bytes of any bytes-like object in order, views with gaps included.
std::string copied_bytes(Vm& vm, const Value& v);
// The bytes object of a value that is bytes-like: itself, or a copy.
Value as_bytes(Vm& vm, const Value& v);

// Items of `width` bytes that a slice picks.
std::string sliced_items(std::string_view data, const SliceRange& range, size_t width);
void store_items(char* data, const SliceRange& range, size_t width, std::string_view items);
// All items but those.
std::string items_without(std::string_view data, SliceRange range, size_t width);

Local<ByteArrayObject> make_byte_array(Vm& vm, std::string_view data);
// For release slots: whether there is time to give the memory back.
bool may_free_shared(Heap& heap, const Ref<SharedBytes>& memory);
// A view of the whole of a bytes-like object, or of another view; TypeError unless it is bytes-like.
Local<MemoryViewObject> make_memory_view(Vm& vm, const Value& of);
[[noreturn]] void raise_buffer_error(Vm& vm, const std::string& message);
// Whether the program needs the memory where it is. What only the compiler remembers does not count: it lets go of
// that.
bool is_exported(Vm& vm, const SharedBytes& memory);
// Raises BufferError unless the size of a bytearray may change.
void must_not_be_exported(Vm& vm, const ByteArrayObject* bytes);

}  // namespace tsc::interp
