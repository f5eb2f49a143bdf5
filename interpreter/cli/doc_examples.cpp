#include "interpreter/cli/doc_examples.h"

#include <algorithm>

namespace tsc::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Blanks at the ends of lines and empty lines at the end say nothing.
std::string normal(const std::string& text) {
  std::string out;
  for (std::string line : lines_of(text)) {
    line.resize(line.find_last_not_of(" \t\r") + 1);
    out += line + "\n";
  }
  out.resize(out.find_last_not_of('\n') + 1);
  return out;
}

// Of a traceback only its first line and the error itself count: where things were called changes.
std::string without_stack(const std::string& text) {
  std::string out;
  bool in_stack = false;
  for (const std::string& line : lines_of(text)) {
    in_stack = in_stack && (line.empty() || line[0] == ' ' || line == "...");
    if (!in_stack) out += (out.empty() ? "" : "\n") + line;
    in_stack = in_stack || line == "Traceback (most recent call last):";
  }
  return out;
}

bool has_prompt(const std::string& line, size_t indent, const char* prompt) {
  return line.compare(indent, 4, std::string(prompt) + " ") == 0 ||
         line.substr(std::min(indent, line.size())) == prompt;
}

}  // namespace

std::vector<DocExample> doc_examples(const std::string& docstring) {
  std::vector<DocExample> examples;
  const std::vector<std::string> lines = lines_of(docstring);
  for (size_t i = 0; i < lines.size();) {
    const size_t indent = lines[i].find_first_not_of(' ');
    if (indent == std::string::npos || !has_prompt(lines[i], indent, ">>>")) {
      ++i;
      continue;
    }
    DocExample example;
    example.line = i + 1;
    const auto content = [&](const std::string& line, size_t from) {
      return (line.size() > from ? line.substr(from) : "") + "\n";
    };
    example.source = content(lines[i++], indent + 4);
    while (i < lines.size() && lines[i].size() > indent && has_prompt(lines[i], indent, "..."))
      example.source += content(lines[i++], indent + 4);
    while (i < lines.size() && lines[i].find_first_not_of(' ') != std::string::npos &&
           !has_prompt(lines[i], std::min(indent, lines[i].size()), ">>>"))
      example.expected += content(lines[i++], indent);
    examples.push_back(std::move(example));
  }
  return examples;
}

bool matches_expected(const std::string& expected, const std::string& got) {
  const std::string wanted = without_stack(normal(expected)), text = without_stack(normal(got));
  size_t at = 0, begin = 0;
  for (bool first = true;; first = false) {
    const size_t gap = wanted.find("...", begin);
    const std::string part = wanted.substr(begin, gap == std::string::npos ? gap : gap - begin);
    if (gap == std::string::npos) {  // the last part stands at the end
      if (first) return text == wanted;
      return text.size() >= at + part.size() && text.compare(text.size() - part.size(), part.size(), part) == 0;
    }
    const size_t found = text.find(part, at);
    if (found == std::string::npos || (first && found != 0)) return false;
    at = found + part.size();
    begin = gap + 3;
  }
}

}  // namespace tsc::cli
