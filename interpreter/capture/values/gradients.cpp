#include "interpreter/capture/values/gradients.h"

#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/writes.h"
#include "jit/autodiff/gradient.h"
#include "jit/autodiff/rules.h"
#include "jit/autodiff/split.h"
#include "jit/region/choices.h"
#include "jit/region/liveness.h"

namespace tsc::interp {

// `x += y` keeps x's dtype and shape, or raises.
void Gradients::check_in_place(VTensor& target, const Av& result) {
  const jit::Type& own = region_.type(tensors_.current(target));
  const jit::Type& made = region_.type(tensors_.tensor_of(result)->id);
  bool fits = category_of(made.dtype) <= category_of(own.dtype) && made.sizes.size() == own.sizes.size();
  for (size_t i = 0; fits && i < own.sizes.size(); ++i) fits = builder_.known_equal(own.sizes[i], made.sizes[i]);
  if (!fits) break_here(BreakReason::raises, "in-place result does not fit");
}

// A backward() has used up the history of `loss`: what gradients have gone through. What leads elsewhere stays.
void Gradients::forget_history(ValueId loss) {
  jit::ValueSet used = {loss};
  const jit::ValueSet stops(no_grad_values_.begin(), no_grad_values_.end());
  const std::vector<jit::Instruction>& code = region_.body.instructions;
  for (size_t i = code.size(); i-- > 0;) {
    if (code[i].blocks.empty() && (code[i].code != jit::Code::Op || !jit::is_differentiable(code[i].op))) continue;
    const bool leads = std::any_of(code[i].results.begin(), code[i].results.end(),
                                   [&](ValueId result) { return used.count(result) && !stops.count(result); });
    if (leads) jit::for_each_use(code[i], [&](ValueId operand) { used.insert(operand); });
  }
  for (const auto& [tensor, result] : in_history_) tensor->in_history = false;
  std::erase_if(in_history_, [&](const auto& entry) { return used.count(entry.second) != 0; });
  for (const auto& [tensor, result] : in_history_) tensor->in_history = true;
}

// What a gradient begins with: the one that is given, or 1 for a value of one element.
ValueId Gradients::seed_of(ValueId value, const Av& gradient) {
  if (!gradient.is_none()) return tensors_.current(*tensors_.share_tensor(gradient));
  for (ValueId size : region_.type(value).sizes)
    if (builder_.known_int(size) != 1) break_here(BreakReason::raises, "gradients of several elements");
  std::vector<ValueId> sizes(region_.type(value).sizes.begin(), region_.type(value).sizes.end());
  sizes.insert(sizes.begin(), builder_.constant(1.0));
  OpAttributes attributes;
  attributes.dtype = region_.type(value).dtype;
  return builder_.op(Op::full, {}, sizes, attributes);
}

// A loop that is refused is followed turn by turn, and a branch ends the region.
std::vector<ValueId> Gradients::append_backward(std::span<const jit::GradientSeed> seeds, std::span<const ValueId> wrt,
                                                const jit::ValueSet& stops, std::vector<ValueId>* saving) {
  try {
    return jit::append_backward(builder_, seeds, wrt, stops, saving);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotImplementedError) throw;
    forks_.give_up(error.message());
    rolled_.follow_all();
  }
}

