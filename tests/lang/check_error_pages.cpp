// Every diagnostic code has a page whose first example makes it, and a report that stays as it is: the
// golden file error_reports.txt. TSC_WRITE_GOLDEN=1 writes that anew.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "catch2/catch.hpp"
#include "lang/check/check.h"
#include "lang/emit/compile.h"
#include "lang/error_pages.h"

namespace tsc::lang {

namespace {

constexpr std::string_view kBuiltins[] = {"print", "max", "range", "list", "ValueError", "KeyError", "sum"};

struct Run {
  std::shared_ptr<const Source> source;
  Diagnostics found;
};

Run run(const PageExample& example) {
  Run result;
  result.source = std::make_shared<const Source>("example.tsc", example.script());
  if (example.has("check")) {
    result.found = check(*result.source, {kBuiltins});
  } else {
    result.found = compile_module(result.source).diagnostics;
  }
  result.found.sort();
  return result;
}

const Diagnostic* find(const Run& result, Code code) {
  for (const Diagnostic& d : result.found.all())
    if (d.code == code) return &d;
  return nullptr;
}

std::string texts_of(const Run& result) { return render_all(result.found, *result.source, {}); }

std::string without_escapes(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') i = text.find('m', i);
    else out += text[i];
  }
  return out;
}

size_t longest_source_line(const std::string& report) {
  std::istringstream lines(report);
  size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t bar = line.find(" | "), digit = line.find_first_of("0123456789");
    if (bar != std::string::npos && digit < bar) longest = std::max(longest, line.size());
  }
  return longest;
}

}  // namespace

TEST_CASE("every code has a page: words, an example that makes it, a way out that is sound") {
  for (const Code code : all_codes()) {
    INFO(code_text(code));
    const std::vector<PageExample> examples = page_examples(code);
    REQUIRE(examples.size() >= 2);
    CHECK(error_page(code).find("```") > 40);
    CHECK(examples.back().is_script());
    const Run mended = run(examples.back());
    INFO(texts_of(mended));
    CHECK(mended.found.all().empty());
    if (code == Code::SourceTooLarge) continue;  // its example is a gigabyte
    REQUIRE(examples.front().is_script());
    CHECK(find(run(examples.front()), code) != nullptr);
  }
}

TEST_CASE("reports of every code: the text, in colour and at any width") {
  std::string all;
  for (const Code code : all_codes()) {
    if (code == Code::SourceTooLarge) continue;
    const Run result = run(page_examples(code).front());
    const Diagnostic* found = find(result, code);
    REQUIRE(found != nullptr);
    INFO(code_text(code));
    all += "=== " + code_text(code) + "\n" + render(*found, *result.source, {});
    for (const unsigned width : {60u, 80u, 120u}) {
      const RenderOptions plain{.width = width}, colored{.color = true, .width = width};
      const std::string text = render(*found, *result.source, plain);
      CHECK(longest_source_line(text) <= width);
      CHECK(without_escapes(render(*found, *result.source, colored)) == text);
    }
  }
  const std::string path = std::string(TSC_SOURCE_FOLDER) + "/tests/lang/error_reports.txt";
  if (std::getenv("TSC_WRITE_GOLDEN") != nullptr) std::ofstream(path) << all;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  CHECK(all == golden.str());
}

TEST_CASE("codes by number, by name, and near ones") {
  for (const char* text : {"E0103", "e0103", "0103", "103", "UnterminatedString", "unterminatedstring"})
    CHECK(find_code(text) == Code::UnterminatedString);
  for (const char* text : {"", "E", "E9999", "103x", "nothing", "E01030", "-1"}) CHECK(!find_code(text));
  CHECK(nearest_code("E0113") != "");
  CHECK(nearest_code("UnterminatdString") == "UnterminatedString");
  CHECK(nearest_code("completely else") == "");
  const std::string page = render_page(Code::UnterminatedString, false);
  CHECK(page.rfind("E0103 UnterminatedString: a string literal without its closing quote\n", 0) == 0);
  CHECK(page.find("\n    greeting = \"hello\n") != std::string::npos);
  CHECK(page.find("```") == std::string::npos);
  CHECK(render_page(Code::TooManyIndents, false).find("stands 102 times") != std::string::npos);
}

}  // namespace tsc::lang
