#pragma once
// Whether a variant fits a call: its values are fetched from where capture found them and compared with what it
// assumed. What is watched is not compared. Also the reason, as text, when one does not fit (recompile_reason.cpp).
// Defined in entry_checks.cpp, compiler.cpp, recompile_reason.cpp.
#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

class EntryChecks : private CompilerPart {
 public:
  explicit EntryChecks(const CompilerParts& parts) : CompilerPart(parts) {}
  bool fits(Variant& variant, const Frame& frame, EntryOfCall& call);
  bool check_source(const EntrySource& source, const Value& v) const;
  Value fetch(const EntrySource& source, const Frame& frame, const std::vector<Value>& entry) const;
  // In front of another capture: what is no fact any more.
  void take_apart(const Frame& frame, Site& site) const;
  // recompile_reason.cpp: every fact of an older variant that does not hold now, as text.
  std::string difference(const Variant& old, const Frame& frame) const;

 private:
  bool take_apart(const Variant& old, const Frame& frame, Site& site) const;
  static bool are_distinct(const RegionPlan& plan, const std::vector<Value>& entry);

  mutable uint64_t epoch_ = 0;  // of the overlap test's marks
};

}  // namespace tsc::interp
