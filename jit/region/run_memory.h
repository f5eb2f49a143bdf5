#pragma once
// What a run of a region works with, kept for the next one. Private to executor.cpp.
#include "jit/executable.h"
#include "jit/region/registers.h"
#include "jit/region/steps.h"

namespace tsc::jit {

struct RunMemory {
  RunMemory(const Region& region, const RegionSteps& steps)
      : registers(region, steps.held_values()), is_stale(region.body.parameters.size()) {}
  void mark_stale(uint32_t input) {
    if (is_stale[input]) return;
    is_stale[input] = true;
    stale.push_back(input);
  }

  Registers registers;
  // Held inputs that are to be bound anew.
  std::vector<uint32_t> stale;
  std::vector<bool> is_stale;
  // Of the held inputs as they are bound: sizes that share a name are equal; no settled scalar raises; the
  // settled guard that fails.
  bool agree = true, settles = true;
  const Instruction* fails = nullptr;
  std::span<const RunInput> inputs;  // of the run that is going on
  // What held inputs were before the embedder changed them in the middle of it.
  std::vector<std::pair<uint32_t, Tensor>> kept;
};

}  // namespace tsc::jit
