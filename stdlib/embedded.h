#pragma once
// The library's own .tsc sources, compiled into the program. Knows: path -> text. Must not know:
// the language. Paths are those below stdlib/ ("torch/nn/__init__.tsc"); the texts live as long as
// the program and are not copied.
#include <cstddef>
#include <string_view>

namespace tsc::stdlib {

struct EmbeddedFile {
  std::string_view path;
  std::string_view text;
};

// The text of one file; a view with a null data() when there is no such file.
std::string_view find(std::string_view path);

// All files, sorted by path.
const EmbeddedFile* begin();
const EmbeddedFile* end();

}  // namespace tsc::stdlib
