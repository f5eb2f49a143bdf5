#pragma once
// Places in a text as vi names them: lines, words, brackets, text objects. Functions of a text and an offset
// in bytes. Knows: the text. Must not know: keys and commands.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tsc::cli::vi {

std::size_t line_start(std::string_view text, std::size_t at);
std::size_t line_end(std::string_view text, std::size_t at);
std::size_t first_in_line(std::string_view text, std::size_t at);  // that is no blank
// The last place for a cursor in command mode on the line of `at`.
std::size_t clamp_to_line(std::string_view text, std::size_t at);

// `big`: words end at blanks only.
std::size_t next_word(std::string_view text, std::size_t at, bool big);
std::size_t word_end(std::string_view text, std::size_t at, bool big);
// Past the last character of the word that `at` stands in.
std::size_t past_word(std::string_view text, std::size_t at, bool big);
std::size_t previous_word(std::string_view text, std::size_t at, bool big);

// The partner of the bracket at or after `at` on its line.
std::optional<std::size_t> matching_bracket(std::string_view text, std::size_t at);
// [begin, end) of iw, aw, i", a(, ...; `around` is a's.
std::optional<std::pair<std::size_t, std::size_t>> text_object(std::string_view text, std::size_t at, bool around,
                                                               char what);

}  // namespace tsc::cli::vi
