#pragma once
// The items of a list: a vector of values that grows without moving them one by one, so that a list of many millions
// grows as fast as a small one and a stop has not to wait for it. As std::vector where the names are the same.
// Knows values and counted memory. Keeps: what throws (growth, beyond the memory limit) changes nothing before.
#include <algorithm>
#include <cstring>
#include <span>

#include "interpreter/value/value.h"

namespace tsc::interp {

class Values {
 public:
  using value_type = Value;
  using iterator = Value*;
  using const_iterator = const Value*;

  Values() = default;
  Values(Values&& other) noexcept { swap(other); }
  Values& operator=(Values&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Values() {
    clear();
    counted_free(items_, capacity_ * sizeof(Value));
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }
  Value* data() { return items_; }
  const Value* data() const { return items_; }
  Value* begin() { return items_; }
  Value* end() { return items_ + size_; }
  const Value* begin() const { return items_; }
  const Value* end() const { return items_ + size_; }
  Value& operator[](size_t i) { return items_[i]; }
  const Value& operator[](size_t i) const { return items_[i]; }
  Value& front() { return items_[0]; }
  Value& back() { return items_[size_ - 1]; }
  void swap(Values& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  friend void swap(Values& a, Values& b) noexcept { a.swap(b); }

  void reserve(size_t capacity) {
    if (capacity > capacity_) reallocate(capacity);
  }
  // Room for `more` items, at least doubled: many small additions cost no more than one large one.
  void make_room(size_t more) {
    if (size_ + more > capacity_) reallocate(std::max({size_ + more, 2 * capacity_, size_t{4}}));
  }
  void push_back(Value v) {
    if (size_ == capacity_) [[unlikely]]
      make_room(1);
    new (&items_[size_++]) Value(std::move(v));
  }
  void pop_back() { items_[--size_].~Value(); }
  void resize(size_t size) {
    if (size > size_) make_room(size - size_);
    while (size_ > size) pop_back();
    while (size_ < size) new (&items_[size_++]) Value();
  }
  void clear() { resize(0); }
  void insert(Value* at, Value v) { new (open(at, 1)) Value(std::move(v)); }
  // The new items may not be some of this vector.
  void insert(Value* at, std::span<const Value> items) {
    at = open(at, items.size());
    for (const Value& v : items) new (at++) Value(v);
  }
  void erase(Value* at) {
    const Value gone = std::move(*at);  // goes when all is in order: objects die with it
    close(at, at + 1);
  }
  // Removes these items and gives them.
  Values take(Value* begin, Value* end) {
    Values taken;
    taken.reserve(static_cast<size_t>(end - begin));
    for (Value* v = begin; v != end; ++v) taken.push_back(std::move(*v));
    close(begin, end);
    return taken;
  }

 private:
  void reallocate(size_t capacity) {
    if (capacity > PTRDIFF_MAX / sizeof(Value)) throw std::bad_array_new_length();
    items_ = static_cast<Value*>(counted_reallocate(items_, capacity_ * sizeof(Value), capacity * sizeof(Value)));
    capacity_ = capacity;
  }
  static void move(Value* to, const Value* from, size_t count) {
    if (count) std::memmove(static_cast<void*>(to), from, count * sizeof(Value));
  }
  // A gap of `count` items that hold nothing yet.
  Value* open(Value* at, size_t count) {
    const size_t place = static_cast<size_t>(at - items_);
    make_room(count);
    at = items_ + place;
    move(at + count, at, size_ - place);
    size_ += count;
    return at;
  }

  // Closes a gap of items that hold nothing any more.
  void close(Value* begin, Value* end) {
    move(begin, end, static_cast<size_t>(items_ + size_ - end));
    size_ -= static_cast<size_t>(end - begin);
  }

  Value* items_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace tsc::interp
