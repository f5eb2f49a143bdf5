#pragma once
// Runs the tests of one script in an engine of its own. Knows: the public API, how tests are named.
// Must not know: how results are shown.
// Keeps: what one file does to its engine no other file sees; a teardown runs whatever happened.
#include <string>
#include <vector>

#include "interpreter/cli/options.h"

namespace tsc::cli {

enum class Outcome { Passed, Failed, Skipped };

struct TestResult {
  std::string name;  // "test_x", "TestBox.test_y", "example of f, line 3"
  Outcome outcome = Outcome::Passed;
  double seconds = 0;
  std::string message;  // one line: the exception, the reason for skipping
  std::string details;  // the traceback
  std::string output;   // what the test printed
};

struct FileResult {
  std::string path;
  std::vector<TestResult> tests;
  size_t left_out = 0;  // by -k
};

// Which tests -k selects: names holding a text, joined by `or`, `and`, `not`.
bool matches_pattern(const std::string& pattern, const std::string& name);

// `functions`: run test functions and classes; `examples`: run the >>> examples of docstrings.
FileResult run_test_file(const Invocation& invocation, const std::string& path, bool functions, bool examples);

}  // namespace tsc::cli
