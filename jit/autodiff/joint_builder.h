#pragma once
// Appends a backward behind its forward. Private to split.cpp and prepare.cpp.
#include "jit/region/builder.h"

namespace tsc::jit {

// The rules ask for equal sizes that the forward has proved by running.
class JointBuilder final : public RegionBuilder {
 public:
  using RegionBuilder::RegionBuilder;
  bool require_equal(ValueId, ValueId) override { return true; }
};

}  // namespace tsc::jit
