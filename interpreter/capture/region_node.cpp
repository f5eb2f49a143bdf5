// The call of a compiled region as one step of the gradient history: its backward is a region too, compiled
// when it is first asked for.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "interpreter/capture/compiler.h"
#include "interpreter/tensor/eager.h"
#include "jit/autodiff/split.h"
#include "jit/autodiff/taped_region.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

// Which inputs a region uses at all.
std::vector<bool> used_inputs(const jit::Region& region) {
  std::unordered_set<jit::ValueId> used;
  for (const jit::Instruction& instruction : region.body.instructions)
    used.insert(instruction.operands.begin(), instruction.operands.end());
  std::vector<bool> out;
  for (jit::ValueId input : region.body.parameters) out.push_back(used.count(input) != 0);
  return out;
}

// A tensor of the same sizes in the memory of one element.
Tensor shape_of(const Tensor& x) {
  OpAttributes attributes;
  attributes.dtype = x.dtype();
  const Scalar zero = is_floating(x.dtype()) ? Scalar::of_float(0) : Scalar::of_int(0);
  const Tensor element = run_op(Op::full, {}, {&zero, 1}, attributes).first;
  std::vector<Scalar> sizes;
  for (int64_t size : x.sizes()) sizes.push_back(Scalar::of_int(size));
  return run_op(Op::broadcast, {&element, 1}, sizes, {}).first;
}

// The place of an error inside is no line of the script: it is raised where backward() was called.
jit::RunExit run_backward(jit::Executable& executable, std::span<const jit::RunInput> inputs,
                          jit::RunContext& context) {
  try {
    return executable.run(inputs, context);
  } catch (const jit::RunError& error) {
    throw Error(error.error);
  }
}

// Outputs: the results that left with a history, then the saved tensors. The latter get a gradient only from
// the history of a gradient (create_graph), which is a function of them.
class RegionNode : public jit::TapeNode {
 public:
  RegionNode(Compiler& compiler, Vm& vm, const ExitPlan& exit, bool background)
      : compiler_(compiler),
        vm_(vm),
        background_(background),
        split_(exit.backward),
        history_(exit.history),
        freed_(exit.freed),
        all_freed_(exit.history_freed) {}

  // The op that made the output, as on the eager tape.
  std::string_view name(uint32_t output) const override {
    return output < history_->names.size() ? history_->names[output] : "SavedBackward";
  }
  uint32_t outputs() const override {
    return static_cast<uint32_t>(history_->outputs.size() + saved_tensors());
  }
  // Of the ops that the last backward went through; those of others are still good.
  void release_saved() override {
    freed_.insert(last_->saving.begin(), last_->saving.end());
    if (freed_.size() < split_->saving.size()) return;
    for (jit::RunValue& value : saved)
      if (value.tensor.defined()) value.tensor = shape_of(value.tensor);
  }

  // The compiled backward adds up the terms of each input itself where the tape would add them to nothing
  // else in between: no other node has contributed, and no two inputs are the same tensor.
  void see_arrivals(const Arrivals& arrivals) override {
    add_up_ = false;
    std::map<size_t, const Edge*> inputs;  // by wrt value
    bool alone = true, several = false;
    for (size_t i = 0; i < edges.size(); ++i) {
      const auto [first, fresh] = inputs.emplace(split_->parts[i], &edges[i]);
      several |= !fresh;
      alone = alone && !arrivals.has(edges[i]);
    }
    if (!several || !alone) return;
    std::set<std::pair<const void*, uint32_t>> targets;
    for (const auto& [wrt, edge] : inputs) {
      const void* owner = edge->to.node ? static_cast<const void*>(edge->to.node.get()) : edge->leaf.get();
      if (edge->wanted() && !targets.emplace(owner, edge->to.output).second) return;
    }
    add_up_ = true;
  }

  void backward(std::span<const jit::TapeTensor> output_gradients,
                std::span<jit::TapeTensor> input_gradients, bool create_graph) override {
    if (all_freed_) jit::throw_history_freed();
    std::vector<bool> present;
    for (const jit::TapeTensor& gradient : output_gradients) present.push_back(gradient.tensor.defined());
    std::shared_ptr<jit::SplitBackward> split = split_for(present, add_up_ && !create_graph);
    std::vector<jit::TapeTensor> gradients(output_gradients.begin(), output_gradients.end());
    if (!split) {  // the subset needs more than was saved: missing gradients are zeros
      split = split_;
      gradients.resize(history_->outputs.size());
      for (size_t i = 0; i < gradients.size(); ++i)
        if (!present[i]) gradients[i].tensor = zero_gradient(i);
    }
    check_saved(*split);
    last_ = split;
    const std::vector<jit::TapeTensor> found =
        create_graph ? run_taped_backward(*split, gradients) : run_compiled(split, gradients);
    hand_over(*split, found, input_gradients);
  }

