#include "peer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

namespace tsc::perf {

Peer::Peer(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  // Everything is made before the fork: other threads may hold the allocator's lock then.
  std::vector<char*> arguments, variables;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& one : environment) variables.push_back(const_cast<char*>(one.c_str()));
  for (char** inherited = environ; *inherited; ++inherited) variables.push_back(*inherited);
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execvpe(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

Peer::~Peer() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

std::string Peer::read_line() {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char piece[4096];
    const ssize_t count = read(from_, piece, sizeof piece);
    if (count <= 0) return {};
    buffer_.append(piece, static_cast<size_t>(count));
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

bool Peer::ready(double* first_ms, double* total) {
  const std::string line = read_line();
  std::istringstream words(line);
  std::string word;
  if (words >> word && word == "ready" && words >> *first_ms >> *total) return true;
  why_ = word == "none" ? line.substr(5) : "it does not start";
  return false;
}

std::vector<double> Peer::run(int count) {
  const std::string request = "run " + std::to_string(count) + "\n";
  if (write(to_, request.data(), request.size()) != static_cast<ssize_t>(request.size())) return {};
  std::istringstream words(read_line());
  std::string word;
  std::vector<double> times;
  double ms;
  words >> word;
  while (words >> ms) times.push_back(ms);
  return times;
}

}  // namespace tsc::perf
