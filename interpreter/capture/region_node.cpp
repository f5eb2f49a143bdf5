// The call of a compiled region as one step of the gradient history: its backward is a region too, compiled
// when it is first asked for.
#include "interpreter/capture/compiler.h"
#include "interpreter/tensor/eager.h"
#include "jit/autodiff/split.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

class RegionNode : public jit::TapeNode {
 public:
  RegionNode(Compiler& compiler, Vm& vm, std::shared_ptr<jit::SplitBackward> split)
      : compiler_(compiler), vm_(vm), split_(std::move(split)) {}

  std::string_view name() const override { return "CompiledBackward"; }
  uint32_t outputs() const override { return static_cast<uint32_t>(output_sizes.size()); }
  void release_saved() override {
    saved.clear();
    released_ = true;
  }

  void backward(std::span<const jit::TapeTensor> output_gradients,
                std::span<jit::TapeTensor> input_gradients, bool create_graph) override {
    if (released_)
      throw Error(ErrorKind::RuntimeError,
                  "Trying to backward through the graph a second time (or directly access saved tensors "
                  "after they have already been freed). Specify retain_graph=True if you need to "
                  "backward through the graph a second time");
    for (size_t i = 0; i < saved.size(); ++i)
      if (saved[i].tensor.defined() && saved[i].tensor.storage()->version != versions[i])
        throw Error(ErrorKind::RuntimeError,
                    "one of the variables needed for gradient computation has been modified by an inplace "
                    "operation: a tensor saved by a compiled function was written before backward()");
    if (create_graph)
      throw Error(ErrorKind::RuntimeError,
                  "create_graph=True is not supported through a compiled function; call it uncompiled");
    std::vector<Tensor> gradients;
    for (size_t i = 0; i < output_gradients.size(); ++i)
      gradients.push_back(output_gradients[i].tensor.defined() ? output_gradients[i].tensor
                                                               : zeros(i));
    std::vector<jit::RunInput> inputs;
    for (const jit::RunValue& value : saved) {
      jit::RunInput input;
      if (value.kind == jit::ValueKind::Tensor) input.tensor = &value.tensor;
      input.scalar = value.scalar;
      inputs.push_back(input);
    }
    for (const Tensor& gradient : gradients) {
      jit::RunInput input;
      input.tensor = &gradient;
      inputs.push_back(input);
    }
    jit::RunContext context;
    context.rng = &tensor_state(vm_).rng;
    jit::RunExit exit = compiler_.backward_executable(split_).run(inputs, context);
    for (size_t i = 0; i < input_gradients.size(); ++i)
      if (split_->gradients[i] >= 0)
        input_gradients[i].tensor = exit.live[static_cast<size_t>(split_->gradients[i])].tensor;
  }

  std::vector<jit::RunValue> saved;
  std::vector<uint32_t> versions;  // of the saved tensors' memory when they were saved
  std::vector<Sizes> output_sizes;
  std::vector<DType> output_dtypes;

 private:
  Tensor zeros(size_t output) const {
    std::vector<Scalar> scalars = {Scalar::of_float(0)};
    for (int64_t size : output_sizes[output]) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = output_dtypes[output];
    return run_op(Op::full, {}, scalars, attributes).first;
  }

  Compiler& compiler_;
  Vm& vm_;
  std::shared_ptr<jit::SplitBackward> split_;
  bool released_ = false;
};

}  // namespace

jit::Executable& Compiler::backward_executable(const std::shared_ptr<jit::SplitBackward>& split) {
  std::unique_ptr<jit::Executable>& executable = backwards_[split.get()];
  if (!executable) executable = jit::compile(split->backward.clone(), options_.jit, report_);
  return *executable;
}

void Compiler::prepare_history(const ExitPlan& exit, Materializer& materializer,
                               std::span<const jit::RunValue> live, const std::vector<Value>& entry) {
  auto node = make_ref<RegionNode>(*this, vm_, exit.backward);
  TensorState& state = tensor_state(vm_);
  for (uint32_t source : exit.wrt_sources) {
    jit::TapeTensor input = tape_tensor(vm_, as_tensor(state, entry[source]));
    node->edges.push_back({input.history, input.leaf});
  }
  for (uint32_t place : exit.saved_live) {
    node->saved.push_back(live[place]);
    const Tensor& tensor = live[place].tensor;
    node->versions.push_back(tensor.defined() ? tensor.storage()->version : 0);
  }
  for (uint32_t place : exit.history_live) {
    node->output_sizes.push_back(live[place].tensor.sizes());
    node->output_dtypes.push_back(live[place].tensor.dtype());
  }
  materializer.set_history(node, exit.history_objects);
}

}  // namespace tsc::interp
