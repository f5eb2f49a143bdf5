#pragma once
// What few tensors carry beside their elements, and the modes that few scripts use: a batch axis that the function of
// torch.vmap does not see, the tangent of forward_ad, inference mode, anomaly mode, hooks of saved tensors.
// Knows primitives and script objects; the compiler knows only blocks_regions() and that a tensor has an `extra`.
//
// A batched tensor's `tensor` is the first of its examples: it has the shape, strides and dtype that the function is to
// see, so that whoever asks only for these needs to know nothing of batches. Elements are in `physical`, whose axis 0
// is the batch; where several vmaps are nested the innermost is the outer object. Every primitive has a batch rule
// (batching.cpp), so every function of the library works on batched tensors.
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "jit/autodiff/node_notes.h"

namespace tsc::interp {

struct TensorExtra {
  bool is_inference = false;
  int level = 0;                 // of the vmap whose axis this is, from 1; 0: not batched
  Local<TensorObject> physical;  // with the batch as axis 0
  Local<TensorObject> tangent;   // of forward mode; null: none
  int64_t dual_level = 0;        // of the `with dual_level()` that the tangent belongs to
};

enum class Randomness : uint8_t { Error, Same, Different };

struct BatchLevel {
  int64_t size;
  Randomness randomness;
};

// torch.autograd.graph.saved_tensors_hooks: the two functions.
class ScriptSavedHooks final : public jit::SavedTensorHooks {
 public:
  ScriptSavedHooks(Vm& vm, const Value& pack, const Value& unpack) : vm_(vm), pack_(pack), unpack_(unpack) {}
  std::shared_ptr<jit::PackedTensor> pack(const Tensor& tensor) override;
  Value pack_function() const { return pack_; }
  Value unpack_function() const { return unpack_; }

 private:
  Vm& vm_;
  Value pack_, unpack_;
};

struct AutogradState {
  std::vector<BatchLevel> levels;                // of the vmaps that run
  int64_t dual_level = 0, dual_levels_made = 0;  // of the `with dual_level()` that is open; 0: none
  bool detect_anomaly = false, check_nan = true;
  std::vector<std::shared_ptr<ScriptSavedHooks>> saved_hooks;
  bool is_packing = false;                            // what a hook itself computes is saved as it is
  std::vector<std::string> hooks_refused;             // messages of disable_saved_tensors_hooks
  std::unordered_map<std::string, Type*> node_types;  // of grad_fn objects
  Type* node_type = nullptr;                          // their base
  std::shared_ptr<TensorExtra> inference;             // what all tensors share that are made in inference mode

  // What is going on here is not for compiled code.
  bool blocks_regions() const { return !levels.empty() || dual_level != 0 || detect_anomaly || !saved_hooks.empty(); }
};
AutogradState& autograd_state(Vm& vm);

inline bool is_batched(const TensorObject* x) { return x->extra && x->extra->level != 0; }
// Null where it has none, or the `with dual_level()` of its tangent is over.
TensorObject* tangent_of(Vm& vm, const TensorObject* x);
inline bool is_inference(const TensorObject* x) { return x->extra && x->extra->is_inference; }
// Below all batch levels: the tensor that has the elements and the gradient history.
TensorObject* without_batches(TensorObject* x);

// run_eager where an operand has an `extra`.
EagerResults run_special(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                         const OpAttributes& attributes);
// run_eager where the innermost batch level of an operand is `level`.
EagerResults run_batched(Vm& vm, int level, Op op, std::span<TensorObject* const> tensors,
                         std::span<const Scalar> scalars, const OpAttributes& attributes);
Local<TensorObject> make_batched(Vm& vm, Local<TensorObject> physical, int level);
// Batched at every level from 1 to `levels`, repeated where it is not.
Local<TensorObject> batched_everywhere(Vm& vm, Local<TensorObject> x, int levels);
// assign() where x or the value is batched: RuntimeError where only the value is.
void assign_batched(Vm& vm, TensorObject* x, TensorObject* value, WriteHistory history);
// The draw of random bits in the vmaps that run.
Local<TensorObject> random_bits(Vm& vm, const Sizes& sizes, DType dtype);

// The tangent of a primitive's result: the derivative of its gradient rule with respect to the gradient that goes in.
Local<TensorObject> tangent_of_result(Vm& vm, Op op, std::span<TensorObject* const> tensors,
                                      std::span<const Scalar> scalars, const OpAttributes& attributes,
                                      TensorObject* result);
// After x was overwritten with the value (null: a constant): x's tangent is the value's.
void assign_tangent(Vm& vm, TensorObject* x, TensorObject* value);
TensorExtra& own_extra(TensorObject* x);

// Elements that one example of a batch has are nobody's number: RuntimeError.
void refuse_batched(const TensorObject* x, const char* what);

// The object that scripts see as grad_fn; None for a leaf that needs no gradient.
Value grad_node(Vm& vm, const jit::TapeTensor& of);
// "file, line 3, in f" of the frames, outermost first.
std::string places_of_frames(Vm& vm);

std::span<const struct GradientPrim> transform_prims();
std::span<const struct GradientPrim> node_prims();

}  // namespace tsc::interp
