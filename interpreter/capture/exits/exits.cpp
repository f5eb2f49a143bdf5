#include "interpreter/capture/exits/exits.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/raising.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
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
      if (const uint32_t* text =
              av.value.is_object() ? capture_.structures().source_of_text(av.value.object()) : nullptr) {
        recipe.form = Recipe::Form::Entry;  // at another entry it is another object that says the same
        recipe.index = *text;
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
  auto [found, fresh] = indices_.try_emplace(object->number, static_cast<uint32_t>(materials_.objects.size()));
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
  if (tensor.same_as.empty()) capture_.shared_memory().note_escape(tensor);
  for (const VTensor::SameAs& one : tensor.same_as)
    recipe.same_as.push_back({live(one.condition), write_virtual(one.tensor)});
  recipe.requires_grad = tensor.leaf && tensor.requires_grad;
  recipe.is_data = tensor.is_data;
  recipe.is_inference = tensor.is_inference;
  recipe.has_history = !tensor.leaf && tensor.requires_grad;
  if (tensor.view) {
    recipe.is_view = true;
    recipe.view_op = tensor.view->op;
    recipe.attributes = tensor.view->attributes;
    recipe.parts.push_back(write_virtual(tensor.view->parent));
    for (ValueId scalar : tensor.view->scalars) recipe.parts.push_back(live(scalar));
  } else {
    recipe.parts.push_back(live(tensor.id));
    recipe.writes = tensor.writes;
    if (tensor.writes_of_loops != kNoValue) recipe.parts.push_back(live(tensor.writes_of_loops));
  }
  if (tensor.host.is_undefined() && tensor.has_grad_overlay && !tensor.grad.is_none())
    recipe.gradient = write(tensor.grad);
  // A view has a history of its own: its gradient joins those of its parent at the place where it was made.
  if (!recipe.has_history) return;
  history_values.push_back(capture_.tensors().current(tensor));
  history_objects.push_back(tensor.number);
}

