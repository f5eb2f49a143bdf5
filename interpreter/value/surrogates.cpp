#include "interpreter/value/surrogates.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {

namespace {

std::atomic<bool> noted{false};

}  // namespace

void note_surrogate() { noted.store(true, std::memory_order_relaxed); }

size_t find_surrogate(std::string_view text) {
  if (!noted.load(std::memory_order_relaxed)) return std::string_view::npos;
  // Their first byte is 0xED; that of what else begins so is followed by less than 0xA0.
  for (size_t at = 0; at + 2 < text.size(); ++at) {
    const void* found = std::memchr(text.data() + at, 0xED, text.size() - at - 2);
    if (!found) break;
    at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    if (static_cast<uint8_t>(text[at + 1]) >= 0xA0) return at;
  }
  return std::string_view::npos;
}

std::string with_surrogates_escaped(std::string_view text) {
  std::string out;
  each_half(
      text,
      [&](uint32_t c) {
        char digits[8];
        std::snprintf(digits, sizeof digits, "\\u%04x", c);
        out += digits;
      },
      [&](std::string_view piece) { out += piece; });
  return out;
}

void check_whole(Vm& vm, std::string_view text) {
  if (find_surrogate(text) != text.npos) encode_text(vm, str_value(vm, text), "utf-8", "strict");
}

std::string to_system(Vm& vm, std::string_view text) {
  if (find_surrogate(text) == text.npos) return std::string(text);
  return encode_text(vm, str_value(vm, text), "utf-8", "surrogateescape");
}

std::string from_system(std::string_view bytes) {
  if (find_utf8_fault(bytes) == bytes.npos) return std::string(bytes);
  std::string out;
  Utf8Fault fault{};
  for (size_t i = 0; i < bytes.size();) {
    const size_t n = utf8_sequence(bytes, i, fault);
    out += bytes.substr(i, n);
    i += n;
    for (; n == 0 && i < fault.end; ++i) append_utf8(out, 0xDC00 + static_cast<uint8_t>(bytes[i]));
  }
  return out;
}

}  // namespace tsc::interp
