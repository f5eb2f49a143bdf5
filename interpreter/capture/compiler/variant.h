#pragma once
// A place of the program that is compiled, and its variants: what one capture has made, for the calls for which its
// facts hold.
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/capture/capture_memory.h"
#include "interpreter/capture/compiler/compile_settings.h"
#include "interpreter/capture/compiler/entry.h"
#include "interpreter/capture/plan.h"
#include "runtime/base/hash.h"

namespace tsc::interp {

struct Variant {
  std::string name;
  RegionPlan plan;
  EntryState entry;
  std::unique_ptr<jit::Executable> executable;
  bool valid = true;
  bool running = false;
  bool background = false;   // its kernels, and those of its backward, are compiled beside the program
  uint64_t capture = 0;      // the number of the capture that it, or the one whose code it shares, was made by
  bool shares_code = false;  // a rebound plan over the code of another variant
  const CompileSettings* settings = nullptr;
  std::string captured, captured_of;       // in a strict engine: the captured region, and the numbers that came in
  std::string invalidated_by;              // "'scale' of 'Block'"
  const Object* invalidated_in = nullptr;  // where that was stored; may be gone
  uint64_t runs = 0;
};

// Whether the interpreter is faster at a place (second_opinion.cpp).
struct Trial {
  uint32_t runs = 0;      // since the last capture of the function
  uint32_t captures = 0;  // how many those were
  uint32_t rest = 0;      // how many calls are interpreted before it is tried again
  bool settled = false, slower = false, running = false;
  bool reported = false;                        // that it is slower: said once
  std::chrono::steady_clock::time_point began;  // when it was captured last
  std::vector<double> compiled, interpreted;    // what the timed calls took, in microseconds

  // The same function, to be tried again after so many calls.
  Trial begun_anew(uint32_t runs, uint32_t captures) const {
    return {runs, captures, rest, false, false, false, reported, std::chrono::steady_clock::now(), {}, {}};
  }
};

struct Site {
  Trial trial;
  std::vector<std::shared_ptr<Variant>> variants;
  CaptureMemory memory;
  size_t last = 0;        // among the variants: where the one that ran last was
  bool hopeless = false;  // nothing can be compiled here
  uint32_t captures = 0;
  bool limit_reported = false;
  size_t held_last = 0;     // variants and objects when abandoned ones were looked for
  std::string last_change;  // what made the variant invalid that went last, and where that was stored
  const Object* last_changed = nullptr;
  // It went because of a store into an instance that a call brought: the next capture sees whether a call brings
  // another one.
  std::shared_ptr<Variant> changed;
};

struct SiteKey {
  const CodeObject* code;
  uint32_t pc;
  const CompileSettings* settings;
  bool operator==(const SiteKey&) const = default;
};
struct SiteHash {
  size_t operator()(const SiteKey& k) const {
    return hash_mix(reinterpret_cast<uint64_t>(k.code), k.pc) ^ reinterpret_cast<uint64_t>(k.settings);
  }
};
using Sites = std::unordered_map<SiteKey, Site, SiteHash>;

}  // namespace tsc::interp
