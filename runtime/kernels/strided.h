#pragma once
// Strided tensors seen as their elements in row-major order: any range of that order can be copied to
// or from contiguous memory. Drivers cut work into ranges, so one mechanism serves every layout.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace tsc {

// A layout with adjacent mergeable axes merged and axes of size 1 dropped; strides in bytes.
class StridedMap {
 public:
  StridedMap(const Sizes& sizes, const Sizes& strides, int64_t element_size);
  explicit StridedMap(const Tensor& x) : StridedMap(x.sizes(), x.strides(), dtype_size(x.dtype())) {}

  bool contiguous() const { return contiguous_; }
  // All elements are one element.
  bool constant() const { return sizes_.size() == 1 && strides_[0] == 0; }
  int64_t element_size() const { return element_size_; }
  const Sizes& sizes() const { return sizes_; }
  const Sizes& strides() const { return strides_; }

  // packed[i] = element begin + i of the map at `base`, for i < count.
  void pack(std::byte* packed, const std::byte* base, int64_t begin, int64_t count) const;
  // The reverse. The map must not name an element twice.
  void unpack(std::byte* base, const std::byte* packed, int64_t begin, int64_t count) const;
  // Byte offset of one element.
  int64_t offset_of(int64_t index) const;

 private:
  Sizes sizes_, strides_;
  int64_t element_size_;
  bool contiguous_;
};

// Byte offsets of consecutive elements of a map, without a division per element.
class StridedWalk {
 public:
  StridedWalk(const StridedMap& map, int64_t index) : map_(map), at_(map.sizes().size()) {
    offset_ = map.offset_of(index);
    for (size_t axis = at_.size(); axis-- > 0;) {
      at_[axis] = index % map.sizes()[axis];
      index /= map.sizes()[axis];
    }
  }
  int64_t offset() const { return offset_; }
  void next() {
    for (size_t axis = at_.size(); axis-- > 0;) {
      offset_ += map_.strides()[axis];
      if (++at_[axis] < map_.sizes()[axis]) return;
      offset_ -= at_[axis] * map_.strides()[axis];
      at_[axis] = 0;
    }
  }

 private:
  const StridedMap& map_;
  Sizes at_;
  int64_t offset_;
};

// Calls run(first, offset, count) for elements begin to end of the map: `count` of them from `first` on begin at the
// byte offset and lie the map's last stride apart.
template <class Run>
void for_runs(const StridedMap& map, int64_t begin, int64_t end, Run run) {
  const int64_t length = map.sizes().back();
  while (begin < end) {
    const int64_t count = std::min(end - begin, length - begin % length);
    run(begin, map.offset_of(begin), count);
    begin += count;
  }
}

// Elements a driver handles at once: operands of a block stay in the first-level cache.
inline constexpr int64_t kBlock = 1024;

}  // namespace tsc
