#pragma once
// The host side of one run of a region: does what its host instructions say, with real script values.
#include "interpreter/capture/compiler/compiler.h"

namespace tsc::interp {

// Does what the action says with these values; the result of a call.
Value perform(Vm& vm, const HostAction& action, const std::vector<Value>& values);

class RegionHost : public jit::Host {
 public:
  RegionHost(Vm& vm, const Variant& variant, Materializer& materializer)
      : vm_(vm), variant_(variant), materializer_(materializer) {}
  void host(uint32_t id, std::span<const jit::RunValue> arguments, std::span<jit::RunValue> results) override;
  void poll() override;
  // Of the host instruction that is running or has raised; 0: none.
  uint32_t origin() const { return origin_; }
  // How many host instructions have run, or begun to.
  uint32_t performed() const { return performed_; }

 private:
  Vm& vm_;
  const Variant& variant_;
  Materializer& materializer_;
  uint32_t origin_ = 0;
  uint32_t performed_ = 0;
  std::vector<Value> held_;  // objects that the region's object registers refer to
};

}  // namespace tsc::interp
