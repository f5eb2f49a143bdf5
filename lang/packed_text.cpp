#include "lang/packed_text.h"

#include <zlib.h>

#include <charconv>

namespace tsc::lang {

std::string PackedText::unpacked() const {
  std::string text(bytes, '\0');
  auto size = static_cast<uLongf>(bytes);
  if (bytes == 0 ||
      uncompress(reinterpret_cast<Bytef*>(text.data()), &size, packed, static_cast<uLong>(packed_bytes)) != Z_OK)
    return "";
  return text;
}

uint32_t hexadecimal(std::string_view digits) {
  uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace tsc::lang
