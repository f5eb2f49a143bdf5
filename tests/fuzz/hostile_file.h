#pragma once
// Tensor files as a stranger would make them: a good file, then wrong numbers, wrong texts, cuts
// and flips where they hurt most.
#include <string>

#include "random.h"

namespace tsc::fuzz {

std::string hostile_safetensors(Random& random);
std::string hostile_npy(Random& random);
// A zip archive with a pickle, as PyTorch writes it.
std::string hostile_archive(Random& random);

}  // namespace tsc::fuzz
