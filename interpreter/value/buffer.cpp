#include "interpreter/value/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "interpreter/heap/patience.h"
#include "interpreter/vm/ends.h"

namespace tsc::interp {

SharedBlock::~SharedBlock() {
  std::free(data);
  budget->give_back(static_cast<int64_t>(capacity));
}

SharedBytes::SharedBytes(Heap& heap) : block_(make_ref<SharedBlock>(Ref<MemoryBudget>(&heap.budget()))) {}

void SharedBytes::reallocate(Heap& heap, size_t capacity) {
  if (capacity > PTRDIFF_MAX) throw std::bad_array_new_length();
  take_head_back();
  SharedBlock& block = *block_;
  if (capacity > block.capacity) heap.check_room(capacity - block.capacity);
  void* moved = std::realloc(block.data, std::max<size_t>(capacity, 1));
  if (!moved) throw std::bad_alloc();
  block.data = static_cast<char*>(moved);
  block.budget->force_charge(static_cast<int64_t>(capacity) - static_cast<int64_t>(block.capacity));
  block.capacity = capacity;
}

void SharedBytes::resize(Heap& heap, size_t size) {
  storage_ = nullptr;
  const size_t all = block_->capacity;
  // Room in front is used where it is worth a move of all that stays.
  if (size > capacity() && head_ > size_) take_head_back();
  // Half as much again, so that many small additions cost no more than one large one; a first size is taken as it is.
  if (size > capacity()) reallocate(heap, all ? std::max(size, all + all / 2 + 16) : size);
  else if (size < all / 4 && all > 256) reallocate(heap, size);
  size_ = size;
}

void SharedBytes::take_head_back() {
  if (head_) std::memmove(block_->data, data(), size_);
  head_ = 0;
}

void SharedBytes::replace(Heap& heap, size_t begin, size_t end, std::string_view inserted) {
  const size_t size = size_, rest = size - end, wanted = begin + inserted.size() + rest;
  if (wanted > size) {
    resize(heap, wanted);
    if (rest) std::memmove(data() + wanted - rest, data() + end, rest);
  } else if (begin == 0 && wanted < size && inserted.empty()) {
    head_ += end;
    size_ = rest;
    resize(heap, rest);
  } else if (wanted < size) {
    if (rest) std::memmove(data() + wanted - rest, data() + end, rest);
    resize(heap, wanted);
  }
  if (!inserted.empty()) std::memmove(data() + begin, inserted.data(), inserted.size());
}

bool may_free_shared(Heap& heap, const Ref<SharedBytes>& memory) {
  return !memory || heap.may_free(memory->block()->capacity);
}

int64_t MemoryViewObject::items() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

bool MemoryViewObject::is_contiguous() const {
  // As Python has it: of one axis the distance decides, also where there is nothing.
  if (shape.size() == 1) return shape[0] == 1 || strides[0] == item->size;
  if (items() == 0) return true;
  int64_t step = item->size;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] > 1 && strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

void raise_buffer_error(Vm& vm, const std::string& message) { raise(vm, vm.exceptions().BufferError, message); }

bool is_exported(Vm& vm, const SharedBytes& memory) {
  if (memory.exported() && vm.hooks()) vm.hooks()->let_go(nullptr);
  return memory.exported();
}

void must_not_be_exported(Vm& vm, const ByteArrayObject* bytes) {
  if (is_exported(vm, *bytes->memory)) raise_buffer_error(vm, "Existing exports of data: object cannot be re-sized");
}

bool Buffer::is_bytes_like(const Value& v) {
  return is_byte_string(v) || is_kind(v, Kind::Array) || is_kind(v, Kind::MemoryView);
}

bool Buffer::is_plain_bytes(const Value& v) {
  const auto* view = try_cast<MemoryViewObject>(v);
  return is_bytes_like(v) && (!view || view->released || view->is_contiguous());
}

Buffer::Buffer(Vm& vm, const Value& v) : owner_(v) {
  if (auto* bytes = try_cast<BytesObject>(v)) {
    bytes_ = bytes->data;
    return;
  }
  if (auto* view = try_cast<MemoryViewObject>(v)) {
    if (view->released) raise_value_error(vm, "operation forbidden on released memoryview object");
    if (!view->is_contiguous()) raise_buffer_error(vm, "memoryview: underlying buffer is not C-contiguous");
    exported_ = view->exported;
    bytes_ = {view->data, static_cast<size_t>(view->bytes())};
    read_only_ = view->read_only;
    view_ = view;
    ++view->users;
    return;
  }
  Ref<SharedBytes> memory;
  if (auto* array = try_cast<ArrayObject>(v)) memory = array->memory;
  else if (auto* bytes = try_cast<ByteArrayObject>(v)) memory = bytes->memory;
  else raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, v) + "'");
  bytes_ = memory->view();
  read_only_ = false;
  exported_ = Export(std::move(memory));
}

Buffer::Buffer(Buffer&& other) noexcept
    : owner_(std::move(other.owner_)), exported_(std::move(other.exported_)),
      view_(std::exchange(other.view_, nullptr)), bytes_(other.bytes_), read_only_(other.read_only_) {}

Buffer::~Buffer() {
  if (view_) --view_->users;
}

