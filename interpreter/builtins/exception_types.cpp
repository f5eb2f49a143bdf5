// The exception classes.
#include "interpreter/builtins/builtins.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

ExceptionObject* exception_of(const Value& v) { return cast<ExceptionObject>(v); }

void exception_traverse(Object* o, Visitor& visit) {
  auto* e = static_cast<ExceptionObject*>(o);
  visit(e->args.get());
  visit(e->cause);
  visit(e->context);
  traverse_instance(o, visit);
}
void exception_clear(Vm& vm, Object* o) {
  auto* e = static_cast<ExceptionObject*>(o);
  e->cause.reset();
  e->context.reset();
  clear_instance(vm, o);
}
Value exception_construct(Vm& vm, Type* type, Args& args) {
  return make_exception(vm, type, args.span()).take();
}
void exception_initialize(Vm& vm, const Value& self, Args& args) {
  ExceptionObject* e = exception_of(self);
  bool same = e->args && e->args->size == args.count;
  for (uint32_t i = 0; same && i < args.count; ++i) same = e->args->items[i].is(args[i]);
  if (!same) e->args = make_tuple(vm, args.span());
  bool accepts = e->type->is_subtype_of(vm.exceptions().ImportError) ||
                 e->type->is_subtype_of(vm.exceptions().AttributeError) ||
                 e->type->is_subtype_of(vm.exceptions().NameError);
  if (args.keyword_count && !accepts)
    raise_type_error(vm, e->type->name + "() takes no keyword arguments");
  for (uint32_t i = 0; i < args.keyword_count; ++i)
    set_own_attribute(vm, e, args.keyword_names[i], args.keyword_values[i]);
}
Value exception_repr(Vm& vm, const Value& self) {
  ExceptionObject* e = exception_of(self);
  std::string text = e->type->name + "(" + join_reprs(vm, e->args->span()) + ")";
  return str_value(vm, text);
}
Value exception_str(Vm& vm, const Value& self) {
  ExceptionObject* e = exception_of(self);
  if (e->args->size == 0) return str_value(vm, "");
  if (e->args->size == 1) {
    bool key_error = e->type->is_subtype_of(vm.exceptions().KeyError);
    return str_value(vm, key_error ? repr(vm, e->args->items[0]) : to_string(vm, e->args->items[0]));
  }
  if (e->type->is_subtype_of(vm.exceptions().OSError) && e->args->size <= 3) {
    std::string text = "[Errno " + to_string(vm, e->args->items[0]) + "] " +
                       to_string(vm, e->args->items[1]);
    if (e->args->size == 3) text += ": " + repr(vm, e->args->items[2]);
    return str_value(vm, text);
  }
  return str_value(vm, repr(vm, e->args.value()));
}
Value or_none(const Value& v) { return v ? v : Value::none(); }
Value get_args(Vm&, const Value& v) { return exception_of(v)->args.value(); }
void set_args(Vm& vm, const Value& v, const Value& args) {
  exception_of(v)->args = to_tuple(vm, args);
}
Value get_cause(Vm&, const Value& v) { return or_none(exception_of(v)->cause); }
void set_cause(Vm&, const Value& v, const Value& cause) {
  exception_of(v)->cause = cause;
  exception_of(v)->suppress_context = true;
}
Value get_context(Vm&, const Value& v) { return or_none(exception_of(v)->context); }
void set_context_value(Vm&, const Value& v, const Value& c) { exception_of(v)->context = c; }
Value get_suppress(Vm&, const Value& v) { return Value::boolean(exception_of(v)->suppress_context); }
void set_suppress(Vm& vm, const Value& v, const Value& b) {
  exception_of(v)->suppress_context = truth(vm, b);
}
Value argument(const Value& v, uint32_t i) {
  ExceptionObject* e = exception_of(v);
  return i < e->args->size ? e->args->items[i] : Value::none();
}
Value get_value(Vm&, const Value& v) { return argument(v, 0); }
Value os_part(const Value& v, uint32_t i) {
  return exception_of(v)->args->size >= 2 ? argument(v, i) : Value::none();
}
Value get_errno(Vm&, const Value& v) { return os_part(v, 0); }
Value get_strerror(Vm&, const Value& v) { return os_part(v, 1); }
Value get_filename(Vm&, const Value& v) { return os_part(v, 2); }

// --- tracebacks -----------------------------------------------------------------------------------------

