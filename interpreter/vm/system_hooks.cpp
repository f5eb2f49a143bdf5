#include "interpreter/vm/system_hooks.h"

#include "interpreter/modules/importer.h"

namespace tsc::interp {

Value own_hook(Vm& vm, const char* name) {
  auto* sys = try_cast<ModuleObject>(dict_get(vm, vm.modules(), "sys"));
  if (!sys) return Value();
  const Value hook = dict_get(vm, sys->globals, name);
  const bool is_first = hook && hook.is(dict_get(vm, sys->globals, "__" + std::string(name) + "__"));
  return is_first ? Value() : hook;
}

bool tell_excepthook(Vm& vm, ExceptionObject* exception) {
  if (exception->is_limit || exception->type->is_subtype_of(vm.exceptions().SystemExit)) return false;
  const Value hook = own_hook(vm, "excepthook");
  if (!hook) return false;
  const Local<ExceptionObject> kept(exception);
  try {
    call(vm, hook, {Value(exception->type), kept.value(), get_attribute(vm, kept.value(), "__traceback__")});
    return true;
  } catch (const ScriptException& e) {
    if (e.exception()->is_limit || e.exception()->type->is_subtype_of(vm.exceptions().SystemExit)) throw;
    vm.write(Stream::Error,
             "Error in sys.excepthook:\n" + render_traceback(vm, e.exception()) + "\nOriginal exception was:\n");
    return false;
  }
}

void warn(Vm& vm, const char* category, std::string_view message) {
  const Local<ModuleObject> warnings = vm.importer().import_absolute("warnings");
  call_method(vm, warnings.value(), "warn", {str_value(vm, message), dict_get(vm, vm.builtins()->globals, category)});
}

}  // namespace tsc::interp