void Gradients::backward(const Av& loss, const Av& gradient, bool retain_graph) {
  repeats_.spoil_record();
  rolled_.leave_out();
  std::shared_ptr<VTensor> root = tensors_.share_tensor(loss);
  ValueId value = tensors_.current(*root);
  if (is_complex(region_.type(value).dtype)) break_here(BreakReason::complex_numbers, "backward()");
  if (!root->requires_grad || !modes_.grad_enabled) break_here(BreakReason::raises, "backward()");
  const ValueId seed = seed_of(value, gradient);
  std::vector<std::shared_ptr<VTensor>> leaves;
  std::vector<ValueId> wrt;
  for (const auto& list : {inputs_.tensor_inputs(), leaves_}) {
    for (const std::shared_ptr<VTensor>& tensor : list) {
      if (!tensor->requires_grad) continue;
      leaves.push_back(tensor);
      wrt.push_back(gradient_place(*tensor));
    }
  }
  jit::ValueSet stops(no_grad_values_.begin(), no_grad_values_.end());
  const jit::GradientSeed seeds[] = {{value, seed}};
  std::vector<ValueId> saving;
  std::vector<ValueId> gradients = append_backward(seeds, wrt, stops, &saving);
  for (ValueId made : saving)
    if (freed_.count(made)) break_here(BreakReason::raises, "backward() through a freed history");
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (gradients[i] == kNoValue) continue;
    if (!leaves[i]->leaf) break_here(BreakReason::history, "the loss depends on a tensor computed outside");
    if (leaves[i]->hooked) break_here(BreakReason::history, "a hook sees the gradient of a tensor");
    check_accumulates(*leaves[i]);
  }
  if (!retain_graph) {  // the history of this region is used up
    freed_.insert(saving.begin(), saving.end());
    forget_history(value);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (gradients[i] == kNoValue) continue;
    accumulate(leaves[i], gradients[i]);
  }
}

// The value of a tensor that a gradient is asked for, kNoValue while nothing has used its elements.
ValueId Gradients::wanted_place(const Av& av) {
  const std::shared_ptr<VTensor> tensor = tensors_.share_tensor(av);
  if (!tensor->requires_grad) break_here(BreakReason::raises, "a gradient of a tensor that does not require one");
  if (tensor->hooked) break_here(BreakReason::history, "a hook sees the gradient of a tensor");
  const ValueId place = gradient_place(*tensor);
  // A view of what has been written since stands for other elements than those that were read.
  if (place != kNoValue && tensors_.current(*tensor) != place)
    break_here(BreakReason::history, "a view of what was written");
  return place;
}

// A gradient that leaves the region by a tensor with a history outside may come to a wanted tensor there.
void Gradients::check_stays_inside(std::span<const Av> wanted, const jit::ValueSet& roots, const jit::ValueSet& stops) {
  std::vector<ValueId> outside;
  for (const Av& av : wanted)
    if (const VTensor& tensor = *tensors_.share_tensor(av); tensor.input != kNoValue) outside.push_back(tensor.input);
  if (outside.empty()) return;
  for (const std::shared_ptr<VTensor>& tensor : inputs_.tensor_inputs()) {
    if (!tensor->requires_grad || tensor->leaf || (outside.size() == 1 && outside[0] == tensor->input)) continue;
    for (ValueId reached : jit::computed_from(region_, {tensor->id}, stops))
      if (roots.count(reached)) break_here(BreakReason::history, "the outputs depend on a tensor computed outside");
  }
}

// The gradients are values of the region: with create_graph what made them is part of the history, as the forward is.
std::vector<Av> Gradients::gradients(std::span<const Av> outputs, std::span<const Av> wanted, std::span<const Av> seeds,
                                     bool retain_graph, bool create_graph) {
  repeats_.spoil_record();
  rolled_.leave_out();
  if (!modes_.grad_enabled) break_here(BreakReason::history, "gradients under no_grad");
  // The loop or branch that goes back is none that gradients go back through again.
  const auto nests = [](const jit::Instruction& one) { return !one.blocks.empty(); };
  if (create_graph && std::any_of(region_.body.instructions.begin(), region_.body.instructions.end(), nests))
    rolled_.follow_all();
  std::vector<jit::GradientSeed> begins;
  jit::ValueSet roots;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::shared_ptr<VTensor> root = tensors_.share_tensor(outputs[i]);
    const ValueId value = tensors_.current(*root);
    if (is_complex(region_.type(value).dtype)) break_here(BreakReason::complex_numbers, "gradients");
    if (!root->requires_grad) break_here(BreakReason::raises, "gradients of what does not require one");
    begins.push_back({value, seed_of(value, seeds[i])});
    roots.insert(value);
  }
  std::vector<ValueId> wrt;
  for (const Av& av : wanted) wrt.push_back(wanted_place(av));
  const jit::ValueSet stops(no_grad_values_.begin(), no_grad_values_.end());
  check_stays_inside(wanted, roots, stops);
  // Where another input is the wanted tensor, what flows to that one counts, too: they are two at every entry.
  for (const Av& av : wanted)
    for (const std::shared_ptr<VTensor>& tensor : inputs_.tensor_inputs())
      if (tensor->requires_grad) operators_.is_identical(av, Av::of(tensor));
  const size_t known = region_.value_count();
  std::vector<ValueId> saving;
  const std::vector<ValueId> found = append_backward(begins, wrt, stops, &saving);
  for (ValueId made : saving)
    if (freed_.count(made)) break_here(BreakReason::raises, "gradients through a freed history");
  if (!retain_graph && !create_graph) {
    freed_.insert(saving.begin(), saving.end());
    for (ValueId root : roots) forget_history(root);
  }
  const jit::ValueSet recorded = create_graph ? with_gradients() : jit::ValueSet();
  std::vector<Av> out;
  for (ValueId gradient : found) {
    if (gradient == kNoValue) {
      out.push_back(Av::none());
      continue;
    }
    const bool has_history = recorded.count(gradient) != 0;
    // A value that somebody else may hold, too, keeps its own history.
    if (!has_history || gradient < known) gradient = builder_.op(Op::copy, {&gradient, 1}, {}, {});
    if (!has_history) end_history(gradient);
    out.push_back(tensors_.new_tensor(gradient, has_history));
    if (has_history) remember_history({&out.back(), 1}, gradient);
    for (const Av& seed : seeds)
      if (has_history && !seed.is_none()) remember_history({&seed, 1}, gradient);
  }
  return out;
}

