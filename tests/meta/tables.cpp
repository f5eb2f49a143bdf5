// Rows of the tables that the code is driven by: each is documented and tested.
#include <algorithm>
#include <regex>
#include <set>

#include "catch2/catch.hpp"
#include "source_tree.h"

using namespace tsc::meta;

namespace {

const std::string& text_of(const std::string& path) {
  for (const SourceFile& file : source_files())
    if (file.path == path) return file.text;
  FAIL(path << " is not in the tree");
  throw 0;
}

// The first capture of every match in a file.
std::vector<std::string> found_in(const std::string& path, const char* pattern) {
  const std::string& text = text_of(path);
  const std::regex row(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) out.push_back((*at)[1].str());
  return out;
}

std::string all_text_below(const std::string& folder) {
  std::string text;
  for (const SourceFile& file : source_files())
    if (file.path.rfind(folder, 0) == 0) text += file.text;
  return text;
}

}  // namespace

// What the table of docs/troubleshooting.md says of break rows, and the scripts that trigger them: a script
// names the reason that it expects, in quotes.
TEST_CASE("every break row has an entry in the documentation and a script that triggers it") {
  const auto rows = found_in("interpreter/capture/breaks.def", "\nBREAK\\((\\w+),");
  CHECK(rows.size() >= 15);
  const std::string page = text_of("docs/troubleshooting.md");
  const std::string scripts = all_text_below("tests/scripts/");
  for (const std::string& name : rows) {
    INFO(name);
    CHECK(page.find("`" + name + "`") != std::string::npos);
    CHECK(scripts.find("\"" + name + "\"") != std::string::npos);
  }
  const size_t table = page.find("| reason | what happened |");
  REQUIRE(table != std::string::npos);
  const std::string entries = page.substr(table, page.find("\n\n", table) - table);
  const std::regex id("`(\\w+)`");
  for (const std::string& line : lines_of(entries)) {
    std::string first = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator at(first.begin(), first.end(), id), end; at != end; ++at) {
      INFO((*at)[1] << " is in the documentation and not in breaks.def");
      CHECK(std::find(rows.begin(), rows.end(), (*at)[1].str()) != rows.end());
    }
  }
}

// Kernels and emitters are found by running them: golden_ops and the tests of tests/codegen.
TEST_CASE("every primitive has a text, a gradient or none on purpose, and golden data") {
  const auto rows = found_in("runtime/ops/ops.def", "\nOP\\((\\w+),");
  CHECK(rows.size() >= 75);
  for (const std::string& line : lines_of(text_of("runtime/ops/ops.def"))) {
    if (line.rfind("OP(", 0) != 0) continue;
    INFO(line << ": ends without a text");
    CHECK((has_suffix(line, "\")") && !has_suffix(line, "\"\")")));
  }
  const std::string gradients = all_text_below("jit/autodiff/");
  const std::string cases = text_of("tests/golden/op_cases.py");
  const std::string golden = text_of("tests/golden/data/ops.txt");
  for (const std::string& name : rows) {
    INFO(name);
    const std::regex word("\\b" + name + "\\b");
    CHECK(std::regex_search(gradients, word));
    CHECK(cases.find("\"" + name + "\":") != std::string::npos);
    CHECK(golden.find("op " + name + "\n") != std::string::npos);
  }
}
