// The objects that scripts see as `grad_fn`, and the functions that give a step of the history the name, the inputs and
// the saved tensors of the library function that it ends.
#include <algorithm>

#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/call.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/operations.h"

namespace tsc::interp {
namespace {

constexpr const char* kAccumulate = "AccumulateGrad";

// A step, or the place where a leaf collects its gradient.
struct NodeObject : Object {
  static constexpr Kind kKind = Kind::Native;
  Ref<jit::TapeNode> node;
  uint32_t output = 0;
  Local<TensorObject> leaf;
  NodeObject() : Object(Kind::Native) {}
};

NodeObject* self_of(const Value& v) { return static_cast<NodeObject*>(v.object()); }

void destroy_node(Vm& vm, Object* object) {
  NodeObject* x = static_cast<NodeObject*>(object);
  if (x->node && x->node->notes && x->node->notes->script_object == x) x->node->notes->script_object = nullptr;
  vm.heap().finish(x);
}

void traverse_node(Object* object, Visitor& visit) { visit(static_cast<NodeObject*>(object)->leaf.get()); }

std::string name_of(const NodeObject* x) {
  if (!x->node) return "torch::autograd::AccumulateGrad";
  std::string name(jit::shown_name(*x->node, x->output));
  return name == "CopySlices" || name == "CopyBackwards" ? "torch::autograd::" + name : name;
}

Value node_repr(Vm& vm, const Value& self) {
  char place[32];
  std::snprintf(place, sizeof place, "%p", static_cast<void*>(self.object()));
  return str_value(vm, "<" + self.object()->type->name + " object at " + place + ">");
}

Value node_name(Vm& vm, Args& args) { return str_value(vm, name_of(self_of(args[0]))); }

// The operand of a step that PyTorch counts among no gradients' inputs: an index or a condition.
size_t index_operand(std::string_view name) {
  if (name == "WhereBackward0") return 0;
  for (std::string_view indexed :
       {"GatherBackward0", "ScatterBackward0", "ScatterAddBackward0", "IndexSelectBackward0", "IndexAddBackward0"})
    if (name == indexed) return 1;
  return SIZE_MAX;
}

Value node_next(Vm& vm, const Value& self) {
  const NodeObject* x = self_of(self);
  if (!x->node) return make_tuple(vm, size_t{0}).take();
  std::vector<Value> pairs;
  const std::span<const jit::TapeNode::Edge> edges = jit::shown_edges(*x->node);
  const size_t hidden = index_operand(name_of(x));
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i == hidden && !edges[i].wanted() && edges.size() > 1) continue;
    const jit::TapeNode::Edge& edge = edges[i];
    const Value pair[] = {grad_node(vm, {{}, edge.to, edge.leaf}), Value::integer(edge.to.node ? edge.to.output : 0)};
    pairs.push_back(make_tuple(vm, pair).take());
  }
  return make_tuple(vm, pairs).take();
}

Value node_variable(Vm& vm, const Value& self) {
  const NodeObject* x = self_of(self);
  if (!x->leaf) raise(vm, vm.exceptions().AttributeError, "'" + x->type->name + "' object has no attribute 'variable'");
  return x->leaf.value();
}

Value node_metadata(Vm& vm, const Value& self) {
  const NodeObject* x = self_of(self);
  if (!x->node) return make_dict(vm).take();
  jit::NodeNotes& notes = jit::notes_of(*x->node);
  if (!notes.metadata) notes.metadata = std::make_shared<Value>(make_dict(vm).take());
  return *static_cast<Value*>(notes.metadata.get());
}

Value tuple_of(Vm& vm, std::span<const jit::TapeTensor> gradients) {
  std::vector<Value> items;
  for (const jit::TapeTensor& gradient : gradients)
    items.push_back(gradient.tensor.defined() ? from_tape(vm, jit::in_row_order(gradient)).take() : Value::none());
  return make_tuple(vm, items).take();
}

// What a hook gives back takes the place of the gradients.
void take_back(Vm& vm, const Value& given, std::span<jit::TapeTensor> gradients) {
  if (given.is_none()) return;
  const Local<TupleObject> items =
      as_tensor(tensor_state(vm), given) ? make_tuple(vm, {&given, 1}) : to_tuple(vm, given);
  if (items->size != gradients.size())
    raise(
        vm, vm.exceptions().RuntimeError,
        "hook returned " + std::to_string(items->size) + " gradients in place of " + std::to_string(gradients.size()));
  for (size_t i = 0; i < gradients.size(); ++i) {
    TensorObject* replaced = as_tensor(tensor_state(vm), items->items[i]);
    gradients[i] = replaced ? tape_tensor(vm, replaced) : jit::TapeTensor{};
  }
}

