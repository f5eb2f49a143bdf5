#pragma once
// The `>>>` examples of a text: what is typed and what must come back. Knows: the notation.
#include <string>
#include <vector>

namespace tsc::cli {

struct DocExample {
  std::string source;    // its lines without prompts
  std::string expected;  // the lines after it, up to an empty one or the next prompt
  size_t line = 0;       // of the docstring, from 1
};

std::vector<DocExample> doc_examples(const std::string& docstring);

// Trailing blanks do not count; `...` in `expected` stands for any text.
bool matches_expected(const std::string& expected, const std::string& got);

}  // namespace tsc::cli