void RecipeWriter::fill(const Virtual& object, ObjectRecipe& recipe) {
  switch (object.kind) {
    case VirtualKind::Tensor: break;
    case VirtualKind::Tuple:
      recipe.type = static_cast<const VTuple&>(object).type;
      return write_all(static_cast<const VTuple&>(object).items, recipe);
    case VirtualKind::List:
      if (object.unread) capture_.rolled().follow_all();
      return write_all(static_cast<const VList&>(object).items, recipe);
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
  recipe.type = dict.type;
  for (const auto& [key, value] : dict.items) {
    recipe.parts.push_back(write(key));
    recipe.parts.push_back(write(value));
  }
  for (const auto& [name, value] : dict.fields) {
    recipe.names.push_back(name);
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
  if (iterator.form == VIterator::Form::Counted) capture_.rolled().follow(iterator);
  recipe.iterator = iterator.form;
  if (iterator.form == VIterator::Form::Native)
    if (const std::optional<std::vector<Av>> arguments = capture_.iterators().arguments_of(iterator)) {
      recipe.type = Local<Type>(iterator.host.object()->type);
      return write_all(*arguments, recipe);
    }
  if (iterator.made_in) capture_.iterators().refuse_making(iterator);
  recipe.position = static_cast<int64_t>(iterator.position);
  write_all(iterator.items, recipe);
}

bool shows_variables(const lang::CodeObject& code) {
  return std::any_of(code.names.begin(), code.names.end(),
                     [](const std::string& name) { return name == "locals" || name == "vars" || name == "dir"; });
}

ExitFrame Exits::write_frame(const AFrame& frame, bool innermost, RecipeWriter& writer) {
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
  const size_t device = device_parameter(frame.code.get()), parameters = code.parameters.names.size();
  const size_t shown = shows_variables(code) ? code.register_names.size() : 0;
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    bool needed = here.contains(reg) || reg < shown;
    if (!innermost) {
      bool consumed = std::find(reads.begin(), reads.end(), reg) != reads.end();
      bool after = frame.pc + 1 < code.instructions.size() && lang::live_registers(code, frame.pc + 1).contains(reg);
      const bool kept = handled && reg < handler->temporaries && reg != handler->reg && handled->contains(reg);
      needed = after || kept || (needed && !consumed);
    }
    needed = needed || (reg == device && device < parameters) || is_generator_from_outside(frame.registers[reg]);
    if (!needed || frame.registers[reg].is_undefined()) continue;
    out.registers.push_back({reg, writer.write(frame.registers[reg])});
  }
  return out;
}

void Exits::add(ExitPlan& plan, RecipeWriter& writer) {
  rolled_.leave_out();
  for (const WaitingStore& store : effects_.waiting_stores()) {
    HostAction action = store.action;
    for (const Av& av : store.values) action.values.push_back(writer.write(av));
    plan.stores.push_back(std::move(action));
  }
  plan.modes = modes_;
  plan.origin = builder_.known_origin();
  if (!writer.history_values.empty()) gradients_.split_history(plan, writer);
  plan_.exits.push_back(std::move(plan));
  uint32_t id = static_cast<uint32_t>(plan_.exits.size() - 1);
  builder_.exit(id, plan_.exits.back().materials.live);
}

void Exits::leave_returning(const Av& result) {
  ExitPlan plan;
  plan.form = ExitPlan::Form::Return;
  RecipeWriter writer(capture_, plan.materials);
  writer.defer_detached();
  plan.result = writer.write(result);
  writer.write_detached();
  add(plan, writer);
}

void Exits::leave_resuming(const BreakHere& reason) {
  raising_.refuse_handling();
  ExitPlan plan;
  plan.form = ExitPlan::Form::Resume;
  plan.reason = reason.reason;
  plan.detail = reason.detail;
  RecipeWriter writer(capture_, plan.materials);
  for (size_t i = 0; i < frames_.frame_count(); ++i)
    plan.frames.push_back(write_frame(frames_.frame_at(i), i + 1 == frames_.frame_count(), writer));
  add(plan, writer);
}

// Inside the region every tensor that came in has elements of its own: one that is written may share its memory with
// no other that is read. A written one counts as read: its write_back names it.
void Inputs::check_memory() {
  std::vector<bool> read(region_.value_count());
  for (const jit::Instruction& instruction : region_.body.instructions)
    jit::for_each_use(instruction, [&](ValueId value) { read[value] = true; });
  const auto storage_of = [](const VTensor& tensor) { return cast<TensorObject>(tensor.host)->tensor.storage().get(); };
  std::unordered_map<const Storage*, const VTensor*> written;
  const std::unordered_set<uint32_t> sources(plan_.written_sources.begin(), plan_.written_sources.end());
  for (const std::shared_ptr<VTensor>& tensor : tensors_in_)
    if (sources.count(tensor->source)) written.emplace(storage_of(*tensor), tensor.get());
  bool shared = false;
  for (const std::shared_ptr<VTensor>& tensor : tensors_in_) {
    EntrySource& source = plan_.sources[tensor->source];
    source.unread = !read[tensor->input];
    const auto found = written.find(storage_of(*tensor));
    if (source.unread || found == written.end() || found->second == tensor.get()) continue;
    shared |= memory_.shared.insert(source_place(plan_.sources, plan_.sources[found->second->source])).second;
  }
  if (shared) throw CaptureRestart{};
}

CaptureResult Exits::finish() {
  const bool acts =
      std::any_of(plan_.actions.begin(), plan_.actions.end(), [](const HostAction& a) { return a.is_effect; });
  if (plan_.run_again && (acts || !plan_.written_sources.empty())) {
    memory_.has_effects = true;
    throw CaptureRestart{};
  }
  inputs_.check_memory();
  structures_.check_walks();
  CaptureResult result;
  result.violations = conditions_.broken_size_marks();
  conditions_.check_at_entry();
  result.region = std::move(region_);
  result.plan = std::move(plan_);
  result.plan.object_count = objects_made_;
  return result;
}

}  // namespace tsc::interp
