#pragma once
// Module `_devices`: the engine's devices, their streams, events and memory, as torch.cuda (stdlib/torch/cuda) has
// them. Knows backends by their interface alone (runtime/device/backend.h).

#include <functional>
#include <string>

namespace tsc::interp {

class Vm;

void register_devices(Vm& vm);

// The line of the program that is running, the innermost that is not the library's, as a text to be asked for later, in
// any thread. Empty: nothing runs.
std::function<std::string()> launch_place(Vm& vm);

}  // namespace tsc::interp
