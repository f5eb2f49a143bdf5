#pragma once
// The wrapped world: the text of a whole program becomes the body of one function that is compiled and called three
// times, and what it prints is compared with the same function in the interpreter alone. A program that the compiler
// was not made for says more about it than one that was.
#include <set>
#include <string>
#include <vector>

namespace tsc::worlds {

// The text as the body of a function of that kind. Lines inside literals stay where they are.
std::string wrapped(const std::string& text);

struct WrappedResult {
  std::string problem;  // empty: both did the same
  std::string error;    // and ended with this error, behind which nothing was compared
  std::string report;   // all of standard error then
};

// Runs `script` wrapped, with and without the compiler.
WrappedResult run_wrapped(const std::string& tenscript, const std::string& script);

// The file of findings: a program a line, with the reason behind it. `fails NAME` is one that ends with an error as the
// body of a function although it does not as a program.
class Findings {
 public:
  explicit Findings(const std::string& file);
  // What a run of the program amounts to, `expected_error` being the one that it ends with as a program.
  std::string judge(const std::string& name, const WrappedResult& result, const std::string& expected_error) const;
  // The names of programs that none of the folders has.
  std::vector<std::string> unknown_programs(const std::vector<std::string>& corpora) const;

 private:
  std::set<std::string> known_, failing_;
};

}  // namespace tsc::worlds
