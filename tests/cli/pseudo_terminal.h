#pragma once
// A program on a pseudo-terminal, for tests: types keys, waits for text on the screen's stream.
#include <sys/types.h>

#include <string>
#include <vector>

namespace tsc::test {

class Pty {
 public:
  Pty(const std::vector<std::string>& arguments, const std::vector<std::pair<std::string, std::string>>& environment,
      int columns = 80, int rows = 24);
  ~Pty();

  void type(const std::string& keys);
  // Reads until `text` has been written after what earlier calls consumed; false when it does not
  // come.
  bool expect(const std::string& text, double seconds = 20);
  // Waits for the end of the program: its exit code, or -1.
  int wait(double seconds = 20);
  void signal(int number);
  // Whether the terminal edits lines itself, as it does when no program has taken that over.
  bool is_canonical() const;
  // All that was written and not yet consumed by expect.
  const std::string& unread() const { return pending_; }

 private:
  bool read_some(int milliseconds);
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string pending_;
};

}  // namespace tsc::test
