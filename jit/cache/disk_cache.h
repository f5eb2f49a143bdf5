#pragma once
// Compiled kernels and region plans on disk: the second process finds the machine code of every kernel that
// the first one compiled, and never opens LLVM; it finds what the passes made of every region, and runs none.
// One file an entry, named by a hash of what it was made
// from; entries carry their whole key and a checksum, so a damaged or foreign one is told apart,
// skipped and written anew. The folder is this user's alone: what lies in it is executed. Least
// recently used entries go when the folder outgrows its limit. Knows images, must not know
// the structure of programs and plans. Keeps: thread-safe; two processes may use one folder; nothing that happens
// on disk fails a computation.
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "jit/cache/entry.h"
#include "jit/cache/folder.h"
#include "runtime/base/once.h"

namespace tsc::jit {

inline constexpr uint64_t kDefaultCacheBytes = uint64_t{1} << 30;

struct DiskCacheOptions {
  std::string folder;                        // empty: no disk is touched
  uint64_t size_limit = kDefaultCacheBytes;  // bytes of all entries together
  std::string identity = {};                 // empty: machine_code_identity(); tests pretend others
  Problem refusal = {};                      // why the folder must not be used all the same
};

// One entry as `tenscript cache list` shows it.
struct DiskCacheRow {
  enum class State : uint8_t {
    Usable,
    Foreign,  // made for another processor or by another version: kept, not used
    Damaged,  // will be written anew when its kernel or region is compiled again
  };
  CacheEntry::Kind kind = CacheEntry::Kind::Kernel;
  std::string file;
  uint64_t bytes = 0;
  int64_t used = 0;  // seconds since 1970
  State state = State::Usable;
  std::string made_from;  // the first line of its program
  std::string problem;    // of a Damaged one
};

class DiskCache {
 public:
  // Looks at nothing until it is asked for something.
  explicit DiskCache(DiskCacheOptions options) : options_(std::move(options)) {}

  const std::string& folder() const { return options_.folder; }
  uint64_t size_limit() const { return options_.size_limit; }
  // Of what this process compiles and can run.
  const std::string& identity();

  // False when no folder was given, or the one given was refused.
  bool usable();
  // The machine code of a program, or nothing; `problem` says why an entry that is there cannot be
  // used.
  std::optional<CodeImage> load(const std::string& program, Problem* problem);
  // Keeps the code of a program. A folder that cannot be written is reported once and left alone
  // then.
  Problem store(const std::string& program, const CodeImage& image);
  // The same for the plan of a region, by its plan_key. Its bytes are for their reader to trust or not.
  std::optional<std::string> load_plan(const std::string& key, Problem* problem);
  Problem store_plan(const std::string& key, const std::string& plan);
  // The same for an entry that came from elsewhere; it must have passed unpack_entry.
  Problem store(const CacheEntry& entry);

  // Every entry, most recently used first. `problem`: the folder cannot be read.
  std::vector<DiskCacheRow> list(Problem* problem);
  // Removes all entries; returns how many, and their bytes.
  std::pair<size_t, uint64_t> clear(Problem* problem);

 private:
  Problem open(bool make);
  std::optional<CacheEntry> find(CacheEntry::Kind kind, const std::string& program, Problem* problem);
  void count_bytes(uint64_t added);
  // Removes the least recently used entries until the rest takes `goal` bytes; returns what is
  // left.
  uint64_t evict(uint64_t goal);

  DiskCacheOptions options_;
  PrivateFolder folder_;
  Once identified_;
  std::mutex mutex_;  // of opening
  bool refused_ = false;
  std::atomic<bool> writable_{true};
  std::atomic<uint64_t> uncounted_{0};  // bytes stored while another process held the count
};

}  // namespace tsc::jit
