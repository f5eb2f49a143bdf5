#pragma once
// What the engine did and why: one stream of events that explain, logs, the JSON report and tests read.
// Knows nothing of regions or kernels beyond their names. Keeps its memory bounded: equal events are
// counted, not repeated.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tsc::jit {

enum class EventKind : uint8_t {
  Region,         // a region was made
  Kernel,         // a kernel was compiled or found
  Barrier,        // fusion was split
  HostStatement,  // one statement runs in the interpreter inside the region
  Exit,           // the interpreter goes on at a place
  Fact,           // something was assumed about the program's state
  Recompile,      // a fact did not hold: another variant is made
  CacheHit,       // a kernel was wanted again
  DiskHit,        // a kernel came from the disk cache
  PlanHit,        // a region's plan came from a cache: no pass ran
  CacheProblem,   // the disk cache, or an entry of it, could not be used
  CompileTime,    // a stage and its milliseconds
  Fallback,       // the compiler could not take something, or failed
};
inline constexpr int kEventKinds = 13;
std::string_view event_kind_name(EventKind kind);

struct Event {
  EventKind kind = EventKind::Region;
  std::string region;   // the script function
  std::string id;       // stable: "B014", "G003", a kernel's symbol, a stage's name
  std::string place;    // "train.tsc:17"
  std::string subject;  // what it is about: a statement, a fact, a kernel's text
  std::string reason;
  std::string hint;  // the edit that would remove it
  double ms = 0;     // added up over equal events
  int64_t bytes = 0;
  int64_t count = 1;  // how often
};

class Report {
 public:
  // A log channel: sees every event as it happens, repeated ones too.
  using Sink = std::function<void(const Event&)>;
  void add_sink(Sink sink) { sinks_.push_back(std::move(sink)); }

  void add(Event event);
  // In order of first occurrence. Events that differ only in count, ms and bytes are one.
  const std::vector<Event>& events() const { return events_; }
  std::vector<const Event*> of_kind(EventKind kind) const;
  int64_t total(EventKind kind) const { return totals_[static_cast<size_t>(kind)]; }
  double total_ms(EventKind kind) const { return milliseconds_[static_cast<size_t>(kind)]; }
  // Events beyond this many different ones are only counted in the totals.
  size_t limit = 100000;
  int64_t dropped() const { return dropped_; }
  void clear();

  // {"totals": {"kernel": 4, ...}, "events": [{"kind": ..., ...}]}; empty fields are left out.
  std::string json() const;

 private:
  std::vector<Event> events_;
  std::unordered_map<std::string, size_t> index_;
  std::array<int64_t, kEventKinds> totals_{};
  std::array<double, kEventKinds> milliseconds_{};
  int64_t dropped_ = 0;
  std::vector<Sink> sinks_;
};

// What a cache could not do, as an event: "disk_entry" and "artifact" are skipped and made anew, "disk" is worth a
// warning. Nothing when there is no problem.
void report_cache_problem(const std::string& id, const std::string& problem, Report& report);

// One line for people: "B014 host statement  train.tsc:22  save(y)  I/O ... Fix: ..."
std::string describe(const Event& event);

}  // namespace tsc::jit
