#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tsc::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

[[noreturn]] void become(const ProcessOptions& options, Pipe& in, Pipe& out, Pipe& err) {
  setpgid(0, 0);
  dup2(in.read_end, 0);
  dup2(out.write_end, 1);
  dup2(err.write_end, 2);
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(127);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : options.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// Moves bytes both ways until the child has closed its outputs or the time is over.
class Pump {
 public:
  Pump(Pipe& in, Pipe& out, Pipe& err, const std::string& input, ProcessResult& result)
      : in_(in), out_(out), err_(err), input_(input), result_(result) {
    fcntl(in_.write_end, F_SETFL, O_NONBLOCK);
    if (input_.empty()) Pipe::close_end(in_.write_end);
  }

  bool run_until(Clock::time_point deadline) {
    while (out_.read_end >= 0 || err_.read_end >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      pollfd ends[3] = {{out_.read_end, POLLIN, 0}, {err_.read_end, POLLIN, 0}, {in_.write_end, POLLOUT, 0}};
      poll(ends, 3, static_cast<int>(left));
      if (ends[0].revents) drain(out_.read_end, result_.out);
      if (ends[1].revents) drain(err_.read_end, result_.err);
      if (ends[2].revents) feed();
    }
    return true;
  }

 private:
  static void drain(int& end, std::string& into) {
    char buffer[65536];
    const ssize_t count = read(end, buffer, sizeof buffer);
    if (count > 0) into.append(buffer, static_cast<std::size_t>(count));
    else Pipe::close_end(end);
  }

  void feed() {
    const ssize_t count = write(in_.write_end, input_.data() + sent_, input_.size() - sent_);
    if (count > 0) sent_ += static_cast<std::size_t>(count);
    if (count < 0 || sent_ == input_.size()) Pipe::close_end(in_.write_end);
  }

  Pipe &in_, &out_, &err_;
  const std::string& input_;
  ProcessResult& result_;
  std::size_t sent_ = 0;
};

}  // namespace

ProcessResult run_process(const ProcessOptions& options) {
  signal(SIGPIPE, SIG_IGN);
  Pipe in, out, err;
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    become(options, in, out, err);
  }
  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  ProcessResult result;
  Pump pump(in, out, err, options.input, result);
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  result.timed_out = !pump.run_until(start + limit);
  if (result.timed_out) kill(-child, SIGKILL);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    result.cpu_seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tenscript-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path full = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(full.parent_path());
  std::ofstream(full, std::ios::binary) << text;
  return full.string();
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace tsc::test
