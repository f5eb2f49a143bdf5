// The modes and transforms of gradients: their state, what they change of an operation, and the functions of `_prims`
// that set them.
#include "interpreter/tensor/transforms.h"

#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/vm/call.h"
#include "interpreter/vm/frame.h"
#include "interpreter/vm/operations.h"
#include "jit/autodiff/rules.h"

namespace tsc::interp {

AutogradState& autograd_state(Vm& vm) {
  std::shared_ptr<AutogradState>& state = tensor_state(vm).autograd;
  if (!state) {
    state = std::make_shared<AutogradState>();
    state->inference = std::make_shared<TensorExtra>();
    state->inference->is_inference = true;
  }
  return *state;
}

TensorExtra& own_extra(TensorObject* x) {
  if (!x->extra) x->extra = std::make_shared<TensorExtra>();
  else if (x->extra.use_count() > 1) x->extra = std::make_shared<TensorExtra>(*x->extra);
  return *x->extra;
}

TensorObject* without_batches(TensorObject* x) {
  while (is_batched(x)) x = x->extra->physical.get();
  return x;
}

TensorObject* tangent_of(Vm& vm, const TensorObject* x) {
  if (!x->extra || !x->extra->tangent) return nullptr;
  return x->extra->dual_level == autograd_state(vm).dual_level ? x->extra->tangent.get() : nullptr;
}

void refuse_batched(const TensorObject* x, const char* what) {
  if (is_batched(x))
    throw Error(ErrorKind::RuntimeError,
                std::string("vmap: It looks like you're ") + what + " on a Tensor. We don't support vmap over " + what +
                    " on a Tensor, please try to rewrite what you're doing with other operations.");
}

namespace {

void check_inference(Vm& vm, Op op, std::span<TensorObject* const> tensors) {
  SmallVector<bool, 8> wanted;
  bool any = false;
  for (TensorObject* t : tensors) {
    wanted.push_back(tape_tensor(vm, t).needs_grad() && is_differentiable(t->tensor.dtype()));
    any |= wanted.back();
  }
  if (!any || !jit::is_differentiable(op)) return;
  const uint8_t saved = jit::saved_set(op, {wanted.data(), wanted.size()});
  for (size_t i = 0; i < tensors.size() && i < 3; ++i)
    if (saved >> i & 1 && is_inference(tensors[i]))
      throw Error(ErrorKind::RuntimeError,
                  "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                  "in computation tracked by autograd. To work around this, you can make a clone to get a normal "
                  "tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
}

}  // namespace

EagerResults run_special(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                         const OpAttributes& attributes) {
  const AutogradState& state = autograd_state(vm);
  int level = 0;
  bool has_tangent = false, has_inference = false;
  for (const TensorObject* t : tensors) {
    if (is_batched(t)) level = std::max(level, t->extra->level);
    has_tangent |= tangent_of(vm, t) != nullptr;
    has_inference |= is_inference(t);
  }
  if (level > static_cast<int>(state.levels.size()))
    throw Error(ErrorKind::RuntimeError, "vmap: a tensor of a vmap that is over is used; return it from the function");
  if (level > 0) return run_batched(vm, level, op, tensors, scalars, attributes);
  if (has_inference && tensor_state(vm).modes.grad_enabled) check_inference(vm, op, tensors);
  EagerResults out = run_plain(vm, op, tensors, scalars, attributes);
  if (has_tangent && op != Op::detach)
    if (Local<TensorObject> tangent = tangent_of_result(vm, op, tensors, scalars, attributes, out.first.get())) {
      TensorExtra& extra = own_extra(out.first.get());
      extra.tangent = std::move(tangent);
      extra.dual_level = state.dual_level;
    }
  return out;
}

// ---- hooks of saved tensors ----

namespace {

class ScriptPacked final : public jit::PackedTensor {
 public:
  ScriptPacked(Vm& vm, Value packed, Value unpack, const Tensor& like)
      : vm_(vm), packed_(std::move(packed)), unpack_(std::move(unpack)), dtype_(like.dtype()), sizes_(like.sizes()) {}
  Tensor unpack() override {
    const Value given = call(vm_, unpack_, {packed_});
    TensorObject* tensor = as_tensor(tensor_state(vm_), given);
    if (!tensor)
      raise_type_error(vm_, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type " +
                                type_name(vm_, given));
    if (tensor->tensor.dtype() != dtype_ || !(tensor->tensor.sizes() == sizes_))
      throw Error(ErrorKind::RuntimeError, "unpack_hook gave a tensor of shape " + shape_text(tensor->tensor.sizes()) +
                                               " for a saved one of shape " + shape_text(sizes_));
    return tensor->tensor;
  }