namespace {

struct NoGrad {
  explicit NoGrad(Modes& m) : modes(m), before(m.grad_enabled) { modes.grad_enabled = false; }
  ~NoGrad() { modes.grad_enabled = before; }
  Modes& modes;
  const bool before;
};

}  // namespace

// In front of everything that backward() changes here: whether the region may write the gradient that there is.
void Gradients::check_accumulates(VTensor& leaf) {
  const Av existing = load_gradient(leaf);
  if (existing.is_none()) return;
  VTensor& root = *root_of(*tensors_.share_tensor(existing));
  if (root.requires_grad) break_here(BreakReason::history, "backward() adds to a gradient that has a history");
  NoGrad no_grad(modes_);
  writes_.check_writable(root);
}

void Gradients::accumulate(const std::shared_ptr<VTensor>& leaf, ValueId gradient) {
  Av existing = load_gradient(*leaf);
  Av added = tensors_.new_tensor(gradient, false);
  if (existing.is_none()) return writes_.set_gradient(leaf, added);
  NoGrad no_grad(modes_);
  const Av operands[] = {existing, added};
  Av total = tensors_.elementwise(Op::add, operands);
  writes_.assign(tensors_.share_tensor(existing), total);
}

// `.grad` of a tensor: read at every entry, because every step makes a new one.
Av Gradients::find_gradient(VTensor& tensor) {
  if (tensor.has_grad_overlay) return tensor.grad;
  if (tensor.host.is_undefined()) return Av::none();
  TensorObject* host = cast<TensorObject>(tensor.host);
  EntrySource source;
  source.form = EntrySource::Form::Gradient;
  source.parent = tensor.source;
  tensor.has_grad_overlay = true;
  tensor.grad = inputs_.load_value(host->grad.is_undefined() ? Value::none() : host->grad, std::move(source));
  return tensor.grad;
}

// From here on the tensor needs a gradient: what was computed of it before, its views among them, has no part in that.
void Gradients::begin_gradient(VTensor& tensor) {
  repeats_.spoil_record();
  rolled_.leave_out();
  tensors_.current(tensor);
  tensor.id = builder_.op(Op::copy, {&tensor.id, 1}, {}, {});
  no_grad_values_.push_back(tensor.id);
  for (const std::weak_ptr<VTensor>& view : tensor.views)
    if (const std::shared_ptr<VTensor> alive = view.lock()) no_grad_values_.push_back(alive->id);
}

// The value whose gradient is that of a tensor which needs one, kNoValue while nothing has used its elements.
ValueId Gradients::gradient_place(const VTensor& tensor) { return tensor.unrecorded ? kNoValue : tensor.id; }

