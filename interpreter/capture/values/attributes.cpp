// Attributes while capturing: own attributes of host objects are loads, class attributes are watched,
// methods become (function, self) pairs so that calls inline.
#include "interpreter/capture/values/attributes.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/raising.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/capture/written/writes.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {
namespace {

bool is_callable_function(const Value& v) { return is_kind(v, Kind::Function) || is_kind(v, Kind::NativeFunction); }

}  // namespace

// What a class attribute becomes when read through an instance (or the class itself).
Av Attributes::bind(const Value& attribute, const Av& self, bool through_class) {
  if (is_kind(attribute, Kind::StaticMethod))
    return Av::constant(static_cast<WrappedMethod*>(attribute.object())->function);
  if (is_kind(attribute, Kind::ClassMethod)) {
    const Value& function = static_cast<WrappedMethod*>(attribute.object())->function;
    const bool asks = function.is_object() && !is_callable_function(function) &&
                      (function.object()->type->slots.bind || is_kind(function, Kind::Property));
    if (asks) break_here(BreakReason::unknown_call, "descriptor");
    auto bound = make<VBoundMethod>();
    bound->function = Av::constant(function);
    bound->self = through_class ? self : Av::constant(Value(type_of_av(self)));
    return Av::of(bound);
  }
  bool method = is_kind(attribute, Kind::Function) ||
                (is_kind(attribute, Kind::NativeFunction) && cast<NativeFunction>(attribute)->is_method);
  if (method && !through_class) {
    auto bound = make<VBoundMethod>();
    bound->function = Av::constant(attribute);
    bound->self = self;
    return Av::of(bound);
  }
  bool descriptor = attribute.is_object() && attribute.object()->type->slots.bind && !is_callable_function(attribute);
  if (descriptor) break_here(BreakReason::unknown_call, "descriptor");
  return Av::constant(attribute);
}

Type* Attributes::type_of_av(const Av& av) {
  if (av.is_constant()) return type_of(vm_, av.value);
  // Its class is known of one that nothing has looked at, too.
  if (is_virtual(av, VirtualKind::Instance)) return static_cast<const VInstance&>(*av.object).type.get();
  if (VTensor* tensor = as<VTensor>(av))
    return tensor->host.is_undefined() ? tensor_state_.tensor_type : tensor->host.object()->type;
  if (VTuple* tuple = as<VTuple>(av)) return tuple->type ? tuple->type.get() : vm_.types().tuple;
  if (is_virtual(av, VirtualKind::List)) return vm_.types().list;
  if (const VDict* dict = as<VDict>(av)) return dict->type ? dict->type.get() : vm_.types().dict;
  if (const VSet* set = as<VSet>(av)) return set->frozen ? vm_.types().frozenset : vm_.types().set;
  if (as<VRange>(av)) return vm_.types().range;
  if (const VDictView* view = as<VDictView>(av)) {
    Type* const types[] = {vm_.types().dict_keys, vm_.types().dict_values, vm_.types().dict_items};
    return types[static_cast<size_t>(view->form)];
  }
  if (as<VSlice>(av)) return vm_.types().slice;
  if (as<VText>(av)) return vm_.types().str;
  if (as<VFunction>(av)) return vm_.types().function;
  if (as<VBoundMethod>(av)) return vm_.types().bound_method;
  if (const VPartial* partial = as<VPartial>(av)) return partial->type.get();
  if (const VIterator* iterator = as<VIterator>(av); iterator && iterator->host.is_object())
    return iterator->host.object()->type;
  if (av.is_number())
    return av.scalar_kind == jit::ValueKind::Int     ? vm_.types().integer
           : av.scalar_kind == jit::ValueKind::Float ? vm_.types().real
                                                     : vm_.types().boolean;
  break_here(BreakReason::unknown_object, "type of an unknown value");
}

void Attributes::assume_class(const Av& object) {
  if (object.is_constant() && is_kind(object.value, Kind::Instance) &&
      object.value.object()->type->type_flags & kScriptClass)
    cells_.assume_unchanged(object.value.object(), Value(vm_.names().class_.get()));
}

const Value* Attributes::class_attribute(Type* type, StrObject* name, Type** owner) {
  const Value* found = lookup_in_type(type, name, owner);
  // Any class of the MRO may get or lose the name.
  for (Type* t : type->mro)
    if (t->type_flags & kScriptClass) cells_.assume_unchanged(t, Value(name));
  return found;
}

