// exec, eval and compile: text that the program makes while it runs. Its names live in the dict of locals that it is
// given, which is that of the globals unless there are two. What runs it must be granted (Grant::Code).
#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/syntax_error.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/grants.h"
#include "lang/emit/compile.h"
#include "lang/source.h"

namespace tsc::interp {

void add_text_functions(Vm& vm);

namespace {

enum class Mode { Exec, Eval, Single };

// The text of a str, or of bytes, which are UTF-8; nothing for other values.
std::optional<std::string> source_text(Vm& vm, const Value& v) {
  std::string text;
  if (auto* s = try_cast<StrObject>(v)) text = std::string(s->view());
  else if (Buffer::is_bytes_like(v)) text = decode_bytes(vm, as_bytes(vm, v), "utf-8", "strict");
  else return std::nullopt;
  check_whole(vm, text);
  if (text.find('\0') != std::string::npos) {
    const Value error =
        call(vm, Value(vm.exceptions().SyntaxError), {str_value(vm, "source code string cannot contain null bytes")});
    throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(error)));
  }
  return text;
}

// What is compiled as a line of the prompt is one statement, or several on one line.
void check_single(Vm& vm, const lang::CodeObject& code) {
  uint32_t last_line = 0;
  for (const lang::Statement& statement : code.statements) {
    if (statement.parent >= 0) continue;
    const uint32_t line = code.source->line_of(statement.span.begin);
    if (last_line != 0 && line > last_line) {
      const lang::LineColumn begin = code.source->locate(statement.span.begin),
                             end = code.source->locate(statement.span.end);
      throw ScriptException(make_syntax_error(vm, "multiple statements found while compiling a single statement",
                                              code.source->name(), begin, end, code.source->line_text(line)));
    }
    last_line = code.source->line_of(statement.span.end);
  }
}

Local<CodeObject> compile_text(Vm& vm, const std::string& text, std::string_view file, Mode mode,
                               bool inherits = true) {
  lang::CompileOptions options;
  options.own_names = true;
  options.interactive = mode == Mode::Single;
  // The text goes on with what the caller's module imports from __future__.
  const Frame* frame = inherits ? vm.current_frame() : nullptr;
  options.postpones_annotations = frame && frame->code->code->postpones_annotations;
  // Blanks in front of an expression mean nothing.
  const size_t begin = mode == Mode::Eval ? std::min(text.find_first_not_of(" \t"), text.size()) : 0;
  auto source = std::make_shared<const lang::Source>(std::string(file), text.substr(begin));
  lang::CompileResult compiled =
      mode == Mode::Eval ? lang::compile_expression(source, options) : lang::compile_module(source, options);
  if (!compiled.code) raise_syntax_error(vm, compiled.diagnostics, *source);
  if (mode == Mode::Single) check_single(vm, *compiled.code);
  warn_of_syntax(vm, compiled.diagnostics, *source);
  return make_code(vm, compiled.code);
}

struct Namespaces {
  Local<ModuleObject> module;  // of the functions that the text defines
  Value locals;                // a mapping
};

Namespaces namespaces_of(Vm& vm, const Value& globals, const Value& locals, bool is_exec) {
  const std::string who = is_exec ? "exec() " : "";
  if (!globals.is_none() && !is_kind(globals, Kind::Dict))
    raise_type_error(vm, who + "globals must be a dict" + (is_exec ? ", not " + type_name(vm, globals) : ""));
  if (!locals.is_none() && !type_of(vm, locals)->slots.get_item)
    raise_type_error(
        vm, is_exec ? "locals must be a mapping or None, not " + type_name(vm, locals) : "locals must be a mapping");
  Namespaces out;
  Frame* frame = vm.current_frame();
  if (!globals.is_none()) {
    Local<DictObject> given(cast<DictObject>(globals));
    const Value name = dict_get(vm, given, "__name__");
    if (!dict_get(vm, given, "__builtins__")) dict_set(vm, given, "__builtins__", vm.builtins()->globals.value());
    out.module = make_module(vm, is_kind(name, Kind::Str) ? cast<StrObject>(name)->view() : "builtins");
    out.module->globals = given;
    out.locals = globals;
  } else {
    out.module = frame ? frame->function->module : make_module(vm, "__main__");
    const Value here = frame && locals.is_none() ? call(vm, dict_get(vm, vm.builtins()->globals, "locals")) : Value();
    out.locals = here ? here : out.module->globals.value();
  }
  if (!locals.is_none()) out.locals = locals;
  return out;
}

