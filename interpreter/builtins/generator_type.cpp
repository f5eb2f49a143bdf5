// Generators as the program sees them: send, throw, close, and what they tell of themselves.
#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/threads.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

GeneratorObject* generator_of(const Value& v) { return cast<GeneratorObject>(v); }

void generator_traverse(Object* o, Visitor& visit) {
  auto* g = static_cast<GeneratorObject*>(o);
  if (g->frame.function) visit(g->frame.function);
  for (uint32_t i = 0; g->storage && i < g->frame.register_count; ++i) visit(g->storage[i]);
  visit(g->frame.handled);
}
void generator_clear(Vm&, Object* o) {
  auto* g = static_cast<GeneratorObject*>(o);
  if (g->state != GeneratorObject::State::Running) finish_generator(g);
}
// A suspended generator that dies runs its finally blocks, as close() does, but for what a stop left.
void generator_destroy(Vm& vm, Object* o) {
  auto* g = static_cast<GeneratorObject*>(o);
  const bool suspended = g->state == GeneratorObject::State::Suspended;
  const bool delegates = suspended && g->frame.code->code->instructions[g->frame.pc].op == lang::Op::YieldFrom;
  bool protected_place = suspended && (delegates || lang::find_handler(*g->frame.code->code, g->frame.pc));
  if (protected_place && !VmAccess::shutting_down(vm) && !vm.heap().frees_put_off() && !leaves(vm)) {
    const KeepTurn keeps(vm);
    g->reference_count += 2;  // alive while it runs
    g->flags &= static_cast<uint8_t>(~kBeingFreed);
    try {
      generator_close(vm, g);
    } catch (...) {
      // An error in a finally block of a dying generator has nobody to go to; a limit is raised again
      // at the next safe point.
    }
    g->flags |= kBeingFreed;
  }
  finish_generator(g);
  vm.heap().finish(g);
}
bool generator_next(Vm& vm, const Value& self, Value& out) {
  return generator_send(vm, generator_of(self), Value(), out);
}
[[noreturn]] void stop_iteration(Vm& vm, const Value& v) {
  std::span<const Value> args(&v, v.is_none() || !v ? 0 : 1);
  throw ScriptException(make_exception(vm, vm.exceptions().StopIteration, args));
}
Value generator_send_method(Vm& vm, Args& a) {
  Value out;
  if (!generator_send(vm, generator_of(a[0]), a[1], out)) stop_iteration(vm, out);
  return out;
}
Value generator_next_method(Vm& vm, Args& a) {
  Value out;
  if (!generator_send(vm, generator_of(a[0]), Value(), out)) stop_iteration(vm, out);
  return out;
}
// The instance of a class and a value, which is one already, the arguments in a tuple, or the only argument.
Value exception_from(Vm& vm, const Value& cls, const Value& value) {
  if (!cast<Type>(cls)->is_subtype_of(vm.exceptions().BaseException))
    raise_type_error(vm,
                     "exceptions must be classes or instances deriving from BaseException, not " + type_name(vm, cls));
  if (value.is_none()) return call(vm, cls);
  if (type_of(vm, value)->is_subtype_of(cast<Type>(cls))) return value;
  if (auto* arguments = try_cast<TupleObject>(value)) {
    std::vector<Value> given(arguments->span().begin(), arguments->span().end());
    Args args;
    args.positional = given.data();
    args.count = static_cast<uint32_t>(given.size());
    return call(vm, cls, args);
  }
  return call(vm, cls, {value});
}
Value generator_throw_method(Vm& vm, Args& a) {
  if (!a.has(1)) raise_type_error(vm, "throw expected at least 1 argument, got 0");
  Value e = a[1];
  const bool with_value = a.has(2) && !a[2].is_none();
  if (a.has(3) && !a[3].is_none() && !is_kind(a[3], Kind::Traceback))
    raise_type_error(vm, "throw() third argument must be a traceback object");
  if (is_kind(e, Kind::Type)) {
    e = exception_from(vm, e, with_value ? a[2] : Value::none());
    if (!is_kind(e, Kind::Exception))
      raise_type_error(vm, "calling " + repr(vm, a[1]) + " should have returned an instance of BaseException, not " +
                               type_name(vm, e));
  } else if (is_kind(e, Kind::Exception) && with_value) {
    raise_type_error(vm, "instance exception may not have a separate value");
  }
  if (!is_kind(e, Kind::Exception))
    raise_type_error(vm,
                     "exceptions must be classes or instances deriving from BaseException, not " + type_name(vm, e));
  Value out;
  if (!generator_throw(vm, generator_of(a[0]), Local<ExceptionObject>(cast<ExceptionObject>(e)), out))
    stop_iteration(vm, out);
  return out;
}
Value generator_close_method(Vm& vm, Args& a) {
  generator_close(vm, generator_of(a[0]));
  return Value::none();
}
// The names outlive the frame, which goes when the generator ends.
Value generator_name(Vm&, const Value& v) { return generator_of(v)->name.value(); }
Value generator_qualname(Vm&, const Value& v) { return generator_of(v)->qualified_name.value(); }
Value generator_running(Vm&, const Value& v) {
  return Value::boolean(generator_of(v)->state == GeneratorObject::State::Running);
}
// Begun, and waiting at a yield.
Value generator_suspended(Vm&, const Value& v) {
  return Value::boolean(generator_of(v)->state == GeneratorObject::State::Suspended);
}
// What the generator waits for in a yield from.
Value generator_yield_from(Vm&, const Value& v) {
  const Value delegate = delegate_of(generator_of(v));
  return delegate ? delegate : Value::none();
}
Value generator_frame(Vm& vm, const Value& v) {
  GeneratorObject* g = generator_of(v);
  if (!g->frame.function) return Value::none();
  return view_of_frame(vm, g->frame);
}
Value generator_code(Vm&, const Value& v) {
  GeneratorObject* g = generator_of(v);
  return g->frame.function ? Value(g->frame.code) : Value::none();
}
Value new_name(Vm& vm, const Value& given, const char* attribute) {
  if (!is_kind(given, Kind::Str)) raise_type_error(vm, std::string(attribute) + " must be set to a string object");
  return given;
}
void generator_set_name(Vm& vm, const Value& v, const Value& given) {
  generator_of(v)->name = Local<StrObject>(cast<StrObject>(new_name(vm, given, "__name__")));
}
void generator_set_qualname(Vm& vm, const Value& v, const Value& given) {
  generator_of(v)->qualified_name = Local<StrObject>(cast<StrObject>(new_name(vm, given, "__qualname__")));
}
Value generator_repr(Vm& vm, const Value& self) {
  auto* g = generator_of(self);
  return str_value(vm, "<generator object " + std::string(g->qualified_name->view()) + " at " + address_of(g) + ">");
}

}  // namespace

void init_generator_type(Vm& vm) {
  TypeBuilder g(vm, "generator", Kind::Generator);
  g.slots().destroy = generator_destroy;
  g.slots().traverse = generator_traverse;
  g.slots().clear = generator_clear;
  g.slots().iterate = [](Vm&, const Value& self) { return self; };
  g.slots().next = generator_next;
  g.slots().repr = generator_repr;
  g.method("send", "self, value", generator_send_method)
      .method("throw", "self, exception=?, value=?, traceback=?, /", generator_throw_method)
      .method("close", "self", generator_close_method)
      .method("__next__", "self", generator_next_method)
      .getter("__name__", generator_name, generator_set_name)
      .getter("__qualname__", generator_qualname, generator_set_qualname)
      .getter("gi_running", generator_running)
      .getter("gi_suspended", generator_suspended)
      .getter("gi_frame", generator_frame)
      .getter("gi_yieldfrom", generator_yield_from)
      .getter("gi_code", generator_code);
  VmAccess::types(vm).generator = g.finish();
}

}  // namespace tsc::interp
