#pragma once
// What a script of the corpus promises, read from its comments:
//   print(1 + 1)        # expect: 2          one line of output; all of them, in order, are the
//   output 1 / 0               # error: ZeroDivisionError: division by zero # kernels: 1 also
//   regions, exits, host: the closing report's counts, in compiled worlds # golden: name.txt  the
//   whole output, from a file beside the script # worlds: a, b      only these worlds       #
//   flags: --seed 3   more command-line flags
//   says: text        the script ends with an error, and its report holds the text
// In a folder with an expected.txt (tests/conformance) that file promises the output instead.
// Must not know: how a script is run.
#include <map>
#include <string>
#include <vector>

namespace tsc::worlds {

struct Expectations {
  std::string output;
  std::string golden;             // file name; when set, `output` is not used
  std::string error;              // "Type: message"; empty: the script ends well
  std::vector<std::string> says;  // pieces of the report of a script that fails
  int error_line = 0;             // the line that carries the `# error:`
  std::map<std::string, long> counters;
  std::vector<std::string> worlds;
  std::vector<std::string> flags;
  std::vector<std::string> mistakes;  // comments that look like an expectation and are none
};

Expectations read_expectations(const std::string& source);
// The section `=== NAME` of an expected.txt: the output, and below `!!! ` the error that ends it.
Expectations read_section(const std::string& text, const std::string& name);

}  // namespace tsc::worlds
