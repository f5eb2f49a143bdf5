#pragma once
// Execution plans of one engine, by what they were made from (plan_key): those made here, those of artifacts, those
// on disk. Thread-safe; reports are written on the thread that asks.
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/cache/disk_cache.h"
#include "jit/plan/execution_plan.h"
#include "jit/report.h"
#include "runtime/base/hash.h"

namespace tsc::jit {

class PlanCache {
 public:
  explicit PlanCache(DiskCache& disk) : disk_(disk) {}

  // The plan of that key, or nothing. A stored plan that cannot be used is reported, and made anew by whoever asked.
  std::optional<ExecutionPlan> find(const std::string& key, Report& report);
  // Keeps a plan that was made; on disk too.
  void add(const std::string& key, const ExecutionPlan& plan, Report& report);

  // All plans so far, for artifacts.
  std::vector<CacheEntry> entries();
  // Takes over a plan of another engine's artifacts.
  void add(CacheEntry entry, Report& report);

 private:
  struct Known {
    std::string key, bytes;
    const char* source;  // what a hit is reported as
  };
  const Known* known(const Hash128& hash, const std::string& key) const;

  DiskCache& disk_;
  std::mutex mutex_;
  std::unordered_map<Hash128, Known> plans_;
};

}  // namespace tsc::jit