Buffer writable_buffer(Vm& vm, const Value& v, const char* argument) {
  if (Buffer::is_bytes_like(v)) {
    Buffer made(vm, v);
    if (!made.read_only()) return made;
  }
  raise_type_error(vm, std::string(argument) + " must be read-write bytes-like object, not " + type_name(vm, v));
}

namespace {

// The items of the axes from `axis` on, in row-major order.
void append_items(std::string& out, const MemoryViewObject* view, const char* from, size_t axis, Patience& patience) {
  if (axis == view->shape.size()) {
    patience.step();
    out.append(from, view->item->size);
    return;
  }
  for (int64_t i = 0; i < view->shape[axis]; ++i)
    append_items(out, view, from + i * view->strides[axis], axis + 1, patience);
}

}  // namespace

std::string copied_bytes(Vm& vm, const Value& v) {
  const auto* view = try_cast<MemoryViewObject>(v);
  std::string out;
  if (!view || view->released || view->is_contiguous()) {
    const Buffer held(vm, v);
    check_text_room(held.bytes().size());
    out.reserve(held.bytes().size());
    in_pieces(held.bytes().size(), [&](size_t begin, size_t end) { out += held.bytes().substr(begin, end - begin); });
    return out;
  }
  check_text_room(static_cast<size_t>(view->bytes()));
  out.reserve(static_cast<size_t>(view->bytes()));
  Patience patience;
  append_items(out, view, view->data, 0, patience);
  return out;
}

Value as_bytes(Vm& vm, const Value& v) {
  return is_kind(v, Kind::Bytes) ? v : make_bytes(vm, copied_bytes(vm, v)).take();
}

std::string sliced_items(std::string_view data, const SliceRange& range, size_t width) {
  const size_t count = static_cast<size_t>(range.count);
  check_text_room(count * width / 2);
  std::string out;
  out.reserve(count * width);
  if (range.step == 1) {
    const std::string_view part = data.substr(count ? static_cast<size_t>(range.start) * width : 0, count * width);
    in_pieces(part.size(), [&](size_t begin, size_t end) { out += part.substr(begin, end - begin); });
    return out;
  }
  Patience patience;
  for (int64_t k = 0; k < range.count; ++k) {
    patience.step();
    out += data.substr(static_cast<size_t>(range.start + k * range.step) * width, width);
  }
  return out;
}

void store_items(char* data, const SliceRange& range, size_t width, std::string_view items) {
  Patience patience;
  for (int64_t k = 0; k < range.count; ++k) {
    patience.step();
    const size_t at = static_cast<size_t>(range.start + k * range.step) * width;
    std::memcpy(data + at, items.data() + static_cast<size_t>(k) * width, width);
  }
}

std::string items_without(std::string_view data, SliceRange range, size_t width) {
  if (range.step < 0) {
    range.start += (range.count - 1) * range.step;
    range.step = -range.step;
  }
  check_text_room((data.size() - static_cast<size_t>(range.count) * width) / 2);
  std::string out;
  size_t kept_to = 0;
  Patience patience;
  for (int64_t k = 0; k < range.count; ++k) {
    patience.step();
    const size_t dropped = static_cast<size_t>(range.start + k * range.step) * width;
    out += data.substr(kept_to, dropped - kept_to);
    kept_to = dropped + width;
  }
  out += data.substr(kept_to);
  return out;
}

Local<ByteArrayObject> make_byte_array(Vm& vm, std::string_view data) {
  Ref<SharedBytes> memory = make_ref<SharedBytes>(vm.heap());
  memory->resize(vm.heap(), data.size());
  if (!data.empty()) copy_bytes(memory->data(), data.data(), data.size());
  Local<ByteArrayObject> made = vm.heap().make<ByteArrayObject>(vm.types().byte_array);
  made->memory = std::move(memory);
  return made;
}

Local<MemoryViewObject> make_memory_view(Vm& vm, const Value& of) {
  prepare_ends(vm);  // a view that dies lets its object change its size
  Local<MemoryViewObject> made = vm.heap().make<MemoryViewObject>(vm.types().memory_view);
  made->flags |= kHasEnd;
  if (const auto* view = try_cast<MemoryViewObject>(of)) {
    if (view->released) raise_value_error(vm, "operation forbidden on released memoryview object");
    made->owner = view->owner;
    made->exported = view->exported;
    made->data = view->data;
    made->item = view->item;
    made->format = view->format;
    made->shape = view->shape;
    made->strides = view->strides;
    made->read_only = view->read_only;
    return made;
  }
  if (!Buffer::is_bytes_like(of))
    raise_type_error(vm, "memoryview: a bytes-like object is required, not '" + type_name(vm, of) + "'");
  const Buffer held(vm, of);
  const auto* array = try_cast<ArrayObject>(of);
  made->owner = of;
  made->exported = held.exported();
  made->data = held.data();
  made->item = array ? array->format : find_item_format('B', kInView);
  made->format = made->item->kind == ItemKind::Character ? 'w' : made->item->code;
  made->shape = {static_cast<int64_t>(held.bytes().size()) / made->item->size};
  made->strides = {made->item->size};
  made->read_only = held.read_only();
  return made;
}

}  // namespace tsc::interp