Av Attributes::tensor_attribute(const Av& object, VTensor& tensor, StrObject* name) {
  std::string_view text = name->view();
  if (text == "shape") return shapes_.shape_of(tensor);
  if (text == "dtype") return Av::constant(dtype_value(tensor_state_, region_.type(tensors_.current(tensor)).dtype));
  if (text == "ndim") return Av::integer(static_cast<int64_t>(region_.type(tensors_.current(tensor)).sizes.size()));
  if (text == "requires_grad") return Av::boolean(tensor.requires_grad);
  if (text == "is_leaf" || text == "grad") shared_memory_.note_escape(tensor);
  if (text == "is_leaf") return Av::boolean(tensor.leaf);
  if (text == "grad") return gradients_.load_gradient(tensor);
  if (text == "data") {
    Av data = tensors_.emit(Op::detach, {&object, 1}, {}, {});
    static_cast<VTensor&>(*data.object).is_data = true;
    return data;
  }
  if (!tensor.host.is_undefined()) {
    InstanceState* state = instance_state(tensor.host.object());
    Value own = state ? get_own_attribute(vm_, tensor.host.object(), name) : Value();
    // Of a tensor known by identity: another one that comes in has attributes of its own.
    if (!own.is_undefined() && plan_.sources[tensor.source].form != EntrySource::Form::Pinned)
      break_here(BreakReason::unknown_object, "an attribute that the program gave to a tensor");
    if (!own.is_undefined()) return cells_.load_attribute_cell(Value(place_of(tensor.host, name).holder), name, own);
  }
  Type* owner = nullptr;
  const Value* found = class_attribute(type_of_av(object), name, &owner);
  if (!found) break_here(BreakReason::raises, "AttributeError: " + std::string(text));
  return read_class_attribute(*found, object);
}

// Properties are calls of their getter: the instruction that reads the attribute becomes the call.
Av Attributes::read_class_attribute(const Value& attribute, const Av& self) {
  if (is_kind(attribute, Kind::Property)) {
    CallArguments arguments;
    arguments.positional.push_back(self);
    calls_.set_pending_getter(Av::constant(cast<PropertyObject>(attribute)->getter), std::move(arguments), true);
    return Av();
  }
  if (is_kind(attribute, Kind::NativeProperty))
    break_here(BreakReason::unknown_call, "property " + cast<NativeProperty>(attribute)->name);
  if (const Value* getter = get_method_of(attribute)) {
    CallArguments arguments;
    arguments.positional = {Av::constant(attribute), self, Av::constant(Value(type_of_av(self)))};
    calls_.set_pending_getter(Av::constant(*getter), std::move(arguments), true);
    return Av();
  }
  return bind(attribute, self, false);
}

// The __get__ of a descriptor whose class the script has defined.
const Value* Attributes::get_method_of(const Value& attribute) {
  if (!is_kind(attribute, Kind::Instance)) return nullptr;
  const Value* getter = class_attribute(attribute.object()->type, intern(vm_, "__get__").get(), nullptr);
  return getter && is_kind(*getter, Kind::Function) ? getter : nullptr;
}

// What a class has, asked by itself: a descriptor is called without an object.
Av Attributes::read_by_class(const Value& attribute, const Av& type) {
  const Value* getter = get_method_of(attribute);
  if (!getter) return bind(attribute, type, true);
  CallArguments arguments;
  arguments.positional = {Av::constant(attribute), Av::none(), type};
  calls_.set_pending_getter(Av::constant(*getter), std::move(arguments), true);
  return Av();
}

// Where an own attribute lies. Once somebody has asked for `__dict__`, that is the dict, which others may write to.
OverlayKey Attributes::place_of(const Value& object, StrObject* name) {
  Object* holder = attribute_holder(vm_, object.object(), name);
  if (holder != object.object())
    cells_.assume_unchanged(object.object(), Value(vm_.names().dict.get()));  // that it is this dict
  return {holder, name, 0};
}

// Of text, bytes and tuples, which are no facts: they stay what they are.
static bool is_without_attributes(const Value& v) {
  const bool is_fixed = is_kind(v, Kind::Str) || is_kind(v, Kind::Bytes) || is_kind(v, Kind::Tuple);
  return is_fixed && !(v.object()->type->type_flags & kScriptClass);
}

