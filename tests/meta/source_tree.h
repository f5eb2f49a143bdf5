#pragma once
// The project's own files, for the tests that read them. Knows: which folders are sources. Leaves
// out build folders, hidden folders and generated files, so that a test speaks of what people
// write.
#include <string>
#include <vector>

namespace tsc::meta {

struct SourceFile {
  std::string path;  // from the repository root
  std::string text;
};

const std::vector<SourceFile>& source_files();

bool has_suffix(const std::string& text, const std::string& suffix);
bool is_cpp(const SourceFile& file);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace tsc::meta
