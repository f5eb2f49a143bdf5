#pragma once
// What is said of compiling: events for the report, warnings as they come, and the lines that are printed.
// Defined in reporting.cpp.
#include <set>

#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

class CompilerReports : private CompilerPart {
 public:
  explicit CompilerReports(const CompilerParts& parts) : CompilerPart(parts) {}
  void report_taped_backward(const std::string& region, bool create_graph);
  // Events of these kinds are printed as they come.
  void log(std::set<jit::EventKind> kinds) { logged_ = std::move(kinds); }
  // reporting.cpp
  void report_variant(const Variant& variant, const Frame& frame, double capture_ms);
  void report_recompile(const Variant& variant, Site& site, const Frame& frame);
  // Where its regions are left.
  void report_exits(const RegionPlan& plan, const std::string& region);
  void report_variant_limit(const Site& site, const Frame& frame);
  void report_fallback(const Frame& frame, const std::string& reason);
  // The backward of a region, which runs op by op.
  void report_fallback(const jit::Region& backward, const std::string& reason);
  void warn(const jit::Event& event);

 private:
  void report_fault(const std::string& region, const std::string& place, const std::string& reason);

  std::set<jit::EventKind> logged_;
  bool fallback_printed_ = false;
  bool disk_warning_printed_ = false;
};

}  // namespace tsc::interp
