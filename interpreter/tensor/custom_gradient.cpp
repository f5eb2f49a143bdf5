#include "interpreter/tensor/custom_gradient.h"

#include <algorithm>

#include "interpreter/tensor/eager.h"
#include "interpreter/vm/call.h"
#include "interpreter/vm/operations.h"

namespace tsc::interp {
namespace {

// "torch.cuda.FloatTensor"
std::string type_text(const Tensor& x) {
  const std::string scalar(dtype_info(x.dtype()).scalar_name);
  if (x.is_meta()) return "Meta" + scalar + "Type";
  return "torch." + std::string(x.place().is_device() ? "cuda." : "") + scalar + "Tensor";
}

// What a function is called, or an object that can be called.
std::string name_of_hook(Vm& vm, const Value& function) {
  const FunctionObject* script = try_cast<FunctionObject>(function);
  return script ? std::string(script->code->name->view()) : std::string(type_name(vm, function));
}

// What a hook gives back takes the gradient's place; None leaves it.
jit::TapeTensor call_hook(Vm& vm, const Value& function, const jit::TapeTensor& gradient) {
  BackwardMode mode(vm, gradient.needs_grad());
  const Value given = from_tape(vm, gradient).take();
  const Value result = call(vm, function, {given});
  if (result.is_none()) return gradient;
  TensorObject* replaced = as_tensor(tensor_state(vm), result);
  if (!replaced) raise_type_error(vm, "a hook returns a Tensor or None, not '" + type_name(vm, result) + "'");
  if (replaced->tensor.place().type() != gradient.tensor.place().type())
    throw Error(ErrorKind::RuntimeError, "hook '" + name_of_hook(vm, function) +
                                             "' has changed the type of value (was " + type_text(gradient.tensor) +
                                             " got " + type_text(replaced->tensor) + ")");
  if (!(replaced->tensor.sizes() == gradient.tensor.sizes()))
    throw Error(ErrorKind::RuntimeError, "a hook has changed the size of the gradient: from " +
                                             shape_text(gradient.tensor.sizes()) + " to " +
                                             shape_text(replaced->tensor.sizes()));
  if (replaced->tensor.dtype() != gradient.tensor.dtype())
    throw Error(ErrorKind::RuntimeError, "a hook has changed the dtype of the gradient: from " +
                                             std::string(dtype_name(gradient.tensor.dtype())) + " to " +
                                             std::string(dtype_name(replaced->tensor.dtype())));
  return tape_tensor(vm, replaced);
}

class ScriptHook final : public jit::GradientHook {
 public:
  ScriptHook(Vm& vm, int64_t id, const Value& function) : vm_(vm), id(id), function_(function) {}
  jit::TapeTensor on_gradient(const jit::TapeTensor& gradient) override {
    return call_hook(vm_, function_, jit::in_row_order(gradient));
  }

 private:
  Vm& vm_;

 public:
  const int64_t id;

 private:
  Value function_;
};

// retain_grad: what passes is added to the tensor's `.grad`. It knows the tensor only while that lives, so that the
// history does not own its own results.
class KeepGradient final : public jit::GradientHook {
 public:
  KeepGradient(Vm& vm, std::weak_ptr<TensorObject*> tensor) : vm_(vm), tensor_(std::move(tensor)) {}
  jit::TapeTensor on_gradient(const jit::TapeTensor& gradient) override {
    if (const std::shared_ptr<TensorObject*> alive = tensor_.lock()) {
      jit::TapeTensor kept = jit::run_taped(Op::copy, {&gradient, 1}, {}, {}, gradient.needs_grad()).first;
      if (TensorObject* before = as_tensor(tensor_state(vm_), (*alive)->grad)) {
        const jit::TapeTensor both[] = {tape_tensor(vm_, before), kept};
        kept = jit::run_taped(Op::add, both, {}, {}, both[0].needs_grad() || both[1].needs_grad()).first;
      }
      (*alive)->grad = from_tape(vm_, kept).take();
    }
    return gradient;
  }

 private:
  Vm& vm_;
  std::weak_ptr<TensorObject*> tensor_;
};

// A call of a torch.autograd.Function: its context runs the backward.
class FunctionNode final : public jit::TapeNode {
 public:
  FunctionNode(Vm& vm, const Value& context, std::string name, std::span<const Value> copies)
      : vm_(vm), context_(context), name_(std::move(name)), copies_(copies.begin(), copies.end()) {}

