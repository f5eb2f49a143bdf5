// Raising, and the report of an uncaught exception.
#include <cerrno>
#include <cstring>
#include <new>

#include "interpreter/builtins/syntax_error.h"
#include "interpreter/modules/absent_modules.h"
#include "interpreter/modules/importer.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/traceback_text.h"
#include "interpreter/vm/vm.h"
#include "lang/bytecode/bytecode.h"
#include "lang/diagnostic.h"
#include "runtime/base/error.h"

namespace tsc::interp {

std::string_view TracebackEntry::file() const { return code->file(); }
const std::string& TracebackEntry::name() const { return code->name; }
uint32_t TracebackEntry::line() const { return pc == kDefinition ? code->first_line : code->line_of(pc); }

std::string TracebackEntry::source_line() const {
  uint32_t number = line();
  if (!number || !code->source || number > code->source->line_count()) return "";
  std::string_view text = code->source->line_text(number);
  size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin));
}

Local<ExceptionObject> make_exception(Vm& vm, Type* type, std::span<const Value> args) {
  Local<ExceptionObject> e = vm.heap().make<ExceptionObject>(type);
  e->args = make_tuple(vm, args);
  return e;
}

Local<ExceptionObject> make_exception(Vm& vm, Type* type, std::string_view message) {
  Value text = str_value(vm, message);
  return make_exception(vm, type, std::span<const Value>(&text, 1));
}

void raise(Vm& vm, Type* type, std::string_view message) { throw ScriptException(make_exception(vm, type, message)); }
Value return_error(Vm& vm, Type* type, std::string_view message) {
  return vm.return_raised(make_exception(vm, type, message));
}
void raise_type_error(Vm& vm, std::string_view m) { raise(vm, vm.exceptions().TypeError, m); }
void raise_value_error(Vm& vm, std::string_view m) { raise(vm, vm.exceptions().ValueError, m); }
void raise_index_error(Vm& vm, std::string_view m) { raise(vm, vm.exceptions().IndexError, m); }

Value return_key_error(Vm& vm, const Value& key) {
  return vm.return_raised(make_exception(vm, vm.exceptions().KeyError, std::span<const Value>(&key, 1)));
}
void raise_key_error(Vm& vm, const Value& key) {
  return_key_error(vm, key);
  throw ScriptException(vm.take_returned());
}

namespace {

void collect_names(Object* o, std::vector<std::string_view>& names) {
  auto add_dict = [&](DictObject* dict) {
    for (uint32_t i = 0; i < dict->table.used(); ++i)
      if (auto* s = try_cast<StrObject>(dict->table.entry(i).key)) names.push_back(s->view());
  };
  if (o->kind == Kind::Module) return add_dict(static_cast<ModuleObject*>(o)->globals);
  if (InstanceState* state = instance_state(o); state && state->shape) {
    if (state->shape->dictionary_mode()) {
      add_dict(cast<DictObject>(state->slots[0]));
    } else {
      for (uint32_t i = 0; i < state->shape->size(); ++i) names.push_back(state->shape->name(i)->view());
    }
  }
  Type* type = o->kind == Kind::Type ? static_cast<Type*>(o) : o->type;
  for (Type* t : type->mro) add_dict(t->attributes);
}

}  // namespace

namespace {

// Why a module of the library has no such attribute; empty when there is nothing to say.
std::string absence_of(const Value& v, const std::string& name) {
  if (!is_kind(v, Kind::Module)) return "";
  const std::string_view why = absent_attribute(cast<ModuleObject>(v)->name + "." + name);
  return why.empty() ? "" : ": " + std::string(why);
}

}  // namespace

Local<ExceptionObject> attribute_error(Vm& vm, const Value& v, StrObject* name) {
  std::string text(name->view());
  std::string message;
  if (is_kind(v, Kind::Type)) message = "type object '" + cast<Type>(v)->name + "' has no attribute '" + text + "'";
  else if (is_kind(v, Kind::Module))
    message = "module '" + cast<ModuleObject>(v)->name + "' has no attribute '" + text + "'" + absence_of(v, text);
  else message = "'" + type_name(vm, v) + "' object has no attribute '" + text + "'";
  Local<ExceptionObject> e = make_exception(vm, vm.exceptions().AttributeError, message);
  e->name = Value(name);
  e->subject = v;
  return e;
}

