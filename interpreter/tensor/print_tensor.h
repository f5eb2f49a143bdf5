#pragma once
// repr of a tensor object: PyTorch's text, with what only the script object knows (requires_grad, grad_fn).
#include <string>

#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

std::string tensor_text(Vm& vm, TensorObject* object);
// Turns a fresh tuple into one of a tuple-derived native type.
Value retype_tuple(Vm& vm, const Local<TupleObject>& tuple, Type* type);

}  // namespace tsc::interp
