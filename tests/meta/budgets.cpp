// Sizes that keep the code readable: 600 lines a file, 60 lines a function, 100 columns a line.
#include <algorithm>

#include "catch2/catch.hpp"
#include "scan.h"
#include "source_tree.h"

using namespace tsc::meta;

namespace {

constexpr int kFileLines = 600;
constexpr int kFunctionLines = 60;

// The bytecode loop is one function by nature: a jump table over every instruction.
const char* const kLongFunctions[] = {"interpreter/vm/dispatch.cpp"};

bool may_hold_long_function(const std::string& path) {
  return std::find(std::begin(kLongFunctions), std::end(kLongFunctions), path) !=
         std::end(kLongFunctions);
}

}  // namespace

TEST_CASE("no file is over 600 lines") {
  for (const SourceFile& file : source_files()) {
    if (!is_cpp(file) && !has_suffix(file.path, ".tsc")) continue;
    const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
    INFO(file.path << " has " << lines << " lines");
    CHECK(lines <= kFileLines);
  }
}

TEST_CASE("no C++ function is over 60 lines") {
  for (const SourceFile& file : source_files()) {
    if (!is_cpp(file) || may_hold_long_function(file.path)) continue;
    if (has_suffix(file.path, ".def") || has_suffix(file.path, ".yy")) continue;
    for (const FunctionSpan& span : functions_in(file.text)) {
      INFO(file.path << ":" << span.first_line << " has " << span.length()
                     << " lines: " << span.head);
      CHECK(span.length() <= kFunctionLines);
    }
  }
}

TEST_CASE("the scan finds functions and only functions") {
  const std::string text =
      "#define MACRO(x) { x\n"
      "namespace a {\n"
      "struct B {\n  int x = 3;\n  int f() const { return '{'; }\n};\n"
      "const int kTable[] = {1, 2};\n"
      "B::B() : x{1},\n         y(2) {\n  auto g = [] {\n  };\n}\n"
      "const char* s = R\"(\n void no() {\n)\";\n"
      "enum class E : int { a, b };\n"
      "}  // {\n";
  const auto spans = functions_in(text);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].first_line == 5);
  CHECK(spans[1].length() == 5);
}
