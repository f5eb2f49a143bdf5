#pragma once
// The words of PyTorch for tensors of two devices that meet in a function: most operations say which devices they
// found, others which argument lies elsewhere than those in front of it, by the names that PyTorch's kernels have for
// them. Knows the functions of the library by their names and parameters; nothing of what they do.
#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

// RuntimeError for an operation of the library that met tensors of these places.
[[noreturn]] void refuse_devices(Vm& vm, Place a, Place b);

}  // namespace tsc::interp
