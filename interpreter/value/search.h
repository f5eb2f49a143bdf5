#pragma once
// Searching in text, in time proportional to its length whatever is searched for, and a stop is heard
// meanwhile. Knows bytes.
#include <string_view>

namespace tsc::interp {

// As std::string_view's find and rfind.
size_t find_text(std::string_view text, std::string_view needle, size_t from = 0);
size_t rfind_text(std::string_view text, std::string_view needle);
// How often it is there without overlap; not for an empty needle.
size_t count_text(std::string_view text, std::string_view needle);

}  // namespace tsc::interp
