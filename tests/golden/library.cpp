// One file of cases/ against PyTorch: runs it and compares what it prints with data/NAME.txt,
// tensor by tensor, within the tolerance that each case states. Usage: tsc_golden --tenscript EXE
// --folder tests/golden NAME
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "golden_file.h"
#include "process.h"

namespace tsc::golden {
namespace {

struct Group {
  std::string head;  // "case NAME ulps=N"
  std::vector<std::string> lines;
};

std::vector<Group> groups_of(const std::string& text) {
  std::vector<Group> groups;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("case ", 0) == 0) groups.push_back({line, {}});
    else if (!groups.empty()) groups.back().lines.push_back(line);
    else throw std::runtime_error("a line before the first case: " + line);
  }
  return groups;
}

Tolerance tolerance_of(const std::string& head) {
  const size_t at = head.rfind("ulps=");
  return {std::strtod(head.c_str() + at + 5, nullptr), Unit::Tensor};
}

bool is_tensor_line(const std::string& line) { return line.find(" [") != std::string::npos; }

std::string compare_line(const std::string& expected, const std::string& actual, const Tolerance& tolerance) {
  if (expected == actual) return "";
  if (!is_tensor_line(expected) || !is_tensor_line(actual)) return "expected '" + expected + "', got '" + actual + "'";
  const TensorLine a = parse_tensor(expected), b = parse_tensor(actual);
  if (a.mark != b.mark) return "expected '" + a.mark + "', got '" + b.mark + "'";
  const std::string problem = difference(a, b, tolerance);
  return problem.empty() ? "" : a.mark + ": " + problem;
}

std::string compare_group(const Group& expected, const Group& actual) {
  if (expected.head != actual.head) return "expected the case '" + expected.head + "', got '" + actual.head + "'";
  std::string problems;
  const size_t count = std::max(expected.lines.size(), actual.lines.size());
  for (size_t i = 0; i < count; ++i) {
    const std::string want = i < expected.lines.size() ? expected.lines[i] : "(nothing)";
    const std::string got = i < actual.lines.size() ? actual.lines[i] : "(nothing)";
    const std::string problem = compare_line(want, got, tolerance_of(expected.head));
    if (!problem.empty()) problems += "\n    " + problem.substr(0, 400);
  }
  return problems;
}

int run(const std::string& tenscript, const std::string& folder, const std::string& name) {
  const auto expected = groups_of(test::read_file(folder + "/data/" + name + ".txt"));
  test::ProcessOptions options;
  options.arguments = {tenscript, name + ".tsc"};
  options.environment = {
      {"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_NO_BACKGROUND", "1"}, {"TENSCRIPT_UNTIMED", "1"}};
  options.folder = folder + "/cases";
  const test::ProcessResult result = test::run_process(options);
  const auto actual = groups_of(result.out);
  int failed = 0;
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    const std::string problem = compare_group(expected[i], actual[i]);
    if (problem.empty()) continue;
    ++failed;
    std::cout << "FAILED " << expected[i].head << problem << "\n";
  }
  if (actual.size() < expected.size()) {
    ++failed;
    std::cout << "FAILED " << expected[actual.size()].head << " and what follows did not run\n";
  } else if (actual.size() > expected.size()) {
    ++failed;
    std::cout << "FAILED " << actual[expected.size()].head << " has no golden data: run ./dev goldens " << name << "\n";
  }
  if (result.exit_code != 0 || result.timed_out) {
    ++failed;
    std::cout << "exit code " << result.exit_code << "\n" << result.err;
  }
  std::cout << expected.size() << " cases, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tsc::golden

int main(int count, char** arguments) {
  std::string tenscript, folder, name;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--tenscript" && i + 1 < count) tenscript = arguments[++i];
    else if (argument == "--folder" && i + 1 < count) folder = arguments[++i];
    else name = argument;
  }
  try {
    return tsc::golden::run(tenscript, folder, name);
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
}
