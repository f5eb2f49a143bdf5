// What each thread of a script has of its own of the tensors' state, as in PyTorch: whether gradients are recorded,
// autocast, and the transforms that run. A new one begins as a program does. The default dtype is everybody's.
#include <optional>

#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/thread_modes.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/threads.h"
#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

class ThreadModes final : public ThreadPart {
 public:
  // New tensors of a thread lie where the host has said.
  ThreadModes(TensorState& state, Place place) : state_(state), device_(current_device()) { modes_.place = place; }
  void begin() override { scope_.emplace(device_); }
  void end() override { scope_.reset(); }

  void swap() noexcept override {
    std::swap(state_.modes, modes_);
    std::swap(state_.modes.default_dtype, modes_.default_dtype);
    AutogradState* autograd = state_.autograd.get();
    if (!autograd) return;  // no thread has used it
    std::swap(autograd->levels, transforms_.levels);
    std::swap(autograd->dual_level, transforms_.dual_level);
    std::swap(autograd->saved_hooks, transforms_.saved_hooks);
    std::swap(autograd->is_packing, transforms_.is_packing);
    std::swap(autograd->hooks_refused, transforms_.hooks_refused);
  }

 private:
  TensorState& state_;
  Device& device_;
  std::optional<DeviceScope> scope_;
  Modes modes_;
  AutogradState transforms_;
};

}  // namespace

void add_thread_modes(Vm& vm) {
  TensorState& state = tensor_state(vm);
  vm.threads().add_part([&vm, &state] { return std::make_unique<ThreadModes>(state, silent_place(vm)); });
}

}  // namespace tsc::interp
