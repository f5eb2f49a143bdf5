#pragma once
// The gradient of a value that was read in slices, as torch.split, chunk and unbind read theirs. Each slice would
// contribute its gradient padded with zeros to the whole, and all would be added. Slices that lie side by side are put
// together instead: nothing is written but the whole, once. The bits are those of the sum: zero is added to each
// of several parts, which is what a sum with the others' padding does to a negative zero. One part alone is padded.
// Regions only: the tape, which runs each step as it comes, pads and adds.
#include <vector>

#include "jit/region/builder.h"

namespace tsc::jit {

// A slice of step 1 along `axis`, and the gradient that arrived at it.
struct SlicePart {
  int64_t axis;
  ValueId start, length, gradient;
  uint32_t origin;
  bool is_sum = false;  // it stands for several slices side by side
};

class SlicedGradient {
 public:
  // Takes the part if it is the first or certainly lies just in front of the others or just behind them.
  bool take(RegionBuilder& builder, const SlicePart& part);
  // The gradient of the whole value; at least one part was taken.
  ValueId whole(RegionBuilder& builder, ValueId value) const;

 private:
  std::vector<SlicePart> parts_;  // in the order of their places
};

}  // namespace tsc::jit
