#include "jit/report.h"

#include <cstdio>

namespace tsc::jit {
namespace {

void append_string(std::string* out, std::string_view text) {
  out->push_back('"');
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (code < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      *out += escaped;
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", ms);
  return text;
}

void append_field(std::string* out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  *out += ", ";
  append_string(out, name);
  *out += ": ";
  append_string(out, text);
}

std::string json_of(const Event& event) {
  std::string out = "{\"kind\": ";
  append_string(&out, event_kind_name(event.kind));
  append_field(&out, "region", event.region);
  append_field(&out, "id", event.id);
  append_field(&out, "place", event.place);
  append_field(&out, "subject", event.subject);
  append_field(&out, "reason", event.reason);
  append_field(&out, "hint", event.hint);
  if (event.ms != 0) out += ", \"ms\": " + milliseconds(event.ms);
  if (event.bytes != 0) out += ", \"bytes\": " + std::to_string(event.bytes);
  return out + ", \"count\": " + std::to_string(event.count) + "}";
}

}  // namespace

std::string_view event_kind_name(EventKind kind) {
  static constexpr std::string_view kNames[kEventKinds] = {
      "region",    "kernel",   "barrier",  "host_statement", "exit",         "fact",    "recompile",
      "cache_hit", "disk_hit", "plan_hit", "cache_problem",  "compile_time", "fallback"};
  return kNames[static_cast<size_t>(kind)];
}

void Report::add(Event event) {
  totals_[static_cast<size_t>(event.kind)] += event.count;
  milliseconds_[static_cast<size_t>(event.kind)] += event.ms;
  for (const Sink& sink : sinks_) sink(event);
  std::string key(1, static_cast<char>('0' + static_cast<int>(event.kind)));
  for (const std::string* part : {&event.region, &event.id, &event.place, &event.subject, &event.reason})
    key += *part + '\x1f';
  const auto found = index_.find(key);
  if (found != index_.end()) {
    Event& known = events_[found->second];
    known.count += event.count;
    known.ms += event.ms;
    known.bytes += event.bytes;
  } else if (events_.size() >= limit) {
    ++dropped_;
  } else {
    events_.push_back(std::move(event));  // first: what the index names must be there
    index_.emplace(std::move(key), events_.size() - 1);
  }
}

std::vector<const Event*> Report::of_kind(EventKind kind) const {
  std::vector<const Event*> found;
  for (const Event& event : events_)
    if (event.kind == kind) found.push_back(&event);
  return found;
}

void Report::clear() {
  events_.clear();
  index_.clear();
  totals_ = {};
  milliseconds_ = {};
  dropped_ = 0;
}

std::string Report::json() const {
  std::string out = "{\"totals\": {";
  for (int kind = 0; kind < kEventKinds; ++kind) {
    out += kind ? ", " : "";
    append_string(&out, event_kind_name(static_cast<EventKind>(kind)));
    out += ": " + std::to_string(totals_[kind]);
  }
  out += "}, \"dropped\": " + std::to_string(dropped_) + ", \"events\": [";
  for (size_t i = 0; i < events_.size(); ++i) out += (i ? ",\n  " : "\n  ") + json_of(events_[i]);
  return out + (events_.empty() ? "]}\n" : "\n]}\n");
}

void report_cache_problem(const std::string& id, const std::string& problem, Report& report) {
  if (problem.empty()) return;
  Event event;
  event.kind = EventKind::CacheProblem;
  event.id = id;
  event.reason = problem;
  report.add(std::move(event));
}

std::string describe(const Event& event) {
  std::string kind(event_kind_name(event.kind));
  for (char& c : kind)
    if (c == '_') c = ' ';
  const bool named = !event.id.empty() && event.id != kind;
  std::string line = named ? event.id + " " + kind : kind;
  for (const std::string* part : {&event.place, &event.subject, &event.reason})
    if (!part->empty()) line += "  " + *part;
  if (event.ms != 0) line += "  " + milliseconds(event.ms) + " ms";
  if (event.count != 1) line += "  (" + std::to_string(event.count) + " times)";
  if (!event.hint.empty()) line += "  Fix: " + event.hint;
  return line;
}

}  // namespace tsc::jit
