#pragma once
// Calls that are run the other way, or both ways, to learn something: which is faster at a place, and whether both give
// the same (--verify). The second run has a frame of its own above the call's. Defined in second_opinion.cpp.
#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

class SecondOpinions : private CompilerPart {
 public:
  explicit SecondOpinions(const CompilerParts& parts) : CompilerPart(parts) {}
  bool has_second_opinion(const SiteKey& key, Frame& frame, Value* result);

 private:
  // second_opinion.cpp
  Value run_aside(Frame& frame, bool compiled);
  bool leaves_history(const CodeObject* code) const;
  bool wants_trial(Site& site, const Frame& frame);
  Value run_trial(const SiteKey& key, Frame& frame);
  void report_slower(const Trial& trial, const Frame& frame);
  bool wants_check();
  std::optional<Value> run_checked(const SiteKey& key, Frame& frame);
  std::optional<Value> run_without_effects(const Site& site, Frame& frame);
  std::string find_culprit(const Frame& frame, const Site& site);
  void report_mismatch(const Frame& frame, const Site& site, const std::string& difference);

  bool checking_ = false;       // a call that is being compared
  uint32_t share_checked_ = 0;  // in percent, since the last one that was compared
};

}  // namespace tsc::interp