// What the metaclass of the script has for its classes, where that comes before what the class has; or null.
const Value* Attributes::metaclass_attribute(Type& type, StrObject* name, AttributeSite& site) {
  if (type.type->slots.get_attribute != vm_.types().type->slots.get_attribute)
    break_here(BreakReason::unknown_call, "__getattribute__ of a metaclass");
  const Value* found = class_attribute(type.type, name, nullptr);
  const bool is_own = site.found == Found::ClassAttribute;
  const bool is_of_type = found && is_kind(*found, Kind::NativeProperty);  // __name__ and the like
  if (found && !is_of_type && (!is_own || is_data_descriptor(*found))) {
    class_attribute(&type, name, nullptr);  // the class may get the name
    return found;
  }
  if (!found && site.found == Found::Absent && type.type->slots.get_missing_attribute) site.found = Found::MissingHook;
  return nullptr;
}

Av Attributes::find_attribute(const Av& object, StrObject* name) {
  // To read them may run code of the program.
  if (name == vm_.names().annotations.get()) break_here(BreakReason::unknown_call, "attribute __annotations__");
  AttributeSite site = inspect_attribute(vm_, object.value, name);
  const OverlayKey own = place_of(object.value, name);
  if (auto* type = try_cast<Type>(object.value); type && type->type->type_flags & kScriptClass)
    if (const Value* found = metaclass_attribute(*type, name, site)) return read_class_attribute(*found, object);
  // An item and an attribute of the same name are one place to those who watch it: which is right only where the dict
  // is its own `__dict__`.
  if (is_kind(object.value, Kind::Dict) && !shares_attributes(object.value.object()) &&
      (site.found == Found::InstanceSlot || overlay_.stored_at(own)))
    break_here(BreakReason::unknown_object, "an attribute of a dict of a class from outside");
  switch (site.found) {
    case Found::Absent:
    case Found::MissingHook:
      if (const Av* stored = overlay_.stored_at(own)) return *stored;
      assume_absent(object.value, name, site);
      if (site.found == Found::MissingHook) return ask_missing(object, name);
      raise_here(vm_.exceptions().AttributeError, std::string(name->view()));
    case Found::InstanceSlot: {
      class_attribute(object.value.object()->type, name, nullptr);
      return cells_.load_attribute_cell(Value(own.holder), name, site.value);
    }
    case Found::ModuleGlobal: return cells_.load_attribute_cell(Value(site.holder), name, site.value);
    case Found::ClassAttribute: {
      if (const Av* stored = overlay_.stored_at(own)) return *stored;
      bool type_itself = is_kind(object.value, Kind::Type);
      // The class of classes has `__name__` and the like for its instances, and is one.
      if (type_itself && is_kind(site.value, Kind::NativeProperty) && object.value.object() == vm_.types().type) break;
      watch_attribute(vm_, object.value, name, site);
      if (!is_without_attributes(object.value)) cells_.assume_unchanged(own.holder, Value(name));
      if (site.owner) cells_.assume_unchanged(site.owner, Value(name));
      class_attribute(type_itself ? cast<Type>(object.value) : type_of(vm_, object.value), name, nullptr);
      if (!type_itself) return read_class_attribute(site.value, object);
      return read_by_class(site.value, object);
    }
    default: break;
  }
  if (const Av* stored = overlay_.stored_at(own)) return *stored;
  if (numbers_.is_plain_data(object.value) && !is_kind(object.value, Kind::Module)) {
    if (const FunctionObject* function = try_cast<FunctionObject>(object.value)) {
      DictObject* given = function->attributes.get();
      const Value now = given ? dict_get(vm_, given, Value(name)) : Value();
      cells_.assume_unchanged(object.value.object(),
                              now.is_undefined() ? Value(name) : intern(vm_, "__dict__").value());
      if (!now.is_undefined()) return cells_.load_attribute_cell(Value(given), name, now);
      if (given) cells_.assume_unchanged(given, Value(name));
    }
    if (auto* type = try_cast<Type>(object.value); type && type->type_flags & kScriptClass)
      cells_.assume_unchanged(type, Value(name));
    return Av::constant(interp::get_attribute(vm_, object.value, name));
  }
  break_here(BreakReason::unknown_call, "attribute " + std::string(name->view()));
}

