#include "pseudo_terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

namespace tsc::test {
namespace {
using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}
}  // namespace

Pty::Pty(const std::vector<std::string>& arguments, const std::vector<std::pair<std::string, std::string>>& environment,
         int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  child_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (child_ < 0) throw std::runtime_error("forkpty failed");
  if (child_ > 0) return;
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

Pty::~Pty() {
  close(terminal_);
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
}

void Pty::signal(int number) { kill(child_, number); }

bool Pty::is_canonical() const {
  termios mode{};
  return tcgetattr(terminal_, &mode) == 0 && (mode.c_lflag & ICANON) != 0;
}

void Pty::type(const std::string& keys) {
  for (std::size_t sent = 0; sent < keys.size();) {
    pollfd ready{terminal_, POLLIN | POLLOUT, 0};
    poll(&ready, 1, 1000);
    // A terminal that nobody reads fills up: take what the program writes meanwhile.
    if (ready.revents & POLLIN) read_some(0);
    if (!(ready.revents & POLLOUT)) continue;
    const std::size_t chunk = std::min<std::size_t>(keys.size() - sent, 1024);
    const ssize_t count = write(terminal_, keys.data() + sent, chunk);
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

bool Pty::read_some(int milliseconds) {
  pollfd ready{terminal_, POLLIN, 0};
  if (poll(&ready, 1, milliseconds) <= 0) return true;
  char buffer[65536];
  const ssize_t count = read(terminal_, buffer, sizeof buffer);
  if (count <= 0) return false;
  pending_.append(buffer, static_cast<std::size_t>(count));
  return true;
}

bool Pty::expect(const std::string& text, double seconds) {
  const auto deadline = after(seconds);
  for (;;) {
    const std::size_t found = pending_.find(text);
    if (found != std::string::npos) {
      pending_.erase(0, found + text.size());
      return true;
    }
    const int left = milliseconds_until(deadline);
    if (left == 0 || !read_some(left)) return pending_.find(text) != std::string::npos;
  }
}

int Pty::wait(double seconds) {
  const auto deadline = after(seconds);
  while (milliseconds_until(deadline) > 0) {
    int status = 0;
    if (waitpid(child_, &status, WNOHANG) == child_) {
      child_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    read_some(20);
  }
  return -1;
}

}  // namespace tsc::test
