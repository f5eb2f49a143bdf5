#include "interpreter/vm/ends.h"

#include <unordered_map>

#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/signals.h"
#include "interpreter/vm/system_hooks.h"
#include "interpreter/vm/threads.h"
#include "runtime/base/error.h"

namespace tsc::interp {
namespace {

using References = std::unordered_map<const Object*, WeakReference*>;
const char kReferences = 0;

// Asked while objects die, so it makes nothing: prepare_ends has. Null: the Vm goes, and nobody asks any more.
References* references(Vm& vm) {
  return VmAccess::shutting_down(vm) ? nullptr : static_cast<References*>(vm.extension(&kReferences).get());
}

// Runs code of the script for an object that dies. Memory and limits are the next safe point's business.
template <class Code>
void run_ignoring_errors(Vm& vm, const Value& where, Code&& code) noexcept {
  const KeepTurn keeps(vm);
  Local<ExceptionObject> on_its_way = std::move(VmAccess::unwinding(vm));  // what dies may die because of it
  try {
    try {
      code();
    } catch (const Error&) {
      rethrow_as_script_exception(vm);
    }
  } catch (const ScriptException& e) {
    if (!e.exception()->is_limit) report_ignored(vm, where, e.exception());
  } catch (...) {
  }
  VmAccess::unwinding(vm) = std::move(on_its_way);
}

bool may_run_code(Vm& vm) { return !VmAccess::shutting_down(vm) && !vm.heap().frees_put_off() && !leaves(vm); }

// The references to a target leave the table as one list.
WeakReference* take_references(Vm& vm, const Object* target) noexcept {
  References* all = references(vm);
  if (!all) return nullptr;
  const auto found = all->find(target);
  if (found == all->end()) return nullptr;
  WeakReference* newest = found->second;
  all->erase(found);
  for (WeakReference* r = newest; r; r = r->older) r->target = nullptr;
  return newest;
}

}  // namespace

bool takes_weak_references(Vm& vm, const Object* object) {
  const Type* type = object->type;
  const bool script_class = type->type_flags & kScriptClass;
  switch (object->kind) {
    case Kind::Str:
    case Kind::ByteArray:
    case Kind::List:
    case Kind::Dict: return script_class;
    case Kind::Instance:
    case Kind::Exception:
      if (!script_class) return false;
      break;
    case Kind::Set:
    case Kind::Array:
    case Kind::MemoryView:
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::BoundMethod:
    case Kind::Type:
    case Kind::Module:
    case Kind::Code:
    case Kind::Generator:
    case Kind::File: break;
    case Kind::Native:
      if (object->type->slots.destroy == destroy_reference && !script_class) return false;
      break;
    default: return false;
  }
  if (!script_class || !(type->type_flags & kSlotsOnly)) return true;
  // Slots all the way down: one of the classes must say so.
  for (const Type* t : type->mro) {
    if (!(t->type_flags & kScriptClass)) continue;
    const Value slots = dict_get(vm, t->attributes, Value(vm.names().slots.get()));
    if (!slots) continue;
    if (is_kind(slots, Kind::Str)) {
      if (cast<StrObject>(slots)->view() == "__weakref__") return true;
    } else if (is_kind(slots, Kind::List) || is_kind(slots, Kind::Tuple) || is_kind(slots, Kind::Dict)) {
      const Local<ListObject> names = to_list(vm, slots);
      for (const Value& name : names->items)
        if (is_kind(name, Kind::Str) && cast<StrObject>(name)->view() == "__weakref__") return true;
    }
  }
  return false;
}

void prepare_ends(Vm& vm) {
  if (vm.sees_ends()) return;
  std::shared_ptr<void>& kept = vm.extension(&kReferences);
  kept = std::make_shared<References>();
  vm.see_ends();
}

void refer_weakly(Vm& vm, WeakReference* reference, Object* target, const Value& callback) {
  prepare_ends(vm);
  WeakReference*& newest = (*references(vm))[target];
  const bool first = !(target->flags & kHasEnd);
  target->flags |= kHasEnd;
  reference->target = target;
  reference->callback = callback;
  reference->older = newest;
  if (newest) newest->newer = reference;
  newest = reference;
  if (first && vm.hooks()) vm.hooks()->let_go(target);
}

void forget_reference(Vm& vm, WeakReference* reference) noexcept {
  References* all = reference->target && !reference->newer ? references(vm) : nullptr;
  if (all && reference->older) all->find(reference->target)->second = reference->older;
  else if (all) all->erase(reference->target);
  reference->target = nullptr;
  if (reference->newer) reference->newer->older = reference->older;
  if (reference->older) reference->older->newer = reference->newer;
  reference->newer = reference->older = nullptr;
}

void destroy_reference(Vm& vm, Object* object) {
  auto* reference = static_cast<WeakReference*>(object);
  forget_reference(vm, reference);
  vm.heap().finish(reference);
}

WeakReference* weak_reference(Vm&, Object* object) {
  return object->type->slots.destroy == destroy_reference ? static_cast<WeakReference*>(object) : nullptr;
}

WeakReference* newest_reference(Vm& vm, const Object* target) {
  References* all = references(vm);
  if (!all) return nullptr;
  const auto found = all->find(target);
  return found == all->end() ? nullptr : found->second;
}

void call_finalizer(Vm& vm, Object* object) noexcept {
  if (object->flags & kFinalized || !(object->type->type_flags & kHasFinalizer) || !may_run_code(vm)) return;
  object->flags |= kFinalized;
  const Value* found = lookup_in_type(object->type, vm.names().del.get());
  if (!found) return;
  const Value finalizer = *found;
  run_ignoring_errors(vm, finalizer, [&] { call(vm, bind_attribute(vm, finalizer, Value(object), object->type)); });
}

void clear_references(Vm& vm, std::span<Object* const> targets) noexcept {
  // All that are taken are one list: what a callback does to references of others finds them in it.
  WeakReference head;
  for (Object* target : targets) {
    WeakReference* list = take_references(vm, target);
    if (!list) continue;
    WeakReference* last = list;
    while (last->older) last = last->older;
    last->older = head.older;
    if (head.older) head.older->newer = last;
    head.older = list;
    list->newer = &head;
  }
  while (WeakReference* reference = head.older) {
    forget_reference(vm, reference);  // leaves the list
    const Value callback = std::move(reference->callback);
    reference->callback.reset();
    // One that dies at the same time, with the target or inside its cycle, calls nothing.
    const bool dies = reference->reference_count == 0 || (reference->flags & kBeingFreed);
    if (!callback || dies || !may_run_code(vm)) continue;
    const Value held(reference);
    run_ignoring_errors(vm, callback, [&] { call(vm, callback, {held}); });
  }
}

void report_ignored(Vm& vm, const Value& where, ExceptionObject* exception) noexcept {
  try {
    if (const Value hook = own_hook(vm, "unraisablehook")) {
      const Local<ExceptionObject> kept(exception);
      auto* sys = cast<ModuleObject>(dict_get(vm, vm.modules(), "sys"));
      const Value told = call(vm, dict_get(vm, sys->globals, "_unraisable"), {kept.value(), where});
      call(vm, hook, {told});
      return;
    }
    vm.write(Stream::Error, "Exception ignored in: " + repr(vm, where) + "\n" + render_traceback(vm, exception));
  } catch (...) {
    // There is nobody else to tell.
  }
}

namespace {

// A function of a module of the library, where the program has imported that.
void call_if_imported(Vm& vm, const char* module, const char* function) {
  const Value imported = dict_get(vm, vm.modules(), module);
  if (!is_kind(imported, Kind::Module)) return;
  const Value found = dict_get(vm, cast<ModuleObject>(imported)->globals, function);
  if (!found) return;
  try {
    call(vm, found);
  } catch (const ScriptException& e) {
    if (e.exception()->is_limit) throw;
    report_ignored(vm, imported, e.exception());
  }
}

}  // namespace

static void forget_exit_functions(Vm& vm) noexcept {
  run_ignoring_errors(vm, Value::none(), [&] {
    const Value module = dict_get(vm, vm.modules(), "atexit");
    if (!is_kind(module, Kind::Module)) return;
    const Value functions = dict_get(vm, cast<ModuleObject>(module)->globals, "_functions");
    if (is_kind(functions, Kind::List)) cast<ListObject>(functions)->items.clear();
  });
}

bool has_much_to_finish(Vm& vm) noexcept {
  if (vm.threads().given_up()) return false;
  if (!vm.threads().alone()) return true;
  if (!vm.modules()) return false;  // one that was made only in part
  for (uint32_t i = 0; i < vm.modules()->table.used(); ++i) {
    const auto* name = try_cast<StrObject>(vm.modules()->table.entry(i).key);
    if (name && (name->view() == "threading" || name->view() == "atexit")) return true;
  }
  return false;
}

void finish_program(Vm& vm) {
  if (vm.threads().given_up()) return;
  try {
    call_if_imported(vm, "threading", "_shutdown");
    call_if_imported(vm, "atexit", "_run_exitfuncs");
  } catch (...) {  // a limit: what is left then has no part in the next end
    vm.threads().give_up();
    forget_exit_functions(vm);
    throw;
  }
}

void end_program(Vm& vm) noexcept {
  run_ignoring_errors(vm, Value::none(), [&] {
    vm.begin_entry();
    if (has_much_to_finish(vm)) finish_program(vm);
  });
  vm.threads().end_others();
  give_signals_back(vm);
  if (!vm.sees_ends()) return;
  run_ignoring_errors(vm, Value::none(), [&] {
    if (vm.hooks()) vm.hooks()->let_go(nullptr);
  });
  run_ignoring_errors(vm, Value::none(), [&] {
    const Value main = dict_get(vm, vm.modules(), "__main__");
    if (is_kind(main, Kind::Module)) {
      const Local<DictObject> globals = cast<ModuleObject>(main)->globals;
      for (uint32_t i = 0; i < globals->table.used(); ++i) {
        const Value value = globals->table.entry(i).value;
        if (value.is_object() && value.object()->flags & kHasEnd) call_finalizer(vm, value.object());
      }
    }
  });
  vm.modules()->table.clear();
  vm.heap().collect(true);
}

}  // namespace tsc::interp