// `__class__` as `object` has it. What stands for another object, as a weak proxy does, has one of its own.
bool Attributes::has_plain_class(const Av& object) {
  if (as<VSuper>(object)) return false;
  Type* type = type_of_av(object);
  const auto is_one_of = [&](auto... kinds) { return ((type->layout == kinds) || ...); };
  const bool finds_as_object =
      is_one_of(Kind::Function, Kind::NativeFunction, Kind::BoundMethod, Kind::Module, Kind::Type);
  if (type->slots.get_attribute && (!finds_as_object || type->type_flags & kScriptClass)) return false;
  Type* owner = nullptr;
  const Value* found = class_attribute(type, vm_.names().class_.get(), &owner);
  return found && owner == vm_.types().object;
}

Av Attributes::get_attribute(const Av& object, StrObject* name) {
  if (name == vm_.names().class_.get() && has_plain_class(object)) {
    assume_class(object);
    return Av::constant(Value(type_of_av(object)));
  }
  if (VTensor* tensor = tensors_.tensor_of(object)) return tensor_attribute(object, *tensor, name);
  if (VInstance* instance = as<VInstance>(object)) {
    Type* owner = nullptr;
    if (instance->type->slots.get_attribute) break_here(BreakReason::unknown_call, "__getattribute__");
    const Value* found = class_attribute(instance->type.get(), name, &owner);
    if (!found || !is_data_descriptor(*found))
      if (const Av* field = find_field(*instance, name)) return *field;
    if (found) return read_class_attribute(*found, object);
    if (name == vm_.names().class_.get()) return Av::constant(instance->type.value());
    if (instance->type->slots.get_missing_attribute) return ask_missing(object, name);
    raise_here(vm_.exceptions().AttributeError, std::string(name->view()));
  }
  if (VDict* dict = as<VDict>(object); dict && dict->type) {
    const Value* found = class_attribute(dict->type.get(), name, nullptr);
    const bool is_property = found && is_data_descriptor(*found);
    if (dict->type->slots.get_attribute) break_here(BreakReason::unknown_call, "__getattribute__");
    const Av* field = is_property ? nullptr : find_field(*dict, name);
    if (field || found) return field ? *field : read_class_attribute(*found, object);
    if (dict->type->slots.get_missing_attribute) return ask_missing(object, name);
    raise_here(vm_.exceptions().AttributeError, std::string(name->view()));
  }
  if (VSuper* super = as<VSuper>(object)) return super_attribute(*super, name);
  if (object.is_constant() && object.value.is_object()) return host_attribute(object, name);
  if (VSlice* slice = as<VSlice>(object)) {
    if (name->view() == "start") return slice->start;
    if (name->view() == "stop") return slice->stop;
    if (name->view() == "step") return slice->step;
  }
  Type* type = type_of_av(object);
  // Its attributes are its type's to find: a function's `__doc__` is not that of the class of functions.
  if (type->slots.get_attribute)
    break_here(BreakReason::unknown_call, "attribute " + std::string(name->view()) + " of a " + type->name);
  const Value* found = lookup_in_type(type, name);
  if (!found) raise_here(vm_.exceptions().AttributeError, std::string(name->view()));
  return read_class_attribute(*found, object);
}

// That there is no such attribute, and what the class says to that: the pending getter.
void Attributes::assume_absent(const Value& object, StrObject* name, const AttributeSite& site) {
  cells_.assume_unchanged(place_of(object, name).holder, Value(name));
  watch_attribute(vm_, object, name, site);
  for (Type* t : type_of(vm_, object)->mro)
    if (t->type_flags & kScriptClass) cells_.assume_unchanged(t, Value(name));
}

Av Attributes::ask_missing(const Av& object, StrObject* name) {
  StrObject* hook = vm_.names().getattr.get();
  CallArguments arguments;
  Av function;
  if (ModuleObject* module = object.is_constant() ? try_cast<ModuleObject>(object.value) : nullptr) {
    const Value globals(module->globals.get());
    function = cells_.load_attribute_cell(globals, hook, dict_get(vm_, module->globals.get(), Value(hook)));
  } else {
    const Value* method = class_attribute(type_of_av(object), hook, nullptr);
    if (method && is_kind(*method, Kind::Function)) function = Av::constant(*method);
    arguments.positional.push_back(object);
  }
  if (function.is_undefined()) break_here(BreakReason::unknown_call, "__getattr__");
  arguments.positional.push_back(Av::constant(Value(name)));
  calls_.set_pending_getter(function, std::move(arguments), false);
  return Av();
}