  std::vector<jit::RunValue> saved;
  std::vector<Sizes> output_sizes;
  std::vector<DType> output_dtypes;
  std::vector<uint32_t> versions;  // of the saved tensors' memory when they were saved

 private:
  // The contributions of some outputs are a subsequence of those of all of them, and so are the first
  // contributions of the inputs, whose places the sums take.
  void hand_over(const jit::SplitBackward& split, std::span<const jit::TapeTensor> found,
                 std::span<jit::TapeTensor> input_gradients) const {
    size_t edge = 0;
    for (size_t part = 0; part < split.parts.size(); ++part, ++edge) {
      while (edge < split_->parts.size() && split_->parts[edge] != split.parts[part]) ++edge;
      TSC_CHECK(edge < split_->parts.size(), "a region's gradient has no edge");
      input_gradients[edge] = found[part];
    }
  }

  size_t saved_tensors() const {
    size_t count = 0;
    while (count < split_->saved.size() &&
           history_->forward.type(split_->saved[count]).kind == jit::ValueKind::Tensor)
      ++count;
    return count;
  }

  // The backward for exactly the outputs that have a gradient: the others contribute nothing, not zeros.
  std::shared_ptr<jit::SplitBackward> split_for(std::vector<bool> present, bool add_up) {
    const auto results = present.begin() + static_cast<std::ptrdiff_t>(history_->outputs.size());
    const bool all = std::find(present.begin(), results, false) == results;
    const bool any_saved = std::find(results, present.end(), true) != present.end();
    if (all && !any_saved && !add_up) return split_;
    present.push_back(add_up);
    std::shared_ptr<jit::SplitBackward>& made = history_->subsets[present];
    present.pop_back();
    if (!made) try {
      const jit::ValueSet stops(history_->stops.begin(), history_->stops.end()), reachable;
      std::vector<ValueId> outputs = history_->outputs;
      outputs.insert(outputs.end(), split_->saved.begin(),
                     split_->saved.begin() + static_cast<std::ptrdiff_t>(saved_tensors()));
      made = std::make_shared<jit::SplitBackward>(jit::split_backward(
          history_->forward, outputs, history_->wrt, stops, present, &split_->saved, &reachable, add_up));
    } catch (const InternalFault&) {
      if (any_saved) throw;
      return nullptr;
    }
    return made;
  }

  std::vector<jit::TapeTensor> run_compiled(const std::shared_ptr<jit::SplitBackward>& split,
                                            std::span<const jit::TapeTensor> gradients) {
    std::vector<jit::RunInput> inputs;
    for (const jit::RunValue& value : saved) {
      jit::RunInput input;
      if (value.kind == jit::ValueKind::Tensor) input.tensor = &value.tensor;
      input.scalar = value.scalar;
      inputs.push_back(input);
    }
    for (const jit::TapeTensor& gradient : gradients) {
      if (!gradient.tensor.defined()) continue;
      jit::RunInput input;
      input.tensor = &gradient.tensor;
      inputs.push_back(input);
    }
    jit::RunContext context;
    context.rng = &tensor_state(vm_).rng;
    jit::RunExit exit = run_backward(compiler_.backward_executable(split, background_), inputs, context);
    std::vector<jit::TapeTensor> found(exit.live.size());
    for (size_t i = 0; i < found.size(); ++i) found[i].tensor = std::move(exit.live[i].tensor);
    return found;
  }

  // The same, op by op on the tape: a gradient with a history of its own.
  std::vector<jit::TapeTensor> run_taped_backward(const jit::SplitBackward& split,
                                                  std::span<const jit::TapeTensor> gradients) {
    compiler_.report_taped_backward(history_->forward.name);
    std::vector<jit::TapedInput> inputs;
    for (size_t i = 0; i < saved.size(); ++i)
      inputs.push_back({{saved[i].tensor, {}, nullptr}, saved[i].scalar});
    for (size_t i = 0; i < saved_tensors(); ++i) inputs[i].tensor = with_history(i);
    for (const jit::TapeTensor& gradient : gradients)
      if (gradient.tensor.defined()) inputs.push_back({gradient, {}});
    return jit::run_region_taped(split.backward, inputs);
  }

