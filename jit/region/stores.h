#pragma once
// Which `store` instructions may write the memory of an input itself. A store makes a new version of a tensor; where that version is what
// a write_back puts into the input's memory, and nobody looks at the old one any more, the few elements that change are written there
// at once: a program that fills a large buffer row by row does not copy the buffer for each row.
// Knows regions; must not know tensors. Whether the memory is laid out as the store expects, only the run can tell.
#include <unordered_map>

#include "jit/region/region.h"

namespace tsc::jit {

// By instruction of the region's body: the input.
using StoresIntoInputs = std::unordered_map<const Instruction*, ValueId>;
StoresIntoInputs find_stores_into_inputs(const Region& region);

}  // namespace tsc::jit
