#include "jit/plan/plan_cache.h"

#include <chrono>

namespace tsc::jit {
namespace {

using Clock = std::chrono::steady_clock;

std::string first_line(const std::string& key) { return key.substr(0, key.find('\n')); }

void report_hit(const ExecutionPlan& plan, const char* source, Clock::time_point start, Report& report) {
  Event hit;
  hit.kind = EventKind::PlanHit;
  hit.region = plan.region.name;
  hit.id = plan.region.name;
  hit.reason = source;
  report.add(std::move(hit));
  Event time;
  time.kind = EventKind::CompileTime;
  time.region = plan.region.name;
  time.id = "plan read";
  time.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  report.add(std::move(time));
}

}  // namespace

const PlanCache::Known* PlanCache::known(const Hash128& hash, const std::string& key) const {
  const auto found = plans_.find(hash);
  return found != plans_.end() && found->second.key == key ? &found->second : nullptr;
}

std::optional<ExecutionPlan> PlanCache::find(const std::string& key, Report& report) {
  std::lock_guard lock(mutex_);
  const auto start = Clock::now();
  const Hash128 hash = hash_bytes(key);
  const Known* stored = known(hash, key);
  if (!stored) {
    Problem problem;
    auto bytes = disk_.load_plan(key, &problem);
    report_cache_problem(disk_.usable() ? "disk_entry" : "disk", problem, report);
    if (!bytes) return std::nullopt;
    stored = &(plans_[hash] = {key, std::move(*bytes), "from the disk cache"});
  }
  std::optional<ExecutionPlan> plan(std::in_place);
  const std::string problem = read_plan(stored->bytes, &*plan);
  if (problem.empty()) {
    report_hit(*plan, stored->source, start, report);
    return plan;
  }
  report_cache_problem("disk_entry", first_line(key) + " is not used: " + problem, report);
  plans_.erase(hash);
  return std::nullopt;
}

void PlanCache::add(const std::string& key, const ExecutionPlan& plan, Report& report) {
  std::lock_guard lock(mutex_);
  std::string bytes = write_plan(plan);
  report_cache_problem("disk", disk_.store_plan(key, bytes), report);
  plans_[hash_bytes(key)] = {key, std::move(bytes), "made before"};
}

std::vector<CacheEntry> PlanCache::entries() {
  std::lock_guard lock(mutex_);
  std::vector<CacheEntry> entries;
  for (const auto& [hash, known] : plans_)
    entries.push_back({disk_.identity(), known.key, {}, CacheEntry::Kind::Plan, known.bytes});
  return entries;
}

void PlanCache::add(CacheEntry entry, Report& report) {
  std::lock_guard lock(mutex_);
  report_cache_problem("disk", disk_.store(entry), report);
  const Hash128 hash = hash_bytes(entry.program);
  if (!known(hash, entry.program)) plans_[hash] = {entry.program, std::move(entry.plan), "from cache artifacts"};
}

}  // namespace tsc::jit
