#pragma once
// Halves of surrogate pairs. A str may hold one by itself, as in Python: in its memory it has three bytes, which are
// no UTF-8 (WTF-8; two halves beside each other stay two characters). So whatever leaves the interpreter as UTF-8
// passes one of these functions. Bytes of the system that are no UTF-8 become such halves, U+DC80 to U+DCFF.
#include <string>
#include <string_view>

#include "interpreter/value/string.h"

namespace tsc::interp {

inline bool is_surrogate(uint32_t code_point) { return code_point >= 0xD800 && code_point < 0xE000; }
// Of a byte that is no UTF-8.
inline bool is_escaped_byte(uint32_t code_point) { return code_point >= 0xDC80 && code_point < 0xDD00; }
// Whoever makes a half says so: before the first one no text is looked through.
void note_surrogate();
// Where the first half stands; npos: there is none, and the text is UTF-8. `text` is that of a str.
size_t find_surrogate(std::string_view text);
// Calls half(code_point) for each half and piece(text) for the text between them, which is UTF-8.
template <class Half, class Piece>
void each_half(std::string_view text, const Half& half, const Piece& piece) {
  for (;;) {
    size_t at = find_surrogate(text);
    piece(text.substr(0, at));
    if (at == text.npos) return;
    const uint32_t code_point = decode_utf8(text, at);
    half(code_point);
    text.remove_prefix(at);
  }
}
// Halves as \udXXX: for reports, which do not fail.
std::string with_surrogates_escaped(std::string_view text);
// UnicodeEncodeError if the text has a half.
void check_whole(Vm& vm, std::string_view text);
// A name of a file, an argument, a variable of the environment: as the system has it, and as a script sees it
// (os.fsencode and os.fsdecode). UnicodeEncodeError of a half that stands for no byte.
std::string to_system(Vm& vm, std::string_view text);
std::string from_system(std::string_view bytes);
inline Value system_text(Vm& vm, std::string_view bytes) { return str_value(vm, from_system(bytes)); }

}  // namespace tsc::interp
