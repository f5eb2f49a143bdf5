#pragma once
// Runs primitives for the uncompiled path: kernels at once, history recorded when a gradient may be asked
// for. The only place of the interpreter that runs a primitive or writes a tensor in place.
#include <span>

#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

struct EagerResults {
  Local<TensorObject> first, second;
};

EagerResults run_eager(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                       const OpAttributes& attributes);

// The same for tensors that are what they look like: no batches, no tangents.
EagerResults run_plain(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                       const OpAttributes& attributes);

// The tensor whose gradient a leaf of the history collects; null for a leaf that is no script's.
TensorObject* leaf_object(const jit::LeafSink* leaf);

// An elementwise primitive over tensors and script numbers, with promotion and broadcasting. Undefined
// when an operand is neither (the caller answers NotImplemented).
Value run_elementwise(Vm& vm, Op op, std::span<const Value> operands);

// x as an operation reads it whose result will overwrite x: with x's history, and elements of its own when
// the history will want them later.
Local<TensorObject> in_place_operand(Vm& vm, TensorObject* x);

// x[...] = value for all of x: casts to x's dtype, broadcasts to x's sizes, writes through x's strides.
// RuntimeError for an expanded x, a leaf that requires grad, a shape that does not broadcast.
// The history of x is then that of the value, which nobody else may see; or, like that of a value that is a
// leaf, one step further: a copy.
enum class WriteHistory : uint8_t { Take, Step };
void assign(Vm& vm, TensorObject* x, const Value& value, WriteHistory history = WriteHistory::Take);

// Makes the history of a view anew when its base was written in place since.
void refresh_history(Vm& vm, TensorObject* object);
// The tensor with its history, refreshed.
jit::TapeTensor tape_tensor(Vm& vm, TensorObject* object);
Local<TensorObject> from_tape(Vm& vm, const jit::TapeTensor& value);

// x itself where it has that dtype.
Local<TensorObject> cast_to(Vm& vm, Local<TensorObject> x, DType dtype);

// A 0-d tensor of a script number (not recorded).
Tensor scalar_tensor(const Scalar& value, DType dtype);
// The number in `v` (int, bool, float); false when it is none.
bool number_of(const Value& v, Scalar* out);
// The same for any script number, a complex one too. RuntimeError where the dtype cannot hold it.
bool is_script_number(const Value& v);
Tensor number_tensor(const Value& v, DType dtype);
// RuntimeError where a tensor of the dtype may not be filled with what is a script number, and nothing for what is
// none.
void check_filling(DType dtype, const Value& v);
// One element of float16 or bfloat16 becomes an infinity, as in PyTorch: a number that joins such a tensor is rounded.
inline bool is_rounded(DType dtype, int64_t elements) { return elements == 1 && is_small_float(dtype); }
// The dtype of a tensor made of a script number.
DType number_dtype(const Value& v, DType default_dtype);

// Calls the function that the library put into Tensor under `name`.
Value call_library(Vm& vm, const char* name, std::span<const Value> args);

}  // namespace tsc::interp
