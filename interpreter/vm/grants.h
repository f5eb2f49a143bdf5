#pragma once
// The gate to the world outside: what a script may touch, and the one place where it is asked.
// For: every native function that reads or writes a file, the environment, a process, the clock or
// the network asks here before it acts. Knows: paths, links, the grants of the Vm's host. Must not
// know: what is done with a file. Keeps: a path that passed has its links and `..` resolved, and the
// caller acts on the path that came back, never on the one it was given.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::interp {

class Vm;

enum class Grant : uint32_t {
  Read = 1,  // any file; folders are granted one by one through Grants::read_roots
  Write = 2,
  Environment = 4,
  Process = 8,  // other processes, and what is known of this one
  Clock = 16,
  Network = 32,
  Input = 64,  // the process's standard input
  Code = 128,  // compiling and running text: exec, eval, compile
  Threads = 256,
};

struct Grants {
  static constexpr uint32_t kAll = 0xffffffffu;
  uint32_t bits = kAll;
  // Folders (or single files) below which the script may read or write; made absolute, with their
  // links resolved, by add_root.
  std::vector<std::string> read_roots, write_roots;

  bool has(Grant grant) const { return bits & static_cast<uint32_t>(grant); }
};

void add_root(std::vector<std::string>& roots, const std::string& folder);

// PermissionError unless the host grants it; `what` names the deed: "time.time()".
void check_grant(Vm& vm, Grant grant, std::string_view what);

// Whether a path's last part is followed where it is a link: Keep for deeds on the link itself
// (remove, rename, readlink, lstat).
enum class Links { Follow, Keep };

// The path to use in place of `path`; PermissionError when the host does not grant it, OSError for a
// loop of links. Nothing needs to exist at the path.
std::string check_read(Vm& vm, const std::string& path, Links links = Links::Follow);
std::string check_write(Vm& vm, const std::string& path, Links links = Links::Follow);

// Whether these grants let a script write any file in the folder or below it.
bool may_write_in(const Grants& grants, const std::string& folder);

// open(2) within the grants: checks for reading and writing by the flags, and opens below the granted
// folder without following links, so that nothing changes between check and use. The descriptor
// (close-on-exec), or -1 with errno.
int open_granted(Vm& vm, const std::string& path, int flags, unsigned mode = 0666);

}  // namespace tsc::interp
