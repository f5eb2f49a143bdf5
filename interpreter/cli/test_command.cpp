#include "interpreter/cli/test_command.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "interpreter/cli/files.h"
#include "interpreter/cli/session.h"
#include "interpreter/cli/test_report.h"

namespace tsc::cli {
namespace {

bool is_test_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return path.compare(slash == std::string::npos ? 0 : slash + 1, 5, "test_") == 0;
}

// A script to run: for its tests, its examples or both.
struct Work {
  std::string path;
  bool functions, examples;
};

// Files that are named are taken as they are; of a folder the test_*.tsc, and with --doc every
// script for its examples.
std::vector<Work> collect_work(const Invocation& invocation, std::string& problem) {
  std::vector<Work> work;
  for (const std::string& path : invocation.paths) {
    const ScriptList scripts = collect_scripts({path});
    if (!scripts.problem.empty()) {
      problem = scripts.problem;
      return {};
    }
    struct stat about{};
    const bool folder = stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
    for (const std::string& file : scripts.files) {
      const bool tests = !folder || is_test_name(file);
      if (tests || invocation.test_docs) work.push_back({file, tests, invocation.test_docs});
    }
  }
  return work;
}

std::vector<FileResult> run_all(const Invocation& invocation, const std::vector<Work>& work) {
  std::vector<FileResult> results(work.size());
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t jobs = std::min(invocation.test_jobs != 0 ? invocation.test_jobs : cores, work.size());
  Invocation shared = invocation;
  if (jobs > 1 && shared.threads == 0) shared.threads = static_cast<uint32_t>(std::max<size_t>(1, cores / jobs));
  std::atomic<size_t> next{0};
  const auto worker = [&] {
    for (size_t i; (i = next.fetch_add(1)) < work.size();)
      results[i] = run_test_file(shared, work[i].path, work[i].functions, work[i].examples);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < jobs; ++i) threads.emplace_back(worker);
  worker();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace

int run_tests(const Invocation& invocation) {
  std::string problem;
  const std::vector<Work> work = collect_work(invocation, problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "tenscript: %s\n", problem.c_str());
    return kExitUsage;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<FileResult> results = run_all(invocation, work);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string text = invocation.json ? test_json(results) : test_text(results, seconds);
  std::fputs(text.c_str(), stdout);
  if (!invocation.junit_file.empty() && !replace_file(invocation.junit_file, test_junit(results), problem)) {
    std::fprintf(stderr, "tenscript: %s\n", problem.c_str());
    return 1;
  }
  const TestCounts counts = count_tests(results);
  if (counts.failed != 0) return 1;
  if (counts.passed + counts.skipped != 0) return 0;
  std::fprintf(stderr, "tenscript: no test found\n");
  return kExitUsage;
}

}  // namespace tsc::cli
