#pragma once
// A contiguous tensor around one axis: outer x length x inner. A line is the elements that differ in
// that axis only.
#include "runtime/tensor/tensor.h"

namespace tsc {

struct Lines {
  int64_t outer = 1, length, inner = 1;
  Lines(const Sizes& sizes, int64_t axis) : length(sizes[axis]) {
    for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i)
      if (i != axis) (i < axis ? outer : inner) *= sizes[i];
  }
};

}  // namespace tsc
