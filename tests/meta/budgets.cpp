// Sizes that keep the code readable: 600 lines a file, 60 lines a function, 40 member functions a class of
// interpreter/capture.
#include <algorithm>

#include "catch2/catch.hpp"
#include "scan.h"
#include "source_tree.h"

using namespace tsc::meta;

namespace {

constexpr int kFileLines = 600;
constexpr int kFunctionLines = 60;
constexpr int kMemberFunctions = 40;

// The bytecode loop is one function by nature: a jump table over every instruction.
const char* const kLongFunctions[] = {"interpreter/vm/dispatch.cpp"};

bool may_hold_long_function(const std::string& path) {
  return std::find(std::begin(kLongFunctions), std::end(kLongFunctions), path) != std::end(kLongFunctions);
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
      INFO(file.path << ":" << span.first_line << " has " << span.length() << " lines: " << span.head);
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

// The compiler's view of the language was one class of 270 functions once. It is rooms (interpreter/capture/rooms.h).
TEST_CASE("no class of interpreter/capture has over 40 member functions") {
  int seen = 0;
  for (const SourceFile& file : source_files()) {
    if (!is_cpp(file) || file.path.rfind("interpreter/capture/", 0) != 0) continue;
    for (const ClassSize& one : classes_in(file.text)) {
      INFO(file.path << ":" << one.first_line << ": " << one.name << " has " << one.functions << " member functions");
      CHECK(one.functions <= kMemberFunctions);
      ++seen;
    }
  }
  CHECK(seen > 40);
}

// A class says in front of it, or at the top of its header, what it holds; a room also which one it is.
TEST_CASE("every header of a room of capture teaches") {
  for (const SourceFile& file : source_files()) {
    if (!has_suffix(file.path, ".h") || file.path.rfind("interpreter/capture/", 0) != 0) continue;
    if (file.text.find(": private Room {") == std::string::npos) continue;
    const auto text = file.text.substr(0, file.text.find("#include"));
    INFO(file.path << " must say at its top what the room holds");
    CHECK(std::count(text.begin(), text.end(), '\n') >= 3);
    CHECK(file.text.find("friend ") == std::string::npos);
  }
}

TEST_CASE("the scan counts member functions and only these") {
  const std::string text =
      "namespace a {\n"
      "struct Options;\n"
      "class B : public C<int(char)> {\n"
      " public:\n"
      "  explicit B(int x) : x_{x}, y_(2) { f(x); }\n"
      "  ~B() override;\n"
      "  bool operator==(const B&) const = default;\n"
      "  template <class T>\n  T make() { return T{}; }\n"
      "  int plain = g(3);\n"
      "  std::function<void(int)> run;\n"
      "  std::vector<int> list{1, 2};\n"
      "  friend class D;\n"
      "  using E = void (*)(int);\n"
      "  struct Inner {\n    void one();\n  };\n"
      "  static int last(int a = f(1));\n"
      "};\n"
      "int free(int x) { return x; }\n"
      "}\n";
  const auto classes = classes_in(text);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].name == "B");
  CHECK(classes[0].functions == 5);
  CHECK(classes[1].functions == 1);
}
