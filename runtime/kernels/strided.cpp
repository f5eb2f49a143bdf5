#include "runtime/kernels/strided.h"

#include <algorithm>
#include <cstring>

namespace tsc {
namespace {

template <class Word, bool kPack>
void move_words(std::byte* packed, std::byte* strided, int64_t stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    if constexpr (kPack) {
      std::memcpy(&word, strided + i * stride, sizeof word);
      std::memcpy(packed + i * sizeof word, &word, sizeof word);
    } else {
      std::memcpy(&word, packed + i * sizeof word, sizeof word);
      std::memcpy(strided + i * stride, &word, sizeof word);
    }
  }
}

// One word again and again: whole lines of it, which compilers turn into vectors at every level.
void repeat_word(std::byte* packed, const std::byte* word, int64_t count, int64_t size) {
  constexpr int64_t kLine = 64;
  alignas(kLine) std::byte line[kLine];
  for (int64_t i = 0; i < kLine; i += size) std::memcpy(line + i, word, size);
  const int64_t bytes = count * size;
  int64_t done = 0;
  for (; done + kLine <= bytes; done += kLine) std::memcpy(packed + done, line, kLine);
  std::memcpy(packed + done, line, bytes - done);
}

// One innermost run, in the given direction.
template <bool kPack>
void move_run(std::byte* packed, std::byte* strided, int64_t stride, int64_t count, int64_t size) {
  if (stride == size || count == 1) {
    std::memcpy(kPack ? packed : strided, kPack ? strided : packed, count * size);
    return;
  }
  if (kPack && stride == 0) return repeat_word(packed, strided, count, size);
  switch (size) {
    case 1: return move_words<uint8_t, kPack>(packed, strided, stride, count);
    case 2: return move_words<uint16_t, kPack>(packed, strided, stride, count);
    case 4: return move_words<uint32_t, kPack>(packed, strided, stride, count);
    case 8: return move_words<uint64_t, kPack>(packed, strided, stride, count);
    default: return move_words<Complex<double>, kPack>(packed, strided, stride, count);
  }
}

template <bool kPack>
void move_range(const StridedMap& map, std::byte* packed, std::byte* base, int64_t begin, int64_t count) {
  const Sizes &sizes = map.sizes(), &strides = map.strides();
  int64_t last = static_cast<int64_t>(sizes.size()) - 1, size = map.element_size();
  Sizes at(sizes.size());
  std::byte* place = base;
  for (int64_t axis = last, rest = begin; axis >= 0 && rest > 0; --axis) {
    at[axis] = rest % sizes[axis];
    rest /= sizes[axis];
    place += at[axis] * strides[axis];
  }
  while (true) {
    int64_t run = std::min(count, sizes[last] - at[last]);
    move_run<kPack>(packed, place, strides[last], run, size);
    count -= run;
    if (count <= 0) return;
    packed += run * size;
    place -= at[last] * strides[last];
    at[last] = 0;
    for (int64_t axis = last - 1;; --axis) {
      place += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      place -= at[axis] * strides[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace

StridedMap::StridedMap(const Sizes& sizes, const Sizes& strides, int64_t element_size) : element_size_(element_size) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (!sizes_.empty() && strides_.back() == sizes[i] * strides[i] * element_size) {
      sizes_.back() *= sizes[i];
      strides_.back() = strides[i] * element_size;
    } else {
      sizes_.push_back(sizes[i]);
      strides_.push_back(strides[i] * element_size);
    }
  }
  if (sizes_.empty()) {
    sizes_.push_back(1);
    strides_.push_back(element_size);
  }
  contiguous_ = sizes_.size() == 1 && strides_[0] == element_size;
}

void StridedMap::pack(std::byte* packed, const std::byte* base, int64_t begin, int64_t count) const {
  if (count > 0) move_range<true>(*this, packed, const_cast<std::byte*>(base), begin, count);
}

void StridedMap::unpack(std::byte* base, const std::byte* packed, int64_t begin, int64_t count) const {
  if (count > 0) move_range<false>(*this, const_cast<std::byte*>(packed), base, begin, count);
}

int64_t StridedMap::offset_of(int64_t index) const {
  int64_t offset = 0;
  for (size_t axis = sizes_.size(); axis-- > 0 && index > 0;) {
    offset += index % sizes_[axis] * strides_[axis];
    index /= sizes_[axis];
  }
  return offset;
}

}  // namespace tsc