void raise_attribute_error(Vm& vm, const Value& v, StrObject* name) {
  throw ScriptException(attribute_error(vm, v, name));
}

namespace {

// What JSON and other languages call True, False and None.
std::string_view constant_of_others(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kConstants[] = {
      {"true", "True"}, {"false", "False"}, {"null", "None"},     {"none", "None"},
      {"nil", "None"},  {"NULL", "None"},   {"undefined", "None"}};
  for (const auto& [other, ours] : kConstants)
    if (name == other) return ours;
  return {};
}

bool is_library_module(Vm& vm, std::string_view name) {
  const std::string file = std::string(name) + ".tsc", package = std::string(name) + "/__init__.tsc";
  for (size_t i = 0; i < vm.config().embedded_count; ++i)
    if (vm.config().embedded[i].name == file || vm.config().embedded[i].name == package) return true;
  return vm.importer().is_native(std::string(name));
}

// What stands near an unknown name, in the module (`subject`), the builtins and the function where it was read.
std::string name_hint(Vm& vm, const ExceptionObject* e, std::string_view name) {
  std::vector<std::string_view> names;
  auto add = [&](const DictObject* dict) {
    for (uint32_t i = 0; i < dict->table.used(); ++i)
      if (auto* s = try_cast<StrObject>(dict->table.entry(i).key)) names.push_back(s->view());
  };
  add(cast<DictObject>(e->subject));
  add(vm.builtins()->globals);
  if (!e->traceback.empty())
    for (const std::string& local : e->traceback.front().code->register_names) names.push_back(local);
  if (is_library_module(vm, name)) return "Did you forget to import '" + std::string(name) + "'?";
  std::string_view near = constant_of_others(name);
  if (near.empty()) near = lang::nearest_word(name, names);
  return near.empty() || near == name ? "" : "Did you mean: '" + std::string(near) + "'?";
}

}  // namespace

std::string hint_of(Vm& vm, const ExceptionObject* e) {
  const StrObject* name = try_cast<StrObject>(e->name);
  if (name && e->hint.empty() && e->type->is_subtype_of(vm.exceptions().NameError) && is_kind(e->subject, Kind::Dict))
    return name_hint(vm, e, name->view());
  if (!e->hint.empty() || !e->type->is_subtype_of(vm.exceptions().AttributeError)) return e->hint;
  if (!name || e->subject.is_undefined() || !absence_of(e->subject, std::string(name->view())).empty()) return "";
  // A module that is being read has few of its names yet.
  if (is_kind(e->subject, Kind::Module) && cast<ModuleObject>(e->subject)->initializing) return "";
  std::vector<std::string_view> names;
  if (e->subject.is_object()) collect_names(e->subject.object(), names);
  else collect_names(type_of(vm, e->subject), names);
  const std::string_view near = lang::nearest_word(name->view(), names);
  if (!near.empty()) return "Did you mean: '" + std::string(near) + "'?";
  const auto* module = try_cast<ModuleObject>(e->subject);
  return module ? vm.importer().shadow_hint(*module) : "";
}

Type* os_error_type(Vm& vm, int64_t number) {
  const ExceptionTypes& types = vm.exceptions();
  switch (number) {
    case ENOENT: return types.FileNotFoundError;
    case EEXIST: return types.FileExistsError;
    case EACCES:
    case EPERM: return types.PermissionError;
    case EISDIR: return types.IsADirectoryError;
    case ENOTDIR: return types.NotADirectoryError;
    case EPIPE:
    case ESHUTDOWN: return types.BrokenPipeError;
    case EAGAIN:
    case EALREADY:
    case EINPROGRESS: return types.BlockingIOError;
    case ECHILD: return types.ChildProcessError;
    case ECONNABORTED: return types.ConnectionAbortedError;
    case ECONNREFUSED: return types.ConnectionRefusedError;
    case ECONNRESET: return types.ConnectionResetError;
    case EINTR: return types.InterruptedError;
    case ESRCH: return types.ProcessLookupError;
    case ETIMEDOUT: return types.TimeoutError;
    default: return types.OSError;
  }
}

