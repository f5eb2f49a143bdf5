#pragma once
// Script data in and out of tensors: nested lists, numbers; and what capture needs to recognise `_prims`.
#include <optional>

#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

// torch.tensor: nested lists/tuples of numbers or tensors, or one of them. dtype empty: bool, int64 or the
// default dtype by content. ValueError for ragged nesting, naming the place.
Tensor tensor_from_data(Vm& vm, const Value& data, std::optional<DType> dtype);
Value tensor_to_list(Vm& vm, const Tensor& tensor);

void register_prims(Vm& vm);
void register_files(Vm& vm);  // module `_files` (files.cpp)
// A native function with this code is a primitive; `prim_op` tells which.
NativeCode prim_native_code();
Op prim_op(const NativeFunction* function);

}  // namespace tsc::interp
