// A bad day on which memory runs out: the n-th allocation fails, for every n of a few scripts and
// of making an engine. Targets, by what fails and where:
//   one, many                   the interpreter: the n-th allocation alone, or it and the 200 after
//   it compiled_one, compiled_many the same in scripts of compiled functions, kernels being
//   compiled warm_one                    their kernels lie on disk background_one              they
//   are compiled beside the program worker_one, worker_many     the same, but the compiler's thread
//   is what has no memory creation                    an engine is being made
// Usage: see tests/fuzz/command.h (no --target: all in turn); --samples N in front of it tries N
// allocations of each script, evenly spread, instead of all.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "../fuzz/command.h"
#include "allocation_trials.h"

namespace {

#ifndef TSC_REAL_COMPILER  // a build without LLVM: only what needs no compiler is tried
#define TSC_REAL_COMPILER ""
#endif

using namespace tsc::baddays;
using tsc::fuzz::Random;
using tsc::fuzz::Target;

struct Kind {
  const char* target;
  World world;
  Victim victim;
  int64_t failures;
};

const std::vector<Kind>& kinds() {
  const World plain{TSC_SCRIPTS_FOLDER}, compiled{TSC_COMPILED_FOLDER, true}, warm{TSC_COMPILED_FOLDER, true, true},
      background{TSC_COMPILED_FOLDER, true, false, true};
  static const std::vector<Kind> all = {
      {"one", plain, Victim::Script, 1},
      {"many", plain, Victim::Script, 200},
      {"compiled_one", compiled, Victim::Script, 1},
      {"compiled_many", compiled, Victim::Script, 200},
      {"warm_one", warm, Victim::Script, 1},
      {"background_one", background, Victim::Script, 1},
      {"worker_one", background, Victim::Others, 1},
      {"worker_many", background, Victim::Others, 200},
  };
  return all;
}

// What a target tries, and how many trials that are.
struct Campaign {
  Target target;
  uint64_t trials = 0;
};

Campaign scripts_campaign(const Kind& kind, int64_t samples) {
  auto trials = std::make_shared<Trials>(kind.world, kind.victim, kind.failures);
  const auto make = [trials, samples](Random&, uint64_t number) { return trials->name(number, samples); };
  const auto run = [trials](const std::string& input) { return trials->try_named(input); };
  return {{kind.target, ".txt", make, run}, trials->count(samples)};
}

Campaign creation_campaign(int64_t samples) {
  int64_t all = 0;
  if (const std::string fault = try_creation(0, 1, &all); !fault.empty())
    throw std::runtime_error("creation: " + fault);
  const auto make = [all, samples](Random&, uint64_t number) {
    const auto turn = static_cast<int64_t>(number);
    return std::to_string(1 + (samples == 0 ? turn : turn * all / samples));
  };
  const auto run = [](const std::string& input) {
    const int64_t first = std::atoll(input.c_str());
    const std::string fault = try_creation(first, 1);
    return fault.empty() ? try_creation(first, 200) : fault;
  };
  return {{"creation", ".txt", make, run}, static_cast<uint64_t>(samples == 0 ? all : samples)};
}

int try_all(const Campaign& campaign, int count, char** words) {
  tsc::fuzz::CampaignOptions defaults;
  defaults.seconds = 1e9;
  defaults.most = campaign.trials;
  return tsc::fuzz::fuzz_main(count, words, {campaign.target}, defaults);
}

}  // namespace

int main(int count, char** words) {
  setenv("TENSCRIPT_LLVM_MODULE", TSC_RECORDED_COMPILER, 1);
  setenv("RECORDED_COMPILER_REAL", TSC_REAL_COMPILER, 1);
  int64_t samples = 0;
  if (count > 2 && std::string(words[1]) == "--samples") {
    samples = std::atoll(words[2]);
    words += 2, count -= 2;
  }
  std::string wanted;
  for (int i = 1; i + 1 < count; ++i)
    if (std::string(words[i]) == "--target") wanted = words[i + 1];
  int failed = 0, tried = 0;
  for (const Kind& kind : kinds()) {
    if (!wanted.empty() && wanted != kind.target) continue;
    failed += try_all(scripts_campaign(kind, samples), count, words);
    ++tried;
  }
  if (wanted.empty() || wanted == "creation") {
    failed += try_all(creation_campaign(samples), count, words);
    ++tried;
  }
  if (tried == 0) std::fprintf(stderr, "there is no target %s\n", wanted.c_str());
  return failed == 0 && tried > 0 ? 0 : 1;
}
