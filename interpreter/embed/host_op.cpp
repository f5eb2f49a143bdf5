// Ops of the host: tensors in, a tensor out, with a shape rule and, if the host has one, a gradient that
// takes part in the script's history.
#include "interpreter/embed/arguments.h"
#include "interpreter/tensor/eager.h"
#include "runtime/kernels/run_op.h"

namespace tsc::embed {
namespace {

using namespace interp;

void check_status(Vm& vm, tsc_status* status) {
  if (status != nullptr) raise_status(vm, status);
}

// Row-major arguments as the host sees them; it must not outlive the tensors.
struct Arguments {
  std::vector<Tensor> tensors;
  std::vector<tsc_tensor_info> infos;

  void add(const Tensor& tensor) {
    tensors.push_back(tensor.is_contiguous() ? tensor : run_op(Op::copy, {&tensor, 1}, {}, {}).first);
  }
  void describe() {
    for (const Tensor& tensor : tensors) {
      tsc_tensor_info info{};
      info.struct_size = sizeof info;
      fill_tensor_info(tensor, info);
      infos.push_back(info);
    }
  }
};

Tensor make_result(Vm& vm, const tsc_host_binding& binding, const Arguments& arguments) {
  const tsc_op& op = binding.op;
  if (op.shape == nullptr) return Tensor::empty(arguments.tensors[0].dtype(), arguments.tensors[0].sizes());
  tsc_dtype dtype = arguments.infos[0].dtype;
  uint32_t rank = 0;
  int64_t sizes[TSC_MAX_RANK] = {};
  check_status(vm,
               op.shape(op.user, binding.engine, arguments.infos.data(), arguments.infos.size(), &dtype, &rank, sizes));
  return Tensor::empty(checked_dtype(dtype), checked_sizes(sizes, rank));
}

// One call of a host's op as a step of the gradient history.
class HostOpNode : public jit::TapeNode {
 public:
  HostOpNode(Vm& vm, const tsc_host_binding& binding, std::span<const Value> arguments, const Value& result)
      : vm_(vm), binding_(binding), saved_(arguments.begin(), arguments.end()) {
    saved_.push_back(result);
    for (const Value& value : saved_) versions_.push_back(cast<TensorObject>(value)->tensor.storage()->version);
  }

  std::string_view name(uint32_t) const override { return "HostOpBackward"; }
  uint32_t outputs() const override { return 1; }
  void release_saved() override { saved_.clear(); }

  void backward(std::span<const jit::TapeTensor> output_gradients, std::span<jit::TapeTensor> input_gradients,
                Pass& pass) override {
    check_saved();
    TensorState& state = tensor_state(vm_);
    struct GradMode {
      TensorState& state;
      bool before;
      ~GradMode() { state.modes.grad_enabled = before; }
    } mode{state, state.modes.grad_enabled};
    state.modes.grad_enabled = pass.create_graph();
    std::vector<tsc_value> values;
    std::vector<tsc_value*> handles;
    for (const Value& value : saved_) values.push_back({binding_.engine, value});
    values.push_back({binding_.engine, from_tape(vm_, output_gradients[0]).take()});
    for (tsc_value& value : values) handles.push_back(&value);
    const size_t count = saved_.size() - 1;
    std::vector<tsc_value*> made(count, nullptr);
    tsc_status* status = binding_.op.gradient(binding_.op.user, binding_.engine, handles.back(), handles.data(), count,
                                              handles[count], made.data());
    OwnedStatus failed(status);
    std::vector<Value> given;
    for (tsc_value* value : made) given.push_back(take_result(binding_.engine, value, values, binding_.name));
    check_status(vm_, failed.release());
    for (size_t i = 0; i < count; ++i)
      if (made[i] != nullptr && edges[i].wanted()) input_gradients[i] = checked_gradient(i, given[i]);
  }

 private:
  void check_saved() const {
    if (saved_.empty())
      throw Error(ErrorKind::RuntimeError, "Trying to backward through the graph a second time: the values saved for " +
                                               binding_.name + " are freed; use retain_graph=True");
    if (binding_.op.gradient == nullptr)
      throw Error(ErrorKind::RuntimeError, "the host's op " + binding_.name +
                                               " has no gradient: call it on detached tensors, "
                                               "or let the host define one");
    for (size_t i = 0; i < saved_.size(); ++i)
      if (cast<TensorObject>(saved_[i])->tensor.storage()->version != versions_[i])
        throw Error(ErrorKind::RuntimeError,
                    "one of the variables needed for gradient computation has been modified by an "
                    "inplace operation: a tensor of the host's op " +
                        binding_.name);
  }

