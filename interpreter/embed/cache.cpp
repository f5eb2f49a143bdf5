// The disk cache from outside: where it is, what it holds, whether it is sound, gone.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/embed/arguments.h"
#include "jit/runner/kernel_cache.h"

namespace tsc::embed {
namespace {

using jit::DiskCache;
using jit::DiskCacheRow;
using Json = nlohmann::ordered_json;
using Kind = jit::CacheEntry::Kind;
using State = DiskCacheRow::State;

constexpr const char* kStateNames[] = {"usable", "foreign", "damaged"};

const char* state_name(State state) { return kStateNames[static_cast<int>(state)]; }

std::string plural(size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string local_time(int64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  tm parts{};
  char text[32];
  localtime_r(&time, &parts);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

struct Answer {
  Json json;
  std::string text;
  tsc_status* status = nullptr;
};

size_t count_of(const std::vector<DiskCacheRow>& rows, Kind kind) {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.kind == kind; }));
}

size_t count_of(const std::vector<DiskCacheRow>& rows, State state) {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.state == state; }));
}

Json summary(DiskCache& cache, const std::vector<DiskCacheRow>& rows) {
  Json json;
  uint64_t bytes = 0;
  for (const DiskCacheRow& row : rows) bytes += row.bytes;
  json["folder"] = cache.folder();
  json["entries"] = rows.size();
  json["kernels"] = count_of(rows, Kind::Kernel);
  json["plans"] = count_of(rows, Kind::Plan);
  json["bytes"] = bytes;
  json["limit"] = cache.size_limit();
  for (const State state : {State::Usable, State::Foreign, State::Damaged})
    json[state_name(state)] = count_of(rows, state);
  return json;
}

std::string total_line(const Json& json) {
  return plural(json["kernels"], "kernel", "kernels") + ", " + plural(json["plans"], "plan", "plans") + ", " +
         json["bytes"].dump() + " of " + json["limit"].dump() + " bytes in " + json["folder"].get<std::string>() + "\n";
}

Answer show_path(DiskCache& cache, jit::Problem*) {
  Answer answer;
  answer.json["folder"] = cache.folder();
  answer.text = cache.folder() + "\n";
  return answer;
}

Answer show_list(DiskCache& cache, jit::Problem* problem) {
  const std::vector<DiskCacheRow> rows = cache.list(problem);
  Answer answer;
  answer.json = summary(cache, rows);
  Json& list = answer.json["list"] = Json::array();
  for (const DiskCacheRow& row : rows) {
    list.push_back({{"file", row.file},
                    {"bytes", row.bytes},
                    {"used", row.used},
                    {"state", state_name(row.state)},
                    {row.kind == Kind::Plan ? "plan" : "kernel", row.made_from}});
    std::string bytes = std::to_string(row.bytes);
    bytes.insert(0, bytes.size() < 8 ? 8 - bytes.size() : 0, ' ');
    answer.text += row.file.substr(0, 12) + "  " + bytes + "  " + local_time(row.used) + "  " + state_name(row.state) +
                   "  " + row.made_from + "\n";
  }
  answer.text += total_line(answer.json);
  return answer;
}

Answer verify(DiskCache& cache, jit::Problem* problem) {
  const std::vector<DiskCacheRow> rows = cache.list(problem);
  Answer answer;
  answer.json = summary(cache, rows);
  Json& list = answer.json["problems"] = Json::array();
  for (const DiskCacheRow& row : rows) {
    if (row.state != State::Damaged) continue;
    list.push_back({{"file", row.file}, {"problem", row.problem}});
    answer.text += row.file + ": " + row.problem + "\n";
  }
  answer.text += total_line(answer.json) + plural(count_of(rows, State::Usable), "is", "are") + " usable, " +
                 std::to_string(count_of(rows, State::Foreign)) + " for other versions or processors, " +
                 std::to_string(count_of(rows, State::Damaged)) + " damaged\n";
  if (!list.empty())
    answer.status = make_status(TSC_SCRIPT_ERROR, "",
                                plural(list.size(), "entry is", "entries are") +
                                    " damaged; a damaged entry is never used and is written anew "
                                    "when its kernel or region is compiled");
  return answer;
}

Answer clear(DiskCache& cache, jit::Problem* problem) {
  Answer answer;
  const auto [count, bytes] = cache.clear(problem);
  answer.json["folder"] = cache.folder();
  answer.json["removed"] = count;
  answer.json["bytes"] = bytes;
  answer.text = plural(count, "entry", "entries") + " removed, " + std::to_string(bytes) + " bytes\n";
  return answer;
}

struct Action {
  const char* name;
  // `problem`: the folder refused.
  Answer (*run)(DiskCache& cache, jit::Problem* problem);
};

constexpr Action kActions[] = {{"path", show_path}, {"list", show_list}, {"verify", verify}, {"clear", clear}};

tsc_status* run_action(tsc_engine* engine, const char* name, const char* format, tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string wanted = required_text(name, "action");
    const std::string form = required_text(format, "format");
    required(sink, "sink");
    const auto* action = std::find_if(std::begin(kActions), std::end(kActions),
                                      [&](const Action& known) { return wanted == known.name; });
    if (action == std::end(kActions))
      return bad_argument("the cache cannot '" + wanted + "'; it can list, verify, clear and tell its path");
    DiskCache& cache = interp::compiler_of(*engine->vm)->options().jit.cache->disk();
    Answer answer;
    if (cache.folder().empty()) {
      answer.json["folder"] = nullptr;
      answer.text = "the disk cache is off\n";
    } else {
      jit::Problem problem;
      answer = action->run(cache, &problem);
      if (!problem.empty()) return make_status(TSC_SCRIPT_ERROR, "", problem);
    }
    const std::string text =
        form == "json" ? answer.json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : answer.text;
    sink(user, text.data(), text.size());
    return answer.status;
  });
}

}  // namespace

void fill_cache_functions(tsc_api& api) { api.cache = run_action; }

}  // namespace tsc::embed
