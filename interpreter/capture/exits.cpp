#include "interpreter/capture/exits.h"

#include "interpreter/capture/raising.h"
#include "jit/autodiff/split.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/liveness.h"

namespace tsc::interp {

Recipe RecipeWriter::live(ValueId id) {
  auto [found, fresh] = live_.try_emplace(id, static_cast<uint32_t>(materials_.live.size()));
  if (fresh) materials_.live.push_back(id);
  Recipe recipe;
  recipe.form = Recipe::Form::Live;
  recipe.index = found->second;
  return recipe;
}

Recipe RecipeWriter::write(const Av& av) {
  Recipe recipe;
  switch (av.kind) {
    case Av::Kind::Undefined: return recipe;
    case Av::Kind::Constant:
      if (const auto text = av.value.is_object() ? capture_.texts_.find(av.value.object()) : capture_.texts_.end();
          text != capture_.texts_.end()) {  // at another entry it is another object that says the same
        recipe.form = Recipe::Form::Entry;
        recipe.index = text->second;
        return recipe;
      }
      recipe.form = Recipe::Form::Constant;
      recipe.constant = av.value;
      return recipe;
    case Av::Kind::Number:
    case Av::Kind::Opaque: return live(av.id);
    case Av::Kind::Virtual: return write_virtual(av.object);
  }
  return recipe;
}

namespace {

// str() of a text that came in, which is that text.
bool is_whole_text(const VText::Part& part) {
  return part.conversion == 1 && part.spec.empty() && is_virtual(part.formatted, VirtualKind::Text) &&
         part.formatted.object->source != Virtual::kMadeHere;
}

// detach() of a row-major tensor made in this region, which has a history and was not written since.
bool is_plain_detach(const VTensor& tensor) {
  if (!tensor.view || tensor.view->op != Op::detach || !tensor.contiguous) return false;
  const VTensor& parent = *tensor.view->parent;
  return !tensor.is_data && parent.input == kNoValue && !parent.view && parent.requires_grad && !parent.leaf &&
         !parent.has_ambiguous() && tensor.view->root_version == parent.version;
}

}  // namespace

Recipe RecipeWriter::write_virtual(const VirtualRef& object) {
  Recipe recipe;
  if (const VText* text = object->kind == VirtualKind::Text ? static_cast<const VText*>(object.get()) : nullptr;
      text && text->parts.size() == 1 && is_whole_text(text->parts[0]))
    return write(text->parts[0].formatted);
  if (object->kind == VirtualKind::Tensor) {
    VTensor& tensor = static_cast<VTensor&>(*object);
    if (tensor.input != kNoValue) {
      recipe.form = Recipe::Form::Entry;
      recipe.index = tensor.source;
      return recipe;
    }
  } else if (object->source != Virtual::kMadeHere) {
    recipe.form = Recipe::Form::Entry;
    recipe.index = object->source;
    return recipe;
  }
  recipe.form = Recipe::Form::Object;
  auto [found, fresh] =
      indices_.try_emplace(object->number, static_cast<uint32_t>(materials_.objects.size()));
  recipe.index = found->second;
  object->built = true;
  if (!fresh) return recipe;
  materials_.objects.emplace_back();
  ObjectRecipe built;
  built.number = object->number;
  built.kind = object->kind;
  if (object->kind == VirtualKind::Tensor) {
    VTensor& tensor = static_cast<VTensor&>(*object);
    if (defers_detached_ && is_plain_detach(tensor)) detached_.push_back({recipe.index, &tensor});
    else fill_tensor(tensor, built);
  } else {
    fill(*object, built);
  }
  materials_.objects[recipe.index] = std::move(built);
  return recipe;
}

void RecipeWriter::write_all(const std::vector<Av>& items, ObjectRecipe& recipe) {
  for (const Av& item : items) recipe.parts.push_back(write(item));
}

void RecipeWriter::write_detached() {
  const auto detached = std::exchange(detached_, {});
  defers_detached_ = false;
  std::unordered_map<const VTensor*, int> views;
  for (const auto& [index, tensor] : detached) ++views[tensor->view->parent.get()];
  for (const auto& [index, tensor] : detached) {
    const VTensor& parent = *tensor->view->parent;
    ObjectRecipe built = std::move(materials_.objects[index]);
    if (views[&parent] > 1 || parent.built) {
      fill_tensor(*tensor, built);
    } else {
      built.requires_grad = tensor->requires_grad;
      built.parts.push_back(live(tensor->id));
    }
    materials_.objects[index] = std::move(built);
  }
}

void RecipeWriter::fill_tensor(VTensor& tensor, ObjectRecipe& recipe) {
  recipe.requires_grad = tensor.leaf && tensor.requires_grad;
  recipe.is_data = tensor.is_data;
  recipe.has_history = !tensor.leaf && tensor.requires_grad;
  if (tensor.view) {
    recipe.is_view = true;
    recipe.view_op = tensor.view->op;
    recipe.attributes = tensor.view->attributes;
    recipe.parts.push_back(write_virtual(tensor.view->parent));
    for (ValueId scalar : tensor.view->scalars) recipe.parts.push_back(live(scalar));
  } else {
    recipe.parts.push_back(live(tensor.id));
  }
  if (tensor.host.is_undefined() && tensor.has_grad_overlay && !tensor.grad.is_none())
    recipe.gradient = write(tensor.grad);
  // A view has a history of its own: its gradient joins those of its parent at the place where it was made.
  if (!recipe.has_history) return;
  history_values.push_back(capture_.current(tensor));
  history_objects.push_back(tensor.number);
}

void RecipeWriter::fill(const Virtual& object, ObjectRecipe& recipe) {
  switch (object.kind) {
    case VirtualKind::Tensor: break;
    case VirtualKind::Tuple:
      recipe.type = static_cast<const VTuple&>(object).type;
      return write_all(static_cast<const VTuple&>(object).items, recipe);
    case VirtualKind::List: return write_all(static_cast<const VList&>(object).items, recipe);
    case VirtualKind::Set:
      recipe.position = static_cast<const VSet&>(object).frozen;
      return write_all(static_cast<const VSet&>(object).items, recipe);
    case VirtualKind::Dict: return fill_dict(static_cast<const VDict&>(object), recipe);
    case VirtualKind::DictView:
      recipe.position = static_cast<int64_t>(static_cast<const VDictView&>(object).form);
      return write_all({static_cast<const VDictView&>(object).dict}, recipe);
    case VirtualKind::Instance: return fill_instance(static_cast<const VInstance&>(object), recipe);
    case VirtualKind::Function: return fill_function(static_cast<const VFunction&>(object), recipe);
    case VirtualKind::Cell: return write_all({static_cast<const VCell&>(object).content}, recipe);
    case VirtualKind::BoundMethod: {
      const VBoundMethod& bound = static_cast<const VBoundMethod&>(object);
      return write_all({bound.function, bound.self}, recipe);
    }
    case VirtualKind::Iterator: return fill_iterator(static_cast<const VIterator&>(object), recipe);
    case VirtualKind::Partial: return fill_partial(static_cast<const VPartial&>(object), recipe);
    case VirtualKind::Range: {
      const VRange& range = static_cast<const VRange&>(object);
      return write_all({range.start, range.stop, range.step}, recipe);
    }
    case VirtualKind::Slice: {
      const VSlice& slice = static_cast<const VSlice&>(object);
      return write_all({slice.start, slice.stop, slice.step}, recipe);
    }
    case VirtualKind::Exception: capture_.raising().refuse(static_cast<const VException&>(object));
    case VirtualKind::Super:
      recipe.type = static_cast<const VSuper&>(object).start;
      return write_all({static_cast<const VSuper&>(object).self}, recipe);
    case VirtualKind::Text:
      recipe.text = static_cast<const VText&>(object).parts;
      for (const VText::Part& part : recipe.text)
        if (!part.formatted.is_undefined()) recipe.parts.push_back(write(part.formatted));
      return;
  }
}

void RecipeWriter::fill_dict(const VDict& dict, ObjectRecipe& recipe) {
  for (const auto& [key, value] : dict.items) {
    recipe.parts.push_back(write(key));
    recipe.parts.push_back(write(value));
  }
}

void RecipeWriter::fill_instance(const VInstance& instance, ObjectRecipe& recipe) {
  recipe.type = instance.type;
  for (const auto& [name, value] : instance.fields) {
    recipe.names.push_back(name);
    recipe.parts.push_back(write(value));
  }
}

void RecipeWriter::fill_function(const VFunction& function, ObjectRecipe& recipe) {
  recipe.code = function.code;
  recipe.module = function.module;
  recipe.counts[0] = static_cast<uint32_t>(function.defaults.size());
  recipe.counts[1] = static_cast<uint32_t>(function.keyword_defaults.size());
  recipe.counts[2] = static_cast<uint32_t>(function.closure.size());
  write_all(function.defaults, recipe);
  write_all(function.keyword_defaults, recipe);
  write_all(function.closure, recipe);
}

void RecipeWriter::fill_partial(const VPartial& partial, ObjectRecipe& recipe) {
  recipe.type = partial.type;
  recipe.parts.push_back(write(partial.function));
  write_all(partial.positional, recipe);
  for (const auto& [name, value] : partial.keywords) {
    recipe.names.push_back(name);
    recipe.parts.push_back(write(value));
  }
}

void RecipeWriter::fill_iterator(const VIterator& iterator, ObjectRecipe& recipe) {
  if (iterator.made_in) capture_.refuse_making(iterator);
  recipe.iterator = iterator.form;
  recipe.position = iterator.form == VIterator::Form::Enumerate
                        ? iterator.count
                        : static_cast<int64_t>(iterator.position);
  write_all(iterator.items, recipe);
  write_all(iterator.inner, recipe);
}

bool shows_variables(const lang::CodeObject& code) {
  return std::any_of(code.names.begin(), code.names.end(), [](const std::string& name) {
    return name == "locals" || name == "vars" || name == "dir";
  });
}

ExitFrame ExitBuilder::write_frame(const AFrame& frame, bool innermost, RecipeWriter& writer) {
  const lang::CodeObject& code = *frame.code->code;
  ExitFrame out;
  out.pc = frame.pc;
  out.discards_result = frame.discard_result;
  out.constructed = writer.write(frame.constructed);
  if (!frame.function.is_undefined()) out.function_recipe = writer.write(frame.function);
  const lang::RegisterSet& here = lang::live_registers(code, frame.pc);
  // An outer frame stands at its call: what it needs is what lives behind the call. The window of the
  // call is consumed; the registers there were emptied when the call was pushed.
  std::vector<uint32_t> reads;
  if (!innermost) reads = lang::register_use(code, code.instructions[frame.pc]).reads;
  // Or in a handler, if the call raises.
  const lang::ExceptionEntry* handler = innermost ? nullptr : lang::find_handler(code, frame.pc);
  const lang::RegisterSet* handled = handler ? &lang::live_registers(code, handler->handler) : nullptr;
  const size_t shown = shows_variables(code) ? code.register_names.size() : 0;
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    bool needed = here.contains(reg) || reg < shown;
    if (!innermost) {
      bool consumed = std::find(reads.begin(), reads.end(), reg) != reads.end();
      bool after = frame.pc + 1 < code.instructions.size() &&
                   lang::live_registers(code, frame.pc + 1).contains(reg);
      const bool kept = handled && reg < handler->temporaries && reg != handler->reg && handled->contains(reg);
      needed = after || kept || (needed && !consumed);
    }
    needed = needed || is_generator_from_outside(frame.registers[reg]);
    if (!needed || frame.registers[reg].is_undefined()) continue;
    out.registers.push_back({reg, writer.write(frame.registers[reg])});
  }
  return out;
}