void raise_os_error(Vm& vm, int number, const std::string& path) {
  Value args[] = {Value::integer(number), str_value(vm, std::strerror(number))};
  Local<ExceptionObject> e = make_exception(vm, os_error_type(vm, number), args);
  e->subject = str_value(vm, path);
  throw ScriptException(std::move(e));
}

namespace {

[[noreturn]] void raise_error(Vm& vm, const Error& e) {
  Type* type = vm.exceptions().RuntimeError;
  std::string_view kind = error_kind_name(e.kind());
#define EXCEPTION(name, base) \
  if (kind == #name) type = vm.exceptions().name;
#include "interpreter/vm/exceptions.def"
#undef EXCEPTION
  if (e.kind() == ErrorKind::DeviceMemoryError) type = vm.exceptions().OutOfMemoryError;
  Local<ExceptionObject> made = make_exception(vm, type, e.message());
  made->is_limit = e.kind() == ErrorKind::LimitError;
  throw ScriptException(std::move(made));
}

}  // namespace

void rethrow_as_script_exception(Vm& vm) {
  Heap::Exempt exempt(vm.heap());
  try {
    try {
      throw;
    } catch (const Error& e) {
      raise_error(vm, e);
    }
  } catch (const std::bad_alloc&) {  // of the deed, or of making its error
    throw ScriptException(vm.memory_error());
  } catch (const std::length_error&) {
    throw ScriptException(vm.memory_error());
  }
}

std::string exception_message(Vm& vm, ExceptionObject* e) { return to_string(vm, Value(e)); }

namespace {

std::string shown_type_name(Vm& vm, ExceptionObject* e) {
  std::string name = e->type->qualified_name;
  const Value* module = lookup_in_type(e->type, vm.names().module.get());
  if (!module) return name;
  const auto* text = try_cast<StrObject>(*module);
  if (!text) return "<unknown>." + name;
  return text->view() == "builtins" || text->view() == "__main__" ? name : std::string(text->view()) + "." + name;
}

}  // namespace

namespace {

std::string line_without_hint(Vm& vm, ExceptionObject* e) {
  const std::string name = shown_type_name(vm, e);
  std::string message;
  try {
    message = exception_message(vm, e);
  } catch (const ScriptException&) {
    message = "<exception str() failed>";
  }
  return message.empty() ? name : name + ": " + message;
}

}  // namespace

std::string exception_line(Vm& vm, ExceptionObject* e) {
  const std::string line = line_without_hint(vm, e);
  const std::string hint = hint_of(vm, e);
  return hint.empty() ? line : line + ". " + hint;
}

std::vector<std::string> exception_lines(Vm& vm, ExceptionObject* e, bool with_hint) {
  std::vector<std::string> lines;
  if (e->type->is_subtype_of(vm.exceptions().SyntaxError)) lines = syntax_error_lines(vm, e, shown_type_name(vm, e));
  else lines.push_back((with_hint ? exception_line(vm, e) : line_without_hint(vm, e)) + "\n");
  return lines;
}

namespace {

std::string note_text(Vm& vm, const Value& note, bool as_repr) {
  try {
    return as_repr ? repr(vm, note) : to_string(vm, note);
  } catch (const ScriptException&) {
    return as_repr ? "<note repr() failed>" : "<note str() failed>";
  }
}

}  // namespace

std::vector<std::string> note_lines(Vm& vm, ExceptionObject* e) {
  const Value notes = find_attribute(vm, Value(e), intern(vm, "__notes__").get());
  std::vector<std::string> lines;
  if (notes.is_undefined() || notes.is_none()) return lines;
  auto add = [&](const std::string& text) {
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = text.find('\n', begin);
      lines.push_back(text.substr(begin, end - begin) + "\n");
    }
  };
  const bool is_sequence = is_kind(notes, Kind::List) || is_kind(notes, Kind::Tuple) || is_kind(notes, Kind::Str);
  if (!is_sequence) return add(note_text(vm, notes, true)), lines;
  const Local<ListObject> all = to_list(vm, notes);
  for (const Value& note : all->items) add(note_text(vm, note, false));
  return lines;
}

std::vector<std::string> exception_only(Vm& vm, ExceptionObject* e) {
  std::vector<std::string> lines = exception_lines(vm, e, false);
  for (std::string& note : note_lines(vm, e)) lines.push_back(std::move(note));
  return lines;
}

}  // namespace tsc::interp
