#pragma once
// Runs a program for a test and keeps what it wrote. Knows: processes. Must not know: Tenscript.
// A child that outlives its time is killed with its group; nothing is left running.
#include <string>
#include <utility>
#include <vector>

namespace tsc::test {

struct ProcessOptions {
  std::vector<std::string> arguments;                            // the program first
  std::vector<std::pair<std::string, std::string>> environment;  // added to the test's own
  std::string input;                                             // standard input
  std::string folder;                                            // working directory; empty: inherit
  double seconds = 300;
};

struct ProcessResult {
  int exit_code = -1;  // 128 + signal when it was killed
  bool timed_out = false;
  std::string out;
  std::string err;
  double seconds = 0;      // of the clock
  double cpu_seconds = 0;  // of the processor, which a busy machine does not stretch
};

ProcessResult run_process(const ProcessOptions& options);

// A fresh folder, removed with everything in it when the object goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  // Writes a file below it and returns its full path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);

}  // namespace tsc::test