void ExitBuilder::add(ExitPlan& plan, RecipeWriter& writer) {
  for (const Capture::WaitingStore& store : capture_.waiting_stores_) {
    HostAction action = store.action;
    for (const Av& av : store.values) action.values.push_back(writer.write(av));
    plan.stores.push_back(std::move(action));
  }
  plan.modes = capture_.modes;
  plan.origin = capture_.builder_.known_origin();
  if (!writer.history_values.empty()) capture_.split_history(plan, writer);
  capture_.plan_.exits.push_back(std::move(plan));
  uint32_t id = static_cast<uint32_t>(capture_.plan_.exits.size() - 1);
  capture_.builder_.exit(id, capture_.plan_.exits.back().materials.live);
}

void ExitBuilder::leave_returning(const Av& result) {
  ExitPlan plan;
  plan.form = ExitPlan::Form::Return;
  RecipeWriter writer(capture_, plan.materials);
  writer.defer_detached();
  plan.result = writer.write(result);
  writer.write_detached();
  add(plan, writer);
}

void ExitBuilder::leave_resuming(const BreakHere& reason) {
  capture_.raising().refuse_handling();
  ExitPlan plan;
  plan.form = ExitPlan::Form::Resume;
  plan.reason = reason.reason;
  plan.detail = reason.detail;
  RecipeWriter writer(capture_, plan.materials);
  for (size_t i = 0; i < capture_.frames_.size(); ++i)
    plan.frames.push_back(
        write_frame(capture_.frames_[i], i + 1 == capture_.frames_.size(), writer));
  add(plan, writer);
}

