// The exception classes.
#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/exception_parts.h"
#include "interpreter/builtins/syntax_error.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/traceback_text.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

ExceptionObject* exception_of(const Value& v) { return cast<ExceptionObject>(v); }

void exception_traverse(Object* o, Visitor& visit) {
  auto* e = static_cast<ExceptionObject*>(o);
  visit(e->args.get());
  visit(e->group.get());
  visit(e->cause);
  visit(e->context);
  visit(e->name);
  visit(e->subject);
  traverse_instance(o, visit);
}
void exception_clear(Vm& vm, Object* o) {
  auto* e = static_cast<ExceptionObject*>(o);
  e->cause.reset();
  e->context.reset();
  e->subject.reset();
  clear_instance(vm, o);
}
Value exception_construct(Vm& vm, Type* type, Args& args) {
  if (type->is_subtype_of(vm.exceptions().OSError)) return make_os_error(vm, type, args).take();
  return make_exception(vm, type, args.span()).take();
}
// `name`, and `obj` or `path`, of the exceptions about something that was not found.
void take_keyword(Vm& vm, ExceptionObject* e, std::string_view keyword, const Value& value) {
  const ExceptionTypes& types = vm.exceptions();
  auto is = [&](const Type* type) { return e->type->is_subtype_of(type); };
  bool about_name = is(types.ImportError) || is(types.AttributeError) || is(types.NameError);
  if (!about_name) raise_type_error(vm, e->type->name + "() takes no keyword arguments");
  const char* second = is(types.ImportError) ? "path" : is(types.AttributeError) ? "obj" : "name";
  if (keyword == "name") e->name = value;
  else if (keyword == second) e->subject = value;
  else
    raise_type_error(vm, "'" + std::string(keyword) + "' is an invalid keyword argument for " +
                             (is(types.ImportError)      ? "ImportError()"
                              : is(types.AttributeError) ? "AttributeError()"
                                                         : "NameError()"));
}
void exception_initialize(Vm& vm, const Value& self, Args& args) {
  ExceptionObject* e = exception_of(self);
  if (e->type->is_subtype_of(vm.exceptions().OSError)) return initialize_os_error(vm, e, args);
  bool same = e->args && e->args->size == args.count;
  for (uint32_t i = 0; same && i < args.count; ++i) same = e->args->items[i].is(args[i]);
  if (!same) e->args = make_tuple(vm, args.span());
  if (has_unicode_parts(vm, e->type)) initialize_unicode_error(vm, e, args);
  if (e->type->is_subtype_of(vm.exceptions().SyntaxError)) settle_syntax_error(vm, e);
  for (uint32_t i = 0; i < args.keyword_count; ++i)
    take_keyword(vm, e, args.keyword_names[i]->view(), args.keyword_values[i]);
}
Value exception_repr(Vm& vm, const Value& self) {
  ExceptionObject* e = exception_of(self);
  TextBuilder out(vm);
  out += e->type->name;
  out += '(';
  add_reprs(vm, out, e->args->span());
  out += ')';
  return out.str();
}
Value exception_str(Vm& vm, const Value& self) {
  ExceptionObject* e = exception_of(self);
  if (e->type->is_subtype_of(vm.exceptions().SyntaxError)) return str_value(vm, syntax_error_text(vm, e));
  if (has_unicode_parts(vm, e->type)) return str_value(vm, unicode_error_text(vm, e));
  if (e->type->is_subtype_of(vm.exceptions().OSError))
    if (const std::string text = os_error_text(vm, e); !text.empty()) return str_value(vm, text);
  if (e->args->size == 0) return str_value(vm, "");
  if (e->args->size == 1) {
    bool key_error = e->type->is_subtype_of(vm.exceptions().KeyError);
    return str_value(vm, key_error ? repr(vm, e->args->items[0]) : to_string(vm, e->args->items[0]));
  }
  return str_value(vm, repr(vm, e->args.value()));
}
Value or_none(const Value& v) { return v ? v : Value::none(); }
Value get_args(Vm&, const Value& v) { return exception_of(v)->args.value(); }
// Setters are called without a value where the attribute is deleted.
void refuse_deletion(Vm& vm, const Value& value, const char* name) {
  if (!value) raise_type_error(vm, std::string(name) + " may not be deleted");
}
void set_args(Vm& vm, const Value& v, const Value& args) {
  refuse_deletion(vm, args, "args");
  exception_of(v)->args = to_tuple(vm, args);
}
Value get_cause(Vm&, const Value& v) { return or_none(exception_of(v)->cause); }
// Raises unless `linked` may stand in the chain of an exception.
void check_link(Vm& vm, const Value& linked, const char* what) {
  if (linked.is_none() || is_kind(linked, Kind::Exception)) return;
  raise_type_error(vm, std::string("exception ") + what + " must be None or derive from BaseException");
}
void set_cause(Vm& vm, const Value& v, const Value& cause) {
  refuse_deletion(vm, cause, "__cause__");
  check_link(vm, cause, "cause");
  exception_of(v)->cause = cause;
  exception_of(v)->suppress_context = true;
}
Value get_context(Vm&, const Value& v) { return or_none(exception_of(v)->context); }
void set_context_value(Vm& vm, const Value& v, const Value& c) {
  refuse_deletion(vm, c, "__context__");
  check_link(vm, c, "context");
  exception_of(v)->context = c;
}
Value get_suppress(Vm&, const Value& v) { return Value::boolean(exception_of(v)->suppress_context); }
void set_suppress(Vm& vm, const Value& v, const Value& b) {
  if (!b) raise_type_error(vm, "can't delete numeric/char attribute");
  if (!b.is_bool()) raise_type_error(vm, "attribute value type must be bool");
  exception_of(v)->suppress_context = b.as_bool();
}
Value argument(const Value& v, uint32_t i) {
  ExceptionObject* e = exception_of(v);
  return i < e->args->size ? e->args->items[i] : Value::none();
}
Value get_value(Vm&, const Value& v) { return argument(v, 0); }
// `value` of StopIteration and `code` of SystemExit: the argument, until a script sets another.
Value get_result(Vm&, const Value& v) {
  ExceptionObject* e = exception_of(v);
  return e->subject ? e->subject : argument(v, 0);
}
void set_result(Vm&, const Value& v, const Value& value) { exception_of(v)->subject = value ? value : Value::none(); }
Value get_name(Vm&, const Value& v) { return or_none(exception_of(v)->name); }
Value get_subject(Vm&, const Value& v) { return or_none(exception_of(v)->subject); }
void set_name(Vm&, const Value& v, const Value& value) { exception_of(v)->name = value; }
void set_subject(Vm&, const Value& v, const Value& value) { exception_of(v)->subject = value; }

