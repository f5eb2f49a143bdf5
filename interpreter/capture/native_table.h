#pragma once
// Tables of the natives that capture understands, one per file natives*.cpp; found by owner and name.
#include <span>

#include "interpreter/capture/capture.h"

namespace tsc::interp {

struct NativeRow {
  const char* name;  // "len", "list.append", "_prims.assign_"
  NativeHandler handler;
};

std::span<const NativeRow> builtin_natives();
std::span<const NativeRow> iteration_natives();
std::span<const NativeRow> method_natives();
std::span<const NativeRow> tensor_natives();
std::span<const NativeRow> shape_natives();

// The handler for calling a native type (tuple(...), int(...)); null: none.
NativeHandler find_type_handler(Vm& vm, Type* type);
// isinstance(av, classes), decided while capturing.
bool is_instance_of_class(Capture& capture, const Av& av, const Av& classes);
// True when the handler wants the arguments as they stand, not bound to the signature.
bool handles_own_arguments(const NativeFunction* function);

}  // namespace tsc::interp