  jit::TapeTensor checked_gradient(size_t index, const Value& value) {
    TensorObject* gradient = as_tensor(tensor_state(vm_), value);
    const Tensor& argument = cast<TensorObject>(saved_[index])->tensor;
    if (gradient == nullptr)
      raise_type_error(vm_, "the gradient of argument " + std::to_string(index) + " of " + binding_.name + " is a '" +
                                type_name(vm_, value) + "', not a Tensor");
    if (gradient->tensor.sizes() != argument.sizes() || gradient->tensor.dtype() != argument.dtype())
      throw Error(ErrorKind::RuntimeError, "the gradient of argument " + std::to_string(index) + " of " +
                                               binding_.name + " is " + shape_text(gradient->tensor.sizes()) + " " +
                                               std::string(dtype_name(gradient->tensor.dtype())) + ", the argument " +
                                               shape_text(argument.sizes()) + " " +
                                               std::string(dtype_name(argument.dtype())));
    return tape_tensor(vm_, gradient);
  }

  Vm& vm_;
  const tsc_host_binding& binding_;  // lives as long as the engine
  std::vector<Value> saved_;         // arguments, then the result
  std::vector<uint32_t> versions_;
};

void record(Vm& vm, const tsc_host_binding& binding, std::span<const Value> arguments,
            const Local<TensorObject>& result) {
  bool wanted = false;
  for (const Value& value : arguments) {
    const TensorObject* tensor = cast<TensorObject>(value);
    wanted |= tensor->needs_grad() || tensor->view;
  }
  if (!wanted || !tensor_state(vm).modes.grad_enabled || !is_differentiable(result->tensor.dtype())) return;
  std::vector<jit::TapeNode::Edge> edges;
  bool any = false;
  for (const Value& value : arguments) {
    const jit::TapeTensor taped = tape_tensor(vm, cast<TensorObject>(value));
    edges.push_back({taped.history, taped.leaf});
    any |= taped.needs_grad();
  }
  if (!any) return;
  // The saved result is another object on the same memory: the history must not own itself.
  const Value detached = make_tensor(vm, result->tensor).take();
  auto node = make_ref<HostOpNode>(vm, binding, arguments, detached);
  node->edges = std::move(edges);
  result->history = {node, 0};
}

Value call_op(Vm& vm, Args& args) {
  const auto& binding = *static_cast<const tsc_host_binding*>(args.callee->pointer);
  const tsc_op& op = binding.op;
  if (args.keyword_count > 0) raise_type_error(vm, binding.name + "() takes no keyword arguments");
  if (args.count != op.argument_count)
    raise_type_error(vm, binding.name + "() takes " + std::to_string(op.argument_count) + " tensors, " +
                             std::to_string(args.count) + " arguments were given");
  Arguments arguments;
  for (const Value& value : args.span())
    arguments.add(expect_tensor(vm, value, ("argument of " + binding.name).c_str())->tensor);
  arguments.describe();
  const Tensor result = make_result(vm, binding, arguments);
  tsc_tensor_info info{};
  info.struct_size = sizeof info;
  fill_tensor_info(result, info);
  check_status(vm, op.run(op.user, binding.engine, arguments.infos.data(), arguments.infos.size(), &info));
  vm.poll();
  Local<TensorObject> object = make_tensor(vm, result);
  record(vm, binding, args.span(), object);
  return object.take();
}

tsc_status* define_op(tsc_engine* engine, const tsc_op* given) {
  return guarded(engine, [&]() -> tsc_status* {
    const tsc_op op = copy_of(required(given, "op"));
    const std::string module = required_dotted_name(op.module, "op.module");
    const std::string name = required_name(op.name, "op.name");
    required(op.run, "op.run");
    if (op.argument_count == 0) return bad_argument("'op.argument_count' is 0: an op takes at least one tensor");
    engine->vm->import_module("torch");
    auto binding = std::make_unique<tsc_host_binding>();
    binding->engine = engine;
    binding->name = name;
    binding->op = op;
    binding->user = op.user;
    Local<NativeFunction> native = make_raw_native(*engine->vm, name, call_op);
    native->pointer = binding.get();
    native->owner = module;
    if (op.doc != nullptr) native->doc = op.doc;
    engine->bindings.push_back(std::move(binding));
    set_module_member(*engine, module, name, native.value());
    engine->bindings.back()->drop = op.drop;
    return nullptr;
  });
}

}  // namespace

void fill_host_op_functions(tsc_api& api) { api.define_op = define_op; }

}  // namespace tsc::embed
