// The include arrows of docs/architecture.md, and the one place for LLVM.
#include <map>
#include <regex>
#include <set>

#include "catch2/catch.hpp"
#include "source_tree.h"

using namespace tsc::meta;

namespace {

// Folder -> the folders whose headers it may include. The longest folder that matches a path
// counts.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"runtime/base", {}},
      {"runtime", {"runtime/base"}},
      {"lang", {"runtime/base"}},
      {"jit", {"runtime", "runtime/base"}},
      {"jit/codegen", {"jit", "runtime", "runtime/base"}},
      {"stdlib", {}},
      {"interpreter", {"lang", "jit", "runtime", "runtime/base", "stdlib"}},
      {"interpreter/embed", {"interpreter", "lang", "jit", "runtime", "runtime/base", "stdlib"}},
      {"interpreter/cli", {"interpreter/embed"}},
      {"examples", {"interpreter/embed"}},
  };
  return table;
}

std::string room_of(const std::string& path) {
  std::string best;
  for (const auto& [room, below] : arrows())
    if (path.compare(0, room.size() + 1, room + "/") == 0 && room.size() > best.size()) best = room;
  return best;
}

template <class F>
void for_each_include(const SourceFile& file, F&& body) {
  static const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"].*");
  std::smatch match;
  for (const std::string& line : lines_of(file.text))
    if (std::regex_match(line, match, include)) body(match[1].str());
}

}  // namespace

TEST_CASE("includes run down the floors only") {
  for (const SourceFile& file : source_files()) {
    const std::string room = room_of(file.path);
    if (!is_cpp(file) || room.empty()) continue;
    for_each_include(file, [&](const std::string& header) {
      const std::string other = room_of(header);
      if (other.empty() || other == room) return;
      INFO(file.path << " includes " << header);
      CHECK(arrows().at(room).count(other) == 1);
    });
  }
}

TEST_CASE("LLVM headers are included in jit/codegen and nowhere else") {
  for (const SourceFile& file : source_files()) {
    if (!is_cpp(file) || room_of(file.path) == "jit/codegen") continue;
    if (file.path.rfind("tests/codegen/", 0) == 0) continue;
    for_each_include(file, [&](const std::string& header) {
      INFO(file.path << " includes " << header);
      CHECK((header.rfind("llvm/", 0) != 0 && header.rfind("llvm-c/", 0) != 0));
    });
  }
}

TEST_CASE("a header says what its room is for") {
  for (const SourceFile& file : source_files()) {
    if (!has_suffix(file.path, ".h") || room_of(file.path).empty()) continue;
    const auto lines = lines_of(file.text);
    INFO(file.path << " must open with #pragma once and a comment");
    REQUIRE(lines.size() >= 2);
    const bool pragma_first = lines[0] == "#pragma once" && lines[1].rfind("//", 0) == 0;
    const bool comment_first = lines[0].rfind("/*", 0) == 0 || (lines[0].rfind("//", 0) == 0);
    CHECK((pragma_first || comment_first));
  }
}