Av Attributes::super_attribute(VSuper& super, StrObject* name) {
  bool is_class = super.self.is_constant() && is_kind(super.self.value, Kind::Type);
  Type* type = is_class ? cast<Type>(super.self.value) : type_of_av(super.self);
  bool behind = false;
  for (Type* t : type->mro) {
    if (behind) {
      if (t->type_flags & kScriptClass) cells_.assume_unchanged(t, Value(name));
      Value found = dict_get(vm_, t->attributes, Value(name));
      if (!found.is_undefined())
        return is_class ? bind(found, super.self, true) : read_class_attribute(found, super.self);
    }
    behind |= t == super.start.get();
  }
  break_here(BreakReason::raises, "AttributeError: super");
}

std::pair<Av, Av> Attributes::load_method(const Av& object, StrObject* name) {
  Av attribute = get_attribute(object, name);
  if (attribute.is_undefined()) {
    const std::optional<Av> found = ask_getter(object, name);
    if (!found) raise_here(vm_.exceptions().AttributeError, std::string(name->view()));
    attribute = *found;
  }
  if (VBoundMethod* bound = as<VBoundMethod>(attribute)) return {bound->function, bound->self};
  return {attribute, Av()};
}

void Attributes::set_attribute(const Av& object, StrObject* name, const Av& value) {
  if (VTensor* tensor = tensors_.tensor_of(object)) return set_tensor_attribute(object, *tensor, name, value);
  Type* type = type_of_av(object);
  if (type->type_flags & kPlainSetAttribute) return set_plain_attribute(object, name, value);
  if (!calls_.call_own("__setattr__", {object, Av::constant(Value(name)), value}))
    break_here(BreakReason::unknown_call, "__setattr__");
}

// As object.__setattr__ does.
void Attributes::set_plain_attribute(const Av& object, StrObject* name, const Av& value) {
  if (VInstance* instance = as<VInstance>(object)) {
    const Value* found = class_attribute(instance->type.get(), name, nullptr);
    if (found && found->is_object() && found->object()->type->slots.bind_set)
      break_here(BreakReason::unknown_call, "property setter");
    if (refuses_attribute(vm_, instance->type.get(), found))
      break_here(BreakReason::raises, "AttributeError: __slots__");
    return set_field(object, name, value);
  }
  if (VDict* dict = as<VDict>(object); dict && dict->type) {
    const Value* found = class_attribute(dict->type.get(), name, nullptr);
    if ((found && found->is_object() && found->object()->type->slots.bind_set) ||
        refuses_attribute(vm_, dict->type.get(), found))
      break_here(BreakReason::unknown_call, "an attribute that the class keeps");
    effects_.will_change(*dict);
    repeats_.spoil_record();
    if (Av* field = find_field(*dict, name)) *field = value;
    else dict->fields.push_back({Local<StrObject>(name), value});
    return;
  }
  if (!object.is_constant() || !is_kind(object.value, Kind::Instance))
    break_here(BreakReason::unknown_object, "store to an attribute of an unknown value");
  store_host_attribute(object, name, value);
}

void Attributes::set_field(const Av& object, StrObject* name, const Av& value) {
  VInstance& instance = *as<VInstance>(object);
  effects_.will_change(instance);
  if (instance.source != Virtual::kMadeHere) {
    plan_.distinct.push_back(instance.source);
    HostAction action;
    action.form = HostAction::Form::SetAttribute;
    action.name = Local<StrObject>(name);
    effects_.host_action(std::move(action), {object, value});
  }
  for (auto& [field, current_value] : instance.fields)
    if (field.get() == name) {
      current_value = value;
      return;
    }
  instance.fields.push_back({Local<StrObject>(name), value});
}

void Attributes::store_host_attribute(const Av& object, StrObject* name, const Av& value) {
  const Value* found = class_attribute(object.value.object()->type, name, nullptr);
  if (found && found->is_object() && found->object()->type->slots.bind_set)
    break_here(BreakReason::unknown_call, "property setter");
  if (refuses_attribute(vm_, object.value.object()->type, found))
    break_here(BreakReason::raises, "AttributeError: __slots__");
  const OverlayKey place = place_of(object.value, name);
  cells_.written_by_region(place, Value(place.holder));
  HostAction action;
  action.form = HostAction::Form::SetAttribute;
  action.name = Local<StrObject>(name);
  effects_.host_action(std::move(action), {object, value});
  overlay_.note_stored(place, value);
}

