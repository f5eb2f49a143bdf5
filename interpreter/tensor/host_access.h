#pragma once
// Lets native code that reads and writes elements itself do that with tensors of a device: what it makes lies there
// too. Knows which arguments are tensors, which must all lie on it, and nothing of what the code does. Keeps: without
// devices it costs a test of one flag.
#include <optional>

#include "interpreter/tensor/tensor_object.h"
#include "runtime/device/device.h"

namespace tsc::interp {

class HostAccess {
 public:
  HostAccess(Vm& vm, const Args& args);
  explicit HostAccess(const Tensor& tensor) {
    if (tensor.place().is_device()) open(tensor);
  }

 private:
  void open(const Tensor& tensor);
  std::optional<DeviceAccess> access_;
};

// A native function that does so.
template <NativeCode Code>
Value with_access(Vm& vm, Args& args) {
  if (!tensor_state(vm).knows_places) [[likely]]
    return Code(vm, args);
  const HostAccess access(vm, args);
  return Code(vm, args);
}

}  // namespace tsc::interp
