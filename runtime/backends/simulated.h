#pragma once
// The simulated device: everything that a GPU asks of the engine, without one. Its memory lies apart, its work runs on
// a thread of its own, its errors come late; what its kernels compute is what the reference kernels compute, bit for
// bit. Knows the reference kernels; must not know scripts.
#include <optional>

#include "runtime/backends/simulated_memory.h"
#include "runtime/backends/work_queue.h"

namespace tsc {

struct SimulatedSettings {
  int devices = 2;
  int64_t memory = int64_t{16} << 30;  // of each
  bool is_default = false;             // new tensors lie on the first one
  bool poison = false;                 // new memory is filled with bytes that are no number
  QueueSettings queue;
};

// "simulated", with any of ":devices=N", ":memory=N[K|M|G]", ":delays=SEED", ":blocking", ":default" behind it. Empty:
// another text.
std::optional<SimulatedSettings> parse_simulated(std::string_view text);

// The devices of an engine, which outlives their work.
std::vector<Ref<Backend>> make_simulated(Device& engine, const SimulatedSettings& settings);

}  // namespace tsc
