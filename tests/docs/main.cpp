// Executes the code blocks of one Markdown page, so that no example in the documentation is
// untested: tsc blocks run (their `# expect:` and `# error:` comments are checked), c and cpp
// blocks are compiled against the public headers, linked and run, in sh blocks every `tenscript`
// command runs and every `./dev` command must exist; the pycon blocks of a page (`>>>` examples and what
// they print) run as one docstring. Usage: tsc_docs --page FILE --tenscript EXE --root DIR --include DIR
// --library SO --cc CC --cxx CXX; a folder as --page stands for all its pages.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "expectations.h"
#include "process.h"

namespace {

using tsc::test::ProcessOptions;
using tsc::test::ProcessResult;
using Settings = std::map<std::string, std::string>;

struct Block {
  std::string language;
  std::string text;
  int line = 0;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream stream(page);
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.rfind("```", 0) == 0) {
      if (!inside) blocks.push_back({line.substr(3), "", number});
      inside = !inside;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

std::string describe(const ProcessResult& result) {
  return (result.timed_out ? "timed out\n" : "exit code " + std::to_string(result.exit_code) + "\n") + result.out +
         result.err;
}

std::string run_script(const Settings& settings, const Block& block) {
  tsc::test::TemporaryFolder folder;
  folder.write("example.tsc", block.text);
  ProcessOptions options;
  const auto expected = tsc::worlds::read_expectations(block.text);
  options.arguments = {settings.at("tenscript")};
  options.arguments.insert(options.arguments.end(), expected.flags.begin(), expected.flags.end());
  options.arguments.push_back("example.tsc");
  options.environment = {{"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", "off"}};
  options.folder = folder.path();
  const ProcessResult result = tsc::test::run_process(options);
  if (result.exit_code != (expected.error.empty() ? 0 : 1)) return describe(result);
  if (!expected.error.empty() && result.err.find(expected.error) == std::string::npos)
    return "expected the error '" + expected.error + "'\n" + describe(result);
  if (!expected.output.empty() && result.out != expected.output)
    return "expected\n" + expected.output + "but it printed\n" + result.out;
  return "";
}

std::string run_compiled(const Settings& settings, const Block& block, bool is_cpp) {
  tsc::test::TemporaryFolder folder;
  const std::string source = folder.write(is_cpp ? "example.cpp" : "example.c", block.text);
  const std::string library = settings.at("library");
  ProcessOptions options;
  options.arguments = {settings.at(is_cpp ? "cxx" : "cc"),
                       is_cpp ? "-std=c++17" : "-std=c99",
                       "-Wall",
                       "-Wextra",
                       "-Werror",
                       "-I" + settings.at("include"),
                       source,
                       library,
                       "-Wl,-rpath," + library.substr(0, library.rfind('/')),
                       "-o",
                       folder.path() + "/example"};
  const std::string flags = settings.count("flags") ? settings.at("flags") : "";
  if (!flags.empty()) options.arguments.push_back(flags);
  ProcessResult result = tsc::test::run_process(options);
  if (result.exit_code != 0) return "does not compile: " + describe(result);
  options.arguments = {folder.path() + "/example"};
  result = tsc::test::run_process(options);
  return result.exit_code == 0 ? "" : describe(result);
}

std::string check_dev_command(const Settings& settings, const std::string& line) {
  std::istringstream words(line);
  std::string program, command;
  words >> program >> command;
  ProcessOptions options;
  options.arguments = {settings.at("root") + "/dev"};
  const ProcessResult help = tsc::test::run_process(options);
  if (command.empty() || help.out.find("\n  " + command + " ") != std::string::npos) return "";
  return "./dev does not list the command '" + command + "'";
}

std::string run_commands(const Settings& settings, const Block& block) {
  const std::string executable = settings.at("tenscript");
  std::istringstream lines(block.text);
  std::string problems;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("./dev", 0) == 0) problems += check_dev_command(settings, line);
    if (line.rfind("tenscript", 0) != 0 && line.rfind("TENSCRIPT_", 0) != 0) continue;
    const tsc::test::TemporaryFolder cache;
    ProcessOptions options;
    const char* path = getenv("PATH");
    options.environment = {{"PATH", executable.substr(0, executable.rfind('/')) + ":" + (path ? path : "")},
                           {"TENSCRIPT_CACHE_DIR", cache.path()}};
    options.arguments = {"/bin/sh", "-c", line};
    options.folder = settings.at("root");
    const ProcessResult result = tsc::test::run_process(options);
    if (result.exit_code != 0) problems += line + ": " + describe(result);
  }
  return problems;
}

// The examples of a page, one after the other, as `tenscript test --doc` runs those of a script.
std::string run_examples(const Settings& settings, const std::string& examples) {
  if (examples.find("\'\'\'") != std::string::npos) return "an example may not hold three single quotes";
  tsc::test::TemporaryFolder folder;
  folder.write("test_page.tsc", "r\'\'\'\n" + examples + "\'\'\'\n");
  ProcessOptions options;
  options.arguments = {settings.at("tenscript"), "test", "--doc", "test_page.tsc"};
  options.environment = {{"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", "off"}, {"TMPDIR", folder.path()}};
  options.folder = folder.path();
  const ProcessResult result = tsc::test::run_process(options);
  return result.exit_code == 0 ? "" : describe(result);
}

std::string run_block(const Settings& settings, const Block& block) {
  if (block.language == "tsc") return run_script(settings, block);
  if (block.language == "c") return run_compiled(settings, block, false);
  if (block.language == "cpp") return run_compiled(settings, block, true);
  if (block.language == "sh") return run_commands(settings, block);
  if (block.language == "text") return "";
  return "blocks of the language '" + block.language + "' are not tested: use text for output";
}

void check_page(const Settings& settings, const std::string& page, int& passed, int& failed) {
  const auto note = [&](int line, const std::string& problem) {
    ++(problem.empty() ? passed : failed);
    if (!problem.empty()) std::cout << page << ":" << line << ": " << problem << "\n";
  };
  std::string examples;
  for (const Block& block : blocks_of(tsc::test::read_file(page)))
    if (block.language == "pycon") examples += block.text + "\n";
    else note(block.line, run_block(settings, block));
  if (!examples.empty()) note(1, run_examples(settings, examples));
}

std::vector<std::string> pages_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> pages;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".md") pages.push_back(entry.path().string());
  std::sort(pages.begin(), pages.end());
  return pages;
}

}  // namespace

int main(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i + 1 < count; i += 2) settings[std::string(arguments[i]).substr(2)] = arguments[i + 1];
  int passed = 0, failed = 0;
  for (const std::string& page : pages_of(settings.at("page"))) check_page(settings, page, passed, failed);
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