  // An input that was saved is itself; what was made in the region is an output of this node.
  jit::TapeTensor with_history(size_t place) {
    jit::TapeTensor value{saved[place].tensor, {}, nullptr};
    if (!is_floating(history_->forward.type(split_->saved[place]).dtype)) return value;
    const auto wrt = std::find(history_->wrt.begin(), history_->wrt.end(), split_->saved[place]);
    if (wrt == history_->wrt.end()) {
      value.history = {Ref<jit::TapeNode>(this),
                       static_cast<uint32_t>(history_->outputs.size() + place)};
      return value;
    }
    const auto number = static_cast<size_t>(wrt - history_->wrt.begin());
    const auto part = std::find(split_->parts.begin(), split_->parts.end(), number);
    if (part == split_->parts.end()) return value;
    const Edge& edge = edges[static_cast<size_t>(part - split_->parts.begin())];
    value.history = edge.to;
    value.leaf = edge.leaf;
    return value;
  }

  Tensor zero_gradient(size_t output) const {
    std::vector<Scalar> scalars = {Scalar::of_float(0)};
    for (int64_t size : output_sizes[output]) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = output_dtypes[output];
    return run_op(Op::full, {}, scalars, attributes).first;
  }

  void check_saved(const jit::SplitBackward& split) const {
    for (ValueId op : split.saving)
      if (freed_.count(op)) jit::throw_history_freed();
    const std::vector<bool> used = used_inputs(split.backward);
    for (size_t i = 0; i < saved_tensors(); ++i) {
      if (used[i] && saved[i].tensor.storage()->version != versions[i])
        throw Error(ErrorKind::RuntimeError,
                    "one of the variables needed for gradient computation has been modified by an "
                    "inplace operation: a tensor saved by a compiled function was written before "
                    "backward()");
    }
  }

  Compiler& compiler_;
  Vm& vm_;
  const bool background_;
  std::shared_ptr<jit::SplitBackward> split_;
  std::shared_ptr<HistorySource> history_;
  std::shared_ptr<jit::SplitBackward> last_;
  bool add_up_ = false;
  jit::ValueSet freed_;     // see ExitPlan::freed, and by backward() later
  const bool all_freed_;
};

}  // namespace

jit::Executable& Compiler::backward_executable(const std::shared_ptr<jit::SplitBackward>& split,
                                               bool background) {
  CompiledBackward& compiled = backwards_[split.get()];
  if (compiled.of.expired()) {
    jit::CompileOptions options = options_.jit;
    options.background = background;
    compiled = {split, jit::compile(split->backward.clone(), options, report_)};
  }
  return *compiled.code;
}

void Compiler::prepare_history(const Variant& variant, const ExitPlan& exit,
                               Materializer& materializer, std::span<const jit::RunValue> live,
                               const std::vector<Value>& entry) {
  auto node = make_ref<RegionNode>(*this, vm_, exit, variant.background);
  TensorState& state = tensor_state(vm_);
  // One edge per contribution: the tape adds them to those of other nodes one by one, as it would add
  // those of the single operations. Those of leaves made in the region follow when the leaves are built.
  std::vector<jit::TapeTensor> wrt;
  for (uint32_t source : exit.wrt_sources)
    wrt.push_back(tape_tensor(vm_, as_tensor(state, entry[source])));
  wrt.resize(wrt.size() + exit.wrt_objects.size());
  for (size_t place : exit.backward->parts)
    node->edges.push_back({wrt[place].history, wrt[place].leaf});
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

void Compiler::connect_leaves(const ExitPlan& exit, Materializer& materializer) {
  if (!materializer.history()) return;
  for (size_t i = 0; i < exit.wrt_objects.size(); ++i) {
    const Value leaf = materializer.built(exit.wrt_objects[i]);
    if (leaf.is_undefined()) continue;  // nobody can ask for its gradient
    const jit::TapeTensor target = tape_tensor(vm_, cast<TensorObject>(leaf));
    for (size_t edge = 0; edge < exit.backward->parts.size(); ++edge)
      if (exit.backward->parts[edge] == exit.wrt_sources.size() + i)
        materializer.history()->edges[edge].leaf = target.leaf;
  }
}

}  // namespace tsc::interp
