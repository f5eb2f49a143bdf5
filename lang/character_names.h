#pragma once
// The names of the Unicode characters, for `\N{NAME}` and unicodedata. The table is made at build time of Debian's
// package unicode-data (character_names/pack.cpp), and unpacked when somebody asks for the first time; a build without
// that package has none. Knows: code points and names. Must not know: who asks.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::lang {

// Whether this build has the table.
bool has_character_names();
// The character of that name, in letters of any case, or of another name that Unicode gives it.
std::optional<uint32_t> character_named(std::string_view name);
// The same of what several characters together are called.
std::vector<uint32_t> sequence_named(std::string_view name);
// The name; "" where a character has none.
std::string name_of_character(uint32_t character);

}  // namespace tsc::lang