Value run_code_in(Vm& vm, const Local<CodeObject>& code, const Namespaces& names) {
  FrameState state;
  state.function = make_function(vm, code, names.module);
  state.extra = names.locals;
  return vm.run_frames({&state, 1});
}

// The code of a text or a code object; refused where it would need more than a namespace.
Local<CodeObject> runnable(Vm& vm, const Value& source, Mode mode, const char* who) {
  if (auto* code = try_cast<CodeObject>(source)) {
    const lang::CodeObject& content = *code->code;
    if (!content.free_names.empty())
      raise_type_error(vm, std::string("code object passed to ") + who + "() may not contain free variables");
    if (content.parameters.count() > 0 || content.is_generator)
      raise_type_error(vm, std::string(who) + "() runs what compile() makes; call a function by its name");
    return Local<CodeObject>(code);
  }
  const std::optional<std::string> text = source_text(vm, source);
  if (!text) raise_type_error(vm, std::string(who) + "() arg 1 must be a string, bytes or code object");
  return compile_text(vm, *text, "<string>", mode);
}

Value exec(Vm& vm, Args& a) {
  check_grant(vm, Grant::Code, "exec()");
  if (!a[3].is_none()) raise_type_error(vm, "closure can only be used when source is a code object");
  const Namespaces names = namespaces_of(vm, a[1], a[2], true);
  run_code_in(vm, runnable(vm, a[0], Mode::Exec, "exec"), names);
  return Value::none();
}

Value eval(Vm& vm, Args& a) {
  check_grant(vm, Grant::Code, "eval()");
  const Namespaces names = namespaces_of(vm, a[1], a[2], false);
  return run_code_in(vm, runnable(vm, a[0], Mode::Eval, "eval"), names);
}

Value compile(Vm& vm, Args& a) {
  check_grant(vm, Grant::Code, "compile()");
  const std::optional<std::string> text = source_text(vm, a[0]);
  if (!text) raise_type_error(vm, "compile() arg 1 must be a string, bytes or AST object");
  const std::string file(is_kind(a[1], Kind::Bytes) ? cast<BytesObject>(a[1])->data
                                                    : std::string(text_of(vm, a[1], "compile() argument 'filename'")));
  const std::string_view mode = text_of(vm, a[2], "compile() argument 'mode'");
  if (mode != "exec" && mode != "eval" && mode != "single")
    raise_value_error(vm, "compile() mode must be 'exec', 'eval' or 'single'");
  const Mode form = mode == "exec" ? Mode::Exec : mode == "eval" ? Mode::Eval : Mode::Single;
  return compile_text(vm, *text, file, form, !truth(vm, a[4])).take();
}

}  // namespace

void add_text_functions(Vm& vm) {
  add_builtin(vm, "exec",
              make_native(vm, "exec", "source, globals=None, locals=None, /, *, closure=None", exec).take());
  add_builtin(vm, "eval", make_native(vm, "eval", "source, globals=None, locals=None, /", eval).take());
  add_builtin(vm, "compile",
              make_native(vm, "compile",
                          "source, filename, mode, flags=0, dont_inherit=False, optimize=-1, *, "
                          "_feature_version=-1",
                          compile)
                  .take());
}

}  // namespace tsc::interp
