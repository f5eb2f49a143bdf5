// A bad day on which memory runs out: the n-th allocation fails, for every n of a few scripts.
// Whatever fails, the host hears MemoryError (or the script catches it), the engine runs the same
// script to its right end afterwards, and no block is lost. Targets: `one` refuses the n-th
// allocation alone, `many` it and the 200 after it. Usage: see tests/fuzz/command.h; --samples N in
// front of it tries N allocations of each script, evenly spread, instead of all.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "../fuzz/command.h"
#include "hooks.h"
#include "interpreter/embed/tenscript.hpp"

namespace {

namespace fs = std::filesystem;
using tsc::baddays::AllocationCounts;
using tsc::fuzz::Random;

struct Script {
  std::string name, text, expected;
  int64_t allocations = 0;
};

struct Ending {
  tsc_code code = TSC_OK;
  std::string type, message;
};

tenscript::Options options_for(std::string& shown) {
  tenscript::Options options;
  options.jit = false;
  options.threads = 1;
  shown.reserve(size_t{1} << 16);  // the host's own text must not be what fails
  options.output = [&shown](tsc_stream, std::string_view text) { shown.append(text); };
  return options;
}

Ending run(tenscript::Engine& engine, const Script& script) {
  Ending ending;
  tsc_status* status = tenscript::api().run_source(engine.handle(), script.name.c_str(),
                                                   script.text.data(), script.text.size());
  tsc::baddays::disarm();
  ending.code = tenscript::api().status_code(status);
  ending.type = tenscript::api().status_type(status);
  ending.message = tenscript::api().status_message(status);
  tenscript::api().status_free(status);
  return ending;
}

std::string fault_of(const Ending& ending, const Script& script, const std::string& shown) {
  if (ending.code == TSC_OK)
    return shown == script.expected ? "" : "it ended well with another output:\n" + shown;
  if (ending.code != TSC_SCRIPT_ERROR || !ending.type.ends_with("MemoryError"))
    return "it ended with code " + std::to_string(ending.code) + ": " + ending.message;
  if (ending.message.empty()) return "MemoryError without a message";
  return script.expected.starts_with(shown) ? "" : "what it printed before is wrong:\n" + shown;
}

// The script once more, whole, in the engine that has had the failure.
std::string fault_of_engine(tenscript::Engine& engine, const Script& script, std::string& shown) {
  shown.clear();
  const Ending again = run(engine, script);
  if (again.code != TSC_OK) return "the engine is of no use afterwards: " + again.message;
  return shown == script.expected ? "" : "afterwards it prints something else:\n" + shown;
}

std::string try_once(const Script& script, int64_t first, int64_t count) {
  std::string shown;
  tenscript::Engine engine(options_for(shown));
  tsc::baddays::arm(first, count);
  const Ending ending = run(engine, script);
  if (std::string fault = fault_of(ending, script, shown); !fault.empty()) return fault;
  return fault_of_engine(engine, script, shown);
}

std::string try_counted(const Script& script, int64_t first, int64_t count) {
  // What the process keeps for good (function statics) is made before anything is counted.
  static const bool warm = try_once(script, 0, 0).empty();
  if (!warm) return "it fails even when nothing does";
  const int64_t before = tsc::baddays::live_blocks();
  if (std::string fault = try_once(script, first, count); !fault.empty()) return fault;
  const int64_t lost = tsc::baddays::live_blocks() - before;
  return lost == 0 ? "" : std::to_string(lost) + " blocks of memory are lost";
}

std::vector<Script> load_scripts() {
  std::vector<Script> scripts;
  for (const fs::directory_entry& entry : fs::directory_iterator(TSC_SCRIPTS_FOLDER)) {
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    scripts.push_back({entry.path().filename().string(), text.str(), "", 0});
  }
  std::sort(scripts.begin(), scripts.end(),
            [](const Script& a, const Script& b) { return a.name < b.name; });
  for (Script& script : scripts) {
    tenscript::Engine engine(options_for(script.expected));
    tsc::baddays::arm(0, 0);
    tenscript::api().status_free(tenscript::api().run_source(
        engine.handle(), script.name.c_str(), script.text.data(), script.text.size()));
    script.allocations = tsc::baddays::disarm().asked;
  }
  return scripts;
}

// "script first": which allocation of which script fails, all scripts in turn. samples 0: every
// one.
std::string name_trial(const std::vector<Script>& scripts, uint64_t number, int64_t samples) {
  const Script& script = scripts[number % scripts.size()];
  const auto turn = static_cast<int64_t>(number / scripts.size());
  const int64_t first = samples == 0 ? turn : turn * script.allocations / samples;
  return script.name + " " + std::to_string(1 + first);
}

std::string try_named(const std::vector<Script>& scripts, const std::string& input, int64_t count) {
  std::istringstream words(input);
  std::string name;
  int64_t first = 0;
  words >> name >> first;
  for (const Script& script : scripts)
    if (script.name == name)
      return first > script.allocations ? "" : try_counted(script, first, count);
  return "there is no script " + name;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<Script> scripts = load_scripts();
  int64_t samples = 0, most = 0;
  if (count > 2 && std::string(words[1]) == "--samples") {
    samples = std::atoll(words[2]);
    words += 2, count -= 2;
  }
  for (const Script& script : scripts) most = std::max(most, script.allocations);
  tsc::fuzz::CampaignOptions defaults;
  defaults.most = static_cast<uint64_t>(samples == 0 ? most : samples) * scripts.size();
  defaults.seconds = 1e9;
  const auto make = [&](Random&, uint64_t number) { return name_trial(scripts, number, samples); };
  const auto refuse = [&](int64_t failures) {
    return [&scripts, failures](const std::string& input) {
      return try_named(scripts, input, failures);
    };
  };
  return tsc::fuzz::fuzz_main(
      count, words, {{"one", ".txt", make, refuse(1)}, {"many", ".txt", make, refuse(200)}},
      defaults);
}
