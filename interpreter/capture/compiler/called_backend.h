#pragma once
// Backends that are functions of the script (torch.compile(f, backend=g)): g gets the captured region as an object,
// with its text, and the inputs of the call, and returns what is called in its place from then on, with the region's
// inputs, giving its outputs. The entry conditions stay the compiler's: the region that g gets has none. Knows:
// regions, executables, script values. Must not know: frames.
#include <memory>

#include "interpreter/capture/plan.h"
#include "interpreter/vm/vm.h"
#include "jit/compile.h"

namespace tsc::interp {

// A region that a script holds. It can be called while the call that it stands for goes on, which its host instructions
// need; without any at all times.
struct CapturedRegion {
  jit::Region region;  // without guards
  std::unique_ptr<jit::Executable> code;
  jit::RunContext* context = nullptr;  // of the call that goes on
  std::vector<jit::Type> inputs, outputs;
};

struct RegionObject : Object {
  std::shared_ptr<CapturedRegion> region;
  RegionObject() : Object(Kind::Native) {}
};

// The type of RegionObject.
Type* make_region_type(Vm& vm);

// A tuple of the outputs. TypeError for values that the region cannot take.
Value run_captured_region(Vm& vm, CapturedRegion& region, std::span<const Value> inputs);

// Asks the script's function. `example`: the inputs of the call that made the region.
std::unique_ptr<jit::Executable> make_called_executable(Vm& vm, Type* region_type, const Value& called,
                                                        jit::Region region, const RegionPlan& plan,
                                                        const std::vector<Value>& example,
                                                        const jit::CompileOptions& options, jit::Report& report);

}  // namespace tsc::interp
