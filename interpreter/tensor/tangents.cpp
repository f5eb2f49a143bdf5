// Forward mode: what happens to the tangents of a primitive's operands. No primitive has a second rule for this: its
// gradient rule is linear in the gradient that goes in, and the derivative of that in the direction of the operands'
// tangents is the tangent of the result.
#include "interpreter/tensor/transforms.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

// A place to differentiate with respect to; nothing collects there.
class NoLeaf final : public jit::LeafSink {
 public:
  void accumulate(const jit::TapeTensor&) override {}
};

Tensor zeros_like(const Tensor& x) {
  std::vector<Scalar> scalars = {Scalar::of_float(0)};
  for (int64_t size : x.sizes()) scalars.push_back(Scalar::of_int(size));
  OpAttributes attributes;
  attributes.dtype = x.dtype();
  return run_op(Op::full, {}, scalars, attributes).first;
}

// The operand again, as a value of its own: one operand may be computed from another.
jit::TapeTensor apart(Vm& vm, TensorObject* x) {
  const jit::TapeTensor taped = tape_tensor(vm, x);
  if (!tensor_state(vm).modes.grad_enabled || !taped.needs_grad()) return {x->tensor, {}, std::make_shared<NoLeaf>()};
  return jit::run_taped(Op::save_for_backward, {&taped, 1}, {}, {}, true).first;
}

Local<TensorObject> derivative(Vm& vm, const jit::TapeTensor& result, std::span<const jit::TapeTensor> operands,
                               std::span<const jit::TapeTensor> tangents, bool has_history) {
  if (!result.needs_grad()) return make_tensor(vm, zeros_like(result.tensor));
  const jit::TapeTensor seed{zeros_like(result.tensor), {}, std::make_shared<NoLeaf>()};
  const std::vector<jit::TapeTensor> gradients =
      jit::gradients_of({&result, 1}, {&seed, 1}, operands, {true, true, false});
  std::vector<jit::TapeTensor> roots, directions;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].tensor.defined() || !gradients[i].needs_grad()) continue;
    roots.push_back(gradients[i]);
    directions.push_back(tangents[i]);
  }
  if (roots.empty()) return make_tensor(vm, zeros_like(result.tensor));
  const jit::BackwardOptions options{true, has_history, false};
  jit::TapeTensor found = jit::gradients_of(roots, directions, {&seed, 1}, options)[0];
  if (!found.tensor.defined()) return make_tensor(vm, zeros_like(result.tensor));
  return from_tape(vm, jit::in_row_order(found));
}

}  // namespace

// A view's tangent is that view of the tangent: a write to one is a write to the other.
Local<TensorObject> tangent_of_result(Vm& vm, Op op, std::span<TensorObject* const> tensors,
                                      std::span<const Scalar> scalars, const OpAttributes& attributes,
                                      TensorObject* result) {
  if (!is_differentiable(result->tensor.dtype())) return {};
  if (op_row(op).flags & kView) {
    TensorObject* operands[] = {tangent_of(vm, tensors[0])};
    return run_eager(vm, op, operands, scalars, attributes).first;
  }
  std::vector<jit::TapeTensor> inputs, operands, tangents;
  bool has_history = false;
  for (TensorObject* t : tensors) {
    TensorObject* tangent = is_differentiable(t->tensor.dtype()) ? tangent_of(vm, t) : nullptr;
    has_history |= tape_tensor(vm, t).needs_grad() || (tangent && tape_tensor(vm, tangent).needs_grad());
    if (!tangent) {
      inputs.push_back(tensor_state(vm).modes.grad_enabled ? tape_tensor(vm, t)
                                                           : jit::TapeTensor{t->tensor, {}, nullptr});
      continue;
    }
    inputs.push_back(apart(vm, t));
    operands.push_back(inputs.back());
    tangents.push_back(tape_tensor(vm, tangent));
  }
  return derivative(vm, jit::run_taped(op, inputs, scalars, attributes, true).first, operands, tangents,
                    has_history && tensor_state(vm).modes.grad_enabled);
}

void assign_tangent(Vm& vm, TensorObject* x, TensorObject* value) {
  TensorObject* given = value ? tangent_of(vm, value) : nullptr;
  if (TensorObject* own = tangent_of(vm, x)) return assign(vm, own, given ? Value(given) : Value::real(0.0));
  if (!given) return;
  std::vector<TensorObject*> chain = {x};
  while (chain.back()->view && chain.back()->view->op != Op::detach) chain.push_back(chain.back()->view->parent.get());
  // What was no dual so far gets a tangent of zeros, from the base on.
  Local<TensorObject> tangent = make_tensor(vm, zeros_like(chain.back()->tensor));
  for (size_t i = chain.size(); i-- > 0;) {
    if (i + 1 < chain.size()) {
      TensorObject* operands[] = {tangent.get()};
      const ViewOrigin& origin = *chain[i]->view;
      tangent =
          run_eager(vm, origin.op, operands, {origin.scalars.begin(), origin.scalars.size()}, origin.attributes).first;
    }
    own_extra(chain[i]).tangent = tangent;
    chain[i]->extra->dual_level = autograd_state(vm).dual_level;
  }
  assign(vm, tangent.get(), Value(given));
}

}  // namespace tsc::interp
