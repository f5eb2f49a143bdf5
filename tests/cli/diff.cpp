#include "interpreter/cli/diff.h"

#include <random>
#include <vector>

#include "catch2/catch.hpp"

using tsc::cli::unified_diff;

namespace {

// Applies a unified diff; what `patch` would do with it.
std::string applied(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < before.size();) {
    const size_t end = std::min(before.find('\n', at), before.size() - 1) + 1;
    lines.push_back(before.substr(at, end - at));
    at = end;
  }
  std::string out;
  size_t next = 0;
  for (size_t at = 0; at < diff.size();) {
    const size_t end = diff.find('\n', at) + 1;
    const std::string line = diff.substr(at, end - at);
    at = end;
    if (line.rfind("---", 0) == 0 || line.rfind("+++", 0) == 0) continue;
    if (line[0] == '\\') {
      if (!out.empty() && out.back() == '\n' && diff[at - line.size() - 1] == '\n') out.pop_back();
      continue;
    }
    if (line[0] == '@') {
      size_t begin = std::stoul(line.substr(4));
      const size_t comma = line.find(','), space = line.find(' ', 4);
      const bool none = comma < space && line[comma + 1] == '0' && line[comma + 2] == ' ';
      begin -= none ? 0 : 1;
      while (next < begin) out += lines[next++];
    } else if (line[0] == '+') {
      out += line.substr(1);
    } else {
      if (line[0] == ' ') out += lines[next];
      ++next;
    }
  }
  while (next < lines.size()) out += lines[next++];
  return out;
}

}  // namespace

TEST_CASE("a diff shows hunks with three lines of context") {
  CHECK(unified_diff("a\n", "a\n", "x", "y").empty());
  CHECK(unified_diff("a\nb\nc\n", "a\nB\nc\n", "x", "y") == "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  CHECK(unified_diff("", "a\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  CHECK(unified_diff("a", "a\n", "x", "y") == "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  const std::string ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
  CHECK(unified_diff(ten, "0\n" + ten + "11\n", "x", "y") ==
        "--- x\n+++ y\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -8,3 +9,4 @@\n 8\n 9\n 10\n+11\n");
}

TEST_CASE("a diff applied to the one text gives the other") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string before, after;
    for (unsigned i = 0; i < random() % 30; ++i) {
      const std::string line = std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      if (random() % 4) before += line;
      if (random() % 4) after += line;
    }
    INFO(before << "----\n" << after);
    CHECK(applied(before, unified_diff(before, after, "x", "y")) == after);
  }
}
