#pragma once
// A script that is run by an engine with limits: how it ended, and after how long.
#include <chrono>
#include <string>

#include "interpreter/embed/tenscript.hpp"

struct Outcome {
  tsc_code code = TSC_OK;
  tsc_limit limit = TSC_LIMIT_NONE;
  std::string message;
  std::chrono::steady_clock::duration taken{};
};

inline Outcome run(tenscript::Engine& engine, const std::string& text) {
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  try {
    engine.run_source(text, "job.tsc");
  } catch (const tenscript::Error& error) {
    outcome.code = error.code();
    outcome.limit = error.limit();
    outcome.message = error.what();
  }
  outcome.taken = std::chrono::steady_clock::now() - start;
  return outcome;
}
