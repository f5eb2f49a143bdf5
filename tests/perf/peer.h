#pragma once
// One column of the table that is not Tenscript: a process that answers on its standard output.
#include <sys/types.h>

#include <string>
#include <vector>

namespace tsc::perf {

class Peer {
 public:
  // Starts `command` with these variables added to its environment.
  Peer(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Waits for the first answer. False: why() says why there is none.
  bool ready(double* first_ms, double* total);
  const std::string& why() const { return why_; }
  // Milliseconds of each of `count` steps; empty when the process is gone.
  std::vector<double> run(int count);

 private:
  std::string read_line();

  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string buffer_, why_;
};

}  // namespace tsc::perf
