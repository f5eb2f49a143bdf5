#pragma once
// See thread_modes.cpp. Knows TensorState and the Vm's threads.
#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

void add_thread_modes(Vm& vm);

}  // namespace tsc::interp
