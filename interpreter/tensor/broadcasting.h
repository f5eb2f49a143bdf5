#pragma once
// Tensors in the sizes of others. Knows eager operations; copies no element.
#include "interpreter/tensor/eager.h"

namespace tsc::interp {

// A view of x in these sizes, with its history; x itself where it has them.
Local<TensorObject> broadcast_to(Vm& vm, Local<TensorObject> x, const Sizes& sizes);

}  // namespace tsc::interp
