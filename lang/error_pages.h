#pragma once
// The page of each diagnostic code: what it means, a text that makes it, how to mend that. The pages are
// lang/pages/*.md, embedded by the build. Knows: the codes. Must not know: who shows them.
// Keeps: every code has a page whose first example produces the code and whose last one is sound; a test
// runs them all.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"

namespace tsc::lang {

extern const std::span<const std::string_view> page_texts;  // the files, one after the other

// A code block of a page. `info` is what stands behind ```: "tsc" for a script, then perhaps "check" (the
// code is a finding of the checker), "latin-1" (the file's encoding), "repeat=N" (a line that holds {n} stands
// N times, with the numbers from 0; {indent} is so many blanks).
struct PageExample {
  std::string info, text;
  bool is_script() const { return info.rfind("tsc", 0) == 0; }
  bool has(std::string_view flag) const;
  std::string script() const;  // the bytes of the file
};

// The text below the code's heading; empty when there is no page.
std::string_view error_page(Code code);
std::vector<PageExample> page_examples(Code code);
// The page for a terminal: heading, text, code blocks indented.
std::string render_page(Code code, bool color);
// The code of "E0101", "e0101", "0101", "101" or "InvalidCharacter".
std::optional<Code> find_code(std::string_view text);
std::string_view code_name(Code code);  // "InvalidCharacter"
// The known code or name nearest to `text`; empty when none is near.
std::string nearest_code(std::string_view text);

}  // namespace tsc::lang
