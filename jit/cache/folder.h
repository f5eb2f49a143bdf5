#pragma once
// A folder of files that only this user may write, reached through one descriptor: what is checked
// when it is opened stays true. Knows the file system; must not know what the files hold. Keeps: a
// file appears whole or not at all, whoever else writes; nothing is read from a folder or file that
// another user could have written.
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::jit {

// What went wrong, for people; empty: nothing.
using Problem = std::string;

class PrivateFolder {
 public:
  PrivateFolder() = default;
  ~PrivateFolder() { close(); }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  // `make`: makes the folder (mode 0700) with those above it when it is missing. Without it a
  // missing folder is no problem, and stays closed.
  Problem open(const std::string& path, bool make);
  bool is_open() const { return descriptor_ >= 0; }
  void close();

  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t used = 0;  // modification time, seconds since 1970
  };
  // Whatever has a name in it: what is no plain file too.
  std::vector<File> list() const;

  // The bytes of a file; nothing with an empty problem when there is no such file. `used`: its
  // modification time.
  std::optional<std::string> read(const std::string& name, Problem* problem, int64_t* used) const;
  struct Written {
    Problem problem;
    bool only_this_name = false;  // other files can be written: something is in the place of this one
  };
  // Atomic: a temporary file is written and renamed. A folder that somebody removed meanwhile is made
  // again; a folder in the file's place goes.
  Written write(const std::string& name, std::string_view bytes);
  // A folder goes with what it holds.
  bool remove(const std::string& name) const;
  // Sets the modification time to now.
  void touch(const std::string& name) const;

  // An exclusive lock between processes, and the small text of the locked file. Not granted while
  // another holds it.
  class Locked {
   public:
    Locked(const PrivateFolder& folder, const std::string& name);
    ~Locked();
    Locked(const Locked&) = delete;
    bool held() const { return descriptor_ >= 0; }
    std::string text() const;
    void set_text(const std::string& text) const;

   private:
    int descriptor_ = -1;
  };

 private:
  Problem open_checked(bool make, int* found) const;
  Problem renew();
  int write_temporary(const std::string& name, std::string_view bytes, Problem* problem) const;

  std::string path_;
  int descriptor_ = -1;  // its number stays, whichever folder it stands for: threads share it
};

// Temporary files begin with this; one left by a process that died is old.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

}  // namespace tsc::jit
