// The doc comments of the library: every public function and class has one with an example, and what the
// examples print is what they say. An example is a run of lines `>>> CODE`, each followed by its output;
// the examples of one file run as one script. Usage: tsc_examples --tenscript EXE --root DIR
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <regex>
#include <sstream>

#include "process.h"

namespace {

namespace fs = std::filesystem;

struct Step {
  std::string code, output;
};
struct Item {
  std::string name, doc;
  std::vector<Step> steps;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_indent(const std::string& line) {
  return line.size() > 4 ? line.substr(4) : line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

// The doc comment that follows the definition in line `at`; the definition may take several lines.
std::string doc_after(const std::vector<std::string>& lines, size_t at) {
  while (at < lines.size() && lines[at].find("):") == std::string::npos && lines[at].back() != ':') ++at;
  if (++at >= lines.size() || lines[at].rfind("    \"\"\"", 0) != 0) return "";
  std::string doc = lines[at].substr(7);
  while (doc.find("\"\"\"") == std::string::npos && ++at < lines.size())
    doc += "\n" + without_indent(lines[at]);
  return doc.substr(0, doc.find("\"\"\""));
}

std::vector<Step> steps_of(const std::string& doc) {
  std::vector<Step> steps;
  for (const std::string& line : lines_of(doc)) {
    if (line.rfind(">>> ", 0) == 0) steps.push_back({line.substr(4), ""});
    else if (!steps.empty()) steps.back().output += line + "\n";
  }
  for (Step& step : steps)
    while (!step.output.empty() && step.output.back() == '\n') step.output.pop_back();
  return steps;
}

std::vector<Item> items_of(const std::string& text) {
  static const std::regex definition("^(def|class) ([A-Za-z]\\w*).*");
  std::vector<Item> items;
  const auto lines = lines_of(text);
  std::smatch match;
  for (size_t i = 0; i < lines.size(); ++i)
    if (std::regex_match(lines[i], match, definition)) {
      const std::string doc = doc_after(lines, i);
      items.push_back({match[2].str(), doc, steps_of(doc)});
    }
  return items;
}

// A line that is no expression prints nothing.
bool is_statement(const std::string& code) {
  static const std::regex statement(
      "^(with|def|class|import|from|for|if|@).*|^[A-Za-z_][\\w.]*(, [A-Za-z_(][\\w., ()]*)? = .*");
  return std::regex_match(code, statement);
}

std::string script_of(const std::vector<Item>& items) {
  std::string script = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                       "def _show(value):\n    if value is not None:\n        print(repr(value))\n";
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t k = 0; k < items[i].steps.size(); ++k) {
      const std::string& code = items[i].steps[k].code;
      script += is_statement(code) ? code + "\n" : "_show((" + code + "))\n";
      if (code[0] != '@') script += "print('--', " + std::to_string(i) + ", " + std::to_string(k) + ")\n";
    }
  return script;
}

int check_outputs(const std::string& path, const std::vector<Item>& items, const std::string& printed) {
  int failed = 0;
  std::string output;
  for (const std::string& line : lines_of(printed)) {
    std::istringstream words(line);
    std::string mark;
    size_t i = 0, k = 0;
    if (line.rfind("-- ", 0) != 0 || !(words >> mark >> i >> k)) {
      output += (output.empty() ? "" : "\n") + line;
      continue;
    }
    const Step& step = items[i].steps[k];
    if (output != step.output) {
      ++failed;
      std::cout << path << ": " << items[i].name << ": >>> " << step.code << "\n  says\n"
                << step.output << "\n  prints\n" << output << "\n";
    }
    output.clear();
  }
  return failed;
}

int check_file(const std::string& tenscript, const fs::path& path, const std::string& root) {
  const std::string name = fs::relative(path, root).generic_string();
  const auto items = items_of(tsc::test::read_file(path.string()));
  int failed = 0;
  for (const Item& item : items)
    if (item.steps.empty()) {
      ++failed;
      std::cout << name << ": " << item.name << " has no example in its doc comment\n";
    }
  if (items.empty()) return failed;
  tsc::test::TemporaryFolder folder;
  folder.write("examples.tsc", script_of(items));
  tsc::test::ProcessOptions options;
  options.arguments = {tenscript, "examples.tsc"};
  options.environment = {{"TENSCRIPT_STRICT_COMPILER", "1"}};
  options.folder = folder.path();
  const auto result = tsc::test::run_process(options);
  if (result.exit_code != 0) {
    ++failed;
    std::cout << name << ": exit code " << result.exit_code << "\n" << result.err;
  }
  return failed + check_outputs(name, items, result.out);
}

}  // namespace

int main(int count, char** arguments) {
  std::string tenscript, root;
  for (int i = 1; i + 1 < count; i += 2)
    (std::string(arguments[i]) == "--tenscript" ? tenscript : root) = arguments[i + 1];
  int failed = 0, files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root + "/stdlib/torch"))
    if (entry.path().extension() == ".tsc") {
      failed += check_file(tenscript, entry.path(), root);
      ++files;
    }
  std::cout << files << " files, " << failed << " failures\n";
  return failed == 0 && files > 0 ? 0 : 1;
}
