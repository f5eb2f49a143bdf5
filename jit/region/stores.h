#pragma once
// Which `store` instructions may write the memory of an input itself. A store makes a new version of a tensor; where
// that version is what a write_back puts into the input's memory, and nobody looks at the old one any more, the few
// elements that change are written there at once: a program that fills a large buffer row by row does not copy the
// buffer for each row. Knows regions. Whether the memory is laid out as the store expects, only the run can tell.
#include <span>
#include <unordered_map>

#include "jit/region/region.h"
#include "runtime/tensor/tensor.h"

namespace tsc::jit {

// By instruction of the region's body: the input.
using StoresIntoInputs = std::unordered_map<const Instruction*, ValueId>;
StoresIntoInputs find_stores_into_inputs(const Region& region);

// Writes y to the places of row-major x that the scalars of a `store` say.
void store_in_place(const Tensor& x, const Tensor& y, std::span<const Scalar> scalars);

}  // namespace tsc::jit
