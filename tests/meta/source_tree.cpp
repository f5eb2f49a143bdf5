#include "source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tsc::meta {
namespace {

namespace fs = std::filesystem;

const char* const kSuffixes[] = {".h",   ".hpp", ".c",     ".cpp", ".def",  ".re", ".yy",
                                 ".tsc", ".md",  ".cmake", ".txt", ".json", ".py", ".sh"};

bool is_source(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name == "dev") return true;
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                     [&](const char* suffix) { return has_suffix(name, suffix); });
}

std::vector<SourceFile> read_tree() {
  const fs::path root = TENSCRIPT_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name == "build" || name[0] == '.' || name == "third_party")) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() || !is_source(entry->path())) continue;
    std::ifstream stream(entry->path(), std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    files.push_back({fs::relative(entry->path(), root).generic_string(), text.str()});
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace

const std::vector<SourceFile>& source_files() {
  static const std::vector<SourceFile> files = read_tree();
  return files;
}

bool has_suffix(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool is_cpp(const SourceFile& file) {
  for (const char* suffix : {".h", ".hpp", ".c", ".cpp", ".def", ".re", ".yy"})
    if (has_suffix(file.path, suffix)) return true;
  return false;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace tsc::meta