namespace {

// The ops that made the values; a value that came in or was written through a view has its newest maker.
std::vector<std::string> output_names(const jit::Region& region, const std::vector<ValueId>& values,
                                      const std::unordered_map<ValueId, std::string>& step_names) {
  std::unordered_map<ValueId, Op> makers;
  for (const jit::Instruction& instruction : region.body.instructions)
    if (instruction.code == jit::Code::Op)
      for (ValueId result : instruction.results) makers.emplace(result, instruction.op);
  std::vector<std::string> names;
  for (ValueId value : values) {
    const auto maker = makers.find(value);
    const auto step = step_names.find(value);
    names.push_back(step != step_names.end()
                        ? step->second
                        : std::string(jit::node_name(maker == makers.end() ? Op::copy : maker->second)));
  }
  return names;
}

}  // namespace

// Whether the backward of each output meets what a backward() in the region has freed: it can only raise.
bool Capture::all_freed(const std::vector<ValueId>& outputs, const std::vector<ValueId>& wrt,
                        const jit::ValueSet& stops) const {
  if (outputs.size() == 1) return true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<bool> present(outputs.size());
    present[i] = true;
    const jit::ValueSet reachable;
    const jit::SplitBackward one =
        jit::split_backward(region_, outputs, wrt, stops, present, nullptr, &reachable);
    if (std::none_of(one.saving.begin(), one.saving.end(),
                     [&](ValueId made) { return freed_.count(made) != 0; }))
      return false;
  }
  return true;
}

