#pragma once
// Bump memory for one parse: syntax nodes, their lists, scopes and decoded strings. Nothing in it
// is ever destroyed one by one, so everything in it is trivially destructible; it all goes when the
// Arena goes. Knows nothing of what it holds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tsc::lang {

template <class T>
using List = std::span<T>;

class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  void* allocate(size_t bytes, size_t align = alignof(std::max_align_t)) {
    size_t padding = (align - reinterpret_cast<uintptr_t>(next_) % align) % align;
    if (bytes + padding > static_cast<size_t>(end_ - next_)) [[unlikely]] {
      grow(bytes + align);
      padding = (align - reinterpret_cast<uintptr_t>(next_) % align) % align;
    }
    std::byte* result = next_ + padding;
    next_ = result + bytes;
    return result;
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  // A list of `count` value-initialised items.
  template <class T>
  List<T> list(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (!count) return {};
    T* items = static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
    std::uninitialized_value_construct_n(items, count);
    return {items, count};
  }

  template <class Range>
  auto copy(const Range& range) {
    using T = std::remove_cvref_t<decltype(*std::begin(range))>;
    List<T> out = list<T>(std::size(range));
    std::copy(std::begin(range), std::end(range), out.begin());
    return out;
  }

  std::string_view text(std::string_view bytes) {
    if (bytes.empty()) return {};
    char* out = static_cast<char*>(allocate(bytes.size(), 1));
    std::memcpy(out, bytes.data(), bytes.size());
    return {out, bytes.size()};
  }

 private:
  void grow(size_t needed) {
    size_t size = std::max(needed, block_size_);
    block_size_ = std::min<size_t>(block_size_ * 2, size_t{1} << 20);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    next_ = blocks_.back().get();
    end_ = next_ + size;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  size_t block_size_ = 4096;
};

}  // namespace tsc::lang
