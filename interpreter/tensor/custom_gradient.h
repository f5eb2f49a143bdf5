#pragma once
// What scripts add to the gradient pass: functions that see gradients (Tensor.register_hook) and steps with a
// gradient of their own (torch.autograd.Function).
// Knows the tape and script calls. Keeps: what a hook or a backward raises passes through the gradient pass.
#include <span>

#include "interpreter/tensor/tensor_object.h"

namespace tsc::interp {

// The mode of a backward and of what runs in it: gradients have a history of their own only with create_graph.
class BackwardMode {
 public:
  BackwardMode(Vm& vm, bool create_graph) : modes_(tensor_state(vm).modes), before_(modes_.grad_enabled) {
    modes_.grad_enabled = create_graph;
  }
  ~BackwardMode() { modes_.grad_enabled = before_; }

 private:
  Modes& modes_;
  bool before_;
};

// Functions of a leaf: `before` see the gradient that this pass adds to `.grad` and may replace it, `after`
// see the tensor once it is added.
struct LeafHooks {
  struct Entry {
    int64_t id;
    Value function;
  };
  std::vector<Entry> before, after;
};

// The gradient that a leaf adds, after its hooks.
jit::TapeTensor call_leaf_hooks(Vm& vm, TensorObject* leaf, const jit::TapeTensor& gradient);
void call_post_hooks(Vm& vm, TensorObject* leaf);
// RuntimeError: a gradient of one dtype for a tensor of another.
[[noreturn]] void refuse_gradient(Vm& vm, DType gradient, DType tensor);

struct GradientPrim {
  const char* name;
  const char* signature;
  NativeCode code;
};
// The functions of `_prims`.
std::span<const GradientPrim> gradient_prims();

}  // namespace tsc::interp
