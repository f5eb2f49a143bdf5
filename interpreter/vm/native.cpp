#include <algorithm>

#include "interpreter/vm/native.h"

#include "interpreter/modules/importer.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/vm_access.h"

namespace tsc::interp {

void traverse_instance(Object* object, Visitor& visit) {
  InstanceState* state = instance_state(object);
  if (!state) return;
  for (uint32_t i = 0; i < state->capacity; ++i) visit(state->slots[i]);
}

void clear_instance(Vm&, Object* object) {
  InstanceState* state = instance_state(object);
  if (!state) return;
  for (uint32_t i = 0; i < state->capacity; ++i) state->slots[i].reset();
}

TypeBuilder::TypeBuilder(Vm& vm, std::string_view name, Kind layout, Type* base) : vm_(vm) {
  if (!base) base = vm.types().object;
  type_ = vm.heap().make<Type>(vm.types().type);
  Type* t = type_.get();
  t->name = t->qualified_name = std::string(name);
  t->vm = &vm;
  t->layout = layout;
  t->base = base;
  Value dict = make_dict(vm).take();
  t->attributes = cast<DictObject>(dict);
  dict.release_raw();
  if (base) {
    t->bases.push_back(base);
    ++base->reference_count;
    base->subclasses.push_back(t);
    t->mro = base->mro;
    bool same_layout = base->layout == layout && base != vm.types().object;
    if (same_layout) {
      t->slots = base->slots;
      t->instance_offset = base->instance_offset;
      t->subclass_offset = base->subclass_offset;
    } else {
      t->slots.repr = base->slots.repr;
      t->slots.hash = base->slots.hash;
    }
  }
  t->mro.insert(t->mro.begin(), t);
  t->version = VmAccess::new_type_version(vm);
}

TypeBuilder& TypeBuilder::with_attributes(uint32_t offset) {
  type_->instance_offset = offset;
  type_->subclass_offset = offset;
  return *this;
}

TypeBuilder& TypeBuilder::also_base(Type* second) {
  type_->bases.push_back(second);
  ++second->reference_count;
  second->subclasses.push_back(type_.get());
  type_->mro = linearize(vm_, type_.get());
  return *this;
}

TypeBuilder& TypeBuilder::allow_subclasses(uint32_t offset) {
  if (offset) type_->subclass_offset = offset;
  type_->type_flags |= kBaseType;
  return *this;
}

TypeBuilder& TypeBuilder::open() {
  type_->type_flags |= kOpenClass;
  return *this;
}

TypeBuilder& TypeBuilder::module(std::string_view name) {
  attribute("__module__", str_value(vm_, name));
  name_with_module(vm_, type_.get());
  return *this;
}

static Value as_method(Type* type, Local<NativeFunction> f) {
  f->is_method = true;
  f->owner = own_name(type);
  // The type its first argument must have; in methods that fill a slot it would mean a wrapper.
  if (!is_slot_method(f->name)) f->pointer = type;
  return f.take();
}

TypeBuilder& TypeBuilder::method(std::string_view name, std::string_view signature, NativeCode code) {
  return attribute(name, as_method(type_.get(), make_native(vm_, name, signature, code)));
}

TypeBuilder& TypeBuilder::raw_method(std::string_view name, NativeCode code) {
  return attribute(name, as_method(type_.get(), make_raw_native(vm_, name, code)));
}

TypeBuilder& TypeBuilder::static_method(std::string_view name, std::string_view signature, NativeCode code) {
  Local<NativeFunction> f = make_native(vm_, name, signature, code);
  f->owner = own_name(type_.get());
  return attribute(name, f.take());
}

TypeBuilder& TypeBuilder::class_method(std::string_view name, std::string_view signature, NativeCode code) {
  Local<NativeFunction> f = make_native(vm_, name, signature, code);
  f->owner = own_name(type_.get());
  Local<WrappedMethod> wrapped = vm_.heap().make<WrappedMethod>(vm_.types().class_method, Kind::ClassMethod);
  wrapped->function = f.take();
  return attribute(name, wrapped.take());
}

TypeBuilder& TypeBuilder::getter(std::string_view name, Value (*get)(Vm&, const Value&),
                                 void (*set)(Vm&, const Value&, const Value&)) {
  Local<NativeProperty> property = vm_.heap().make<NativeProperty>(vm_.types().native_property);
  property->name = std::string(name);
  property->get = get;
  property->set = set;
  return attribute(name, property.take());
}

TypeBuilder& TypeBuilder::attribute(std::string_view name, const Value& value) {
  dict_set(vm_, type_->attributes, name, value);
  return *this;
}

Type* TypeBuilder::finish() {
  Type* t = type_.get();
  publish_slots(vm_, t);
  bool plain_layout = t->layout == Kind::Instance && t->instance_offset;
  if (plain_layout && !t->slots.get_attribute) t->type_flags |= kPlainInstances;
  if (!t->slots.set_attribute) t->type_flags |= kPlainSetAttribute;
  VmAccess::native_types(vm_).push_back(t);
  ++t->reference_count;
  return t;
}

Local<NativeFunction> make_raw_native(Vm& vm, std::string_view name, NativeCode code) {
  Local<NativeFunction> f = vm.heap().make<NativeFunction>(vm.types().native_function);
  f->code = code;
  f->name = std::string(name);
  return f;
}

Local<NativeFunction> make_native(Vm& vm, std::string_view name, std::string_view signature, NativeCode code) {
  Local<NativeFunction> f = make_raw_native(vm, name, code);
  f->signature = std::make_shared<const Signature>(signature);
  return f;
}

ModuleBuilder::ModuleBuilder(Vm& vm, std::string_view name) : vm_(vm), module_(make_module(vm, name)) {}

ModuleBuilder& ModuleBuilder::function(std::string_view name, std::string_view signature, NativeCode code) {
  Local<NativeFunction> f = make_native(vm_, name, signature, code);
  f->owner = module_->name;
  return value(name, f.take());
}

ModuleBuilder& ModuleBuilder::raw_function(std::string_view name, NativeCode code) {
  Local<NativeFunction> f = make_raw_native(vm_, name, code);
  f->owner = module_->name;
  return value(name, f.take());
}

ModuleBuilder& ModuleBuilder::value(std::string_view name, const Value& value) {
  dict_set(vm_, module_->globals, name, value);
  return *this;
}

void register_native_module(Vm& vm, std::string_view name, Local<ModuleObject> (*make)(Vm& vm)) {
  vm.importer().register_native(name, make);
}

}  // namespace tsc::interp