void Attributes::set_tensor_attribute(const Av& object, VTensor& tensor, StrObject* name, const Av& value) {
  std::string_view text = name->view();
  shared_memory_.note_escape(tensor);
  if (text == "grad") {
    if (!value.is_none() && !tensors_.tensor_of(value)) break_here(BreakReason::raises, "TypeError: grad");
    return writes_.set_gradient(tensors_.share_tensor(object), value);
  }
  if (text == "requires_grad" && tensor.host.is_undefined() && tensor.leaf && value.is_constant()) {
    if (!is_differentiable(region_.type(tensor.id).dtype)) break_here(BreakReason::raises, "requires_grad");
    const bool wanted = interp::truth(vm_, value.value);
    if (wanted == tensor.requires_grad) return;
    effects_.will_change(tensor);
    if (!wanted) break_here(BreakReason::unknown_call, "a tensor of the function needs no gradient any more");
    tensor.requires_grad = true;
    gradients_.begin_gradient(tensor);
    gradients_.add_leaf(tensors_.share_tensor(object));
    return;
  }
  break_here(BreakReason::unknown_call, "store to tensor attribute " + std::string(text));
}

// Whether the attribute's own code says if it is there: a property may raise, a slot may be empty.
static bool finds_by_code(const Value* attribute) {
  if (!attribute || !attribute->is_object()) return false;
  const bool is_method = is_kind(*attribute, Kind::Function) || is_kind(*attribute, Kind::NativeFunction) ||
                         is_kind(*attribute, Kind::StaticMethod) || is_kind(*attribute, Kind::ClassMethod);
  return !is_method && (attribute->object()->type->slots.bind || is_kind(*attribute, Kind::Property) ||
                        is_kind(*attribute, Kind::NativeProperty));
}

Attributes::Presence Attributes::find_presence(const Av& object, StrObject* name) {
  if (VInstance* instance = as<VInstance>(object)) {
    Type* type = instance->type.get();
    const Value* found = class_attribute(type, name, nullptr);
    if (found && is_kind(*found, Kind::Property) && !type->slots.get_attribute) return Presence::Asks;
    if (type->slots.get_attribute || finds_by_code(found))
      break_here(BreakReason::unknown_call, "hasattr of a " + type->name);
    if (found || find_field(*instance, name)) return Presence::Present;
    return type->slots.get_missing_attribute ? Presence::Asks : Presence::Absent;
  }
  if (VDict* dict = as<VDict>(object); dict && dict->type) {
    const Value* found = class_attribute(dict->type.get(), name, nullptr);
    if (dict->type->slots.get_attribute || finds_by_code(found))
      break_here(BreakReason::unknown_call, "hasattr of a " + dict->type->name);
    if (found || find_field(*dict, name)) return Presence::Present;
    return dict->type->slots.get_missing_attribute ? Presence::Asks : Presence::Absent;
  }
  if (tensors_.tensor_of(object)) {
    if (lookup_in_type(type_of_av(object), name)) return Presence::Present;
    break_here(BreakReason::unknown_object, "hasattr of a tensor");
  }
  if (object.is_constant() && object.value.is_object()) {
    AttributeSite site = inspect_attribute(vm_, object.value, name);
    if (site.found == Found::Custom) break_here(BreakReason::unknown_call, "__getattribute__");
    if (auto* type = try_cast<Type>(object.value); type && type->type->type_flags & kScriptClass)
      if (const Value* found = metaclass_attribute(*type, name, site)) {
        if (is_kind(*found, Kind::Property)) return Presence::Asks;
        if (finds_by_code(found)) break_here(BreakReason::unknown_call, "hasattr of a " + type->type->name);
        return Presence::Present;
      }
    if (site.found == Found::NativeSlot)
      break_here(BreakReason::unknown_call, "hasattr of a " + type_name(vm_, object.value));
    const bool of_class = site.found == Found::ClassAttribute && !is_kind(object.value, Kind::Type);
    const bool is_property = of_class && is_kind(site.value, Kind::Property);
    if (of_class && !is_property && finds_by_code(&site.value))
      break_here(BreakReason::unknown_call, "hasattr of a " + type_name(vm_, object.value));
    assume_absent(object.value, name, site);
    if (overlay_.stored_at(place_of(object.value, name))) return Presence::Present;
    if (is_property || site.found == Found::MissingHook) return Presence::Asks;
    return site.found == Found::Absent ? Presence::Absent : Presence::Present;
  }
  Type* type = type_of_av(object);
  // Every class has the getter of __dict__, and not every object has attributes for it.
  if (type->slots.get_attribute || name->view() == "__dict__")
    break_here(BreakReason::unknown_call, "hasattr of a " + type->name);
  return lookup_in_type(type, name) ? Presence::Present : Presence::Absent;
}

