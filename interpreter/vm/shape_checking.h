#pragma once
// Whether this Vm compares calls with the shape annotations of what they call: what the program and its
// imports are compiled with. The library is compiled when it is built, without. Knows: the Vm. Must not know:
// tensors (tensor/shape_check.h compares).
#include <functional>

#include "interpreter/vm/vm.h"

namespace tsc::lang {
class Diagnostics;
class Source;
}  // namespace tsc::lang

namespace tsc::interp {

struct ShapeChecking {
  // Takes the warnings about a text that is compiled: annotations that cannot be read.
  std::function<void(const lang::Diagnostics&, const lang::Source&)> warn;
};

ShapeChecking* shape_checking(Vm& vm);  // null: off
void set_shape_checking(Vm& vm, ShapeChecking checking);

}  // namespace tsc::interp
