// Runs the script corpus in one world: a setting of the engine under which every script must print
// the same. Usage: tsc_worlds --tenscript EXE --scripts DIR --world NAME [--shard I/N] [FILTER].
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "expectations.h"
#include "process.h"
#include "wrapped.h"

namespace tsc::worlds {
namespace {

namespace fs = std::filesystem;
using test::ProcessOptions;
using test::ProcessResult;

struct World {
  const char* name;
  std::vector<std::string> flags;
  std::vector<std::pair<std::string, std::string>> environment;
  bool counts_kernels;   // the closing report must hold the promised counts
  bool warm = false;     // every script runs twice, the second time with the first one's kernels on disk
  bool wrapped = false;  // wrapped.h
};

const std::vector<World>& all_worlds() {
  static const std::vector<World> worlds = {
      {"interpreter", {"--no-jit"}, {}, false},
      {"compiled", {}, {}, true},
      {"breaks", {}, {{"TENSCRIPT_STRESS_BREAK", "1"}}, false},
      {"unfused", {}, {{"TENSCRIPT_DISABLE", "fuse"}}, false},
      {"one_thread", {"--threads", "1"}, {}, true},
      {"poison", {}, {{"TENSCRIPT_POISON", "1"}}, false},
      {"warm", {}, {{"TENSCRIPT_UNTIMED", "1"}}, true, true},
      {"background", {}, {{"TENSCRIPT_NO_BACKGROUND", "0"}}, false},
      {"device", {"--cuda", "simulated:default:delays=1"}, {}, false},
      {"wrapped", {}, {}, false, false, true},
  };
  return worlds;
}

struct Settings {
  std::string tenscript, scripts, filter, findings, known;
  std::string other;  // a second corpus that the findings may be about
  const World* world = nullptr;
  std::size_t shard = 0, shards = 1;
};

// The first line where two outputs differ, as a person would want to see it.
std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected), right(actual);
  for (int line = 1;; ++line) {
    std::string a, b;
    const bool more_a = static_cast<bool>(std::getline(left, a));
    const bool more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return "the last line break";
    if (more_a && more_b && a == b) continue;
    return "output line " + std::to_string(line) + "\n      expected: " + (more_a ? a : "(end)") +
           "\n      printed:  " + (more_b ? b : "(end)");
  }
}

// The last line of the report; CPython's has no hint behind the message.
bool has_error_line(const std::string& text, const std::string& wanted) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line == wanted || line.rfind(wanted + ". Did you mean", 0) == 0) return true;
  return false;
}

std::string check_error(const Expectations& expected, const ProcessResult& result) {
  for (const std::string& piece : expected.says)
    if (result.exit_code != 1 || result.err.find(piece) == std::string::npos)
      return "exit code " + std::to_string(result.exit_code) + ", expected a report with '" + piece +
             "', standard error is\n" + result.err;
  if (!expected.says.empty()) return "";
  if (expected.error.empty()) {
    if (result.exit_code == 0) return "";
    return "exit code " + std::to_string(result.exit_code) + "\n" + result.err;
  }
  if (result.exit_code != 1)
    return "exit code " + std::to_string(result.exit_code) + ", expected 1 from " + expected.error + "\n" + result.err;
  if (!has_error_line(result.err, expected.error))
    return "expected the error '" + expected.error + "', standard error is\n" + result.err;
  if (expected.error_line == 0) return "";
  const std::string place = "line " + std::to_string(expected.error_line);
  const std::size_t found = result.err.find(place);
  if (found == std::string::npos || std::isdigit(result.err.c_str()[found + place.size()]))
    return "the traceback does not name " + place + "\n" + result.err;
  return "";
}

std::string check_counters(const Expectations& expected, const std::string& report_file) {
  if (expected.counters.empty()) return "";
  const auto report = nlohmann::json::parse(test::read_file(report_file), nullptr, false);
  if (report.is_discarded() || !report.contains("totals")) return "no closing report was written";
  static const std::map<std::string, std::string> names = {
      {"kernels", "kernel"}, {"regions", "region"}, {"exits", "exit"}, {"host", "host_statement"}};
  std::string problems;
  for (const auto& [key, count] : expected.counters) {
    const long actual = report["totals"].value(names.at(key), -1L);
    if (actual != count)
      problems += key + ": expected " + std::to_string(count) + ", the report says " + std::to_string(actual) + "\n";
  }
  return problems;
}