std::vector<ValueId> Gradients::gradient_places() const {
  std::vector<ValueId> places;
  for (const auto& list : {inputs_.tensor_inputs(), leaves_})
    for (const std::shared_ptr<VTensor>& tensor : list)
      if (tensor->requires_grad && !tensor->unrecorded) places.push_back(tensor->id);
  return places;
}

jit::ValueSet Gradients::with_gradients() const {
  const std::vector<ValueId> places = gradient_places();
  return jit::computed_from(region_, jit::ValueSet(places.begin(), places.end()),
                            jit::ValueSet(no_grad_values_.begin(), no_grad_values_.end()));
}

void Gradients::close_block(size_t first, std::span<const ValueId> results) {
  const std::vector<std::pair<std::shared_ptr<VTensor>, ValueId>> turn(
      in_history_.begin() + static_cast<std::ptrdiff_t>(first), in_history_.end());
  in_history_.resize(first);
  for (const auto& [tensor, made] : turn)
    for (ValueId result : results) in_history_.push_back({tensor, result});
}

bool Gradients::prepare_block_backward(std::span<const ValueId> results, std::string* why) {
  if (builder_.open_blocks() != 0) return true;  // together with the block around it
  const jit::ValueSet stops(no_grad_values_.begin(), no_grad_values_.end());
  const std::vector<jit::Instruction>& code = region_.body.instructions;
  size_t place = code.size() - 1;
  while (code[place].blocks.empty()) --place;
  return jit::prepare_backward(region_, place, results, gradient_places(), stops, why);
}

// What a recorded operation read may be saved for its gradient: until backward() has run, writing it in
// place is the interpreter's business, which knows the rules and the errors.
void Gradients::remember_history(std::span<const Av> tensors, ValueId result) {
  for (const Av& av : tensors) {
    std::shared_ptr<VTensor> tensor = tensors_.share_tensor(av);
    while (tensor->view) tensor = tensor->view->parent;
    tensor->in_history = true;
    in_history_.push_back({std::move(tensor), result});
  }
}

namespace {

void find_makers(const jit::Block& block, std::unordered_map<ValueId, Op>* found) {
  for (const jit::Instruction& instruction : block.instructions) {
    if (instruction.code == jit::Code::Op)
      for (ValueId result : instruction.results) found->emplace(result, instruction.op);
    for (const auto& inner : instruction.blocks) find_makers(*inner, found);
  }
}

}  // namespace

// A value that came in or was written through a view has its newest maker, the result of a loop or branch that of what
// the last turn, or the way, has made.
void Gradients::name_outputs(ExitPlan& plan, RecipeWriter& writer) {
  std::unordered_map<ValueId, Op> makers;
  find_makers(region_.body, &makers);
  std::vector<std::string> names;
  const jit::NumberOf number = [&](ValueId value) {
    const auto maker = makers.find(value);
    const auto step = step_names_.find(value);
    std::string name = step != step_names_.end()
                           ? step->second
                           : std::string(jit::node_name(maker == makers.end() ? Op::copy : maker->second));
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    if (static_cast<size_t>(place) == names.size()) names.push_back(std::move(name));
    return static_cast<int64_t>(place);
  };
  for (uint32_t i = 0; i < writer.history_values.size(); ++i) {
    const ValueId value = writer.history_values[i];
    const std::set<int64_t> choices = jit::choices_of(region_, value, number);
    plan.history->names.push_back(names[static_cast<size_t>(*choices.begin())]);
    if (choices.size() > 1)
      plan.chosen_names.push_back({i, writer.live(jit::add_choice(region_, value, number)).index});
  }
  plan.history->all_names = std::move(names);
}

// Whether the backward of each output meets what a backward() in the region has freed: it can only raise.
bool Gradients::all_freed(const std::vector<ValueId>& outputs, const std::vector<ValueId>& wrt,
                          const jit::ValueSet& stops) const {
  if (outputs.size() == 1) return true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<bool> present(outputs.size());
    present[i] = true;
    const jit::ValueSet reachable;
    const jit::SplitBackward one = jit::split_backward(region_, outputs, wrt, stops, present, nullptr, &reachable);
    if (std::none_of(one.saving.begin(), one.saving.end(), [&](ValueId made) { return freed_.count(made) != 0; }))
      return false;
  }
  return true;
}

