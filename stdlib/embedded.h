#pragma once
// The library's own .tsc sources, built into the program, each with its bytecode. Knows: path ->
// bytes. Must not know: the language, what the bytecode means (lang/bytecode/serialize.h). Paths
// are those below stdlib/ ("torch/nn/__init__.tsc"); the bytes live as long as the program and are
// not copied.
#include <cstddef>
#include <string_view>

namespace tsc::stdlib {

struct EmbeddedFile {
  std::string_view path;
  std::string_view text;
  std::string_view bytecode;  // of the text, as the build compiled it
};

// One file; null when there is no such file.
const EmbeddedFile* find(std::string_view path);

// All files, sorted by path.
const EmbeddedFile* begin();
const EmbeddedFile* end();

}  // namespace tsc::stdlib
