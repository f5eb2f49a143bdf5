#pragma once
// The encodings unicode_escape and raw_unicode_escape: texts as they are written in literals. Knows: the escapes. Must
// not know: error handlers.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tsc::interp {

// What stands between two places cannot be decoded: puts what stands for it at the end of `out` and gives where
// decoding goes on, or raises.
using EscapeFault = std::function<size_t(size_t begin, size_t end, const char* reason, std::string& out)>;

// A code point as an escape of two, four or eight hex digits.
std::string escaped(uint32_t c);
std::string decode_escapes(std::string_view bytes, bool raw, const EscapeFault& fault);
std::string encode_escapes(std::string_view utf8, bool raw);

}  // namespace tsc::interp
