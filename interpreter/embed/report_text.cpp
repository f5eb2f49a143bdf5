#include "interpreter/embed/report_text.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "interpreter/embed/arguments.h"

namespace tsc::embed {
namespace {

using jit::Event;
using jit::EventKind;
using jit::Report;

struct KindRow {
  EventKind kind;
  const char* one;
  const char* many;
};

constexpr KindRow kTotals[] = {
    {EventKind::Region, "region", "regions"},
    {EventKind::Kernel, "kernel", "kernels"},
    {EventKind::Barrier, "barrier", "barriers"},
    {EventKind::HostStatement, "host statement", "host statements"},
    {EventKind::Exit, "exit", "exits"},
    {EventKind::Fact, "fact", "facts"},
    {EventKind::Recompile, "recompile", "recompiles"},
    {EventKind::CacheHit, "cache hit", "cache hits"},
    {EventKind::DiskHit, "disk hit", "disk hits"},
    {EventKind::PlanHit, "plan hit", "plan hits"},
    {EventKind::CacheProblem, "cache problem", "cache problems"},
    {EventKind::Fallback, "fallback", "fallbacks"},
};

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 1 ? "%.3f ms" : "%.1f ms", ms);
  return text;
}

// In the order a reader asks: what stopped the compiler, what it made, what it assumed. Recompiles stand behind what
// stopped it, in lines of their own.
constexpr EventKind kStopped[] = {EventKind::Fallback, EventKind::Exit, EventKind::HostStatement, EventKind::Barrier};
constexpr EventKind kMade[] = {EventKind::PlanHit, EventKind::Kernel, EventKind::CacheHit, EventKind::CacheProblem,
                               EventKind::Fact};

// The events of one compiled function: those of its kernels are named after it ("step_0").
class FunctionReport {
 public:
  FunctionReport(const Report& report, std::string name) : name_(std::move(name)) {
    for (const Event& event : report.events())
      if (owner_of(event.region) == name_) events_.push_back(&event);
  }
  // Without the number of a kernel.
  static std::string owner_of(const std::string& region) {
    const std::size_t end = region.find_last_not_of("0123456789");
    const bool numbered = end != std::string::npos && end + 1 < region.size() && end > 0 && region[end] == '_';
    return numbered ? region.substr(0, end) : region;
  }

  std::string text() const {
    std::string body;
    for (const EventKind kind : kStopped) add_lines(kind, body);
    add_recompiles(body);
    for (const EventKind kind : kMade) add_lines(kind, body);
    return "\n" + heading() + "\n" + (body.empty() ? "  nothing in its way\n" : body);
  }

 private:
  // What made a place need another variant: what differed, how often, and how the last time.
  struct Difference {
    std::string what, last;
    int64_t count = 0;
  };
  struct Place {
    std::string place;
    int64_t count = 0;
    std::vector<Difference> differences;
  };

  std::string heading() const {
    std::string out = name_.empty() ? "outside regions" : name_, place;
    double capture_ms = 0, compile_ms = 0;
    int64_t variants = 0;
    for (const Event* event : events_) {
      if (event->kind == EventKind::CompileTime) (event->id == "capture" ? capture_ms : compile_ms) += event->ms;
      if (event->kind == EventKind::Region) variants += event->count;
      if (event->kind == EventKind::Region && place.empty()) place = event->place;
    }
    if (!place.empty()) out += " (" + place + ")";
    if (variants > 1) out += ", " + std::to_string(variants) + " regions";
    if (capture_ms > 0) out += ", captured in " + milliseconds(capture_ms);
    if (compile_ms > 0) out += ", compiled in " + milliseconds(compile_ms);
    return out;
  }

  void add_lines(EventKind kind, std::string& body) const {
    for (const Event* event : events_)
      if (event->kind == kind) body += "  " + jit::describe(*event) + "\n";
  }

  // One line a place, and below it one for each thing that differed.
  void add_recompiles(std::string& body) const {
    std::vector<Place> places;
    for (const Event* event : events_)
      if (event->kind == EventKind::Recompile) add_recompile(*event, places);
    for (const Place& place : places) {
      body += "  recompile  " + place.place + "  " + times(place.count) + capture_cost(place.place) + "\n";
      for (const Difference& one : place.differences) {
        body += "    " + one.what;
        if (one.count > 1) body += "  (" + times(one.count) + (one.last.empty() ? "" : "; last: " + one.last) + ")";
        else if (!one.last.empty()) body += ": " + one.last;
        body += "\n";
      }
    }
  }

