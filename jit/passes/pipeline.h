#pragma once
// The passes over a region, as one readable list (pipeline.cpp). The region is verified before the first
// and, where that is asked for, after each; each can be switched off by name. What follows the region (fusion, plan)
// has its own steps and looks into the same set of names.
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "jit/region/region.h"
#include "jit/report.h"

namespace tsc::jit {

struct PipelineOptions {
  std::set<std::string, std::less<>> disabled;
  bool verify = true;        // in front of the first pass and after each
  Report* report = nullptr;  // receives one CompileTime event a pass
  // Called with the region before the first pass ("region") and after each.
  std::function<void(std::string_view pass, const Region& region)> on_stage;
};

// "fuse,cse" -> {"fuse", "cse"}; blanks around names are ignored.
std::set<std::string, std::less<>> parse_pass_names(std::string_view list);

struct Pass {
  std::string_view name;
  bool (*run)(Region& region);  // returns whether it changed anything
};
std::span<const Pass> region_passes();

void run_pipeline(Region& region, const PipelineOptions& options);

}  // namespace tsc::jit