// Whether a tensor gets a gradient through a branch may follow from gradients that arrive at other outputs: it must do
// so for each output.
void Gradients::check_each_alone(const std::vector<ValueId>& outputs, const std::vector<ValueId>& wrt,
                                 const jit::ValueSet& stops) const {
  const auto is_branch = [](const jit::Instruction& one) { return one.code == jit::Code::If; };
  const std::vector<jit::Instruction>& code = region_.body.instructions;
  if (outputs.size() == 1 || std::none_of(code.begin(), code.end(), is_branch)) return;
  const jit::ValueSet reachable;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<bool> present(outputs.size());
    present[i] = true;
    jit::split_backward(region_, outputs, wrt, stops, present, nullptr, &reachable);
  }
}

// A result that is computed from another one on the same way has no part in the other's gradient here: hooks would see
// less.
void Gradients::check_apart(const std::vector<ValueId>& outputs, const jit::ValueSet& stops) const {
  for (const jit::Instruction& one : region_.body.instructions) {
    const bool is_while = one.code == jit::Code::Loop && one.attributes.mode == jit::kWhile;
    if (one.code != jit::Code::If && !is_while) continue;
    std::vector<size_t> places;
    for (size_t i = 0; i < one.results.size(); ++i)
      if (std::find(outputs.begin(), outputs.end(), one.results[i]) != outputs.end()) places.push_back(i);
    if (places.size() < 2) continue;
    for (const auto& block : one.blocks)
      for (size_t from : places) {
        const jit::ValueList& given = block->instructions.back().operands;
        const jit::ValueSet reached = jit::computed_from(region_, {given[from]}, stops);
        for (size_t to : places)
          if (given[to] != given[from] && reached.count(given[to]))
            throw Error(ErrorKind::NotImplementedError, "one of its ways gives a tensor, and what is computed from it");
      }
  }
}

// What backward() will need when it is called outside: the region's own backward, its saved values among
// the live ones.
void Gradients::split_history(ExitPlan& plan, RecipeWriter& writer) {
  std::vector<ValueId> wrt;
  for (const std::shared_ptr<VTensor>& tensor : inputs_.tensor_inputs()) {
    if (!cast<TensorObject>(tensor->host)->needs_grad()) continue;
    wrt.push_back(gradient_place(*tensor));
    plan.wrt_sources.push_back(tensor->source);
  }
  for (const std::shared_ptr<VTensor>& tensor : leaves_) {
    wrt.push_back(gradient_place(*tensor));
    plan.wrt_objects.push_back(tensor->number);
  }
  jit::ValueSet stops(no_grad_values_.begin(), no_grad_values_.end());
  const jit::ValueSet reachable(plan.materials.live.begin(), plan.materials.live.end());
  try {
    plan.backward = std::make_shared<jit::SplitBackward>(
        jit::split_backward(region_, writer.history_values, wrt, stops, {}, nullptr, &reachable));
    check_each_alone(writer.history_values, wrt, stops);
    check_apart(writer.history_values, stops);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotImplementedError) throw;
    forks_.give_up(error.message());
    throw;
  }
  plan.history = std::make_shared<HistorySource>();
  for (ValueId made : plan.backward->saving)
    if (freed_.count(made)) plan.freed.insert(made);
  plan.history_freed = !plan.freed.empty() && all_freed(writer.history_values, wrt, stops);
  if (plan.history_freed) {
    plan.backward->backward = {};
    plan.backward->saved.clear();
  } else {
    plan.history->forward = region_.clone();
  }
  plan.history->outputs = writer.history_values;
  plan.history->wrt = wrt;
  plan.history->stops = no_grad_values_;
  name_outputs(plan, writer);
  plan.history_objects = writer.history_objects;
  for (ValueId id : writer.history_values) plan.history_live.push_back(writer.live(id).index);
  const std::unordered_map<ValueId, uint32_t> of_inputs = writes_.versions_of_inputs();
  for (ValueId id : plan.backward->saved) {
    plan.saved_live.push_back(writer.live(id).index);
    const auto of_input = of_inputs.find(id);
    plan.saved_inputs.push_back(of_input == of_inputs.end() ? Virtual::kMadeHere : of_input->second);
  }
}

}  // namespace tsc::interp
