#include "runtime/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/device/device.h"

namespace tsc {

Storage::Storage() = default;

Ref<Storage> Storage::allocate(int64_t bytes) {
  Ref<Storage> storage(new Storage());
  storage->bytes_ = bytes;
  Device& device = current_device();
  if (device.access_count.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (DeviceAccess* access = DeviceAccess::current()) {
      Ref<Storage> there = on_device(access->backend(), bytes);
      there->open(access);
      return there;
    }
  }
  if (bytes == 0) return storage;
  CachingAllocator& allocator = *device.allocator;
  CachingAllocator::Block block = allocator.allocate(bytes);
  storage->data_ = block.data;
  storage->capacity_ = block.capacity;
  storage->allocator_ = Ref<CachingAllocator>(&allocator);
  return storage;
}

Ref<Storage> Storage::borrow(void* data, int64_t bytes, std::function<void()> deleter, bool read_only) {
  Ref<Storage> storage(new Storage());
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->deleter_ = std::move(deleter);
  storage->read_only_ = read_only;
  return storage;
}

Ref<Storage> Storage::without_memory(int64_t bytes) {
  Ref<Storage> storage(new Storage());
  storage->bytes_ = bytes;
  storage->place_ = Place::meta();
  storage->is_elsewhere_ = true;
  return storage;
}

Ref<Storage> Storage::on_device(Backend& backend, int64_t bytes, const char* maker) {
  Ref<Storage> storage(new Storage());
  storage->bytes_ = bytes;
  storage->place_ = backend.place();
  storage->is_elsewhere_ = true;
  if (bytes > 0) storage->block_ = backend.allocate(bytes, maker);
  storage->data_ = storage->block_.address;
  storage->backend_ = Ref<Backend>(&backend);
  return storage;
}

void Storage::open(DeviceAccess* by) {
  if (opened_by_) return;
  opened_by_ = by;
  is_elsewhere_ = false;
  data_ = bytes_ > 0 ? backend_->host_address(block_) : nullptr;
  by->added(this);
}

void Storage::close() {
  opened_by_ = nullptr;
  is_elsewhere_ = true;
  data_ = block_.address;
}

// The lender's memory stays borrowed until the last view dies: somebody may have its address.
void Storage::copy_on_write() {
  if (bytes_ > 0) {
    CachingAllocator& allocator = *current_device().allocator;
    const CachingAllocator::Block block = allocator.allocate(bytes_);
    std::memcpy(block.data, data_, static_cast<size_t>(bytes_));
    data_ = block.data;
    capacity_ = block.capacity;
    allocator_ = Ref<CachingAllocator>(&allocator);
  }
  read_only_ = false;
}

Storage::~Storage() {
  if (allocator_) allocator_->free({data_, capacity_});
  if (backend_) [[unlikely]] {
    if (opened_by_) opened_by_->gone(this);
    if (block_.address) backend_->free(block_);
  }
  if (deleter_) deleter_();
}

namespace {

// Row-major, over what `allocate` makes of the bytes that it takes.
template <class Allocate>
Tensor row_major(DType dtype, const Sizes& sizes, Allocate allocate) {
  int64_t rank = static_cast<int64_t>(sizes.size());
  if (rank > kMaxRank)
    throw Error(ErrorKind::RuntimeError,
                "a tensor has at most " + std::to_string(kMaxRank) + " dimensions, not " + std::to_string(rank));
  Sizes strides;
  strides.resize(sizes.size());
  int64_t stride = 1, count = 1;
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    int64_t size = sizes[axis];
    if (size < 0) throw Error(ErrorKind::ValueError, "a tensor cannot have a negative size: " + shape_text(sizes));
    strides[axis] = stride;
    stride = checked_mul(stride, std::max<int64_t>(size, 1));
    count = checked_mul(count, size);
  }
  int64_t bytes = checked_mul(count, dtype_size(dtype));
  return Tensor(allocate(bytes), dtype, sizes, std::move(strides), 0);
}

}  // namespace

Tensor Tensor::empty(DType dtype, const Sizes& sizes) { return row_major(dtype, sizes, Storage::allocate); }

Tensor Tensor::meta(DType dtype, const Sizes& sizes) { return row_major(dtype, sizes, Storage::without_memory); }

Tensor Tensor::on_device(Backend& backend, DType dtype, const Sizes& sizes, const char* maker) {
  return row_major(dtype, sizes, [&](int64_t bytes) { return Storage::on_device(backend, bytes, maker); });
}

Tensor Tensor::empty_at(Place place, DType dtype, const Sizes& sizes) {
  if (place.is_host()) return empty(dtype, sizes);
  return place.is_meta() ? meta(dtype, sizes) : on_device(current_device().backend(place), dtype, sizes);
}

int64_t Tensor::numel() const {
  int64_t count = 1;  // cannot overflow: checked when the tensor was made
  for (int64_t size : sizes_) count *= size;
  return count;
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  bool contiguous = true;
  for (size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] == 0) return true;
    if (sizes_[i] == 1) continue;
    contiguous &= strides_[i] == expected;
    expected *= sizes_[i];
  }
  return contiguous;
}

bool Tensor::overlaps_itself() const {
  struct Axis {
    int64_t stride, size;
  };
  SmallVector<Axis, 6> axes;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i] == 0) return false;
    if (sizes_[i] == 1) continue;
    if (strides_[i] == 0) return true;
    axes.push_back({std::abs(strides_[i]), sizes_[i]});
  }
  std::sort(axes.begin(), axes.end(), [](Axis a, Axis b) { return a.stride < b.stride; });
  int64_t extent = 0;  // the farthest element the smaller strides reach
  bool nested = true;
  for (Axis axis : axes) {
    nested &= axis.stride > extent;
    extent += axis.stride * (axis.size - 1);
  }
  if (nested) return false;
  // Strides interleave: small tensors are decided by counting, larger ones are assumed to overlap.
  constexpr int64_t kCountable = 4096;
  if (numel() > kCountable) return true;
  std::vector<int64_t> offsets{0};
  for (Axis axis : axes) {
    size_t before = offsets.size();
    for (int64_t i = 1; i < axis.size; ++i)
      for (size_t j = 0; j < before; ++j) offsets.push_back(offsets[j] + i * axis.stride);
  }
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

Sizes contiguous_strides(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = checked_mul(stride, std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

int64_t numel_of(const Sizes& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count = checked_mul(count, size);
  return count;
}

int64_t contiguous_bytes(const Sizes& sizes, DType dtype) {
  contiguous_strides(sizes);
  return checked_mul(numel_of(sizes), dtype_size(dtype));
}

namespace {

std::string joined(const Sizes& sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text;
}

}  // namespace

std::string shape_text(const Sizes& sizes) { return "(" + joined(sizes) + (sizes.size() == 1 ? ",)" : ")"); }

std::string sizes_text(const Sizes& sizes) { return "[" + joined(sizes) + "]"; }

}  // namespace tsc
