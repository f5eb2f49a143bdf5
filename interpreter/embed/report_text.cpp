#include "interpreter/embed/report_text.h"

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
  std::snprintf(text, sizeof text, "%.1f ms", ms);
  return text;
}

// In the order a reader asks: what stopped the compiler, what it made, what it assumed.
constexpr EventKind kOrder[] = {EventKind::Fallback, EventKind::Exit,      EventKind::HostStatement,
                                EventKind::Barrier,  EventKind::Recompile, EventKind::PlanHit, EventKind::Kernel,
                                EventKind::CacheHit, EventKind::CacheProblem, EventKind::Fact};

std::vector<std::string> regions_in_order(const Report& report) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Event& event : report.events())
    if (seen.insert(event.region).second) names.push_back(event.region);
  return names;
}

void add_region(const Report& report, const std::string& name, std::string& out) {
  std::string body;
  double compile_ms = 0;
  for (const EventKind kind : kOrder)
    for (const Event& event : report.events())
      if (event.kind == kind && event.region == name) body += "  " + jit::describe(event) + "\n";
  std::string place;
  for (const Event& event : report.events()) {
    if (event.region != name) continue;
    if (event.kind == EventKind::CompileTime) compile_ms += event.ms;
    if (event.kind == EventKind::Region && place.empty()) place = event.place;
  }
  out += "\n" + (name.empty() ? "outside regions" : name);
  if (!place.empty()) out += " (" + place + ")";
  if (compile_ms > 0) out += ", compiled in " + milliseconds(compile_ms);
  out += "\n" + (body.empty() ? "  nothing in its way\n" : body);
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
    if (name == "all" || name == "1" || name == channel.name)
      kinds.insert(channel.kinds.begin(), channel.kinds.end());
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
  if (report.events().empty())
    return "nothing was compiled: no function marked with @torch.compile was called\n";
  std::string out;
  for (const KindRow& row : kTotals) {
    const int64_t count = report.total(row.kind);
    out +=
        (out.empty() ? "" : ", ") + std::to_string(count) + " " + (count == 1 ? row.one : row.many);
  }
  out += "; compiled in " + milliseconds(report.total_ms(EventKind::CompileTime)) + "\n";
  for (const std::string& name : regions_in_order(report)) add_region(report, name, out);
  return out;
}

void add_log_sink(Report& report, std::string_view list,
                  std::function<void(std::string_view)> write) {
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
      write("[" + std::string(jit::event_kind_name(event.kind)) + "] " + jit::describe(event) +
            "\n");
  });
}

}  // namespace tsc::embed
