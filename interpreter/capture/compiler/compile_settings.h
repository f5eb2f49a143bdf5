#pragma once
// What a program asks of the compiler: for one function (the arguments of torch.compile, torch.compiler.disable) and
// for all of them (stances, limits, what is an error). Plain data, set by compiler_module.cpp. Knows: values. Must not
// know: how regions are made and run.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/value/function.h"

namespace tsc::interp {

// What becomes of a captured region: each stage contains the one before.
enum class Backend : uint8_t {
  Eager,     // it is captured, and the interpreter runs what was captured
  Capture,   // the region executor runs it; gradients go through it op by op
  Autodiff,  // its backward is a region too
  Unfused,   // the passes work on both
  Native,    // operations are fused and compiled
  Called,    // a callable of the script gets the region, and gives what is called in its place
};

// What variants depend on: those of other settings are never taken.
struct CompileSettings {
  Backend backend = Backend::Native;
  Value called;                       // of Backend::Called
  bool specialise = false;            // dynamic=False: sizes and ints are facts
  bool only_calls = false;            // in a frame under disable(recursive=False): what it calls is captured, alone
  std::vector<std::string> disabled;  // passes, beside those of the engine
  std::optional<uint32_t> recompile_limit;
};

// The mark on what torch.compile and torch.compiler.disable returned.
struct CompiledMark : CompiledEntry {
  bool fullgraph = false;
  bool never = false;                         // torch.compiler.disable
  bool recursive = true;                      // `never`: what the function calls is not captured either
  std::string reason;                         // `never`: why
  std::optional<bool> background;             // in place of the engine's CompileOptions::background
  const CompileSettings* settings = nullptr;  // the Compiler keeps them; null of `never`
};

inline const CompiledMark* mark_of(const FunctionObject* function) {
  return function ? static_cast<const CompiledMark*>(function->compiled.get()) : nullptr;
}

// torch.compiler.set_stance.
enum class Stance : uint8_t { Default, ForceEager, EagerOnRecompile, FailOnRecompile };

// What holds for all functions.
struct CompileDemands {
  Stance stance = Stance::Default;
  bool error_on_graph_break = false;
  bool error_on_recompile = false;
  bool fail_on_limit = false;
  std::optional<uint32_t> recompile_limit;
};

}  // namespace tsc::interp