Expectations expectations_of(const fs::path& script) {
  const fs::path topic = script.parent_path() / "expected.txt";
  if (fs::exists(topic)) return read_section(test::read_file(topic.string()), script.stem().string());
  return read_expectations(test::read_file(script.string()));
}

// What the closing report says of the disk cache, for whoever has to find out why something did not come from there.
std::string told_of_cache(const nlohmann::json& report) {
  std::string text = "    the report's totals: " + report["totals"].dump() + "\n";
  for (const auto& event : report["events"]) {
    const std::string kind = event.value("kind", "");
    if (kind == "plan_hit" || kind == "recompile" || kind == "cache_problem" || kind == "region")
      text += "    " + event.dump() + "\n";
  }
  return text;
}

// In the warm run every kernel comes from disk, and no pass runs: every plan does too (and is compared with what the
// passes make, because compiler faults are errors here).
std::string check_warmth(const std::string& report_file) {
  const auto report = nlohmann::json::parse(test::read_file(report_file), nullptr, false);
  if (report.is_discarded() || !report.contains("totals")) return "";
  const long kernels = report["totals"].value("kernel", -1L);
  const long from_disk = report["totals"].value("disk_hit", -2L);
  for (const auto& event : report["events"])
    if (event.value("kind", "") == "compile_time" && event.value("id", "") == "dce")
      return "the region " + event.value("region", "") + " was not planned from disk\n" + told_of_cache(report);
  if (kernels == from_disk) return "";
  return std::to_string(from_disk) + " of " + std::to_string(kernels) + " kernels came from disk\n" +
         told_of_cache(report);
}

std::string run_once(const Settings& settings, const fs::path& script, const Expectations& expected,
                     const std::string& scratch, std::string* warmth = nullptr) {
  const std::string report = scratch + "/report.json";
  ProcessOptions options;
  options.arguments = {settings.tenscript};
  for (const auto& flag : settings.world->flags) options.arguments.push_back(flag);
  for (const auto& flag : expected.flags) options.arguments.push_back(flag);
  options.arguments.push_back(script.filename().string());
  options.environment = {{"TENSCRIPT_NO_BACKGROUND", "1"}};  // the other worlds wait for the compiler
  for (const auto& variable : settings.world->environment) options.environment.push_back(variable);
  options.environment.emplace_back("TENSCRIPT_REPORT", report);
  options.environment.emplace_back("TENSCRIPT_STRICT_COMPILER", "1");
  options.environment.emplace_back("TENSCRIPT_CACHE_DIR", settings.world->warm ? scratch + "/kernels" : "off");
  options.folder = script.parent_path().string();
  const ProcessResult result = test::run_process(options);
  if (result.timed_out) return "did not end within five minutes";
  const std::string output =
      expected.golden.empty() ? expected.output : test::read_file((script.parent_path() / expected.golden).string());
  std::string problem = check_error(expected, result);
  if (result.out != output) problem += "\n    differs at " + first_difference(output, result.out);
  if (problem.empty() && settings.world->counts_kernels) problem = check_counters(expected, report);
  if (problem.empty() && warmth) *warmth = check_warmth(report);
  return problem;
}

// Twice, the second time with what the first one left on disk. On a busy machine a process in some thousand has planned
// a region anew, for a reason that is not known: that is told, and fails where it happens again.
std::string run_warm(const Settings& settings, const fs::path& script, const Expectations& expected) {
  std::string warmth;
  for (int attempt = 0; attempt < 2; ++attempt) {
    test::TemporaryFolder scratch;
    std::string problem = run_once(settings, script, expected, scratch.path());
    if (problem.empty()) problem = run_once(settings, script, expected, scratch.path(), &warmth);
    if (!problem.empty() || warmth.empty()) return problem;
    std::cout << "NOTE " << fs::relative(script, settings.scripts).string() << " (warm): " << warmth << "\n";
  }
  return warmth;
}

std::string run_script_wrapped(const Settings& settings, const fs::path& script) {
  const WrappedResult result = run_wrapped(settings.tenscript, script.string());
  if (settings.findings.empty()) return result.problem;
  const Expectations expected = expectations_of(script);
  const std::string& error = expected.says.empty() ? expected.error : expected.says.front();
  return Findings(settings.findings).judge(fs::relative(script, settings.scripts).string(), result, error);
}