 private:
  Vm& vm_;
  Value packed_, unpack_;
  DType dtype_;
  Sizes sizes_;
};

// What hooks compute is recorded nowhere.
class PackingScope {
 public:
  explicit PackingScope(Vm& vm) : vm_(vm), grad_(tensor_state(vm).modes.grad_enabled) {
    tensor_state(vm_).modes.grad_enabled = false;
    autograd_state(vm_).is_packing = true;
  }
  ~PackingScope() {
    tensor_state(vm_).modes.grad_enabled = grad_;
    autograd_state(vm_).is_packing = false;
  }

 private:
  Vm& vm_;
  bool grad_;
};

}  // namespace

std::shared_ptr<jit::PackedTensor> ScriptSavedHooks::pack(const Tensor& tensor) {
  PackingScope scope(vm_);
  const uint32_t version = tensor.storage()->version;
  Value packed = call(vm_, pack_, {make_tensor(vm_, tensor).take()});
  if (tensor.storage()->version != version)
    throw Error(ErrorKind::RuntimeError,
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can "
                "not be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook.");
  return std::make_shared<ScriptPacked>(vm_, std::move(packed), unpack_, tensor);
}

namespace {

// push_saved_hooks(pack, unpack)
Value prim_push_saved_hooks(Vm& vm, Args& args) {
  AutogradState& state = autograd_state(vm);
  if (!state.hooks_refused.empty()) throw Error(ErrorKind::RuntimeError, state.hooks_refused.back());
  state.saved_hooks.push_back(std::make_shared<ScriptSavedHooks>(vm, args[0], args[1]));
  return Value::none();
}
Value prim_pop_saved_hooks(Vm& vm, Args&) {
  AutogradState& state = autograd_state(vm);
  if (!state.saved_hooks.empty()) state.saved_hooks.pop_back();
  return Value::none();
}
// saved_hooks() -> (pack, unpack) of the innermost, or None
Value prim_saved_hooks(Vm& vm, Args&) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  if (!state || state->saved_hooks.empty() || state->is_packing) return Value::none();
  const Value both[] = {state->saved_hooks.back()->pack_function(), state->saved_hooks.back()->unpack_function()};
  return make_tuple(vm, both).take();
}
Value prim_refuse_saved_hooks(Vm& vm, Args& args) {
  AutogradState& state = autograd_state(vm);
  if (!state.saved_hooks.empty()) throw Error(ErrorKind::RuntimeError, std::string(text_of(vm, args[0])));
  state.hooks_refused.emplace_back(text_of(vm, args[0]));
  return Value::none();
}
Value prim_allow_saved_hooks(Vm& vm, Args&) {
  AutogradState& state = autograd_state(vm);
  if (!state.hooks_refused.empty()) state.hooks_refused.pop_back();
  return Value::none();
}

// ---- modes ----

// set_inference(mode) -> the mode before
Value prim_set_inference(Vm& vm, Args& args) {
  Modes& modes = tensor_state(vm).modes;
  const bool before = modes.inference;
  modes.inference = truth(vm, args[0]);
  autograd_state(vm);
  return Value::boolean(before);
}
Value prim_inference(Vm& vm, Args&) { return Value::boolean(tensor_state(vm).modes.inference); }
Value prim_is_inference(Vm& vm, Args& args) {
  return Value::boolean(is_inference(without_batches(expect_tensor(vm, args[0], "x"))));
}
// set_anomaly(enabled, check_nan) -> (enabled, check_nan) before
Value prim_set_anomaly(Vm& vm, Args& args) {
  AutogradState& state = autograd_state(vm);
  const Value before[] = {Value::boolean(state.detect_anomaly), Value::boolean(state.check_nan)};
  state.detect_anomaly = truth(vm, args[0]);
  state.check_nan = truth(vm, args[1]);
  return make_tuple(vm, before).take();
}
Value prim_anomaly(Vm& vm, Args&) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  const Value now[] = {Value::boolean(state && state->detect_anomaly), Value::boolean(!state || state->check_nan)};
  return make_tuple(vm, now).take();
}

// increment_version(x)
Value prim_increment_version(Vm& vm, Args& args) {
  ++expect_tensor(vm, args[0], "x")->tensor.storage()->version;
  return Value::none();
}

// ---- vmap ----

// enter_vmap(size, randomness: 0 error, 1 same, 2 different) -> its level
Value prim_enter_vmap(Vm& vm, Args& args) {
  AutogradState& state = autograd_state(vm);
  state.levels.push_back({to_index(vm, args[0], "size"), static_cast<Randomness>(to_index(vm, args[1], "randomness"))});
  return Value::integer(static_cast<int64_t>(state.levels.size()));
}
Value prim_leave_vmap(Vm& vm, Args&) {
  autograd_state(vm).levels.pop_back();
  return Value::none();
}
Value prim_vmap_levels(Vm& vm, Args&) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  return Value::integer(state ? static_cast<int64_t>(state->levels.size()) : 0);
}
// batched(x, level): axis 0 of x becomes the batch
Value prim_batched(Vm& vm, Args& args) {
  const Local<TensorObject> x(expect_tensor(vm, args[0], "x"));
  return make_batched(vm, x, static_cast<int>(to_index(vm, args[1], "level"))).take();
}
// batch_of(x, level) -> the tensor with the batch as axis 0, or None where x has none
Value prim_batch_of(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  if (!is_batched(x) || x->extra->level != to_index(vm, args[1], "level")) return Value::none();
  return x->extra->physical.value();
}
// batch_level(x) -> the innermost level that x is batched at, 0 for none
Value prim_batch_level(Vm& vm, Args& args) {
  const TensorObject* x = as_tensor(tensor_state(vm), args[0]);
  return Value::integer(x && is_batched(x) ? x->extra->level : 0);
}

