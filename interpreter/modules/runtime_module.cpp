// _runtime: what the library's own modules need of the machine and scripts have no business with:
// functions made from text (dataclass and namedtuple methods), the caller's place, parameters.
#include "interpreter/modules/importer.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/annotations.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

// make_function(source, name, namespace, file): runs `source` in a module of its own whose globals are a
// copy of `namespace`, and gives the object called `name` that it defined.
Value make_function(Vm& vm, Args& a) {
  std::string source(text_of(vm, a[0], "source"));
  std::string name(text_of(vm, a[1], "name"));
  auto* names = try_cast<DictObject>(a[2]);
  if (!names) raise_type_error(vm, "namespace must be a dict");
  Local<CodeObject> code = compile_source(vm, source, text_of(vm, a[3], "file"));
  Value module_name = dict_get(vm, names, "__name__");
  Local<ModuleObject> module =
      make_module(vm, is_kind(module_name, Kind::Str) ? cast<StrObject>(module_name)->view() : "_runtime");
  for (uint32_t i = 0; i < names->table.used(); ++i) {
    const Table::Entry& e = names->table.entry(i);
    if (!is_kind(e.key, Kind::Str)) continue;
    Value value = e.value;
    dict_set(vm, module->globals, intern(vm, cast<StrObject>(e.key)).take(), value);
  }
  vm.run_code(code, module);
  Value made = dict_get(vm, module->globals, name);
  if (!made) raise_key_error(vm, a[1]);
  return made;
}

// reload(module)
Value reload(Vm& vm, Args& a) {
  vm.importer().reload(*cast<ModuleObject>(a[0]));
  return Value::none();
}

// caller(depth): (file, line, function, module) of the frame `depth` calls above the one that asks;
// None beyond the outermost.
Value caller(Vm& vm, Args& a) {
  int64_t depth = to_index(vm, a[0]);
  Frame* frame = vm.current_frame();
  for (; frame && depth > 0; --depth) frame = frame->caller();
  if (!frame) return Value::none();
  const lang::CodeObject& code = *frame->code->code;
  Value module = dict_get(vm, frame->globals, "__name__");
  return make_tuple(vm, std::vector<Value>{str_value(vm, code.file()), Value::integer(code.line_of(frame->pc)),
                                           str_value(vm, code.name), module ? module : Value::none()})
      .take();
}
// stack(): every place of the script from the outermost call on, as (file, line, function, text).
Value stack(Vm& vm, Args&) {
  std::vector<Value> places;
  for (Frame* frame = vm.current_frame(); frame; frame = frame->caller()) {
    TracebackEntry entry{frame->code->code, frame->pc};
    places.push_back(make_tuple(vm, std::vector<Value>{str_value(vm, entry.file()), Value::integer(entry.line()),
                                                       str_value(vm, entry.name()), str_value(vm, entry.source_line())})
                         .take());
  }
  std::reverse(places.begin(), places.end());
  return make_list(vm, places).take();
}

// globals_of(depth): the live globals of a frame above, for modules that look names up there.
Value globals_of(Vm& vm, Args& a) {
  int64_t depth = to_index(vm, a[0]);
  Frame* frame = vm.current_frame();
  for (; frame && depth > 0; --depth) frame = frame->caller();
  return frame ? Value(frame->globals) : Value::none();
}

// parameters(function): (names, positional_only, positional, keyword_only, has_args, has_kwargs) of a
// script function; the signature text of a native one; None when unknown.
Value parameters(Vm& vm, Args& a) {
  if (auto* native = try_cast<NativeFunction>(a[0]))
    return native->signature ? str_value(vm, native->signature->text()) : Value::none();
  auto* function = try_cast<FunctionObject>(a[0]);
  if (!function) return Value::none();
  const lang::ParameterList& list = function->code->code->parameters;
  std::vector<Value> names;
  for (const std::string& name : list.names) names.push_back(str_value(vm, name));
  return make_tuple(vm, std::vector<Value>{make_tuple(vm, names).take(), Value::integer(list.positional_only),
                                           Value::integer(list.positional), Value::integer(list.keyword_only),
                                           Value::boolean(list.has_varargs), Value::boolean(list.has_varkwargs)})
      .take();
}

