#include "runtime/device/device.h"

#include "runtime/base/error.h"

namespace tsc {
namespace {

thread_local Device* device_of_thread = nullptr;

Device& default_device() {
  // Never destroyed: tensors of static lifetime may still hold its blocks at exit.
  static Device* device = new Device();
  return *device;
}

}  // namespace

Isa best_isa() {
#ifdef TSC_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Isa::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::Avx2;
#endif
  return Isa::Baseline;
}

Device::~Device() {
  for (const Ref<Backend>& backend : backends) backend->close();
}

Backend& Device::backend(Place place) const {
  const auto index = static_cast<size_t>(place.index());
  if (!place.is_device() || index >= backends.size())
    throw Error(ErrorKind::RuntimeError, "CUDA error: invalid device ordinal");
  return *backends[index];
}

Device& current_device() { return device_of_thread ? *device_of_thread : default_device(); }

DeviceScope::DeviceScope(Device& device) : previous_(device_of_thread) { device_of_thread = &device; }
DeviceScope::~DeviceScope() { device_of_thread = previous_; }

}  // namespace tsc
