#pragma once
// Runs one fuzz target on many inputs: a supervisor process watches a worker process that makes and
// tries the inputs. What kills the worker, hangs it, eats the machine's memory or breaks the
// target's rule is a finding: its input is written to a file, the seed and number that make it
// again are printed, and the next worker goes on behind it. Knows: processes, time, memory. Must
// not know: what the inputs are. Keeps: an input depends on (seed, number) alone.
#include <cstdint>
#include <functional>
#include <string>

#include "random.h"

namespace tsc::fuzz {

struct Target {
  std::string name;
  std::string suffix;  // of the files that findings are written to
  // Input `number`; random numbers of its own.
  std::function<std::string(Random&, uint64_t number)> make;
  // Empty: the input was taken well. Else: which rule it broke.
  std::function<std::string(const std::string& input)> run;
};

struct CampaignOptions {
  double seconds = 60;     // of real time
  double cpu_seconds = 0;  // of the workers' processor time; 0: no matter
  uint64_t seed = 1;
  uint64_t first = 0;                         // number of the first input
  uint64_t most = UINT64_MAX;                 // inputs at most
  double hang_seconds = 20;                   // processor time that one input may take
  uint64_t memory_bytes = uint64_t{3} << 30;  // that a worker may hold
  uint64_t worker_inputs = 20000;             // a fresh worker after so many
  int most_findings = 10;
  std::string findings = "fuzz-findings";  // folder, made when there is something to write
};

// The number of findings.
int run_campaign(const Target& target, const CampaignOptions& options);

}  // namespace tsc::fuzz