class ScriptNodeHook final : public jit::NodeHook {
 public:
  ScriptNodeHook(Vm& vm, bool in_front, const Value& function) : vm_(vm), in_front_(in_front), function_(function) {}
  void before(std::vector<jit::TapeTensor>& gradients) override {
    if (in_front_) take_back(vm_, call(vm_, function_, {tuple_of(vm_, gradients)}), gradients);
  }
  void after(std::vector<jit::TapeTensor>& inputs, std::span<const jit::TapeTensor> outputs) override {
    if (!in_front_) take_back(vm_, call(vm_, function_, {tuple_of(vm_, inputs), tuple_of(vm_, outputs)}), inputs);
  }

 private:
  Vm& vm_;
  bool in_front_;
  Value function_;
};

// What takes a hook of a node away again; also a context manager that does so at its end.
struct NodeHandle : Object {
  Ref<jit::TapeNode> node;
  const jit::NodeHook* hook = nullptr;
  NodeHandle() : Object(Kind::Native) {}
};
Value handle_remove(Vm&, Args& args) {
  NodeHandle* handle = static_cast<NodeHandle*>(args[0].object());
  if (handle->node && handle->node->notes)
    std::erase_if(handle->node->notes->hooks,
                  [handle](const std::shared_ptr<jit::NodeHook>& hook) { return hook.get() == handle->hook; });
  handle->node = {};
  return Value::none();
}
Value handle_enter(Vm&, Args& args) { return args[0]; }

Type* handle_type(Vm& vm) {
  AutogradState& state = autograd_state(vm);
  Type*& known = state.node_types["RemovableHandle"];
  if (known) return known;
  TypeBuilder type(vm, "RemovableHandle", Kind::Native);
  type.attribute("__module__", str_value(vm, "torch.utils.hooks"));
  type.slots().destroy = destroy_as<NodeHandle>;
  type.method("remove", "self", handle_remove)
      .method("__enter__", "self", handle_enter)
      .method("__exit__", "self, kind, value, traceback", handle_remove);
  return known = type.finish();
}

Value add_hook(Vm& vm, NodeObject* x, const Value& function, bool in_front) {
  if (!x->node)
    raise(vm, vm.exceptions().NotImplementedError,
          "hooks of AccumulateGrad: use Tensor.register_hook or register_post_accumulate_grad_hook");
  if (!in_front && x->node->notes && x->node->notes->has_next && x->node->notes->next.size() != x->node->edges.size())
    raise(vm, vm.exceptions().NotImplementedError,
          "register_hook of " + name_of(x) +
              ": the library records several steps for this function; use "
              "Tensor.register_hook on its arguments");
  auto hook = std::make_shared<ScriptNodeHook>(vm, in_front, function);
  Local<NodeHandle> handle = vm.heap().make<NodeHandle>(handle_type(vm));
  handle->node = x->node;
  handle->hook = hook.get();
  jit::notes_of(*x->node).hooks.push_back(std::move(hook));
  return handle.take();
}
Value node_register_hook(Vm& vm, Args& args) { return add_hook(vm, self_of(args[0]), args[1], false); }
Value node_register_prehook(Vm& vm, Args& args) { return add_hook(vm, self_of(args[0]), args[1], true); }
Type* base_type(Vm& vm) {
  AutogradState& state = autograd_state(vm);
  if (state.node_type) return state.node_type;
  TypeBuilder type(vm, "Node", Kind::Native);
  type.attribute("__module__", str_value(vm, "torch.autograd.graph"));
  type.slots().destroy = destroy_node;
  type.slots().traverse = traverse_node;
  type.slots().repr = node_repr;
  type.method("name", "self", node_name)
      .method("register_hook", "self, fn", node_register_hook)
      .method("register_prehook", "self, fn", node_register_prehook);
  type.getter("next_functions", node_next).getter("metadata", node_metadata);
  return state.node_type = type.finish();
}

Type* type_named(Vm& vm, const std::string& name) {
  AutogradState& state = autograd_state(vm);
  Type* base = base_type(vm);
  Type*& type = state.node_types[name];
  if (!type) {
    TypeBuilder builder(vm, name, Kind::Native, base);
    if (name == kAccumulate) builder.getter("variable", node_variable);
    type = builder.finish();
  }
  return type;
}

