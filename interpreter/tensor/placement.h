#pragma once
// Where a new tensor lies: in memory, or nowhere (device "meta"), and which tensors meet in one operation.
//
// The library is written once for both devices: a function that needs a tensor of its own (a mask, an index, zeros) makes
// it with a primitive that says nothing of devices, and the call that the program made decides. Going out from the
// innermost frame over the frames of the library, a parameter `device` that was given decides; else the innermost frame
// that has tensors among its parameters, for meta if one of them is; else what `with torch.device(...)` or
// torch.set_default_device has set. A module's body decides for memory: what it makes serves many calls; and so does numpy.
// Knows frames and tensors; no primitive in particular.
#include <span>

#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

struct Frame;

// Whether a tensor that is made in this frame (null: in the current one) is a meta tensor.
bool makes_meta(Vm& vm, const Frame* frame = nullptr);

// Whether what a parameter `device` holds, which is not None, is device "meta".
bool names_meta(Vm& vm, const Value& device);

// "meta" or "cpu".
std::string_view device_name(const Tensor& x);

// The operand as a meta tensor, with its strides where they leave no gaps, and its history.
Local<TensorObject> to_meta(Vm& vm, Local<TensorObject> x);

// RuntimeError in PyTorch's words where tensors of both devices meet in an operation. A tensor without axes in memory is
// no more than a number. What the first operand leads (an index, a matrix product) may bring others if that is meta.
void check_devices(Op op, std::span<TensorObject* const> tensors);

// What scripts of the library ask and say: is_meta, to_meta, use_meta, set_meta_default.
std::span<const struct GradientPrim> placement_prims();

}  // namespace tsc::interp
