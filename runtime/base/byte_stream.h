#pragma once
// Numbers and texts in a row of bytes, for stored bytecode and stored regions: integers of seven bits
// a byte, low ones first; texts as numbers of a table that holds each text once.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tsc {

class ByteWriter {
 public:
  void byte(uint8_t value) { bytes_ += static_cast<char>(value); }
  void fixed64(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<uint8_t>(value >> shift));
  }
  void number(uint64_t value) {
    for (; value >= 128; value >>= 7) byte(static_cast<uint8_t>(value | 128));
    byte(static_cast<uint8_t>(value));
  }
  // Small magnitudes of either sign become small numbers.
  void difference(int64_t value) { number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63)); }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Gives every different text a number, in order of first use.
class TextNumbers {
 public:
  uint64_t number_of(const std::string& text) {
    auto [it, is_new] = numbers_.emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return it->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, uint64_t> numbers_;
  std::vector<std::string> texts_;
};

// Reads what a ByteWriter wrote. The first fault is kept; from then on everything reads as zero, so
// callers check once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool failed() const { return fault_ != nullptr; }
  const char* fault() const { return fault_; }
  void fail(const char* what) {
    if (!fault_) fault_ = what;
    at_ = end_;
  }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  uint8_t byte() {
    if (at_ == end_) return fail("it ends too early"), uint8_t{0};
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t fixed64() {
    std::string_view bytes = raw(8);
    uint64_t value = 0;
    for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
    return value;
  }
  uint64_t number() {
    if (at_ != end_ && !(*at_ & 128)) return static_cast<uint8_t>(*at_++);
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t next = byte();
      value |= static_cast<uint64_t>(next & 127) << shift;
      if (!(next & 128)) return value;
    }
    fail("a number is too long");
    return 0;
  }
  int64_t difference() {
    uint64_t value = number();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  template <typename T>
  T number_as() {
    uint64_t value = number();
    if (value > static_cast<uint64_t>(static_cast<T>(-1))) fail("a number is too large");
    return failed() ? T{0} : static_cast<T>(value);
  }
  // The length of a table whose entries take at least `entry_bytes` each: never more than can
  // follow.
  size_t count(size_t entry_bytes) {
    uint64_t value = number();
    if (value > left() / entry_bytes) fail("a table is longer than the bytes that are left");
    return failed() ? 0 : static_cast<size_t>(value);
  }
  std::string_view raw(size_t size) {
    if (size > left()) return fail("it ends too early"), std::string_view();
    std::string_view bytes(at_, size);
    at_ += size;
    return bytes;
  }

 private:
  const char* at_;
  const char* end_;
  const char* fault_ = nullptr;
};

}  // namespace tsc
