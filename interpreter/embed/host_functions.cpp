// What the host gives its scripts: functions and modules.
#include <cstring>

#include "interpreter/embed/arguments.h"
#include "interpreter/embed/parameters.h"
#include "interpreter/modules/importer.h"

namespace tsc::embed {

using namespace interp;

namespace {

// The module of that name, made when it is not there yet. What lies above it is imported where it can be, and
// is an empty package otherwise, so that `import a.b` finds both.
ModuleObject* module_named(Vm& vm, const std::string& name) {
  const Value known = dict_get(vm, vm.modules(), name);
  if (!known.is_undefined() && !is_kind(known, Kind::Module))
    raise_type_error(vm, "sys.modules['" + name + "'] is no module");
  if (!known.is_undefined()) return cast<ModuleObject>(known);
  const size_t dot = name.rfind('.');
  ModuleObject* above = nullptr;
  if (dot != std::string::npos) {
    const std::string package = name.substr(0, dot);
    if (dict_get(vm, vm.modules(), package).is_undefined() && vm.importer().find(package)) vm.import_module(package);
    above = module_named(vm, package);
    above->is_package = true;
  }
  const Local<ModuleObject> made = make_module(vm, name);
  dict_set(vm, vm.modules(), name, made.value());
  if (above != nullptr) dict_set(vm, above->globals, name.substr(dot + 1), made.value());
  return made.get();
}

}  // namespace

void set_module_member(tsc_engine& engine, const std::string& module, const std::string& name, const Value& value) {
  Vm& vm = *engine.vm;
  dict_set(vm, module_named(vm, module)->globals, name, value);
}

namespace {

// The exception type a host named, or RuntimeError.
Type* exception_type(Vm& vm, const std::string& name) {
  if (name == "LimitError") return vm.exceptions().LimitError;
  const Value value = dict_get(vm, vm.builtins()->globals, name);
  if (Type* type = try_cast<Type>(value); type && type->is_subtype_of(vm.exceptions().BaseException)) return type;
  return vm.exceptions().RuntimeError;
}

}  // namespace

Value take_result(tsc_engine* engine, tsc_value* result, const std::vector<tsc_value>& given,
                  const std::string& function) {
  if (result == nullptr) return Value::none();
  for (const tsc_value& handle : given)
    if (result == &handle) return handle.value;  // lent for the call: not the callback's to free
  struct Drop {
    void operator()(tsc_value* handle) const { drop_value(handle); }
  };
  const std::unique_ptr<tsc_value, Drop> owned(result);
  if (result->engine != engine)
    raise(*engine->vm, engine->vm->exceptions().RuntimeError,
          "the host's function " + function + " returned a value of another engine");
  return result->value;
}

void raise_status(Vm& vm, tsc_status* status) {
  const OwnedStatus owned(status);
  std::string message = status->message;
  const std::string prefix = status->type + ": ";
  if (message.rfind(prefix, 0) == 0) message = message.substr(prefix.size());
  if (status->code == TSC_INTERRUPTED) raise(vm, vm.exceptions().KeyboardInterrupt, message);
  raise(vm, exception_type(vm, status->type), message);
}

std::optional<ModuleSource> load(tsc_engine& engine, tsc_loader loader, void* user, const std::string& name) {
  ModuleSource source;
  auto append = [](void* to, const char* text, size_t size) {
    if (text != nullptr) static_cast<std::string*>(to)->append(text, size);
  };
  tsc_status* error = nullptr;
  const int found = loader(user, &engine, name.c_str(), append, &source.text, &error);
  if (error != nullptr) raise_status(*engine.vm, error);
  source.is_package = found == 2;
  if (found == 0) return std::nullopt;
  return source;
}

namespace {

Value call_host(Vm& vm, Args& args) {
  auto* binding = static_cast<tsc_host_binding*>(args.callee->pointer);
  if (args.keyword_count > 0) raise_type_error(vm, binding->name + "() takes no keyword arguments");
  std::vector<tsc_value> values;
  values.reserve(args.count);
  for (const Value& value : args.span())
    values.push_back({binding->engine, value.is_undefined() ? Value::none() : value});
  std::vector<tsc_value*> handles;
  for (tsc_value& value : values) handles.push_back(&value);
  tsc_value* result = nullptr;
  tsc_status* status = binding->function(binding->user, binding->engine, handles.data(), handles.size(), &result);
  OwnedStatus failed(status);
  Value value = take_result(binding->engine, result, values, binding->name);
  if (failed) raise_status(vm, failed.release());
  vm.poll();  // what stopped a call of the host's back into the engine stops its caller too
  return value;
}

// The binding becomes the engine's; its data only when everything went well.
tsc_status* add_function(tsc_engine* engine, const char* module_name, const char* function_name, const char* parameters,
                         const char* doc, tsc_host_function function, void* user, void (*drop)(void*)) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string module = required_dotted_name(module_name, "module");
    const std::string name = required_name(function_name, "name");
    required(function, "function");
    Vm& vm = *engine->vm;
    auto binding = std::make_unique<tsc_host_binding>();
    binding->engine = engine;
    binding->name = name;
    binding->function = function;
    binding->user = user;
    Local<NativeFunction> native = parameters == nullptr
                                       ? make_raw_native(vm, name, call_host)
                                       : make_native(vm, name, checked_parameters(parameters), call_host);
    native->pointer = binding.get();
    native->owner = module;
    if (doc != nullptr) native->doc = doc;
    engine->bindings.push_back(std::move(binding));
    set_module_member(*engine, module, name, native.value());
    engine->bindings.back()->drop = drop;
    return nullptr;
  });
}

tsc_status* define(tsc_engine* engine, const char* module, const char* name, tsc_host_function function, void* user,
                   void (*drop)(void*)) {
  return add_function(engine, module, name, nullptr, nullptr, function, user, drop);
}

tsc_status* define_function(tsc_engine* engine, const char* module, const char* name, const char* parameters,
                            const char* doc, tsc_host_function function, void* user, void (*drop)(void*)) {
  return add_function(engine, module, name, parameters != nullptr ? parameters : "", doc, function, user, drop);
}

// Of several errors in one callback the first one is raised.
void raise_later(tsc_engine* engine, tsc_status* error) {
  OwnedStatus owned(error);
  if (engine == nullptr || error == nullptr) return;
  const Entry entry(*engine);
  if (entry && engine->callbacks > 0 && engine->callback_error == nullptr) engine->callback_error = owned.release();
}

tsc_status* add_module(tsc_engine* engine, const char* dotted_name, const char* text, size_t size, int is_package) {
  return guarded(engine, [&]() -> tsc_status* {
    engine->vm->importer().register_source(required_dotted_name(dotted_name, "dotted_name"),
                                           std::string(required_text(text, size, "text")), is_package != 0);
    return nullptr;
  });
}

tsc_status* import_module(tsc_engine* engine, const char* dotted_name, tsc_value** module) {
  return making(engine, module, "module", [&] {
    const std::string name = required_text(dotted_name, "dotted_name");
    return run_script(*engine, [&] { return engine->vm->import_module(name).take(); });
  });
}

}  // namespace

void fill_host_functions(tsc_api& api) {
  api.define = define;
  api.raise_later = raise_later;
  api.define_function = define_function;
  api.add_module = add_module;
  api.import_module = import_module;
}

}  // namespace tsc::embed
