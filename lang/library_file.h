#pragma once
// The names of the library's own source files. They are no paths of the disk: the texts are inside the executable.
// Knows: how such a name begins. Must not know: which files there are.
#include <string_view>

namespace tsc::lang {

inline constexpr std::string_view kLibraryFolder = "<stdlib>/";

// Whether a source of this name belongs to the library.
inline bool is_library_file(std::string_view name) { return name.starts_with(kLibraryFolder); }

}  // namespace tsc::lang
