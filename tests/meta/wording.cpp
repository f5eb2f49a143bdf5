// What must not be in the tree: paths of one machine, marks of unfinished work, and names of source files that are
// gone.
#include <regex>
#include <set>

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

TEST_CASE("no path of one machine") { check_absent(std::regex("(^|[\\s\"'`(=:])/(work|home|root|tmp|Users)/"), false); }

TEST_CASE("no marks of unfinished work in the sources") {
  check_absent(std::regex("\\b(TO"
                          "DO|FIX"
                          "ME|XX"
                          "X|HA"
                          "CK)\\b"),
               true);
}

TEST_CASE("every source file that a page or a comment names is there") {
  std::set<std::string> paths;
  for (const SourceFile& file : source_files()) paths.insert(file.path);
  const std::regex name(
      "(^|[^A-Za-z0-9_./-])((interpreter|jit|lang|runtime|tests)/[A-Za-z0-9_/]+\\.(h|cpp|def|tsc))\\b");
  int seen = 0;
  for (const SourceFile& file : source_files()) {
    for (std::sregex_iterator found(file.text.begin(), file.text.end(), name), end; found != end; ++found) {
      INFO(file.path << " names " << (*found)[2]);
      CHECK(paths.count((*found)[2]) == 1);
      ++seen;
    }
  }
  CHECK(seen > 1000);
}