Value is_generator_function(Vm&, Args& a) {
  auto* function = try_cast<FunctionObject>(a[0]);
  return Value::boolean(function && function->code->code->is_generator);
}
// source(function): (file, first line, text) of a script function or of a code object; None for others.
Value source(Vm& vm, Args& a) {
  const CodeObject* code = try_cast<CodeObject>(a[0]);
  if (auto* function = try_cast<FunctionObject>(a[0])) code = function->code;
  if (!code || !code->code->source) return Value::none();
  const lang::CodeObject& c = *code->code;
  std::string_view text = c.source->text();
  return make_tuple(vm, std::vector<Value>{str_value(vm, c.file()), Value::integer(c.first_line),
                                           str_value(vm, text.substr(c.span.begin, c.span.end - c.span.begin))})
      .take();
}

// file_text(code): the whole text that a code object was made from, or None.
Value file_text(Vm& vm, Args& a) {
  const CodeObject* code = try_cast<CodeObject>(a[0]);
  return code && code->code->source ? str_value(vm, code->code->source->text()) : Value::none();
}

// annotations(object): those of a function, a class alone, a module or a namespace, in a dict of their own; the text of
// one that cannot be evaluated stands for it.
Value annotations(Vm& vm, Args& a) { return readable_annotations(vm, a[0]).take(); }

// share_annotations(to, from): False where one is no script function.
Value share(Vm&, Args& a) {
  auto* to = try_cast<FunctionObject>(a[0]);
  auto* method = try_cast<BoundMethod>(a[1]);
  auto* from = try_cast<FunctionObject>(method ? method->function : a[1]);
  if (to && from) share_annotations(to, from);
  return Value::boolean(to && from);
}

// name_with_module(class): what Python has as a class of C is called by its module in messages. Gives the class.
Value name_class(Vm& vm, Args& a) {
  name_with_module(vm, cast<Type>(a[0]));
  return a[0];
}

// has_own(object, name): whether the object itself has the attribute. To ask `__dict__` for that would make the object
// keep its attributes in a dict from then on.
Value has_own(Vm& vm, Args& a) {
  if (!a[0].is_object()) return Value::boolean(false);
  const Local<StrObject> name = intern(vm, text_of(vm, a[1]));
  return Value::boolean(!get_own_attribute(vm, a[0].object(), name.get()).is_undefined());
}

// find_module(name): the file that an import would run, "built-in", or None.
Value find_module(Vm& vm, Args& a) {
  const auto file = vm.importer().find(std::string(text_of(vm, a[0], "name")));
  return file ? str_value(vm, *file) : Value::none();
}

// copy_iterator(object, part): an iterator of C++ in the state of another one, of what part() gives for its parts; part
// None: of the same parts. None where the object is no such iterator, or one that cannot be copied.
Value copied_iterator(Vm& vm, Args& a) {
  const Value part = a[1];
  const Value made =
      rebuilt_iterator(vm, a[0], [&](const Value& v) { return part.is_none() ? v : call(vm, part, {v}); });
  return made ? made : Value::none();
}

}  // namespace

Local<ModuleObject> make_runtime_module(Vm& vm) {
  ModuleBuilder m(vm, "_runtime");
  m.function("make_function", "source, name, namespace, file='<generated>'", make_function)
      .function("reload", "module", reload)
      .function("has_own", "object, name", has_own)
      .function("caller", "depth", caller)
      .function("stack", "", stack)
      .function("globals_of", "depth", globals_of)
      .function("parameters", "function", parameters)
      .function("is_generator_function", "function", is_generator_function)
      .function("source", "function", source)
      .function("file_text", "code", file_text)
      .function("annotations", "object", annotations)
      .function("share_annotations", "to, source", share)
      .function("name_with_module", "class_", name_class)
      .function("find_module", "name", find_module)
      .function("copy_iterator", "object, part", copied_iterator);
  return m.finish();
}

}  // namespace tsc::interp