  static std::string times(int64_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

  std::string capture_cost(const std::string& place) const {
    double ms = 0;
    for (const Event* event : events_)
      if (event->kind == EventKind::CompileTime && event->id == "capture" && event->place == place) ms += event->ms;
    return ms > 0 ? ", all captures there took " + milliseconds(ms) : "";
  }

  // "variant 3: 'mode': 'a' -> 'b'; dim of 'x': 1 -> 2".
  static void add_recompile(const Event& event, std::vector<Place>& places) {
    auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.place == event.place; });
    if (place == places.end()) place = places.insert(places.end(), {event.place, 0, {}});
    place->count += event.count;
    const std::size_t begin = event.reason.find(": ");
    std::string rest = begin == std::string::npos ? event.reason : event.reason.substr(begin + 2);
    while (!rest.empty()) {
      const std::size_t end = rest.find("; ");
      add_difference(rest.substr(0, end), event.count, place->differences);
      rest = end == std::string::npos ? "" : rest.substr(end + 2);
    }
  }

  static void add_difference(const std::string& text, int64_t count, std::vector<Difference>& differences) {
    const std::size_t colon = text.find(": ");
    const std::string what = text.substr(0, colon);
    auto known =
        std::find_if(differences.begin(), differences.end(), [&](const Difference& d) { return d.what == what; });
    if (known == differences.end()) known = differences.insert(differences.end(), {what, "", 0});
    known->count += count;
    known->last = colon == std::string::npos ? "" : text.substr(colon + 2);
  }

  std::string name_;
  std::vector<const Event*> events_;
};

std::vector<std::string> functions_in_order(const Report& report) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Event& event : report.events())
    if (seen.insert(FunctionReport::owner_of(event.region)).second)
      names.push_back(FunctionReport::owner_of(event.region));
  return names;
}

struct Channel {
  const char* name;
  std::vector<EventKind> kinds;
};

const std::vector<Channel>& channels() {
  static const std::vector<Channel> rows = {
      {"graph_breaks", {EventKind::Exit, EventKind::HostStatement}},
      {"breaks", {EventKind::Exit, EventKind::HostStatement, EventKind::Barrier}},
      {"recompiles", {EventKind::Recompile}},
      {"fusion", {EventKind::Barrier, EventKind::Kernel}},
      {"kernels", {EventKind::Kernel}},
      {"guards", {EventKind::Fact}},
      {"cache", {EventKind::CacheHit, EventKind::DiskHit, EventKind::PlanHit, EventKind::CacheProblem}},
      {"perf", {EventKind::CompileTime}},
      {"fallback", {EventKind::Fallback}},
      {"regions", {EventKind::Region}},
  };
  return rows;
}

void add_channel(std::string_view name, std::set<EventKind>& kinds) {
  std::vector<std::string_view> names = {"all"};
  for (const Channel& channel : channels()) {
    names.push_back(channel.name);
    if (name == "all" || name == "1" || name == channel.name) kinds.insert(channel.kinds.begin(), channel.kinds.end());
  }
  if (kinds.empty()) refuse_word("log channel", name, names);
}

}  // namespace

std::string summary_text(const Report& report) {
  std::string out;
  if (report.total(EventKind::Region) == 0 && report.total(EventKind::Fallback) == 0) return out;
  for (const KindRow& row : kTotals) {
    const int64_t count = report.total(row.kind);
    std::string name = row.many;
    name.resize(18, ' ');
    out += name + std::to_string(count) + "\n";
  }
  return out + "compile time      " + milliseconds(report.total_ms(EventKind::CompileTime)) + "\n";
}

std::string explain_text(const Report& report) {
  if (report.events().empty()) return "nothing was compiled: no function marked with @torch.compile was called\n";
  std::string out;
  for (const KindRow& row : kTotals) {
    const int64_t count = report.total(row.kind);
    out += (out.empty() ? "" : ", ") + std::to_string(count) + " " + (count == 1 ? row.one : row.many);
  }
  out += "; compiled in " + milliseconds(report.total_ms(EventKind::CompileTime)) + "\n";
  for (const std::string& name : functions_in_order(report)) out += FunctionReport(report, name).text();
  return out;
}

void add_log_sink(Report& report, std::string_view list, std::function<void(std::string_view)> write) {
  std::set<EventKind> kinds;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, end - begin);
    std::set<EventKind> named;
    if (!name.empty()) add_channel(name, named);
    kinds.insert(named.begin(), named.end());
    begin = end + 1;
  }
  if (kinds.empty()) return;
  report.add_sink([kinds, write = std::move(write)](const Event& event) {
    if (kinds.count(event.kind) != 0)
      write("[" + std::string(jit::event_kind_name(event.kind)) + "] " + jit::describe(event) + "\n");
  });
}

}  // namespace tsc::embed
