#pragma once
// Where a new tensor lies: in memory, nowhere (device "meta"), or on a device with memory of its own ("cuda"), and
// which tensors meet in one operation.
//
// The library is written once for all of them: a function that needs a tensor of its own (a mask, an index, zeros)
// makes it with a primitive that says nothing of devices, and the call that the program made decides. Going out from
// the innermost frame over the frames of the library, a parameter `device` that was given decides; else the innermost
// frame that has tensors among its parameters, for meta if one of them is, else for the device that one lies on; else
// what `with torch.device(...)` or torch.set_default_device has set. A module's body decides for memory: what it makes
// serves many calls; and so does numpy. Knows frames and tensors; no primitive in particular.
#include <span>

#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

struct Frame;

// Where a tensor lies that is made in this frame (null: in the current one).
Place place_of_new(Vm& vm, const Frame* frame = nullptr);

// The place that what a parameter `device` holds names, a text or a torch.device; empty: none that there is.
std::optional<Place> named_place(Vm& vm, const Value& device);

// The place of a code, as scripts of the library have it (Place::code); RuntimeError in PyTorch's words for a device
// that is not there.
Place expect_place(Vm& vm, const Value& code);

// The operand at a place, with its strides where they leave no gaps, and its history; itself where it is there.
Local<TensorObject> to_place(Vm& vm, Local<TensorObject> x, Place place);

// The place whose tensors are printed without its name; the CPU, or what the host has made the default.
Place silent_place(Vm& vm);
void set_silent_place(Vm& vm, Place place);

// The random state that draws of a place use.
jit::RngState& rng_of(TensorState& state, Place place);

// RuntimeError in PyTorch's words where tensors of two devices meet in an operation. A tensor without axes in memory is
// no more than a number. What the first operand leads (an index, a matrix product) may bring others if that is meta; an
// index in memory may pick from a tensor of a device.
void check_devices(Vm& vm, Op op, std::span<TensorObject* const> tensors);

// What scripts of the library ask and say: place, to_place, use_meta, set_default_place.
std::span<const struct GradientPrim> placement_prims();

}  // namespace tsc::interp
