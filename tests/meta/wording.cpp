// What must not be in the tree: paths of one machine, and marks of unfinished work.
#include <regex>

#include "catch2/catch.hpp"
#include "source_tree.h"

using namespace tsc::meta;

namespace {

void check_absent(const std::regex& pattern, bool only_cpp) {
  for (const SourceFile& file : source_files()) {
    if (file.path == "tests/meta/wording.cpp" || (only_cpp && !is_cpp(file))) continue;
    int number = 0;
    for (const std::string& line : lines_of(file.text)) {
      ++number;
      if (!std::regex_search(line, pattern)) continue;
      INFO(file.path << ":" << number << ": " << line);
      CHECK(false);
    }
  }
}

}  // namespace

TEST_CASE("no path of one machine") {
  check_absent(std::regex("(^|[\\s\"'`(=:])/(work|home|root|tmp|Users)/"), false);
}

TEST_CASE("no marks of unfinished work in the sources") {
  check_absent(std::regex("\\b(TO" "DO|FIX" "ME|XX" "X|HA" "CK)\\b"), true);
}
