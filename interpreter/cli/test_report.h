#pragma once
// The results of tests as text, JSON and JUnit XML. Knows: results. Must not know: engines.
#include <string>
#include <vector>

#include "interpreter/cli/test_run.h"

namespace tsc::cli {

struct TestCounts {
  size_t passed = 0, failed = 0, skipped = 0;
};
TestCounts count_tests(const std::vector<FileResult>& files);

std::string test_text(const std::vector<FileResult>& files, double seconds);
std::string test_json(const std::vector<FileResult>& files);
std::string test_junit(const std::vector<FileResult>& files);

}  // namespace tsc::cli