// --- tracebacks -----------------------------------------------------------------------------------------

// Places that the exception passes later are in front of the outermost one, and not of this traceback.
struct TracebackObject : Object {
  static constexpr Kind kKind = Kind::Traceback;
  Value exception;
  size_t depth = 0;  // entries below the outermost one
  size_t count = 0;  // entries that there were
  TracebackObject() : Object(Kind::Traceback) {}
  const TracebackEntry* entry() const {
    const auto& list = cast<ExceptionObject>(exception)->traceback;
    return depth < count && count <= list.size() ? &list[count - 1 - depth] : nullptr;
  }
};
Value make_traceback(Vm& vm, const Value& exception, size_t depth, size_t count) {
  if (depth >= count) return Value::none();
  Local<TracebackObject> t = vm.heap().make<TracebackObject>(vm.types().traceback);
  t->exception = exception;
  t->depth = depth;
  t->count = count;
  return t.take();
}
Value get_traceback(Vm& vm, const Value& v) { return make_traceback(vm, v, 0, exception_of(v)->traceback.size()); }
void set_traceback(Vm& vm, const Value& v, const Value& traceback) {
  refuse_deletion(vm, traceback, "__traceback__");
  ExceptionObject* e = exception_of(v);
  if (traceback.is_none()) {
    e->traceback.clear();
  } else if (auto* t = try_cast<TracebackObject>(traceback)) {
    const auto& from = exception_of(t->exception)->traceback;
    const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(t->count - t->depth, from.size()));
    e->traceback = decltype(e->traceback)(from.begin(), end);
  } else {
    raise_type_error(vm, "__traceback__ must be a traceback or None");
  }
}
Value with_traceback(Vm& vm, Args& a) {
  set_traceback(vm, a[0], a[1]);
  return a[0];
}
Value add_note(Vm& vm, Args& a) {
  if (!is_kind(a[1], Kind::Str)) raise_type_error(vm, "note must be a str, not '" + type_name(vm, a[1]) + "'");
  Local<StrObject> name = intern(vm, "__notes__");
  Value notes = get_own_attribute(vm, a[0].object(), name);
  if (!notes) {
    notes = make_list(vm).take();
    set_own_attribute(vm, a[0].object(), name, notes);
  }
  if (!is_kind(notes, Kind::List)) raise_type_error(vm, "Cannot add note: __notes__ is not a list");
  list_append(vm, cast<ListObject>(notes), a[1]);
  return Value::none();
}
Value traceback_next(Vm& vm, const Value& v) {
  auto* t = cast<TracebackObject>(v);
  return make_traceback(vm, t->exception, t->depth + 1, t->count);
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

Value traceback_carets(Vm& vm, const Value& v) {
  const TracebackEntry* e = cast<TracebackObject>(v)->entry();
  return str_value(vm, e ? caret_line(*e) : "");
}

Value traceback_frame(Vm& vm, const Value& v) {
  const TracebackEntry* e = cast<TracebackObject>(v)->entry();
  return e ? make_frame_view(vm, make_code(vm, e->code).take(), e->line()) : Value::none();
}

void add_members(Vm& vm, TypeBuilder& b, std::string_view name) {
  if (name == "StopIteration") b.getter("value", get_result, set_result);
  if (name == "SystemExit") b.getter("code", get_result, set_result);
  if (name == "AttributeError") b.getter("name", get_name, set_name).getter("obj", get_subject, set_subject);
  if (name == "NameError") b.getter("name", get_name, set_name);
  if (name == "ImportError")
    b.getter("name", get_name, set_name).getter("path", get_subject, set_subject).getter("msg", get_value);
  if (name == "SyntaxError") add_syntax_error_members(b);
  if (name == "BaseExceptionGroup") add_group_members(b);
  if (name == "ExceptionGroup") b.also_base(vm.exceptions().Exception);
  if (name == "OSError") b.getter("filename", get_subject, set_subject).getter("filename2", get_name, set_name);
  add_part_members(b, name);
}

// A builtin, or, with a module, one that the library hands out.
Type* make_exception_type(Vm& vm, std::string_view name, Type* base, std::string_view module = {}) {
  TypeBuilder b(vm, name, Kind::Exception, base);
  b.slots().initialize = exception_initialize;
  b.allow_subclasses(offset_of(&ExceptionObject::state));
  b.type()->type_flags |= kExceptionType;
  add_members(vm, b, name);
  if (!module.empty()) b.module(module);
  Type* type = b.finish();
  if (module.empty()) add_builtin(vm, name, Value(type));
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
  e.OutOfMemoryError = make_exception_type(vm, "OutOfMemoryError", e.RuntimeError, "torch");
  add_builtin(vm, "IOError", Value(e.OSError));
  add_builtin(vm, "EnvironmentError", Value(e.OSError));
  TypeBuilder t(vm, "traceback", Kind::Traceback);
  t.slots().destroy = destroy_as<TracebackObject>;
  t.slots().traverse = [](Object* o, Visitor& visit) { visit(static_cast<TracebackObject*>(o)->exception); };
  t.getter("tb_next", traceback_next)
      .getter("tb_frame", traceback_frame)
      .getter("tb_lineno", traceback_line)
      .getter("filename", traceback_file)
      .getter("name", traceback_name)
      .getter("line", traceback_source)
      .getter("_carets", traceback_carets);
  VmAccess::types(vm).traceback = t.finish();
}

}  // namespace tsc::interp
