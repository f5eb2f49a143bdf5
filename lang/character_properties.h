#pragma once
// What else Unicode says of its characters, for unicodedata: from the same package as their names (character_names.h),
// and absent where that was. Knows: code points and properties. Must not know: who asks.
#include <cstdint>
#include <optional>
#include <string_view>

namespace tsc::lang {

// Whether this build has the tables.
bool has_character_properties();
// "0041 030A", or "<compat> 0020 0308"; "" where a character is not made of others. Syllables of Hangul have none here.
std::string_view decomposition_of(uint32_t character);
// "Na", "W"...; "" where the table says nothing.
std::string_view east_asian_width_of(uint32_t character);
std::optional<int> digit_value_of(uint32_t character);
std::optional<double> numeric_value_of(uint32_t character);

}  // namespace tsc::lang
