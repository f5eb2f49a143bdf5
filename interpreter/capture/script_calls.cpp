// Calls that an instruction makes behind the scenes (dunder methods, library functions of Tensor, property
// getters) and gradients.
#include "interpreter/capture/raising.h"
#include "jit/autodiff/gradient.h"
#include "jit/autodiff/rules.h"
#include "jit/region/liveness.h"

namespace tsc::interp {

// Tensor operators that are library functions: the installed script function is called inline.
void Capture::call_library(const char* name, std::vector<Av> arguments, uint16_t destination) {
  Local<StrObject> key = intern(vm_, name);
  const Value* method = lookup_in_type(tensors_.tensor_type, key.get());
  if (!method) break_here(BreakReason::raises, "torch is not imported");
  CallArguments call_arguments;
  call_arguments.positional = std::move(arguments);
  call(Av::constant(*method), std::move(call_arguments), destination,
       destination == kNoDestination);
}

// The __getattr__ of a class answers what its properties raise: a getter runs to its end there.
void Capture::call_getter(const Av& object, StrObject* name, uint16_t destination) {
  if (pending_is_property_ && type_of_av(object)->slots.get_missing_attribute) {
    auto [getter, self] = take_pending_getter();
    if (const std::optional<Av> found = raising().call_unless_absent(getter, std::move(self))) return write(destination, *found);
    ask_missing(object, name);
  }
  auto [getter, arguments] = take_pending_getter();
  call(getter, std::move(arguments), destination);
}

// Nothing: an AttributeError says that there is no such attribute.
std::optional<Av> Capture::ask_getter(const Av& object, StrObject* name) {
  const bool is_property = pending_is_property_;
  auto [getter, arguments] = take_pending_getter();
  std::optional<Av> answer = raising().call_unless_absent(getter, std::move(arguments));
  if (answer || !is_property || !type_of_av(object)->slots.get_missing_attribute) return answer;
  ask_missing(object, name);
  return ask_getter(object, name);
}

// Whether the attribute's own code says if it is there: a property may raise, a slot may be empty.
static bool finds_by_code(const Value* attribute) {
  if (!attribute || !attribute->is_object()) return false;
  const bool is_method = is_kind(*attribute, Kind::Function) || is_kind(*attribute, Kind::NativeFunction) ||
                         is_kind(*attribute, Kind::StaticMethod) || is_kind(*attribute, Kind::ClassMethod);
  return !is_method && (attribute->object()->type->slots.bind || is_kind(*attribute, Kind::Property) ||
                        is_kind(*attribute, Kind::NativeProperty));
}

Capture::Presence Capture::find_presence(const Av& object, StrObject* name) {
  if (VInstance* instance = as<VInstance>(object)) {
    Type* type = instance->type.get();
    const Value* found = class_attribute(type, name, nullptr);
    if (found && is_kind(*found, Kind::Property) && !type->slots.get_attribute) return Presence::Asks;
    if (type->slots.get_attribute || finds_by_code(found)) break_here(BreakReason::unknown_call, "hasattr of a " + type->name);
    if (found || find_field(*instance, name)) return Presence::Present;
    return type->slots.get_missing_attribute ? Presence::Asks : Presence::Absent;
  }
  if (tensor_of(object)) {
    if (lookup_in_type(type_of_av(object), name)) return Presence::Present;
    break_here(BreakReason::unknown_object, "hasattr of a tensor");
  }
  if (object.is_constant() && object.value.is_object()) {
    AttributeSite site = inspect_attribute(vm_, object.value, name);
    if (site.found == Found::Custom) break_here(BreakReason::unknown_call, "__getattribute__");
    if (site.found == Found::NativeSlot)
      break_here(BreakReason::unknown_call, "hasattr of a " + type_name(vm_, object.value));
    const bool of_class = site.found == Found::ClassAttribute && !is_kind(object.value, Kind::Type);
    const bool is_property = of_class && is_kind(site.value, Kind::Property);
    if (of_class && !is_property && finds_by_code(&site.value))
      break_here(BreakReason::unknown_call, "hasattr of a " + type_name(vm_, object.value));
    assume_absent(object.value, name, site);
    if (overlay_.count({object.value.object(), name, 0})) return Presence::Present;
    if (is_property || site.found == Found::MissingHook) return Presence::Asks;
    return site.found == Found::Absent ? Presence::Absent : Presence::Present;
  }
  Type* type = type_of_av(object);
  if (type->slots.get_attribute) break_here(BreakReason::unknown_call, "hasattr of a " + type->name);
  return lookup_in_type(type, name) ? Presence::Present : Presence::Absent;
}

bool Capture::has_attribute(const Av& object, StrObject* name) {
  const Presence found = presence(object, name);
  return found == Presence::Asks ? attribute_if_there(object, name).has_value() : found == Presence::Present;
}

std::optional<Av> Capture::attribute_if_there(const Av& object, StrObject* name) {
  if (presence(object, name) == Presence::Absent) return std::nullopt;
  const Av found = get_attribute(object, name);
  return found.is_undefined() ? ask_getter(object, name) : found;
}

// The cell `__class__` that super() without arguments reads, and the method's self.
Av Capture::class_cell() {
  const lang::CodeObject& code = *frame().code->code;
  for (size_t i = 0; i < code.free_names.size(); ++i)
    if (code.free_names[i] == "__class__") return load_cell(frame().closure[i]);
  break_here(BreakReason::unknown_call, "super() outside a method");
}

Av Capture::first_argument() {
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
void Capture::forbid_reads(const Value& holder) {
  keep_apart_from(holder);
  for (const Watched& watched : plan_.watched)
    if (watched.holder.is(holder) && !is_kind(watched.key, Kind::Str))
      break_here(BreakReason::escape, "a list from outside is read and changed");
  forbidden_.push_back(holder);
}

void Capture::store_cell(const Av& cell, const Av& value) {
  if (VCell* made = as<VCell>(cell)) {
    will_change(*made);
    if (made->source != Virtual::kMadeHere) {
      plan_.distinct.push_back(made->source);
      HostAction action;
      action.form = HostAction::Form::SetContent;
      host_action(std::move(action), {cell, value});
    }
    made->content = value;
    return;
  }
  OverlayKey place{cell.value.object(), nullptr, 0};
  written_by_region(place, cell.value);
  HostAction action;
  action.form = HostAction::Form::SetContent;
  host_action(std::move(action), {cell, value});
  overlay_[place] = value;
}

void Capture::store_global(StrObject* name, const Av& value) {
  Value globals(frame().module->globals.get());
  OverlayKey place{globals.object(), name, 0};
  written_by_region(place, globals);
  HostAction action;
  action.form = HostAction::Form::SetGlobal;
  action.name = Local<StrObject>(name);
  host_action(std::move(action), {Av::constant(globals), value});
  overlay_[place] = value;
}

// `x += y` keeps x's dtype and shape, or raises.
void Capture::check_in_place(VTensor& target, const Av& result) {
  const jit::Type& own = region_.type(current(target));
  const jit::Type& made = region_.type(tensor_of(result)->id);
  bool fits = category_of(made.dtype) <= category_of(own.dtype) && made.sizes.size() == own.sizes.size();
  for (size_t i = 0; fits && i < own.sizes.size(); ++i)
    fits = builder_.known_equal(own.sizes[i], made.sizes[i]);
  if (!fits) break_here(BreakReason::raises, "in-place result does not fit");
}

// A backward() has used up the history of `loss`: what gradients have gone through. What leads elsewhere stays.
void Capture::forget_history(ValueId loss) {
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

void Capture::backward(const Av& loss, const Av& gradient, bool retain_graph) {
  spoil_record();
  std::shared_ptr<VTensor> root = share_tensor(loss);
  ValueId value = current(*root);
  if (is_complex(region_.type(value).dtype)) break_here(BreakReason::complex_numbers, "backward()");
  if (!root->requires_grad || !modes.grad_enabled) break_here(BreakReason::raises, "backward()");
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
    seed = current(*share_tensor(gradient));
  }
  std::vector<std::shared_ptr<VTensor>> leaves;
  std::vector<ValueId> wrt;
  for (const auto& list : {inputs_, leaves_}) {
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
void Capture::check_accumulates(VTensor& leaf) {
  const Av existing = load_gradient(leaf);
  if (existing.is_none()) return;
  NoGrad no_grad(modes);
  check_writable(*root_of(*share_tensor(existing)));
}

void Capture::accumulate(const std::shared_ptr<VTensor>& leaf, ValueId gradient) {
  Av existing = load_gradient(*leaf);
  Av added = new_tensor(gradient, false);
  if (existing.is_none()) return set_gradient(leaf, added);
  NoGrad no_grad(modes);
  const Av operands[] = {existing, added};
  Av total = elementwise(Op::add, operands);
  assign(share_tensor(existing), total);
}

}  // namespace tsc::interp
