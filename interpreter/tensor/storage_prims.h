#pragma once
// The functions of `_prims` that name memory: other sizes and strides over the same storage, a tensor object that
// takes over what another one is, the bytes behind a tensor.
// Knows storages and views; gradient histories only so far as an object hands its own on.
// Keeps: no function here writes an element.
#include <span>

#include "interpreter/vm/native.h"

namespace tsc::interp {

struct StoragePrim {
  const char* name;
  const char* signature;
  NativeCode code;
};
std::span<const StoragePrim> storage_prims();

}  // namespace tsc::interp