struct TracebackObject : Object {
  static constexpr Kind kKind = Kind::Traceback;
  Value exception;
  size_t depth = 0;  // entries below the outermost one
  TracebackObject() : Object(Kind::Traceback) {}
  const TracebackEntry* entry() const {
    const auto& list = cast<ExceptionObject>(exception)->traceback;
    return depth < list.size() ? &list[list.size() - 1 - depth] : nullptr;
  }
};
Value make_traceback(Vm& vm, const Value& exception, size_t depth) {
  if (depth >= exception_of(exception)->traceback.size()) return Value::none();
  Local<TracebackObject> t = vm.heap().make<TracebackObject>(vm.types().traceback);
  t->exception = exception;
  t->depth = depth;
  return t.take();
}
Value get_traceback(Vm& vm, const Value& v) { return make_traceback(vm, v, 0); }
void set_traceback(Vm& vm, const Value& v, const Value& traceback) {
  ExceptionObject* e = exception_of(v);
  if (traceback.is_none()) {
    e->traceback.clear();
  } else if (auto* t = try_cast<TracebackObject>(traceback)) {
    e->traceback = exception_of(t->exception)->traceback;
  } else {
    raise_type_error(vm, "__traceback__ must be a traceback or None");
  }
}
Value with_traceback(Vm& vm, Args& a) {
  set_traceback(vm, a[0], a[1]);
  return a[0];
}
Value add_note(Vm& vm, Args& a) {
  text_of(vm, a[1], "note");
  Local<StrObject> name = intern(vm, "__notes__");
  Value notes = get_own_attribute(vm, a[0].object(), name);
  if (!notes) {
    notes = make_list(vm).take();
    set_own_attribute(vm, a[0].object(), name, notes);
  }
  list_append(vm, cast<ListObject>(notes), a[1]);
  return Value::none();
}
Value traceback_next(Vm& vm, const Value& v) {
  auto* t = cast<TracebackObject>(v);
  return make_traceback(vm, t->exception, t->depth + 1);
}
Value traceback_line(Vm&, const Value& v) {
  const TracebackEntry* e = cast<TracebackObject>(v)->entry();
  return Value::integer(e ? e->line() : 0);
}
Value traceback_file(Vm& vm, const Value& v) {
  const TracebackEntry* e = cast<TracebackObject>(v)->entry();
  return str_value(vm, e ? e->file() : "");
}
Value traceback_name(Vm& vm, const Value& v) {
  const TracebackEntry* e = cast<TracebackObject>(v)->entry();
  return str_value(vm, e ? e->name() : "");
}
Value traceback_source(Vm& vm, const Value& v) {
  const TracebackEntry* e = cast<TracebackObject>(v)->entry();
  return str_value(vm, e ? e->source_line() : "");
}

void add_members(Vm& vm, TypeBuilder& b, std::string_view name) {
  (void)vm;
  if (name == "StopIteration") b.getter("value", get_value);
  if (name == "SystemExit") b.getter("code", get_value);
  if (name == "OSError")
    b.getter("errno", get_errno).getter("strerror", get_strerror).getter("filename", get_filename);
}

Type* make_exception_type(Vm& vm, std::string_view name, Type* base) {
  TypeBuilder b(vm, name, Kind::Exception, base);
  b.slots().initialize = exception_initialize;
  b.allow_subclasses(offset_of(&ExceptionObject::state));
  b.type()->type_flags |= kExceptionType;
  add_members(vm, b, name);
  Type* type = b.finish();
  add_builtin(vm, name, Value(type));
  return type;
}

Type* make_base_exception(Vm& vm) {
  TypeBuilder b(vm, "BaseException", Kind::Exception);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<ExceptionObject>;
  s.traverse = exception_traverse;
  s.clear = exception_clear;
  s.construct = exception_construct;
  s.initialize = exception_initialize;
  s.repr = exception_repr;
  s.to_str = exception_str;
  b.with_attributes(offset_of(&ExceptionObject::state)).allow_subclasses();
  b.type()->type_flags |= kExceptionType;
  b.getter("args", get_args, set_args)
      .getter("__cause__", get_cause, set_cause)
      .getter("__context__", get_context, set_context_value)
      .getter("__suppress_context__", get_suppress, set_suppress)
      .getter("__traceback__", get_traceback, set_traceback)
      .method("with_traceback", "self, tb", with_traceback)
      .method("add_note", "self, note", add_note);
  Type* type = b.finish();
  add_builtin(vm, "BaseException", Value(type));
  return type;
}

}  // namespace

void init_exception_types(Vm& vm) {
  ExceptionTypes& e = VmAccess::exceptions(vm);
  e.BaseException = make_base_exception(vm);
#define EXCEPTION(name, base) e.name = make_exception_type(vm, #name, e.base);
#include "interpreter/vm/exceptions.def"
#undef EXCEPTION
  // Classes that scripts raise and catch and C++ never does: only their names are needed.
  const std::pair<const char*, Type*> kScriptOnly[] = {
      {"ConnectionAbortedError", e.ConnectionError}, {"ConnectionRefusedError", e.ConnectionError},
      {"ConnectionResetError", e.ConnectionError},   {"ChildProcessError", e.OSError},
      {"ProcessLookupError", e.OSError},             {"InterruptedError", e.OSError},
      {"BlockingIOError", e.OSError},                {"ReferenceError", e.Exception},
      {"SystemError", e.Exception},                  {"PendingDeprecationWarning", e.Warning},
      {"SyntaxWarning", e.Warning},                  {"ImportWarning", e.Warning},
      {"UnicodeWarning", e.Warning},                 {"BytesWarning", e.Warning},
      {"ResourceWarning", e.Warning},                {"EncodingWarning", e.Warning}};
  for (const auto& [name, base] : kScriptOnly)
    if (!dict_get(vm, vm.builtins()->globals, name)) make_exception_type(vm, name, base);
  add_builtin(vm, "IOError", Value(e.OSError));
  add_builtin(vm, "EnvironmentError", Value(e.OSError));
  TypeBuilder t(vm, "traceback", Kind::Traceback);
  t.slots().destroy = destroy_as<TracebackObject>;
  t.slots().traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<TracebackObject*>(o)->exception);
  };
  t.getter("tb_next", traceback_next)
      .getter("tb_lineno", traceback_line)
      .getter("filename", traceback_file)
      .getter("name", traceback_name)
      .getter("line", traceback_source);
  VmAccess::types(vm).traceback = t.finish();
}

}  // namespace tsc::interp
