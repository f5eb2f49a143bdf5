#pragma once
// What shells and `man` read, made of the option tables. Knows: the tables.
#include <string>

namespace tsc::cli {

// `kind`: "bash", "zsh", "fish" or "man".
std::string shell_page(const std::string& kind);

}  // namespace tsc::cli
