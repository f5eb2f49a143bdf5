#pragma once
// Module `_devices`: the engine's devices, their streams, events and memory, as torch.cuda (stdlib/torch/cuda) has them.
// Knows backends by their interface alone (runtime/device/backend.h).

namespace tsc::interp {

class Vm;

void register_devices(Vm& vm);

}  // namespace tsc::interp
