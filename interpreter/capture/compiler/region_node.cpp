// The call of a compiled region as one step of the gradient history: its backward is a region too, compiled
// when it is first asked for.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/compiler/device_runs.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/placement.h"
#include "jit/autodiff/split.h"
#include "jit/autodiff/taped_region.h"
#include "jit/region/liveness.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

// A tensor of the same sizes in the memory of one element.
Tensor shape_of(const Tensor& x) {
  OpAttributes attributes;
  attributes.dtype = x.dtype();
  const Scalar zero = is_floating(x.dtype()) ? Scalar::of_float(0) : Scalar::of_int(0);
  const Tensor element = create_at(x.place(), Op::full, {&zero, 1}, attributes);
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

Place place_of(std::span<const jit::TapeTensor> gradients) {
  for (const jit::TapeTensor& gradient : gradients)
    if (gradient.tensor.defined()) return gradient.tensor.place();
  return {};
}

// Outputs: the results that left with a history, then the saved tensors. The latter get a gradient only from
// the history of a gradient (create_graph), which is a function of them.
class RegionNode : public jit::TapeNode {
 public:
  RegionNode(Compiler& compiler, Vm& vm, const ExitPlan& exit, const CompileSettings& settings, bool background)
      : compiler_(compiler), vm_(vm), settings_(settings), background_(background), split_(exit.backward),
        history_(exit.history), saved_tensors_(count_tensors(exit)), freed_(exit.freed),
        all_freed_(exit.history_freed) {}

  // The op that made the output, as on the eager tape.
  std::string_view name(uint32_t output) const override {
    if (output >= history_->names.size()) return "SavedBackward";
    const auto chosen = chosen_names_.find(output);
    return chosen == chosen_names_.end() ? history_->names[output] : history_->all_names[chosen->second];
  }
  void name_by_branches(const ExitPlan& exit, std::span<const jit::RunValue> live) {
    for (const ExitPlan::ChosenName& one : exit.chosen_names)
      chosen_names_[one.output] = static_cast<size_t>(live[one.number].scalar.i);
  }
  uint32_t outputs() const override { return static_cast<uint32_t>(history_->outputs.size() + saved_tensors()); }
  void move_result(const Tensor& from, const Tensor& to) override {
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (memory_[i] != from.storage()) continue;
      memory_[i] = to.storage();
      versions_[i] = to.storage()->version;
    }
  }

  // Of the ops that the last backward went through; those of others are still good.
  void release_saved() override { release_walked(); }
  void release_walked() override {
    freed_.insert(walked_.begin(), walked_.end());
    if (freed_.size() < split_->saving.size()) return;
    for (jit::RunValue& value : saved)
      if (value.tensor.defined()) value.tensor = shape_of(value.tensor);
  }

  bool flows_within(uint32_t from, uint32_t to) const override {
    if (all_freed_ || output_value(from) == output_value(to)) return false;
    return computed_from(output_value(from)).count(output_value(to)) != 0;
  }
  bool comes_from(uint32_t output, size_t edge) const override {
    return all_freed_ || computed_from(history_->wrt[split_->parts[edge]]).count(output_value(output)) != 0;
  }

  // Values are numbered in the order of the program.
  uint32_t place_within(uint32_t output) const override { return output_value(output); }

  void backward(std::span<const jit::TapeTensor> output_gradients, std::span<jit::TapeTensor> input_gradients,
                Pass& pass) override {
    if (all_freed_) jit::throw_history_freed();
    walked_.clear();
    BackwardRequest request;
    for (const jit::TapeTensor& gradient : output_gradients) refuse_meta_copy(gradient.tensor);
    for (const jit::TapeTensor& gradient : output_gradients) request.present.push_back(gradient.tensor.defined());
    request.inspected.assign(pass.inspected().begin(), pass.inspected().end());
    request.add_up = request.inspected.empty() && !pass.create_graph() && may_add_up(pass);
    for (size_t i = 0; i < edges.size(); ++i)
      if (edges[i].wanted() && !pass.leads_on(edges[i])) request.left_out.insert(split_->parts[i]);
    std::shared_ptr<jit::SplitBackward> split = split_for(request);
    std::vector<jit::TapeTensor> gradients(output_gradients.begin(), output_gradients.end());
    if (!split) {  // the subset needs more than was saved: missing gradients are zeros
      const Place place = place_of(gradients);
      gradients.resize(history_->outputs.size());
      for (size_t i = 0; i < gradients.size(); ++i) {
        if (!request.present[i]) gradients[i].tensor = filled(place, output_sizes[i], output_dtypes[i], 0);
        request.present[i] = true;
      }
      request.add_up = false;
      split = split_for(request);
    }
    const bool by_op = settings_.backend == Backend::Capture || pass.create_graph() || !request.inspected.empty();
    const std::set<size_t> has_arrived = take_arrived(*split, gradients, pass);
    jit::Executable* compiled = by_op ? nullptr : compiler_.runs().backward_executable(split, settings_, background_);
    const std::vector<jit::TapedValue> found =
        compiled ? run_compiled(*compiled, *split, gradients) : run_taped_backward(*split, gradients, pass, by_op);
    walked_ = split->saving;
    hand_over(*split, found, has_arrived, input_gradients);
  }

  std::vector<jit::RunValue> saved;
  std::vector<Sizes> output_sizes;
  std::vector<DType> output_dtypes;
  // Sizes and dtypes of the wrt values.
  std::vector<std::pair<Sizes, DType>> wrt_types;

  // The memory that the next saved tensor was in, as it is now: it must not be written before the backward.
  void keep(const Ref<Storage>& memory) {
    memory_.push_back(memory);
    versions_.push_back(memory ? memory->version : 0);
  }

 private:
  // The contributions of some outputs are a subsequence of those of all of them, and so are the first
  // contributions of the inputs, whose places the sums take. Where no way of a branch that was taken leads to an input,
  // nothing has arrived there, unless other nodes have contributed.
  void hand_over(const jit::SplitBackward& split, std::span<const jit::TapedValue> found,
                 const std::set<size_t>& has_arrived, std::span<jit::TapeTensor> input_gradients) const {
    std::vector<bool> arrives(split.parts.size(), true);
    for (const auto& [part, holds] : split.conditions)
      arrives[part] = found[holds].scalar.i || has_arrived.count(split.parts[part]) != 0;
    size_t edge = 0;
    for (size_t part = 0; part < split.parts.size(); ++part, ++edge) {
      while (edge < split_->parts.size() && split_->parts[edge] != split.parts[part]) ++edge;
      TSC_CHECK(edge < split_->parts.size(), "a region's gradient has no edge");
      if (arrives[part]) input_gradients[edge] = found[part].tensor;
    }
  }

  // Behind the gradients: what has arrived where loops and branches go on from it. A sum that begins with a negative
  // zero is what it is without. The wrt values at which something has.
  std::set<size_t> take_arrived(const jit::SplitBackward& split, std::vector<jit::TapeTensor>& gradients,
                                Pass& pass) const {
    std::set<size_t> found;
    std::erase_if(gradients, [](const jit::TapeTensor& gradient) { return !gradient.tensor.defined(); });
    for (size_t wrt : split.taking) {
      const auto part = std::find(split_->parts.begin(), split_->parts.end(), wrt);
      const bool has_edge = part != split_->parts.end();
      jit::TapeTensor arrived =
          has_edge ? pass.take(edges[static_cast<size_t>(part - split_->parts.begin())]) : jit::TapeTensor();
      if (arrived.tensor.defined()) found.insert(wrt);
      else arrived.tensor = filled(place_of(gradients), wrt_types[wrt].first, wrt_types[wrt].second, -0.0);
      gradients.push_back(std::move(arrived));
    }
    return found;
  }

  size_t saved_tensors() const { return saved_tensors_; }
  static size_t count_tensors(const ExitPlan& exit) {
    size_t count = 0;
    while (count < exit.backward->saved.size() &&
           exit.history->forward.type(exit.backward->saved[count]).kind == jit::ValueKind::Tensor)
      ++count;
    return count;
  }

  const jit::ValueSet& computed_from(ValueId value) const {
    auto place = history_->computed_from.find(value);
    if (place == history_->computed_from.end()) {
      const jit::ValueSet stops(history_->stops.begin(), history_->stops.end());
      place = history_->computed_from.emplace(value, jit::computed_from(history_->forward, {value}, stops)).first;
    }
    return place->second;
  }

  // The compiled backward adds up the terms of each input itself where the tape would add them to nothing
  // else in between: no other node has contributed, and no two inputs are the same tensor.
  bool may_add_up(const Pass& pass) const {
    std::map<size_t, const Edge*> inputs;  // by wrt value
    bool alone = true, several = !split_->taking.empty();
    for (size_t i = 0; i < edges.size(); ++i) {
      const auto [first, fresh] = inputs.emplace(split_->parts[i], &edges[i]);
      several |= !fresh;
      alone = alone && !pass.has_arrived(edges[i]);
    }
    if (!several || !alone) return false;
    std::set<std::pair<const void*, uint32_t>> targets;
    for (const auto& [wrt, edge] : inputs) {
      const void* owner = edge->to.node ? static_cast<const void*>(edge->to.node.get()) : edge->leaf.get();
      if (edge->wanted() && !targets.emplace(owner, edge->to.output).second) return false;
    }
    return true;
  }

  ValueId output_value(uint32_t output) const {
    const size_t results = history_->outputs.size();
    return output < results ? history_->outputs[output] : split_->saved[output - results];
  }

  // The backward for exactly the outputs that have a gradient: the others contribute nothing, not zeros.
  std::shared_ptr<jit::SplitBackward> split_for(const BackwardRequest& request) {
    const auto results = request.present.begin() + static_cast<std::ptrdiff_t>(history_->outputs.size());
    const bool all = std::find(request.present.begin(), results, false) == results;
    const bool any_saved = std::find(results, request.present.end(), true) != request.present.end();
    if (all && !any_saved && !request.add_up && request.inspected.empty() && request.left_out.empty()) return split_;
    constexpr size_t kMostMade = 64;
    if (history_->made.size() >= kMostMade && !history_->made.count(request)) history_->made.clear();
    std::shared_ptr<jit::SplitBackward>& made = history_->made[request];
    if (!made) try {
        const jit::ValueSet stops(history_->stops.begin(), history_->stops.end()), reachable;
        std::vector<ValueId> outputs = history_->outputs, wrt = history_->wrt;
        outputs.insert(outputs.end(), split_->saved.begin(),
                       split_->saved.begin() + static_cast<std::ptrdiff_t>(saved_tensors()));
        jit::InspectedValues inspected;
        for (const auto& [output, is_wanted] : request.inspected) {
          inspected.all.insert(output_value(output));
          if (is_wanted) inspected.wanted.insert(output_value(output));
        }
        for (size_t left_out : request.left_out) wrt[left_out] = kNoValue;
        made = std::make_shared<jit::SplitBackward>(jit::split_backward(history_->forward, outputs, wrt, stops,
                                                                        request.present, &split_->saved, &reachable,
                                                                        request.add_up, inspected));
      } catch (const InternalFault&) {
        if (any_saved || all) throw;
        return nullptr;
      }
    return made;
  }

  std::vector<jit::TapedValue> run_compiled(jit::Executable& compiled, const jit::SplitBackward& split,
                                            std::span<const jit::TapeTensor> gradients) {
    check_saved(split, 0);
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
    context.rng = &rng_of(tensor_state(vm_), gradients.empty() ? Place() : place_of(gradients));
    jit::RunExit exit = run_backward(compiled, inputs, context);
    std::vector<jit::TapedValue> found;
    for (jit::RunValue& value : exit.live) found.push_back({{std::move(value.tensor), {}, nullptr}, value.scalar});
    return found;
  }

  // The same, op by op on the tape: gradients with a history of their own, or some that somebody looks at on the way,
  // which `asked` for it; else what the compiler fails at.
  std::vector<jit::TapedValue> run_taped_backward(const jit::SplitBackward& split,
                                                  std::span<const jit::TapeTensor> gradients, Pass& pass, bool asked) {
    if (asked && settings_.backend != Backend::Capture)
      compiler_.reports().report_taped_backward(history_->forward.name, pass.create_graph());
    std::vector<jit::TapedValue> inputs;
    for (size_t i = 0; i < saved.size(); ++i) inputs.push_back({{saved[i].tensor, {}, nullptr}, saved[i].scalar});
    for (size_t i = 0; pass.create_graph() && i < saved_tensors(); ++i) inputs[i].tensor = with_history(i);
    for (const jit::TapeTensor& gradient : gradients)
      if (gradient.tensor.defined()) inputs.push_back({gradient, {}});
    // As on the eager tape, an error comes behind the hooks of what is later in the program.
    jit::Inspected inspected;
    for (size_t i = 0; i < split.inspected.size(); ++i)
      inspected[split.inspected[i].gradient] = {
          [this, i, &split, &pass](const jit::TapeTensor& gradient, bool arrives) {
            const ValueId value = split.inspected[i].value;
            walked_.clear();
            for (ValueId made : split.saving)
              if (made > value) walked_.push_back(made);
            jit::TapeTensor shown = gradient;
            for (const Pass::Inspected& seen : pass.inspected())
              if (arrives && output_value(seen.output) == value) shown = pass.inspect(seen.output, shown);
            check_saved(split, i + 1);
            return shown;
          },
          split.inspected[i].holds};
    check_saved(split, 0);
    return jit::run_region_taped(split.backward, inputs, inspected);
  }

  // An input that was saved is itself; what was made in the region of inputs with a gradient is an output of this node.
  jit::TapeTensor with_history(size_t place) {
    jit::TapeTensor value{saved[place].tensor, {}, nullptr};
    if (!is_differentiable(history_->forward.type(split_->saved[place]).dtype)) return value;
    const auto& results = history_->outputs;
    if (const auto result = std::find(results.begin(), results.end(), split_->saved[place]); result != results.end()) {
      value.history = {Ref<jit::TapeNode>(this), static_cast<uint32_t>(result - results.begin())};
      return value;
    }
    const auto wrt = std::find(history_->wrt.begin(), history_->wrt.end(), split_->saved[place]);
    if (wrt == history_->wrt.end()) {
      const auto output = static_cast<uint32_t>(history_->outputs.size() + place);
      for (size_t edge = 0; edge < edges.size(); ++edge)
        if (edges[edge].wanted() && comes_from(output, edge)) value.history = {Ref<jit::TapeNode>(this), output};
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

  static Tensor filled(Place place, const Sizes& sizes, DType dtype, double number) {
    std::vector<Scalar> scalars = {Scalar::of_float(number)};
    for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = dtype;
    return create_at(place, Op::full, scalars, attributes);
  }

  // Errors of the ops that the backward goes through, from the inspected gradient before number `part` (0: the start)
  // to that with this number (none: the end).
  void check_saved(const jit::SplitBackward& split, size_t part) const {
    const std::vector<jit::InspectedGradient>& seen = split.inspected;
    const auto value_of = [&](size_t number) { return seen[number].value; };
    const bool first = part == 0, last = part == seen.size();
    for (ValueId made : split.saving)
      if (freed_.count(made) && (first || made <= value_of(part - 1)) && (last || made > value_of(part)))
        jit::throw_history_freed();
    const auto [begin, end] =
        between(split, first ? kNoValue : seen[part - 1].gradient, last ? kNoValue : seen[part].gradient);
    std::unordered_set<jit::ValueId> used;
    for (size_t i = begin; i < end; ++i) note_used(split, split.backward.body.instructions[i], &used);
    if (first)
      for (size_t place : split.checked) used.insert(split.backward.body.parameters[place]);
    for (size_t i = 0; i < saved_tensors(); ++i) {
      if (used.count(split.backward.body.parameters[i]) && memory_[i]->version != versions_[i])
        throw Error(ErrorKind::RuntimeError,
                    "one of the variables needed for gradient computation has been modified by an "
                    "inplace operation: a tensor saved by a compiled function was written before "
                    "backward(). Hint: write to a clone() instead. A compiled function keeps its arguments "
                    "and results in place of what is cheap to compute from them again");
    }
  }
  // Of a branch by a saved condition, what the way that is taken reads.
  void note_used(const jit::SplitBackward& split, const jit::Instruction& instruction,
                 std::unordered_set<jit::ValueId>* used) const {
    const std::vector<ValueId>& inputs = split.backward.body.parameters;
    const auto condition = instruction.code == jit::Code::If
                               ? std::find(inputs.begin(), inputs.end(), instruction.operands[0])
                               : inputs.end();
    const auto place = static_cast<size_t>(condition - inputs.begin());
    if (condition == inputs.end() || place >= saved.size())
      return jit::for_each_use(instruction, [&](ValueId value) { used->insert(value); });
    for (const jit::Instruction& inner : instruction.blocks[saved[place].scalar.i ? 0 : 1]->instructions)
      jit::for_each_use(inner, [&](ValueId value) { used->insert(value); });
  }
  // The instructions from that of one value to that of another; kNoValue: from the beginning, to the end.
  static std::pair<size_t, size_t> between(const jit::SplitBackward& split, ValueId from, ValueId to) {
    const std::vector<jit::Instruction>& code = split.backward.body.instructions;
    size_t begin = 0, end = code.size();
    for (size_t i = 0; i < code.size(); ++i) {
      if (code[i].results.empty()) continue;
      if (code[i].results[0] == from) begin = i;
      if (code[i].results[0] == to) end = i;
    }
    return {begin, end};
  }

  Compiler& compiler_;
  Vm& vm_;
  const CompileSettings& settings_;
  const bool background_;
  std::shared_ptr<jit::SplitBackward> split_;
  std::shared_ptr<HistorySource> history_;
  std::unordered_map<uint32_t, size_t> chosen_names_;
  const size_t saved_tensors_;
  std::vector<Ref<Storage>> memory_;  // of the saved tensors, with its versions when they were saved
  std::vector<uint32_t> versions_;
  std::vector<ValueId> walked_;  // by the last backward: first results of ops whose rules read saved values
  jit::ValueSet freed_;          // see ExitPlan::freed, and by backward() later
  const bool all_freed_;
};

}  // namespace

namespace {

// The memory of the inputs that the region has written.
std::vector<const Storage*> written_memory(TensorState& state, const RegionPlan& plan,
                                           const std::vector<Value>& entry) {
  std::vector<const Storage*> written;
  for (uint32_t source : plan.written_sources)
    if (TensorObject* tensor = as_tensor(state, entry[source])) written.push_back(tensor->tensor.storage().get());
  return written;
}

}  // namespace

jit::Executable* RegionRuns::backward_executable(const std::shared_ptr<jit::SplitBackward>& split,
                                                 const CompileSettings& settings, bool background) {
  CompiledBackward& compiled = backwards_[split.get()];
  if (!compiled.of.expired()) return compiled.code.get();
  compiled = {split, nullptr};
  try {
    compiled.code =
        with_devices(jit::compile(split->backward.clone(), requests_.jit_options(settings, background), report_), {});
  } catch (const InternalFault& fault) {
    reports_.report_fallback(split->backward, fault.what());
  }
  return compiled.code.get();
}

void RegionRuns::prepare_history(const Variant& variant, const ExitPlan& exit, Materializer& materializer,
                                 std::span<const jit::RunValue> live, const std::vector<Value>& entry) {
  auto node = make_ref<RegionNode>(compiler_, vm_, exit, *variant.settings, variant.background);
  node->name_by_branches(exit, live);
  TensorState& state = tensor_state(vm_);
  // One edge per contribution: the tape adds them to those of other nodes one by one, as it would add
  // those of the single operations. Those of leaves made in the region follow when the leaves are built.
  std::vector<jit::TapeTensor> wrt;
  for (uint32_t source : exit.wrt_sources) wrt.push_back(tape_tensor(vm_, as_tensor(state, entry[source])));
  wrt.resize(wrt.size() + exit.wrt_objects.size());
  for (size_t place : exit.backward->parts) node->edges.push_back({wrt[place].history, wrt[place].leaf});
  for (const jit::TapeTensor& tensor : wrt)
    node->wrt_types.push_back(tensor.tensor.defined() ? std::pair(tensor.tensor.sizes(), tensor.tensor.dtype())
                                                      : std::pair(Sizes(), DType::F32));
  const std::vector<const Storage*> written = written_memory(state, variant.plan, entry);
  for (size_t i = 0; i < exit.saved_live.size(); ++i) {
    node->saved.push_back(live[exit.saved_live[i]]);
    Tensor& tensor = node->saved.back().tensor;
    const uint32_t input = exit.saved_inputs[i];
    const bool is_input = input != Virtual::kMadeHere;
    // A region that writes a result into an input need not keep it anywhere else.
    if (tensor.defined() && !is_input &&
        std::find(written.begin(), written.end(), tensor.storage().get()) != written.end())
      tensor = run_op(Op::copy, {&tensor, 1}, {}, {}).first;
    node->keep(is_input ? as_tensor(state, entry[input])->tensor.storage() : tensor.storage());
  }
  for (uint32_t place : exit.history_live) {
    node->output_sizes.push_back(live[place].tensor.sizes());
    node->output_dtypes.push_back(live[place].tensor.dtype());
  }
  materializer.set_history(node, exit.history_objects);
}

void RegionRuns::connect_leaves(const ExitPlan& exit, Materializer& materializer) {
  if (!materializer.history()) return;
  for (size_t i = 0; i < exit.wrt_objects.size(); ++i) {
    const Value leaf = materializer.built(exit.wrt_objects[i]);
    if (leaf.is_undefined()) continue;  // nobody can ask for its gradient
    const jit::TapeTensor target = tape_tensor(vm_, cast<TensorObject>(leaf));
    static_cast<RegionNode&>(*materializer.history()).wrt_types[exit.wrt_sources.size() + i] = {target.tensor.sizes(),
                                                                                                target.tensor.dtype()};
    for (size_t edge = 0; edge < exit.backward->parts.size(); ++edge)
      if (exit.backward->parts[edge] == exit.wrt_sources.size() + i)
        materializer.history()->edges[edge].leaf = target.leaf;
  }
}

}  // namespace tsc::interp
