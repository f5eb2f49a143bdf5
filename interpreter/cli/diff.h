#pragma once
// The difference of two texts in the unified format, three lines of context around each change.
#include <string>

namespace tsc::cli {

// Empty when the texts are the same.
std::string unified_diff(const std::string& before, const std::string& after, const std::string& before_name,
                         const std::string& after_name);

}  // namespace tsc::cli
