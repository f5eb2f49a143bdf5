#include "interpreter/capture/compiler/device_runs.h"

#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

class PausingHost final : public jit::Host {
 public:
  PausingHost(jit::Host& host, DeviceAccess& access) : host_(host), access_(access) {}
  void host(uint32_t id, std::span<const jit::RunValue> arguments, std::span<jit::RunValue> results) override {
    access_.pause();
    host_.host(id, arguments, results);
    access_.resume();
    for (const jit::RunValue& result : results)
      if (result.tensor.defined()) access_.open(result.tensor);
  }
  void poll() override {
    access_.pause();
    host_.poll();
    access_.resume();
  }

 private:
  jit::Host& host_;
  DeviceAccess& access_;
};

class DeviceExecutable final : public jit::Executable {
 public:
  DeviceExecutable(std::unique_ptr<jit::Executable> code, std::optional<Place> place)
      : code_(std::move(code)), place_(place) {}

  jit::RunExit run(std::span<const jit::RunInput> inputs, jit::RunContext& context) override {
    const Place place = place_ ? *place_ : place_of(inputs);
    if (!place.is_device()) return code_->run(inputs, context);
    wait_for(place);
    DeviceAccess access(current_device().backend(place));
    for (const jit::RunInput& input : inputs) {
      if (input.tensor) access.open(*input.tensor);
      if (input.given) access.open(*input.given);
    }
    if (!context.host) return code_->run(inputs, context);
    PausingHost host(*context.host, access);
    jit::RunContext inside{&host, context.rng};
    return code_->run(inputs, inside);
  }
  void hold(std::span<const uint32_t> inputs) override { code_->hold(inputs); }
  void changed(uint32_t input) override { code_->changed(input); }
  std::unique_ptr<jit::Executable> another() const override {
    return std::make_unique<DeviceExecutable>(code_->another(), place_);
  }

 private:
  // What went wrong on the device before is no fault of the region's.
  static void wait_for(Place place) {
    try {
      Backend& backend = current_device().backend(place);
      if (!DeviceAccess::current()) backend.synchronize(backend.current_stream());
    } catch (const Error& error) {
      throw jit::RunError{error, 0};
    }
  }

  static Place place_of(std::span<const jit::RunInput> inputs) {
    for (const jit::RunInput& input : inputs)
      if (const Tensor* x = input.tensor ? input.tensor : input.given; x && x->place().is_device()) return x->place();
    return {};
  }

  std::unique_ptr<jit::Executable> code_;
  std::optional<Place> place_;
};

}  // namespace

std::unique_ptr<jit::Executable> with_devices(std::unique_ptr<jit::Executable> code, std::optional<Place> place) {
  if (current_device().backends.empty() || (place && !place->is_device())) return code;
  return std::make_unique<DeviceExecutable>(std::move(code), place);
}

}  // namespace tsc::interp
