#pragma once
// Tensor = storage + dtype + sizes + strides + offset: a plain value. Knows no graph, no autograd, no
// script object. Copying a Tensor shares the storage; every view rule is PyTorch's.
// Keeps: strides are in elements and may be 0 (broadcast) or negative (flip); sizes 0 and rank 0 are
// ordinary; every size product is checked.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/checked.h"
#include "runtime/base/ref.h"
#include "runtime/base/small_vector.h"
#include "runtime/device/backend.h"
#include "runtime/tensor/dtype.h"

namespace tsc {

using Sizes = SmallVector<int64_t, 6>;

class CachingAllocator;

// A block of memory. `version` counts in-place writes (autograd's saved-value check); `mark` is scratch
// for one region entry's alias test (see jit/executable).
class Storage : public RefCounted {
 public:
  // Memory of the calling engine's caching allocator; contents are undefined.
  static Ref<Storage> allocate(int64_t bytes);
  // Borrowed memory: `deleter` is called exactly once, when the last view dies. Memory that is
  // `read_only` is never written: prepare_write() puts a copy in its place first.
  static Ref<Storage> borrow(void* data, int64_t bytes, std::function<void()> deleter, bool read_only = false);
  // No memory: what a tensor of device "meta" lies in, of which only the size is known. data() is null, and whoever
  // would read or write elements asks first.
  static Ref<Storage> without_memory(int64_t bytes);
  // Memory of a device, which the host cannot read: data() is an address there. `maker`: what reports of memory call
  // it.
  static Ref<Storage> on_device(Backend& backend, int64_t bytes, const char* maker = "tensor");
  ~Storage() override;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool read_only() const { return read_only_; }
  bool has_memory() const { return !place_.is_meta(); }
  Place place() const { return place_; }
  // Whether the host must not touch the bytes: they are nowhere or on a device, and not opened (DeviceAccess).
  bool is_elsewhere() const { return is_elsewhere_; }
  // Of a storage on a device.
  Backend& backend() const { return *backend_; }
  const DeviceBlock& block() const { return block_; }
  // Before every write; all views of this storage see the copy that a read-only one gets.
  void prepare_write() {
    if (read_only_) [[unlikely]]
      copy_on_write();
  }
  uint32_t version = 0;
  uint64_t mark = 0;

 private:
  friend class DeviceAccess;
  Storage();
  void copy_on_write();
  void open(DeviceAccess* by);
  void close();
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  bool read_only_ = false;
  bool is_elsewhere_ = false;
  Place place_;
  int64_t capacity_ = 0;             // of the allocator's block
  Ref<CachingAllocator> allocator_;  // null: borrowed; the block returns here from any thread
  Ref<Backend> backend_;             // of a storage on a device
  DeviceBlock block_;
  DeviceAccess* opened_by_ = nullptr;
  std::function<void()> deleter_;  // of borrowed memory
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(Ref<Storage> storage, DType dtype, Sizes sizes, Sizes strides, int64_t offset)
      : storage_(std::move(storage)), sizes_(std::move(sizes)), strides_(std::move(strides)), offset_(offset),
        dtype_(dtype) {}

  // A fresh contiguous tensor with undefined contents. ValueError for a negative size.
  static Tensor empty(DType dtype, const Sizes& sizes);
  // The same without memory: a tensor of device "meta", of any size.
  static Tensor meta(DType dtype, const Sizes& sizes);
  // The same on a device.
  static Tensor on_device(Backend& backend, DType dtype, const Sizes& sizes, const char* maker = "tensor");
  // The same at a place of the calling engine.
  static Tensor empty_at(Place place, DType dtype, const Sizes& sizes);

  bool is_meta() const { return storage_ && !storage_->has_memory(); }
  Place place() const { return storage_ ? storage_->place() : Place(); }
  bool is_elsewhere() const { return storage_ && storage_->is_elsewhere(); }
  bool defined() const { return static_cast<bool>(storage_); }
  DType dtype() const { return dtype_; }
  int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }
  const Sizes& sizes() const { return sizes_; }
  const Sizes& strides() const { return strides_; }
  int64_t size(int64_t axis) const { return sizes_[axis]; }
  int64_t stride(int64_t axis) const { return strides_[axis]; }
  int64_t offset() const { return offset_; }
  int64_t numel() const;
  const Ref<Storage>& storage() const { return storage_; }
  std::byte* data() const { return storage_->data() + offset_ * dtype_size(dtype_); }
  template <class T>
  T* data_as() const {
    return reinterpret_cast<T*>(data());
  }
  bool is_contiguous() const;
  // True when two different indices may name the same element (a broadcast view): such a view is not
  // a legal target of a write.
  bool overlaps_itself() const;

 private:
  Ref<Storage> storage_;
  Sizes sizes_, strides_;
  int64_t offset_ = 0;
  DType dtype_ = DType::F32;
};

// PyTorch's limit on dimensions.
inline constexpr int64_t kMaxRank = 64;

// Row-major strides of a shape (size 0 and 1 dimensions follow PyTorch's rule).
Sizes contiguous_strides(const Sizes& sizes);
int64_t numel_of(const Sizes& sizes);
// Bytes of a row-major tensor. OverflowError where they cannot be counted, nor the strides of a shape without elements.
int64_t contiguous_bytes(const Sizes& sizes, DType dtype);
// "(2, 3)", "(4,)", "()": how shapes are written in every message.
std::string shape_text(const Sizes& sizes);  // "(2, 3)"
std::string sizes_text(const Sizes& sizes);  // "[2, 3]", as PyTorch's errors have it

// Views without copying; they check their arguments and raise IndexError/ValueError.
Tensor view_permute(const Tensor& x, const Sizes& axes);
Tensor view_broadcast(const Tensor& x, const Sizes& sizes);
Tensor view_slice(const Tensor& x, int64_t axis, int64_t start, int64_t length, int64_t step);
Tensor view_diagonal(const Tensor& x, int64_t offset, int64_t axis0, int64_t axis1);
Tensor view_unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step);
Tensor view_as_strided(const Tensor& x, const Sizes& sizes, const Sizes& strides, int64_t offset);
// A complex tensor as its parts on a new last axis, and the reverse, whose last axis must be two neighbours.
Tensor view_as_real(const Tensor& x);
Tensor view_as_complex(const Tensor& x);
// The reshaped view, or an undefined Tensor when the layout does not allow one.
Tensor try_view_reshape(const Tensor& x, const Sizes& sizes);

}  // namespace tsc
