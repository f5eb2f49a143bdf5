// format(format(x)) == format(x) and AST(format(x)) == AST(x): on every script of the project, at
// several widths, and on texts that random edits made of them. format() itself refuses a result
// with another tree, so that half of the law is checked by calling it.
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "format_testing.h"
#include "lang/check/check.h"

namespace tsc::lang {

namespace {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, std::string>> scripts() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* folder : {"tests", "stdlib", "examples"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TSC_SOURCE_FOLDER) / folder)) {
      if (entry.path().extension() != ".tsc") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      out.emplace_back(entry.path().string(), text.str());
    }
  std::sort(out.begin(), out.end());
  return out;
}

// Random edits that often keep a text a program: blanks, breaks, comments and commas come and go.
std::string mutated(std::string text, std::mt19937& random, int edits) {
  static const char* const kInsertions[] = {" ",    "\n",     "#c\n",         "  # d\n", ",",        "(",     ")",
                                            "\\\n", "\n\n\n", "\t",           ";",       "lambda: ", "not ",  "-",
                                            "[",    "]",      " if a else b", "*",       "'''",      "f'{x}'"};
  for (int i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0: text.erase(at, 1 + random() % 3); break;
      case 1: text.insert(at, text.substr(random() % text.size(), random() % 12)); break;
      default: text.insert(at, kInsertions[random() % std::size(kInsertions)]);
    }
  }
  return text;
}

void check_laws(const std::string& name, const std::string& text, uint32_t width, size_t& accepted) {
  const Source source(name, text);
  // The checker must take whatever the parser takes.
  const auto checked = check(source, {});
  for (const Diagnostic& d : checked.all()) CHECK(d.primary.span.end <= text.size() + 1);
  const FormatResult once = format(source, {width});
  if (!once.ok) return;
  ++accepted;
  const FormatResult twice = format(Source(name, once.text), {width});
  REQUIRE(twice.ok);
  if (twice.text == once.text) return;
  size_t at = 0;
  while (at < once.text.size() && at < twice.text.size() && once.text[at] == twice.text[at]) ++at;
  const size_t from = at > 300 ? once.text.rfind('\n', at - 300) + 1 : 0;
  FAIL(name << " at " << width << " columns:\n"
            << (text.size() < 1000 ? text : "") << "\n---- once\n"
            << once.text.substr(from, 600) << "\n---- twice\n"
            << twice.text.substr(from, 600));
}

}  // namespace

TEST_CASE("the laws hold on every script, at several widths") {
  size_t accepted = 0, count = 0;
  for (const auto& [name, text] : scripts())
    for (uint32_t width : {100u, 60u, 20u}) {
      ++count;
      check_laws(name, text, width, accepted);
    }
  CHECK(count > 150);
  // Only scripts that are syntax errors on purpose are left alone.
  CHECK(accepted > count * 9 / 10);
}

TEST_CASE("the laws hold on texts that random edits made") {
  std::mt19937 random(20240611);
  const auto all = scripts();
  size_t accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    const auto& [name, text] = all[random() % all.size()];
    // A few lines at a time: one edit seldom spoils all of them.
    const size_t begin = text.find('\n', random() % (text.size() + 1));
    if (begin == text.npos) continue;
    const std::string part = text.substr(begin + 1, 40 + random() % 400);
    check_laws(name, mutated(part, random, 1 + static_cast<int>(random() % 3)),
               20 + static_cast<uint32_t>(random() % 90), accepted);
  }
  CHECK(accepted > 500);
}

}  // namespace tsc::lang
