// Calls that an instruction makes behind the scenes (dunder methods, library functions of Tensor, property
// getters) and gradients.
#include "interpreter/capture/house.h"
#include "jit/autodiff/gradient.h"
#include "jit/autodiff/rules.h"
#include "jit/region/liveness.h"

namespace tsc::interp {

// Tensor operators that are library functions: the installed script function is called inline.
void Calls::call_library(const char* name, std::vector<Av> arguments, uint16_t destination) {
  Local<StrObject> key = intern(vm_, name);
  const Value* method = lookup_in_type(tensor_state_.tensor_type, key.get());
  if (!method) break_here(BreakReason::raises, "torch is not imported");
  CallArguments call_arguments;
  call_arguments.positional = std::move(arguments);
  call(Av::constant(*method), std::move(call_arguments), destination,
       destination == kNoDestination);
}

Av Calls::call_pending_getter() {
  auto [getter, arguments] = take_pending_getter();
  call(getter, std::move(arguments), call_destination_);
  return Av();
}

// Whether the attribute's own code says if it is there: a property may raise, a slot may be empty.
static bool finds_by_code(const Value* attribute) {
  if (!attribute || !attribute->is_object()) return false;
  const bool is_method = is_kind(*attribute, Kind::Function) || is_kind(*attribute, Kind::NativeFunction) ||
                         is_kind(*attribute, Kind::StaticMethod) || is_kind(*attribute, Kind::ClassMethod);
  return !is_method && (attribute->object()->type->slots.bind || is_kind(*attribute, Kind::Property) ||
                        is_kind(*attribute, Kind::NativeProperty));
}

void Gradients::name_step(const Av& av, std::string_view name) { step_names_[tensors_.share_tensor(av)->id] = std::string(name); }

bool Attributes::finds_attribute(const Av& object, StrObject* name) {
  if (VInstance* instance = as<VInstance>(object)) {
    Type* type = instance->type.get();
    const Value* found = class_attribute(type, name, nullptr);
    if (type->slots.get_attribute || finds_by_code(found)) break_here(BreakReason::unknown_call, "hasattr of a " + type->name);
    if (found || find_field(*instance, name)) return true;
    if (class_attribute(type, intern(vm_, "__getattr__").get(), nullptr)) break_here(BreakReason::unknown_call, "__getattr__");
    return false;
  }
  if (tensors_.tensor_of(object)) {
    if (lookup_in_type(type_of_av(object), name)) return true;
    break_here(BreakReason::unknown_object, "hasattr of a tensor");
  }
  if (object.is_constant() && object.value.is_object()) {
    AttributeSite site = inspect_attribute(vm_, object.value, name);
    if (site.found == Found::MissingHook || site.found == Found::Custom)
      break_here(BreakReason::unknown_call, "__getattr__");
    if (site.found == Found::NativeSlot)
      break_here(BreakReason::unknown_call, "hasattr of a " + type_name(vm_, object.value));
    if (site.found == Found::ClassAttribute && !is_kind(object.value, Kind::Type) && finds_by_code(&site.value))
      break_here(BreakReason::unknown_call, "hasattr of a " + type_name(vm_, object.value));
    OverlayKey place{object.value.object(), name, 0};
    cells_.assume_unchanged(object.value.object(), Value(name));
    watch_attribute(vm_, object.value, name, site);
    for (Type* t : type_of(vm_, object.value)->mro)
      if (t->type_flags & kScriptClass) cells_.assume_unchanged(t, Value(name));
    return overlay_.stored_at(place) || site.found != Found::Absent;
  }
  Type* type = type_of_av(object);
  if (type->slots.get_attribute) break_here(BreakReason::unknown_call, "hasattr of a " + type->name);
  return lookup_in_type(type, name) != nullptr;
}

// The cell `__class__` that super() without arguments reads, and the method's self.
Av Frames::class_cell() {
  const lang::CodeObject& code = *frame().code->code;
  for (size_t i = 0; i < code.free_names.size(); ++i)
    if (code.free_names[i] == "__class__") return cells_.load_cell(frame().closure[i]);
  break_here(BreakReason::unknown_call, "super() outside a method");
}

Av Frames::first_argument() {
  if (frame().registers.empty()) break_here(BreakReason::raises, "super(): no arguments");
  Av self = frame().registers[0];
  if (VCell* cell = as<VCell>(self)) return cell->content;
  if (self.is_undefined()) {
    // The parameter moved into its cell.
    const lang::CodeObject& code = *frame().code->code;
    for (uint32_t reg = code.cell_begin; reg < code.cell_end; ++reg)
      if (code.register_names[reg] == code.register_names[0])
        if (VCell* cell = as<VCell>(frame().registers[reg])) return cell->content;
    break_here(BreakReason::unknown_call, "super()");
  }
  return self;
}

// A host list that the region appends to is not read again: its content here would be stale.
void Cells::forbid_reads(const Value& holder) {
  structures_.keep_apart_from(holder);
  for (const Watched& watched : plan_.watched)
    if (watched.holder.is(holder) && !is_kind(watched.key, Kind::Str))
      break_here(BreakReason::escape, "a list from outside is read and changed");
  forbidden_.push_back(holder);
}

void Overlay::store_cell(const Av& cell, const Av& value) {
  if (VCell* made = as<VCell>(cell)) {
    effects_.will_change(*made);
    if (made->source != Virtual::kMadeHere) {
      plan_.distinct.push_back(made->source);
      HostAction action;
      action.form = HostAction::Form::SetContent;
      effects_.host_action(std::move(action), {cell, value});
    }
    made->content = value;
    return;
  }
  OverlayKey place{cell.value.object(), nullptr, 0};
  cells_.written_by_region(place, cell.value);
  HostAction action;
  action.form = HostAction::Form::SetContent;
  effects_.host_action(std::move(action), {cell, value});
  note_stored(place, value);
}

void Overlay::store_global(StrObject* name, const Av& value) {
  Value globals(frames_.frame().module->globals.get());
  OverlayKey place{globals.object(), name, 0};
  cells_.written_by_region(place, globals);
  HostAction action;
  action.form = HostAction::Form::SetGlobal;
  action.name = Local<StrObject>(name);
  effects_.host_action(std::move(action), {Av::constant(globals), value});
  note_stored(place, value);
}

// `x += y` keeps x's dtype and shape, or raises.
void Gradients::check_in_place(VTensor& target, const Av& result) {
  const jit::Type& own = region_.type(tensors_.current(target));
  const jit::Type& made = region_.type(tensors_.tensor_of(result)->id);
  bool fits = category_of(made.dtype) <= category_of(own.dtype) && made.sizes.size() == own.sizes.size();
  for (size_t i = 0; fits && i < own.sizes.size(); ++i)
    fits = builder_.known_equal(own.sizes[i], made.sizes[i]);
  if (!fits) break_here(BreakReason::raises, "in-place result does not fit");
}

// A backward() has used up the history of `loss`: what gradients have gone through. What leads elsewhere stays.
void Gradients::forget_history(ValueId loss) {
  jit::ValueSet used = {loss};
  const jit::ValueSet stops(no_grad_values_.begin(), no_grad_values_.end());
  const std::vector<jit::Instruction>& code = region_.body.instructions;
  for (size_t i = code.size(); i-- > 0;) {
    if (code[i].code != jit::Code::Op || !jit::is_differentiable(code[i].op)) continue;
    const bool leads = std::any_of(code[i].results.begin(), code[i].results.end(),
                                   [&](ValueId result) { return used.count(result) && !stops.count(result); });
    if (leads) jit::for_each_use(code[i], [&](ValueId operand) { used.insert(operand); });
  }
  for (const auto& [tensor, result] : in_history_) tensor->in_history = false;
  std::erase_if(in_history_, [&](const auto& entry) { return used.count(entry.second) != 0; });
  for (const auto& [tensor, result] : in_history_) tensor->in_history = true;
}

void Gradients::backward(const Av& loss, const Av& gradient, bool retain_graph) {
  repeats_.spoil_record();
  std::shared_ptr<VTensor> root = tensors_.share_tensor(loss);
  ValueId value = tensors_.current(*root);
  if (is_complex(region_.type(value).dtype)) break_here(BreakReason::complex_numbers, "backward()");
  if (!root->requires_grad || !modes_.grad_enabled) break_here(BreakReason::raises, "backward()");
  ValueId seed;
  if (gradient.is_none()) {
    for (ValueId size : region_.type(value).sizes)
      if (builder_.known_int(size) != 1) break_here(BreakReason::raises, "backward() of several elements");
    std::vector<ValueId> sizes(region_.type(value).sizes.begin(), region_.type(value).sizes.end());
    sizes.insert(sizes.begin(), builder_.constant(1.0));
    OpAttributes attributes;
    attributes.dtype = region_.type(value).dtype;
    seed = builder_.op(Op::full, {}, sizes, attributes);
  } else {
    seed = tensors_.current(*tensors_.share_tensor(gradient));
  }
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
  std::vector<ValueId> gradients = jit::append_backward(builder_, seeds, wrt, stops, &saving);
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
  NoGrad no_grad(modes_);
  writes_.check_writable(*root_of(*tensors_.share_tensor(existing)));
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

}  // namespace tsc::interp
