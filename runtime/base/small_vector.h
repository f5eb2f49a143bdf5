#pragma once
// A vector whose first N elements live inside it: shapes, operand lists. Elements must be trivially
// copyable, which keeps copies a memcpy and the class short. Passes copy and move millions of short ones: the
// places inside are copied all together, a few moves of registers instead of a call.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>

namespace tsc {

template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  SmallVector() = default;
  explicit SmallVector(size_t count, T value = T()) { resize(count, value); }
  SmallVector(std::initializer_list<T> items) { append(items.begin(), items.size()); }
  template <class It>
  SmallVector(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  explicit SmallVector(std::span<const T> items) { append(items.data(), items.size()); }
  SmallVector(const SmallVector& other) { copy(other); }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) copy(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      free_heap();
      steal(other);
    }
    return *this;
  }
  ~SmallVector() { free_heap(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  void clear() { size_ = 0; }
  void pop_back() { --size_; }
  void push_back(T item) {
    if (size_ == capacity_) grow(size() + 1);
    data_[size_++] = item;
  }
  void resize(size_t count, T value = T()) {
    if (count > capacity_) grow(count);
    for (size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = static_cast<uint32_t>(count);
  }
  void insert(size_t position, T item) {
    push_back(item);
    std::rotate(data_ + position, data_ + size_ - 1, data_ + size_);
  }
  void erase(size_t position) {
    std::copy(data_ + position + 1, data_ + size_, data_ + position);
    --size_;
  }
  operator std::span<const T>() const { return {data_, size()}; }
  bool operator==(const SmallVector& other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }

 private:
  // Replaces what is here.
  void copy(const SmallVector& other) {
    if (other.size_ <= N) return copy_few(other);
    size_ = 0;
    append(other.data_, other.size_);
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // of places that hold no element: they are copied, not looked at
  // Of at most N; every vector has memory for as many.
  void copy_few(const SmallVector& other) {
    const size_t count = N * sizeof(T) <= kFewBytes ? N : std::min(other.size(), N);
    std::memcpy(static_cast<void*>(data_), other.data_, count * sizeof(T));
    size_ = other.size_;
  }
#pragma GCC diagnostic pop
  void append(const T* items, size_t count) {
    if (size() + count > capacity_) grow(size() + count);
    if (count) std::memcpy(static_cast<void*>(data_ + size_), items, count * sizeof(T));
    size_ += static_cast<uint32_t>(count);
  }
  void grow(size_t needed) {
    const size_t capacity = std::max(needed, size_t{capacity_} * 2);
    T* heap = capacity > UINT32_MAX ? nullptr : static_cast<T*>(std::malloc(capacity * sizeof(T)));
    if (!heap) throw std::bad_alloc();
    if (size_) std::memcpy(static_cast<void*>(heap), data_, size() * sizeof(T));
    free_heap();
    data_ = heap;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void free_heap() {
    if (data_ != inline_items()) std::free(data_);
    data_ = inline_items();
    capacity_ = N;
  }
  void steal(SmallVector& other) {
    if (other.data_ == other.inline_items()) {
      copy_few(other);
    } else {
      data_ = other.data_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_items();
      other.capacity_ = N;
    }
    other.size_ = 0;
  }
  T* inline_items() { return reinterpret_cast<T*>(inline_); }

  static constexpr size_t kFewBytes = 64;

  T* data_ = inline_items();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace tsc
