#pragma once
// Reads the small texts at the head of tensor files strictly: what is not expected is refused.
// Knows: characters. Must not know: what a header says.
#include <cstdint>
#include <string>
#include <string_view>

namespace tsc::io {

class HeaderText {
 public:
  // `refuse` throws; it gets what is wrong.
  HeaderText(std::string_view text, void (*refuse)(const std::string&)) : text_(text), refuse_(refuse) {}

  void expect(char c);  // after blanks
  bool take(char c);    // the same where it is optional
  bool take(std::string_view word);
  void expect_spaces_to_end();
  void expect_end();  // after blanks
  // A JSON string in double quotes, decoded to UTF-8.
  std::string string();
  // A text in single or double quotes, without escapes.
  std::string plain_string();
  // A number without sign, point or exponent, at most 2^63 - 1.
  int64_t natural();

 private:
  void skip_blanks();
  [[noreturn]] void refuse(const std::string& what) const;
  void escape(std::string& out);
  uint32_t four_digits();
  void utf8(std::string& out);

  std::string_view text_;
  size_t at_ = 0;
  void (*refuse_)(const std::string&);
};

}  // namespace tsc::io
