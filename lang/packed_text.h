#pragma once
// What the build stores compressed of Debian's package unicode-data (character_names/pack.cpp): lines of text, which
// are unpacked when somebody asks for the first time. A build without that package has empty texts. Knows: bytes. Must
// not know: what the lines mean.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tsc::lang {

struct PackedText {
  size_t bytes, packed_bytes;
  const unsigned char* packed;
  // The text; "" where there is none.
  std::string unpacked() const;
};
extern const PackedText kPackedNames, kPackedProperties;  // written by the build

// Calls add(line) with each line.
template <class Add>
void each_line(std::string_view text, const Add& add) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    add(text.substr(at, end - at));
    at = end + 1;
  }
}

uint32_t hexadecimal(std::string_view digits);  // up to the first character that is none

}  // namespace tsc::lang