Value prim_node_type(Vm& vm, Args&) { return Value(base_type(vm)); }

// gradient_edge(x) -> (node, number of the output)
Value prim_gradient_edge(Vm& vm, Args& args) {
  const jit::TapeTensor taped = tape_tensor(vm, without_batches(expect_tensor(vm, args[0], "x")));
  const Value both[] = {grad_node(vm, taped), Value::integer(taped.history.output)};
  return make_tuple(vm, both).take();
}

Value prim_backward_number(Vm&, Args&) { return Value::integer(static_cast<int64_t>(jit::running_pass())); }
Value prim_backward_reaches(Vm& vm, Args& args) {
  return Value::boolean(jit::running_pass_reaches(tape_tensor(vm, expect_tensor(vm, args[0], "x"))));
}

std::string maker_name(const jit::TapeTensor& of) {
  return of.history.node ? std::string(jit::shown_name(*of.history.node, of.history.output)) : std::string();
}

// saved(x): x, which the function around needs as it is now; step() tells the eager history, this the compiler.
Value prim_saved(Vm&, Args& args) { return args[0]; }

// step(y, name, inputs, saves): y, as the result of a function that PyTorch records as one step of this name, which
// saves these tensors, y or inputs.
Value prim_step(Vm& vm, Args& args) {
  TensorObject* y = as_tensor(tensor_state(vm), args[0]);
  if (!y || !tensor_state(vm).modes.grad_enabled) return args[0];
  y = without_batches(y);
  const Ref<jit::TapeNode> node = y->history.node;
  if (!node) return args[0];
  std::vector<jit::TapeNode::Edge> next;
  for (const Value& input : cast<TupleObject>(args[2])->span()) {
    TensorObject* x = as_tensor(tensor_state(vm), input);
    if (!x) {
      next.push_back({});
      continue;
    }
    const jit::TapeTensor taped = tape_tensor(vm, without_batches(x));
    if (taped.history.node.get() == node.get()) return args[0];  // it was given back unchanged
    next.push_back(is_differentiable(x->tensor.dtype()) ? jit::TapeNode::Edge{taped.history, taped.leaf}
                                                        : jit::TapeNode::Edge{});
  }
  jit::NodeNotes& notes = jit::notes_of(*node);
  notes.name = std::string(text_of(vm, args[1]));
  notes.has_next = true;
  notes.next = std::move(next);
  if (jit::SavedHooksScope::current() || !cast<TupleObject>(args[3])->size) return args[0];
  const AutogradState* state = tensor_state(vm).autograd.get();
  if (state && !state->saved_hooks.empty()) return args[0];
  for (const Value& saved : cast<TupleObject>(args[3])->span()) {
    TensorObject* x = as_tensor(tensor_state(vm), saved);
    if (!x) continue;
    const jit::TapeTensor taped = tape_tensor(vm, without_batches(x));
    const Tensor& tensor = taped.tensor;
    notes.checks.push_back({tensor, tensor.storage()->version, maker_name(taped), taped.history.output});
  }
  return args[0];
}

constexpr GradientPrim kPrims[] = {
    {"node_type", "", prim_node_type},
    {"gradient_edge", "x", prim_gradient_edge},
    {"backward_number", "", prim_backward_number},
    {"backward_reaches", "x", prim_backward_reaches},
    {"saved", "x", prim_saved},
    {"step", "y, name, inputs, saves", prim_step},
};

}  // namespace

Value grad_node(Vm& vm, const jit::TapeTensor& of) {
  if (!of.history.node) {
    TensorObject* leaf = of.leaf ? leaf_object(of.leaf.get()) : nullptr;
    if (!leaf) return Value::none();
    Local<NodeObject> object = vm.heap().make<NodeObject>(type_named(vm, kAccumulate));
    object->leaf = Local<TensorObject>(leaf);
    return object.take();
  }
  jit::NodeNotes& notes = jit::notes_of(*of.history.node);
  NodeObject* known = static_cast<NodeObject*>(notes.script_object);
  if (known && known->output == of.history.output) return Value(static_cast<Object*>(known));
  const std::string name(jit::shown_name(*of.history.node, of.history.output));
  Local<NodeObject> object = vm.heap().make<NodeObject>(type_named(vm, name));
  object->node = of.history.node;
  object->output = of.history.output;
  notes.script_object = object.get();
  return object.take();
}

std::span<const GradientPrim> node_prims() { return kPrims; }

}  // namespace tsc::interp
