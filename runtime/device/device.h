#pragma once
// What one engine computes with: its allocator, its threads, its kernels' instruction set, its stop
// flag, and the devices beside the CPU (backend.h). An engine makes its device current for the calling thread with a
// DeviceScope on entry; Storage and the kernels read `current_device()`. This thread-local pointer is the only ambient
// state of the runtime, and it is set and restored by scope, so two engines in one process do not see each other. Where
// no scope is open (tests, C++ users) a default device serves, made at the first use.
#include <atomic>
#include <vector>

#include "runtime/base/memory_budget.h"
#include "runtime/base/ref.h"
#include "runtime/base/stop.h"
#include "runtime/device/allocator.h"
#include "runtime/device/backend.h"
#include "runtime/device/threads.h"

namespace tsc {

enum class Isa : uint8_t { Baseline, Avx2, Avx512 };
// The best of those this processor can run (and this build has).
Isa best_isa();

struct Device {
  // 0 threads: one per processor.
  explicit Device(int thread_count = 0)
      : budget(make_ref<MemoryBudget>()), allocator(make_ref<CachingAllocator>(budget)), threads(thread_count, &stop),
        isa(best_isa()) {}
  ~Device();

  Ref<MemoryBudget> budget;         // of all the engine's memory; the allocator draws on it
  Ref<CachingAllocator> allocator;  // shared with every Storage it made: blocks may outlive the device
  StopFlag stop;                    // polled by loops, between kernels and between compiler passes
  Threads threads;
  Isa isa;  // every choice gives the same bits; settable for tests
  // Devices with memory of their own, by number; empty where there are none. Set before scripts run.
  std::vector<Ref<Backend>> backends;
  int current_backend = 0;            // torch.cuda.set_device
  std::atomic<int> access_count = 0;  // DeviceAccess objects that are open
  // RuntimeError where there is no such device.
  Backend& backend(Place place) const;
};

Device& current_device();

class DeviceScope {
 public:
  explicit DeviceScope(Device& device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device* previous_;
};

inline void parallel_for(int64_t count, int64_t grain, RangeBody body) {
  if (count <= grain)  // the common small case stays free of the thread-local lookup
    return count > 0 ? body(0, count) : void();
  current_device().threads.parallel_for(count, grain, body);
}

}  // namespace tsc