  std::string_view name(uint32_t) const override { return name_; }
  uint32_t outputs() const override { return static_cast<uint32_t>(copies_.size()); }
  void release_saved() override { call_method("_release", {}); }

  void backward(std::span<const jit::TapeTensor> output_gradients, std::span<jit::TapeTensor> input_gradients,
                Pass& pass) override {
    BackwardMode mode(vm_, pass.create_graph());
    const SavedOutputs saved(pass.create_graph() ? this : nullptr);
    std::vector<Value> given;
    for (const jit::TapeTensor& gradient : output_gradients)
      given.push_back(gradient.tensor.defined() ? from_tape(vm_, gradient).take() : Value::none());
    const Value arguments[] = {make_tuple(vm_, given).take()};
    const Value results = call_method("_run_backward", arguments);
    std::span<const Value> gradients = cast<TupleObject>(results)->span();
    for (size_t i = 0; i < gradients.size() && i < input_gradients.size(); ++i)
      if (TensorObject* gradient = as_tensor(tensor_state(vm_), gradients[i]); gradient && edges[i].wanted())
        input_gradients[i] = tape_tensor(vm_, gradient);
  }

 private:
  Value call_method(const char* method, std::span<const Value> arguments) {
    return call(vm_, get_attribute(vm_, context_, method), arguments);
  }

  // While a backward with create_graph runs, the saved outputs are results of this step; at other times they
  // are not, because the history must not own itself.
  class SavedOutputs {
   public:
    explicit SavedOutputs(FunctionNode* node) : node_(node) {
      for (uint32_t i = 0; node_ && i < node_->copies_.size(); ++i)
        if (TensorObject* copy = as_tensor(tensor_state(node_->vm_), node_->copies_[i]))
          copy->history = {Ref<jit::TapeNode>(node_), i};
    }
    ~SavedOutputs() {
      if (!node_) return;
      for (const Value& value : node_->copies_)
        if (TensorObject* copy = as_tensor(tensor_state(node_->vm_), value)) copy->history = {};
    }

   private:
    FunctionNode* node_;
  };