Local<TensorObject> same_elements(Vm& vm, TensorObject* x) {
  SmallVector<Scalar, 6> sizes;
  for (int64_t size : x->tensor.sizes()) sizes.push_back(Scalar::of_int(size));
  TensorObject* operands[] = {x};
  return run_eager(vm, Op::reshape, operands, sizes, {}).first;
}

// gradient_input(x): what a transform differentiates with respect to: x again, as a result where x has a history
// and else as a leaf of its own. Batched at every level, so that each example has a gradient of its own.
Value prim_gradient_input(Vm& vm, Args& args) {
  const int levels = static_cast<int>(autograd_state(vm).levels.size());
  Local<TensorObject> x(expect_tensor(vm, args[0], "x"));
  if (!is_differentiable(x->tensor.dtype()))
    throw Error(ErrorKind::RuntimeError, "only Tensors of floating point dtype can require gradients");
  if (levels) x = batched_everywhere(vm, x, levels);
  std::vector<TensorObject*> chain;
  for (TensorObject* t = x.get(); is_batched(t); t = t->extra->physical.get()) chain.push_back(t);
  TensorObject* bottom = without_batches(x.get());
  Local<TensorObject> made;
  if (tape_tensor(vm, bottom).needs_grad() && tensor_state(vm).modes.grad_enabled) {
    made = same_elements(vm, bottom);
  } else {
    made = make_tensor(vm, bottom->tensor);
    made->requires_grad = true;
    if (TensorObject* tangent = tangent_of(vm, bottom)) {
      own_extra(made.get()).tangent = Local<TensorObject>(tangent);
      made->extra->dual_level = autograd_state(vm).dual_level;
    }
  }
  for (size_t i = chain.size(); i-- > 0;) made = make_batched(vm, made, chain[i]->extra->level);
  return made.take();
}

// depends_beyond(results, inputs): whether a result has a leaf in its history that is none of these inputs
Value prim_depends_beyond(Vm& vm, Args& args) {
  std::vector<const void*> known;
  for (const Value& v : cast<TupleObject>(args[1])->span())
    if (TensorObject* t = as_tensor(tensor_state(vm), v)) {
      const jit::TapeTensor taped = tape_tensor(vm, without_batches(t));
      if (taped.leaf) known.push_back(taped.leaf.get());
    }
  std::vector<jit::TapeNode*> pending;
  std::unordered_map<const void*, bool> seen;
  bool beyond = false;
  const auto look = [&](const jit::TapeValue& to, const std::shared_ptr<jit::LeafSink>& leaf) {
    if (to.node && seen.emplace(to.node.get(), true).second) pending.push_back(to.node.get());
    if (!to.node && leaf) beyond |= std::find(known.begin(), known.end(), leaf.get()) == known.end();
  };
  for (const Value& v : cast<TupleObject>(args[0])->span())
    if (TensorObject* t = as_tensor(tensor_state(vm), v)) {
      const jit::TapeTensor taped = tape_tensor(vm, without_batches(t));
      look(taped.history, taped.leaf);
    }
  while (!pending.empty() && !beyond) {
    jit::TapeNode* node = pending.back();
    pending.pop_back();
    for (const jit::TapeNode::Edge& edge : node->edges) look(edge.to, edge.leaf);
  }
  return Value::boolean(beyond);
}

// ---- forward mode ----

