#include "expectations.h"

#include <regex>
#include <sstream>

namespace tsc::worlds {
namespace {

std::vector<std::string> words(std::string text) {
  for (char& c : text)
    if (c == ',') c = ' ';
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

// One comment `# key: value` of a line.
void take(Expectations& into, const std::string& key, const std::string& value, int line) {
  if (key == "expect") {
    into.output += value + "\n";
  } else if (key == "error") {
    into.error = value;
    into.error_line = line;
  } else if (key == "says") {
    into.says.push_back(value);
  } else if (key == "golden") {
    into.golden = value;
  } else if (key == "worlds") {
    into.worlds = words(value);
  } else if (key == "flags") {
    into.flags = words(value);
  } else {
    try {
      into.counters[key] = std::stol(value);
    } catch (const std::exception&) {
      into.mistakes.push_back("line " + std::to_string(line) + ": '# " + key + ":' needs a number, not '" + value +
                              "'");
    }
  }
}

}  // namespace

Expectations read_expectations(const std::string& source) {
  static const std::regex marker("# (expect|error|says|golden|worlds|flags|kernels|regions|exits|host):( (.*))?$");
  Expectations result;
  std::istringstream stream(source);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, marker)) take(result, match[1], match[3], number);
  }
  return result;
}

Expectations read_section(const std::string& text, const std::string& name) {
  Expectations result;
  bool inside = false, found = false;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("=== ", 0) == 0) {
      inside = line.substr(4) == name;
      found |= inside;
    } else if (inside && line.rfind("!!! ", 0) == 0) {
      result.error = line.substr(4);
    } else if (inside) {
      result.output += line + "\n";
    }
  }
  if (!found) result.mistakes.push_back("expected.txt has no section '" + name + "'");
  return result;
}

}  // namespace tsc::worlds
