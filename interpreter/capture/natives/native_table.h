#pragma once
// What capture knows of native functions: one row each, all in native_table.cpp. A native without a row is not called
// while capturing, and the region ends in front of it.
//   values("str.*")            only computes, on arguments that are known
//   settles("math.*")          the same; numbers that this call decides, as sizes, become facts
//   pure("list.*")             only reads and changes its arguments, whatever they are
//   lazy("itertools.tee")      makes iterators over its arguments
//   symbolic("len", call_len)  has a form of its own on abstract values, beside the interpreter's (tests hold the two
//   together) host("print", ...)         is done by the host, at its place in the program's order
// The first four run the interpreter's own text on stand-ins (stand_ins.h). Classes of native iterators are lazy
// without a row. A symbolic form that does not know its arguments says so (Calls::decline); then the native runs on
// stand-ins where its row says that it may.
#include <span>

#include "interpreter/capture/capture.h"

namespace tsc::interp {

struct NativeRow {
  const char* name;  // "len", "list.append", "str.*": every native of that owner. Types are found by their name
  NativeHandler symbolic = nullptr;
  enum class Runs : uint8_t { Never, OnValues, OnSettledNumbers, OnStandIns, Lazily, InTheHost } runs = Runs::Never;
  bool takes_unbound = false;  // the symbolic form wants the arguments as they stand, not bound to the signature
  bool has_result = false;     // InTheHost
  jit::ValueKind result = jit::ValueKind::Object;
  BreakReason reason = BreakReason::host_call;
};

// Null: capture does not know it.
const NativeRow* native_row(const NativeFunction* function);
const NativeRow* native_row(Vm& vm, const Type* type);

// Symbolic forms, by the file that defines them.
std::span<const NativeRow> builtin_forms();  // natives.cpp
std::span<const NativeRow> method_forms();   // natives_methods.cpp
std::span<const NativeRow> tensor_forms();   // natives_tensors.cpp
std::span<const NativeRow> shape_forms();    // natives_shapes.cpp

std::vector<const char*> names_of_symbolic_forms();
// A native class whose objects are iterators.
bool is_iterator_class(const Type* type);

// isinstance(av, classes), decided while capturing.
bool is_instance_of_class(Capture& capture, const Av& av, const Av& classes);

}  // namespace tsc::interp