// What backward() will need when it is called outside: the region's own backward, its saved values among
// the live ones.
void Capture::split_history(ExitPlan& plan, RecipeWriter& writer) {
  std::vector<ValueId> wrt;
  for (const std::shared_ptr<VTensor>& tensor : inputs_) {
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
  plan.backward = std::make_shared<jit::SplitBackward>(
      jit::split_backward(region_, writer.history_values, wrt, stops, {}, nullptr, &reachable));
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
  plan.history->names = output_names(region_, writer.history_values, step_names_);
  plan.history_objects = writer.history_objects;
  for (ValueId id : writer.history_values) plan.history_live.push_back(writer.live(id).index);
  for (ValueId id : plan.backward->saved) plan.saved_live.push_back(writer.live(id).index);
}

// Inside the region every tensor that came in has elements of its own: one that is written may share its memory with
// no other that is read. A written one counts as read: its write_back names it.
void Capture::check_memory() {
  std::vector<bool> read(region_.value_count());
  for (const jit::Instruction& instruction : region_.body.instructions)
    jit::for_each_use(instruction, [&](ValueId value) { read[value] = true; });
  const auto storage_of = [](const VTensor& tensor) { return cast<TensorObject>(tensor.host)->tensor.storage().get(); };
  std::unordered_map<const Storage*, const VTensor*> written;
  const std::unordered_set<uint32_t> sources(plan_.written_sources.begin(), plan_.written_sources.end());
  for (const std::shared_ptr<VTensor>& tensor : inputs_)
    if (sources.count(tensor->source)) written.emplace(storage_of(*tensor), tensor.get());
  bool shared = false;
  for (const std::shared_ptr<VTensor>& tensor : inputs_) {
    EntrySource& source = plan_.sources[tensor->source];
    source.unread = !read[tensor->input];
    const auto found = written.find(storage_of(*tensor));
    if (source.unread || found == written.end() || found->second == tensor.get()) continue;
    shared |= memory_.shared.insert(source_place(plan_.sources, plan_.sources[found->second->source])).second;
  }
  if (shared) throw CaptureRestart{};
}

// Scalars that the entry conditions need, then the conditions, then the program. All of it is pure and
// depends on inputs only, so it may stand in front. Sizes of inputs that are assumed to be equal have one name.
void Capture::check_at_entry() {
  if (jit::share_input_sizes(region_) && conditions_.empty()) {
    const ValueId size = *input_sizes_.begin();  // the guard through which inputs that do not agree leave
    const ValueId operands[] = {size, size};
    jit::Instruction& same = region_.body.instructions.emplace_back();
    same.code = jit::Code::Scalar;
    same.scalar_op = jit::ScalarOp::eq;
    same.operands = jit::ValueList(operands);
    same.results.push_back(region_.add_value({jit::ValueKind::Bool, {}, {}}));
    conditions_.insert(same.results[0]);
  }
  if (conditions_.empty()) return;
  ExitPlan miss;
  miss.form = ExitPlan::Form::Miss;
  plan_.exits.insert(plan_.exits.begin(), std::move(miss));
  std::vector<jit::Instruction> all = std::move(region_.body.instructions);
  std::vector<size_t> definition(region_.value_count(), all.size());  // by value
  for (size_t i = 0; i < all.size(); ++i)
    for (ValueId result : all[i].results) definition[result] = i;
  std::vector<bool> early(all.size());
  std::vector<ValueId> work(conditions_.begin(), conditions_.end());
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    const size_t found = definition[id];
    if (found == all.size() || early[found]) continue;
    early[found] = true;
    for (ValueId operand : all[found].operands) work.push_back(operand);
  }
  std::vector<jit::Instruction> ordered;
  ordered.reserve(all.size() + conditions_.size());
  for (size_t i = 0; i < all.size(); ++i)
    if (early[i]) ordered.push_back(std::move(all[i]));
  for (ValueId condition : conditions_) {
    jit::Instruction guard;
    guard.code = jit::Code::Guard;
    guard.operands.push_back(condition);
    guard.id = 0;
    ordered.push_back(std::move(guard));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (early[i]) continue;
    if (all[i].code == jit::Code::Exit || all[i].code == jit::Code::Guard) ++all[i].id;
    ordered.push_back(std::move(all[i]));
  }
  region_.body.instructions = std::move(ordered);
}

CaptureResult Capture::finish() {
  if (plan_.run_again && (!plan_.actions.empty() || !plan_.written_sources.empty())) {
    memory_.has_effects = true;
    throw CaptureRestart{};
  }
  check_memory();
  check_walks();
  CaptureResult result;
  result.violations = broken_size_marks();
  check_at_entry();
  result.region = std::move(region_);
  result.plan = std::move(plan_);
  result.plan.object_count = objects_made_;
  return result;
}

}  // namespace tsc::interp
