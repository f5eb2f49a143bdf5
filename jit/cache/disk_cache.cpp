#include "jit/cache/disk_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "jit/cache/identity.h"

namespace tsc::jit {
namespace {

// The bytes of all entries together, as far as it is known; also the lock of whoever evicts.
const std::string kCountFile = "size";

// An entry used within this many seconds is not marked as used again.
constexpr int64_t kUseGranularity = 600;
constexpr int64_t kTemporaryLife = 3600;

bool is_entry(const std::string& name, CacheEntry::Kind kind) {
  return name.size() == 32 + entry_suffix(kind).size() && name.ends_with(entry_suffix(kind)) &&
         name.find_first_not_of("0123456789abcdef") == 32;
}
bool is_entry(const std::string& name) {
  return is_entry(name, CacheEntry::Kind::Kernel) || is_entry(name, CacheEntry::Kind::Plan);
}

bool is_temporary(const std::string& name) { return name.starts_with(kTemporaryPrefix); }

}  // namespace

const std::string& DiskCache::identity() {
  identified_.call([this] {
    if (options_.identity.empty()) options_.identity = machine_code_identity();
  });
  return options_.identity;
}

// A folder that is not there yet is no problem of a reader.
Problem DiskCache::open(bool make) {
  std::lock_guard lock(mutex_);
  if (folder_.is_open() || refused_ || options_.folder.empty()) return "";
  Problem problem = options_.refusal;
  if (problem.empty()) problem = folder_.open(options_.folder, make);
  if (problem.empty()) return "";
  refused_ = true;
  return problem + "; what is compiled is not kept on disk";
}

bool DiskCache::usable() {
  std::lock_guard lock(mutex_);
  return !options_.folder.empty() && !refused_;
}

std::optional<CacheEntry> DiskCache::find(CacheEntry::Kind kind, const std::string& program, Problem* problem) {
  *problem = open(false);
  if (!folder_.is_open()) return std::nullopt;
  const std::string name = entry_file_name(identity(), program, kind);
  int64_t used = 0;
  const auto bytes = folder_.read(name, problem, &used);
  CacheEntry entry;
  if (bytes) *problem = unpack_entry(*bytes, &entry);
  const bool right = entry.kind == kind && entry.identity == identity() && entry.program == program;
  if (problem->empty() && bytes && !right) *problem = "it holds something else, or is for another machine";
  if (!problem->empty()) *problem = name + " is not used: " + *problem;
  if (!bytes || !problem->empty()) return std::nullopt;
  if (std::time(nullptr) - used > kUseGranularity) folder_.touch(name);
  return entry;
}

std::optional<CodeImage> DiskCache::load(const std::string& program, Problem* problem) {
  auto entry = find(CacheEntry::Kind::Kernel, program, problem);
  if (!entry) return std::nullopt;
  return std::move(entry->image);
}

std::optional<std::string> DiskCache::load_plan(const std::string& key, Problem* problem) {
  auto entry = find(CacheEntry::Kind::Plan, key, problem);
  if (!entry) return std::nullopt;
  return std::move(entry->plan);
}

Problem DiskCache::store(const std::string& program, const CodeImage& image) {
  return store(CacheEntry{identity(), program, image});
}

Problem DiskCache::store_plan(const std::string& key, const std::string& plan) {
  return store(CacheEntry{identity(), key, {}, CacheEntry::Kind::Plan, plan});
}

Problem DiskCache::store(const CacheEntry& entry) {
  if (!writable_) return "";
  if (Problem problem = open(true); !folder_.is_open()) return problem;
  const std::string bytes = pack_entry(entry);
  if (bytes.size() > options_.size_limit) return "";
  const std::string name = entry_file_name(entry.identity, entry.program, entry.kind);
  const auto [problem, only_this_name] = folder_.write(name, bytes);
  if (!problem.empty()) {
    if (only_this_name) return problem + " in '" + options_.folder + "'; it is made anew in every process";
    if (!writable_.exchange(false)) return "";
    return problem + " in '" + options_.folder + "'; what is compiled is no longer kept on disk";
  }
  count_bytes(bytes.size());
  return "";
}

// The count is a number in a file: exact after an eviction, too large after entries were
// overwritten, which only makes the next eviction come earlier.
void DiskCache::count_bytes(uint64_t added) {
  added += uncounted_.exchange(0);
  PrivateFolder::Locked count(folder_, kCountFile);
  if (!count.held()) {
    uncounted_ += added;
    return;
  }
  const std::string text = count.text();
  char* end = nullptr;
  uint64_t total = std::strtoull(text.c_str(), &end, 10);
  const bool known = end != text.c_str() && *end == '\n';
  total += added;
  if (!known || total > options_.size_limit) total = evict(options_.size_limit);
  count.set_text(std::to_string(total) + "\n");
}

uint64_t DiskCache::evict(uint64_t limit) {
  std::vector<PrivateFolder::File> entries;
  uint64_t total = 0;
  const int64_t now = std::time(nullptr);
  for (PrivateFolder::File& file : folder_.list()) {
    if (is_temporary(file.name) && now - file.used > kTemporaryLife) folder_.remove(file.name);
    if (!is_entry(file.name)) continue;
    total += file.bytes;
    entries.push_back(std::move(file));
  }
  if (total <= limit) return total;
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  // A tenth more than needed, so that the next store does not evict again.
  for (const PrivateFolder::File& file : entries) {
    if (total <= limit - limit / 10) break;
    if (folder_.remove(file.name)) total -= file.bytes;
  }
  return total;
}

std::vector<DiskCacheRow> DiskCache::list(Problem* problem) {
  *problem = open(false);
  std::vector<DiskCacheRow> rows;
  if (!folder_.is_open()) return rows;
  for (const PrivateFolder::File& file : folder_.list()) {
    if (!is_entry(file.name)) continue;
    DiskCacheRow row;
    row.file = file.name;
    row.kind = is_entry(file.name, CacheEntry::Kind::Plan) ? CacheEntry::Kind::Plan : CacheEntry::Kind::Kernel;
    row.bytes = file.bytes;
    row.used = file.used;
    CacheEntry entry;
    int64_t unused = 0;
    const auto bytes = folder_.read(file.name, &row.problem, &unused);
    if (!bytes && row.problem.empty()) continue;  // gone meanwhile
    if (bytes) row.problem = unpack_entry(*bytes, &entry);
    if (row.problem.empty() && file.name != entry_file_name(entry.identity, entry.program, entry.kind))
      row.problem = "it holds something else than its name says";
    if (!row.problem.empty()) row.state = DiskCacheRow::State::Damaged;
    else if (entry.identity != identity()) row.state = DiskCacheRow::State::Foreign;
    row.made_from = entry.program.substr(0, entry.program.find('\n'));
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.used != b.used ? a.used > b.used : a.file < b.file; });
  return rows;
}

std::pair<size_t, uint64_t> DiskCache::clear(Problem* problem) {
  *problem = open(false);
  std::pair<size_t, uint64_t> removed{0, 0};
  if (!folder_.is_open()) return removed;
  for (const PrivateFolder::File& file : folder_.list()) {
    const bool ours = is_entry(file.name) || is_temporary(file.name) || file.name == kCountFile;
    if (!ours) continue;
    if (!folder_.remove(file.name)) {
      if (errno == ENOENT) continue;  // another process was quicker
      *problem = "cannot remove '" + options_.folder + "/" + file.name + "'";
      continue;
    }
    if (!is_entry(file.name)) continue;
    ++removed.first;
    removed.second += file.bytes;
  }
  return removed;
}

}  // namespace tsc::jit