  Vm& vm_;
  Value context_;
  std::string name_;
  std::vector<Value> copies_;
};

LeafHooks& hooks_of(TensorObject* x) {
  if (!x->hooks) x->hooks = std::make_shared<LeafHooks>();
  return *x->hooks;
}

TensorObject* hooked_tensor(Vm& vm, const Value& value) {
  TensorObject* x = expect_tensor(vm, value, "x");
  if (!tape_tensor(vm, x).needs_grad())
    raise(vm, vm.exceptions().RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
  return x;
}

// register_hook(x, function, id)
Value prim_register_hook(Vm& vm, Args& args) {
  TensorObject* x = hooked_tensor(vm, args[0]);
  const int64_t id = to_index(vm, args[2], "id");
  if (x->history.node) {
    // In front of what retain_grad keeps, which is what passes all hooks.
    std::vector<jit::TapeNode::Hook>& hooks = x->history.node->hooks;
    const auto first_kept = std::find_if(hooks.begin(), hooks.end(), [](const jit::TapeNode::Hook& hook) {
      return dynamic_cast<const KeepGradient*>(hook.hook.get()) != nullptr;
    });
    hooks.insert(first_kept, {x->history.output, std::make_shared<ScriptHook>(vm, id, args[1])});
  } else {
    hooks_of(x).before.push_back({id, args[1]});
    note_tensor_store(vm, x, kTensorGradientClass);
  }
  return Value::none();
}

// register_post_hook(x, function, id): of leaves
Value prim_register_post_hook(Vm& vm, Args& args) {
  TensorObject* x = hooked_tensor(vm, args[0]);
  if (x->history.node)
    raise(vm, vm.exceptions().RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors");
  hooks_of(x).after.push_back({to_index(vm, args[2], "id"), args[1]});
  note_tensor_store(vm, x, kTensorGradientClass);
  return Value::none();
}

Value prim_remove_hook(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  const int64_t id = to_index(vm, args[1], "id");
  if (x->hooks) {
    const auto has_id = [id](const LeafHooks::Entry& entry) { return entry.id == id; };
    std::erase_if(x->hooks->before, has_id);
    std::erase_if(x->hooks->after, has_id);
    if (x->hooks->before.empty() && x->hooks->after.empty()) x->hooks.reset();
    note_tensor_store(vm, x, kTensorGradientClass);
  }
  if (x->history.node)
    std::erase_if(x->history.node->hooks, [id](const jit::TapeNode::Hook& hook) {
      const auto* script = dynamic_cast<const ScriptHook*>(hook.hook.get());
      return script && script->id == id;
    });
  return Value::none();
}

Value prim_retain_grad(Vm& vm, Args& args) {
  TensorObject* x = hooked_tensor(vm, args[0]);
  if (!x->history.node || x->alive) return Value::none();
  x->alive = std::make_shared<TensorObject*>(x);
  x->history.node->hooks.push_back({x->history.output, std::make_shared<KeepGradient>(vm, x->alive)});
  return Value::none();
}

Value prim_retains_grad(Vm& vm, Args& args) {
  const TensorObject* x = expect_tensor(vm, args[0], "x");
  return Value::boolean(x->history.node && x->alive);
}

// record_function(context, name, arguments, outputs, copies): one step of the history that gives the outputs,
// tensors that have none; None among them is no result of it. `copies` are the outputs, detached, that the
// context saves, or None.
Value prim_record_function(Vm& vm, Args& args) {
  const std::span<const Value> arguments = cast<TupleObject>(args[2])->span();
  const std::span<const Value> outputs = cast<TupleObject>(args[3])->span();
  auto node =
      make_ref<FunctionNode>(vm, args[0], std::string(text_of(vm, args[1])), cast<TupleObject>(args[4])->span());
  for (const Value& argument : arguments) {
    TensorObject* tensor = as_tensor(tensor_state(vm), argument);
    if (!tensor) {
      node->edges.push_back({});
      continue;
    }
    const jit::TapeTensor taped = tape_tensor(vm, tensor);
    const bool flows = is_differentiable(tensor->tensor.dtype());
    node->edges.push_back(flows ? jit::TapeNode::Edge{taped.history, taped.leaf} : jit::TapeNode::Edge{});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorObject* output = as_tensor(tensor_state(vm), outputs[i]);
    if (!output || !is_differentiable(output->tensor.dtype())) continue;
    output->history = {node, static_cast<uint32_t>(i)};
    ++output->history_version;
    output->history_written = jit::next_sequence();
    note_tensor_store(vm, output, kTensorGradientClass);
  }
  return Value::none();
}

constexpr GradientPrim kPrims[] = {
    {"register_hook", "x, function, id", prim_register_hook},
    {"register_post_hook", "x, function, id", prim_register_post_hook},
    {"remove_hook", "x, id", prim_remove_hook},
    {"retain_grad", "x", prim_retain_grad},
    {"retains_grad", "x", prim_retains_grad},
    {"record_function", "context, name, arguments, outputs, copies", prim_record_function},
};

}  // namespace

jit::TapeTensor call_leaf_hooks(Vm& vm, TensorObject* leaf, const jit::TapeTensor& gradient) {
  const std::shared_ptr<LeafHooks> hooks = leaf->hooks;  // a hook may remove itself
  jit::TapeTensor passed = gradient;
  const std::vector<LeafHooks::Entry> entries = hooks->before;
  for (const LeafHooks::Entry& entry : entries) passed = call_hook(vm, entry.function, passed);
  return passed;
}

void refuse_gradient(Vm& vm, DType gradient, DType tensor) {
  raise(vm, vm.exceptions().RuntimeError,
        "attempting to assign a gradient with dtype '" + std::string(dtype_info(gradient).scalar_name) +
            "' to a tensor with grad_dtype '" + std::string(dtype_info(tensor).scalar_name) +
            "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype).");
}

void call_post_hooks(Vm& vm, TensorObject* leaf) {
  const std::vector<LeafHooks::Entry> entries = leaf->hooks->after;
  BackwardMode mode(vm, false);
  for (const LeafHooks::Entry& entry : entries) call(vm, entry.function, {Value(leaf)});
}

std::span<const GradientPrim> gradient_prims() { return kPrims; }

}  // namespace tsc::interp
