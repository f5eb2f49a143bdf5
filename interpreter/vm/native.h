#pragma once
// Adding C++ functions, types and modules to a Vm.
//   TypeBuilder type(vm, "Tensor", Kind::Native);
//   type.with_attributes(offset_of(&TensorObject::state)).allow_subclasses();
//   type.slots().binary = tensor_binary;
//   type.method("item", "self", tensor_item).getter("shape", tensor_shape);
//   Type* tensor = type.finish();
// The objects of the type are made with vm.heap().make<TensorObject>(tensor, ...).
#include <string>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

// The destroy slot of a layout: C++ destructor, memory back.
template <class T>
void destroy_as(Vm& vm, Object* object) {
  vm.heap().finish(static_cast<T*>(object));
}
// For layouts that begin as Instance: visits and clears the attributes; chain to them from own slots.
void traverse_instance(Object* object, Visitor& visit);
void clear_instance(Vm& vm, Object* object);

class TypeBuilder {
 public:
  // `base` null: object. The base's slots are inherited.
  TypeBuilder(Vm& vm, std::string_view name, Kind layout, Type* base = nullptr);
  // Goes on with a type that exists already (boot code); no finish().
  static TypeBuilder existing(Vm& vm, Type* type) { return TypeBuilder(vm, type); }
  TypeSlots& slots() { return type_->slots; }
  Type* type() { return type_.get(); }
  // Instances have attributes; their InstanceState lies at `offset`: offset_of(&T::state).
  TypeBuilder& with_attributes(uint32_t offset);
  // Script classes may inherit. Their instances keep attributes at `offset`, unless the type itself
  // has attributes already.
  TypeBuilder& allow_subclasses(uint32_t offset = 0);
  // Its attributes may be set, as those of a script class.
  TypeBuilder& open();
  TypeBuilder& also_base(Type* second);        // a further base, of the same layout
  TypeBuilder& module(std::string_view name);  // __module__, and "module.Name" in reprs
  TypeBuilder& method(std::string_view name, std::string_view signature, NativeCode code);
  // Reads Args itself (count, keywords): args[0] is self.
  TypeBuilder& raw_method(std::string_view name, NativeCode code);
  TypeBuilder& static_method(std::string_view name, std::string_view signature, NativeCode code);
  TypeBuilder& class_method(std::string_view name, std::string_view signature, NativeCode code);
  TypeBuilder& getter(std::string_view name, Value (*get)(Vm&, const Value&),
                      void (*set)(Vm&, const Value&, const Value&) = nullptr);
  TypeBuilder& attribute(std::string_view name, const Value& value);
  // Publishes the slots as dunder methods. The type lives as long as the Vm.
  Type* finish();

 private:
  TypeBuilder(Vm& vm, Type* type) : vm_(vm), type_(type) {}
  Vm& vm_;
  Local<Type> type_;
};

Local<NativeFunction> make_native(Vm& vm, std::string_view name, std::string_view signature, NativeCode code);
Local<NativeFunction> make_raw_native(Vm& vm, std::string_view name, NativeCode code);

// A module of C++ functions.
class ModuleBuilder {
 public:
  ModuleBuilder(Vm& vm, std::string_view name);
  ModuleBuilder& function(std::string_view name, std::string_view signature, NativeCode code);
  ModuleBuilder& raw_function(std::string_view name, NativeCode code);
  ModuleBuilder& value(std::string_view name, const Value& value);
  Local<ModuleObject> finish() { return module_; }

 private:
  Vm& vm_;
  Local<ModuleObject> module_;
};

// Makes `name` importable; `make` runs at the first import.
void register_native_module(Vm& vm, std::string_view name, Local<ModuleObject> (*make)(Vm& vm));

// Runs native code for the script: tsc::Error and std::bad_alloc become script exceptions.
[[noreturn]] void rethrow_as_script_exception(Vm& vm);

}  // namespace tsc::interp
