// The words that the option table lists are those that the program takes.
#include "interpreter/cli/option_table.h"

#include <algorithm>
#include <sstream>

#include "run_tenscript.h"

using namespace tsc::test;
using tsc::cli::FlagRow;

namespace {

std::vector<std::string> split(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::sort(words.begin(), words.end());
  return words;
}

ProcessResult with_word(const FlagRow& row, const std::string& word) {
  return tenscript({std::string(row.name) + "=" + word, "-c", "1"});
}

}  // namespace

TEST_CASE("every word of an option is accepted, another is refused with the same list") {
  int rows = 0;
  for (const FlagRow& row : tsc::cli::flag_rows()) {
    if (row.words == nullptr) continue;
    ++rows;
    for (const std::string& word : split(row.words)) {
      const ProcessResult result = with_word(row, word);
      INFO(row.name << "=" << word << "\n" << result.err);
      CHECK(result.exit_code == 0);
    }
    const ProcessResult result = with_word(row, "nosuchword");
    INFO(row.name << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "'nosuchword'"));
    // The program's own list ends its message.
    const std::string line = result.err.substr(0, result.err.find('\n'));
    std::size_t list = line.rfind("; ");
    REQUIRE(list != std::string::npos);
    list = std::min(line.find(" are ", list), line.find(" takes ", list));
    REQUIRE(list != std::string::npos);
    CHECK(split(line.substr(line.find(' ', list + 1))) == split(row.words));
  }
  CHECK(rows == 6);
}

TEST_CASE("words are found in the environment too, and the nearest is named") {
  ProcessOptions options;
  options.arguments = {TENSCRIPT_EXECUTABLE, "-c", "1"};
  for (const char* variable : {"TENSCRIPT_DISABLE", "TENSCRIPT_LOGS", "TENSCRIPT_EMIT", "TENSCRIPT_COLOR"}) {
    options.environment = {{variable, "nosuchword"}};
    CHECK(run_process(options).exit_code == 2);
  }
  CHECK(contains(tenscript({"--disable=fuse,memry", "-c", "1"}).err, "did you mean 'memory'?"));
  CHECK(contains(tenscript({"--log=recompile", "-c", "1"}).err, "did you mean 'recompiles'?"));
}
