#pragma once
// Scripts in whose engine the n-th allocation is refused: whatever fails, the host hears
// MemoryError (or the script catches it, or the compiler goes without), the engine runs the same
// script to its right end afterwards, and no block is lost. What is right is what the interpreter
// prints. Knows: the public API and hooks.h. Must not know: what the scripts do.
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "interpreter/embed/tenscript.hpp"

namespace tsc::baddays {

// What the engine of a trial is made with.
struct World {
  std::string scripts;  // folder
  bool jit = false;
  bool has_disk = false;    // kernels of the runs before lie on disk
  bool background = false;  // two threads; otherwise one
};

// Whose allocations fail: those of the thread that runs the script, or of all others.
enum class Victim { Script, Others };

// What an engine prints. The texts have their memory beforehand: they must not be what fails.
struct Shown {
  std::string out, err;
  Shown();
};

class Trials {
 public:
  // `failures`: so many allocations in a row.
  Trials(World world, Victim victim, int64_t failures);
  ~Trials();
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  // Trials in all; samples: so many allocations of each script, evenly spread, 0: every one.
  uint64_t count(int64_t samples) const;
  // "script number": which allocation of which script fails, all scripts in turn.
  std::string name(uint64_t number, int64_t samples) const;
  // Which rule was broken; empty: none.
  std::string try_named(const std::string& name);

 private:
  struct Script {
    std::string name, text, expected;
    int64_t allocations = 0;
  };
  void load();
  // In a process of its own, as the caller's is to fork and has no threads therefore.
  void count_allocations();
  tenscript::Options options(Shown& shown) const;
  // The script's run with the failure, and one after it. `asked`: allocations of the first.
  std::string try_once(const Script& script, int64_t first, int64_t* asked = nullptr);
  std::string try_counted(const Script& script, int64_t first);

  const World world_;
  const Victim victim_;
  const int64_t failures_;
  const pid_t owner_ = getpid();
  std::string kernels_;  // folder
  std::vector<Script> scripts_;
  std::set<std::string> warm_;  // scripts that have run in this process
};

// Which rule making an engine breaks when its n-th allocation fails: the error is MemoryError,
// nothing is lost, the next attempt works. `asked`: allocations that it takes.
std::string try_creation(int64_t first, int64_t failures, int64_t* asked = nullptr);

}  // namespace tsc::baddays