bool Attributes::has_attribute(const Av& object, StrObject* name) {
  const Presence found = presence(object, name);
  return found == Presence::Asks ? attribute_if_there(object, name).has_value() : found == Presence::Present;
}

bool Attributes::has_own(const Av& object, StrObject* name) {
  if (VInstance* instance = as<VInstance>(object)) return find_field(*instance, name);
  if (VDict* dict = as<VDict>(object); dict && dict->type) return find_field(*dict, name);
  if (!object.is_constant() || !is_kind(object.value, Kind::Instance))
    break_here(BreakReason::unknown_object, "what an unknown value has itself");
  repeats_.spoil_record();
  const OverlayKey place = place_of(object.value, name);
  if (overlay_.stored_at(place)) return true;
  cells_.assume_unchanged(place.holder, Value(name));
  return !get_own_attribute(vm_, object.value.object(), name).is_undefined();
}

std::optional<Av> Attributes::attribute_if_there(const Av& object, StrObject* name) {
  if (presence(object, name) == Presence::Absent) return std::nullopt;
  const Av found = get_attribute(object, name);
  return found.is_undefined() ? ask_getter(object, name) : found;
}

// The __getattr__ of a class answers what its properties raise: a getter runs to its end there.
void Attributes::call_getter(const Av& object, StrObject* name, uint16_t destination) {
  if (calls_.is_property_pending() && type_of_av(object)->slots.get_missing_attribute) {
    auto [getter, self] = calls_.take_pending_getter();
    if (const std::optional<Av> found = raising_.call_unless_absent(getter, std::move(self)))
      return frames_.write(destination, *found);
    ask_missing(object, name);
  }
  auto [getter, arguments] = calls_.take_pending_getter();
  calls_.call(getter, std::move(arguments), destination);
}

// Nothing: an AttributeError says that there is no such attribute.
std::optional<Av> Attributes::ask_getter(const Av& object, StrObject* name) {
  const bool is_property = calls_.is_property_pending();
  auto [getter, arguments] = calls_.take_pending_getter();
  std::optional<Av> answer = raising_.call_unless_absent(getter, std::move(arguments));
  if (answer || !is_property || !type_of_av(object)->slots.get_missing_attribute) return answer;
  ask_missing(object, name);
  return ask_getter(object, name);
}

Av* Attributes::find_field(VDict& dict, StrObject* name) {
  const auto found = std::find_if(dict.fields.begin(), dict.fields.end(),
                                  [&](const auto& field) { return field.first.get() == name; });
  return found == dict.fields.end() ? nullptr : &found->second;
}

const Av* Attributes::find_field(VInstance& instance, StrObject* name) {
  for (auto& [field, value] : instance.fields)
    if (field.get() == name) return value.is_undefined() ? nullptr : &value;
  if (instance.source == Virtual::kMadeHere) return nullptr;
  EntrySource source;
  source.form = EntrySource::Form::Attribute;
  source.parent = instance.source;
  source.name = Local<StrObject>(name);
  const Value now = get_own_attribute(vm_, instance.host.object(), name);
  Av value;
  if (!now.is_undefined()) {
    value = inputs_.load_value(now, std::move(source));
  } else {
    // It must stay absent: what is found on the class would be hidden.
    source.check = EntrySource::Check::Same;
    inputs_.add_source(std::move(source));
  }
  instance.fields.push_back({Local<StrObject>(name), std::move(value)});
  return now.is_undefined() ? nullptr : &instance.fields.back().second;
}

}  // namespace tsc::interp
