#pragma once
// Text of unknown length in the making: blocks that are charged to the Vm and never copied to grow, so
// that a stop is heard between two of them.
#include <string>
#include <vector>

#include "interpreter/value/string.h"

namespace tsc::interp {

class TextBuilder {
 public:
  explicit TextBuilder(Vm& vm) : vm_(vm) {}
  ~TextBuilder();
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;

  TextBuilder& operator+=(std::string_view text) {
    if (text.size() <= kBlock - last_.size()) [[likely]]
      last_ += text;
    else append_long(text);
    return *this;
  }
  TextBuilder& operator+=(char c) {
    if (last_.size() == kBlock) [[unlikely]]
      end_block();
    last_ += c;
    return *this;
  }
  size_t size() const { return blocks_.size() * kBlock + last_.size(); }
  bool empty() const { return size() == 0; }

  // What was built; the builder is empty afterwards.
  Value str();
  Value bytes();
  std::string text();

 private:
  static constexpr size_t kBlock = 256 << 10;
  void append_long(std::string_view text);
  void end_block();
  void write_to(char* to);

  Vm& vm_;
  std::vector<std::string> blocks_;  // each of kBlock bytes
  std::string last_;
};

}  // namespace tsc::interp