Value prim_enter_dual_level(Vm& vm, Args&) {
  AutogradState& state = autograd_state(vm);
  if (state.dual_level) throw Error(ErrorKind::RuntimeError, "Nested forward mode AD is not supported at the moment");
  state.dual_level = ++state.dual_levels_made;
  return Value::none();
}
Value prim_leave_dual_level(Vm& vm, Args&) {
  autograd_state(vm).dual_level = 0;
  return Value::none();
}
Value prim_in_dual_level(Vm& vm, Args&) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  return Value::boolean(state && state->dual_level);
}

Local<TensorObject> with_tangent(Vm& vm, TensorObject* x, TensorObject* tangent) {
  if (is_batched(x))
    return make_batched(vm,
                        with_tangent(vm, x->extra->physical.get(), tangent ? tangent->extra->physical.get() : nullptr),
                        x->extra->level);
  Local<TensorObject> made = same_elements(vm, x);
  TensorExtra& extra = own_extra(made.get());
  extra.tangent = Local<TensorObject>(tangent);
  extra.dual_level = autograd_state(vm).dual_level;
  return made;
}
// make_dual(x, tangent)
Value prim_make_dual(Vm& vm, Args& args) {
  Local<TensorObject> x(expect_tensor(vm, args[0], "x")), tangent(expect_tensor(vm, args[1], "tangent"));
  if (is_batched(x.get()) || is_batched(tangent.get())) {
    const int levels = static_cast<int>(autograd_state(vm).levels.size());
    x = batched_everywhere(vm, x, levels);
    tangent = batched_everywhere(vm, tangent, levels);
  }
  return with_tangent(vm, x.get(), tangent.get()).take();
}

Local<TensorObject> tangent_below(Vm& vm, TensorObject* x) {
  if (!is_batched(x)) return Local<TensorObject>(tangent_of(vm, x));
  const Local<TensorObject> below = tangent_below(vm, x->extra->physical.get());
  return below ? make_batched(vm, below, x->extra->level) : below;
}
// unpack_dual(x) -> (x without its tangent, the tangent or None)
Value prim_unpack_dual(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  Local<TensorObject> tangent = tangent_below(vm, x);
  const Value both[] = {with_tangent(vm, x, nullptr).take(), tangent ? tangent.take() : Value::none()};
  return make_tuple(vm, both).take();
}
Value prim_has_tangent(Vm& vm, Args& args) {
  TensorObject* x = as_tensor(tensor_state(vm), args[0]);
  return Value::boolean(x && tangent_of(vm, without_batches(x)));
}

constexpr GradientPrim kPrims[] = {
    {"push_saved_hooks", "pack, unpack", prim_push_saved_hooks},
    {"pop_saved_hooks", "", prim_pop_saved_hooks},
    {"saved_hooks", "", prim_saved_hooks},
    {"refuse_saved_hooks", "message", prim_refuse_saved_hooks},
    {"allow_saved_hooks", "", prim_allow_saved_hooks},
    {"set_inference", "mode", prim_set_inference},
    {"inference", "", prim_inference},
    {"is_inference", "x", prim_is_inference},
    {"set_anomaly", "enabled, check_nan", prim_set_anomaly},
    {"anomaly", "", prim_anomaly},
    {"increment_version", "x", prim_increment_version},
    {"enter_vmap", "size, randomness", prim_enter_vmap},
    {"leave_vmap", "", prim_leave_vmap},
    {"vmap_levels", "", prim_vmap_levels},
    {"batched", "x, level", prim_batched},
    {"batch_of", "x, level", prim_batch_of},
    {"batch_level", "x", prim_batch_level},
    {"gradient_input", "x", prim_gradient_input},
    {"depends_beyond", "results, inputs", prim_depends_beyond},
    {"enter_dual_level", "", prim_enter_dual_level},
    {"leave_dual_level", "", prim_leave_dual_level},
    {"in_dual_level", "", prim_in_dual_level},
    {"make_dual", "x, tangent", prim_make_dual},
    {"unpack_dual", "x", prim_unpack_dual},
    {"has_tangent", "x", prim_has_tangent},
};

}  // namespace

std::string places_of_frames(Vm& vm) {
  std::vector<std::string> lines;
  for (const Frame* frame = vm.current_frame(); frame; frame = frame->caller()) {
    const TracebackEntry entry{frame->code->code, frame->pc};
    std::string line = "  File \"" + std::string(entry.file()) + "\", line " + std::to_string(entry.line()) + ", in " +
                       entry.name() + "\n";
    if (const std::string source = entry.source_line(); !source.empty()) line += "    " + source + "\n";
    lines.push_back(std::move(line));
  }
  std::string text;
  for (size_t i = lines.size(); i-- > 0;) text += lines[i];
  return text;
}

std::span<const GradientPrim> transform_prims() { return kPrims; }

}  // namespace tsc::interp