std::string run_script(const Settings& settings, const fs::path& script) {
  if (settings.world->wrapped) return run_script_wrapped(settings, script);
  const Expectations expected = expectations_of(script);
  if (!expected.mistakes.empty()) return expected.mistakes.front();
  if (settings.world->warm) return run_warm(settings, script, expected);
  test::TemporaryFolder scratch;
  return run_once(settings, script, expected, scratch.path());
}

bool runs_in(const fs::path& script, const World& world) {
  const auto worlds = read_expectations(test::read_file(script.string())).worlds;
  return worlds.empty() || std::find(worlds.begin(), worlds.end(), world.name) != worlds.end();
}

// Folders named `lib` hold modules that scripts import; they are no programs of their own.
std::vector<fs::path> corpus(const Settings& settings) {
  std::vector<fs::path> scripts;
  for (auto entry = fs::recursive_directory_iterator(settings.scripts); entry != fs::recursive_directory_iterator();
       ++entry) {
    if (entry->is_directory() && entry->path().filename() == "lib") entry.disable_recursion_pending();
    else if (entry->path().extension() == ".tsc" && entry->path().string().find(settings.filter) != std::string::npos)
      scripts.push_back(entry->path());
  }
  std::sort(scripts.begin(), scripts.end());
  return scripts;
}

// The programs of `--known`: lines "NAME reason" of those that cannot pass in this world. One that does is a failure
// too.
std::set<std::string> known_programs(const std::string& file) {
  std::set<std::string> names;
  std::istringstream lines(file.empty() ? "" : test::read_file(file));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  return names;
}

int run(const Settings& settings) {
  std::size_t index = 0, passed = 0, failed = 0;
  const std::set<std::string> known = known_programs(settings.known);
  for (const fs::path& script : corpus(settings)) {
    if (index++ % settings.shards != settings.shard || !runs_in(script, *settings.world)) continue;
    std::string problem = run_script(settings, script);
    if (known.count(fs::relative(script, settings.scripts).string()) != 0)
      problem = problem.empty() ? "passes: take it out of " + settings.known : "";
    if (problem.empty()) {
      ++passed;
      continue;
    }
    ++failed;
    std::cout << "FAILED " << fs::relative(script, settings.scripts).string() << " (" << settings.world->name
              << "): " << problem << "\n\n";
  }
  if (settings.world->wrapped && !settings.findings.empty())
    for (const std::string& name : Findings(settings.findings).unknown_programs({settings.scripts, settings.other})) {
      ++failed;
      std::cout << "FAILED " << settings.findings << ": there is no program " << name << "\n\n";
    }
  std::cout << passed << " passed, " << failed << " failed in world " << settings.world->name << "\n";
  return failed == 0 ? 0 : 1;
}

bool parse(int count, char** arguments, Settings& settings) {
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::string value = i + 1 < count ? arguments[i + 1] : "";
    if (argument == "--tenscript") settings.tenscript = value;
    if (argument == "--scripts") settings.scripts = value;
    if (argument == "--findings") settings.findings = value;
    if (argument == "--other") settings.other = value;
    if (argument == "--known") settings.known = value;
    if (argument == "--shard" && std::sscanf(value.c_str(), "%zu/%zu", &settings.shard, &settings.shards) != 2)
      return false;
    if (argument == "--world")
      for (const World& world : all_worlds())
        if (value == world.name) settings.world = &world;
    if (argument.rfind("--", 0) == 0) ++i;
    else settings.filter = argument;
  }
  return settings.world != nullptr && !settings.tenscript.empty() && settings.shards > 0;
}

}  // namespace
}  // namespace tsc::worlds

int main(int count, char** arguments) {
  tsc::worlds::Settings settings;
  if (!tsc::worlds::parse(count, arguments, settings)) {
    std::cerr << "usage: tsc_worlds --tenscript EXE --scripts DIR --world NAME [--shard I/N] "
                 "[FILTER]\nworlds:";
    for (const auto& world : tsc::worlds::all_worlds()) std::cerr << " " << world.name;
    std::cerr << "\n";
    return 2;
  }
  return tsc::worlds::run(settings);
}
