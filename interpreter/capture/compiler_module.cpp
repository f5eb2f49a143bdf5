// Module `_compiler`: the functions behind torch.compile, torch.compiler and torch._dynamo.explain, which
// are script functions of the library.
#include "interpreter/capture/compiler.h"
#include "interpreter/value/string.h"
#include "interpreter/vm/grants.h"
#include "jit/runner/kernel_cache.h"

namespace tsc::interp {
namespace {

FunctionObject* function_of(Vm& vm, const Value& v) {
  if (FunctionObject* function = try_cast<FunctionObject>(v)) return function;
  if (BoundMethod* bound = try_cast<BoundMethod>(v))
    if (FunctionObject* function = try_cast<FunctionObject>(bound->function)) return function;
  raise_type_error(vm, "expected a script function or method, not '" + type_name(vm, v) + "'");
}

// A function of its own with the mark: the one that was given stays uncompiled. Of a bound method: a bound
// method.
Value compiled_copy(Vm& vm, Args& args) {
  const FunctionObject* from = function_of(vm, args[0]);
  Local<FunctionObject> copy = vm.heap().make<FunctionObject>(vm.types().function);
  copy->code = from->code;
  copy->module = from->module;
  copy->defaults = from->defaults;
  copy->keyword_defaults = from->keyword_defaults;
  copy->closure = from->closure;
  copy->name = from->name;
  copy->qualified_name = from->qualified_name;
  copy->doc = from->doc;
  copy->annotations = from->annotations;
  copy->attributes = make_dict(vm);
  if (from->attributes) copy->attributes->table.copy_from(from->attributes->table);
  dict_set(vm, copy->attributes.get(), "__wrapped__", args[0]);
  auto mark = std::make_shared<CompiledMark>();
  mark->fullgraph = truth(vm, args[1]);
  if (!args[2].is_none()) mark->background = truth(vm, args[2]);
  copy->compiled = mark;
  if (BoundMethod* bound = try_cast<BoundMethod>(args[0]))
    return make_bound_method(vm, copy.value(), bound->self);
  return copy.take();
}

Value mark_never(Vm& vm, Args& args) {
  auto mark = std::make_shared<CompiledMark>();
  mark->never = true;
  function_of(vm, args[0])->compiled = mark;
  return args[0];
}

Value reset(Vm& vm, Args&) {
  compiler_of(vm)->reset();
  return Value::none();
}

Value set_enabled(Vm& vm, Args& args) {
  bool& enabled = compiler_of(vm)->options().enabled;
  bool before = std::exchange(enabled, truth(vm, args[0]));
  return Value::boolean(before);
}

Value report_json(Vm& vm, Args&) {
  return str_value(vm, compiler_of(vm)->finished_report().json());
}

Value report_clear(Vm& vm, Args&) {
  compiler_of(vm)->finished_report().clear();
  return Value::none();
}

// {"region": n, "kernel": n, ..., "compile_ms": x}
Value report_totals(Vm& vm, Args&) {
  jit::Report& report = compiler_of(vm)->finished_report();
  Local<DictObject> dict = make_dict(vm);
  for (int i = 0; i < jit::kEventKinds; ++i) {
    jit::EventKind kind = static_cast<jit::EventKind>(i);
    dict_set(vm, dict.get(), jit::event_kind_name(kind), Value::integer(report.total(kind)));
  }
  dict_set(vm, dict.get(), "compile_ms",
           Value::real(report.total_ms(jit::EventKind::CompileTime)));
  return dict.take();
}

// One line of text per event.
Value report_lines(Vm& vm, Args&) {
  Local<ListObject> lines = make_list(vm);
  for (const jit::Event& event : compiler_of(vm)->finished_report().events())
    list_append(vm, lines.get(), str_value(vm, jit::describe(event)));
  return lines.take();
}

// (bytes, kernels, plans), or None when nothing was compiled.
Value save_cache_artifacts(Vm& vm, Args&) {
  jit::ArtifactCounts counts;
  std::string bytes = compiler_of(vm)->options().jit.cache->save_artifacts(&counts);
  if (bytes.empty()) return Value::none();
  return make_tuple(vm, {make_bytes(vm, std::move(bytes)).value(),
                         Value::integer(static_cast<int64_t>(counts.kernels)),
                         Value::integer(static_cast<int64_t>(counts.plans))})
      .take();
}

// (kernels, plans, skipped). The bytes are machine code that will run: who may not start a process may not do
// this either.
Value load_cache_artifacts(Vm& vm, Args& args) {
  check_grant(vm, Grant::Process, "torch.compiler.load_cache_artifacts()");
  BytesObject* bytes = try_cast<BytesObject>(args[0]);
  if (!bytes)
    raise_type_error(vm, "load_cache_artifacts() takes bytes, not '" + type_name(vm, args[0]) + "'");
  Compiler* compiler = compiler_of(vm);
  const auto loaded =
      compiler->options().jit.cache->load_artifacts(bytes->data, compiler->report());
  return make_tuple(vm, {Value::integer(static_cast<int64_t>(loaded.kernels)),
                         Value::integer(static_cast<int64_t>(loaded.plans)),
                         Value::integer(static_cast<int64_t>(loaded.skipped))})
      .take();
}

Local<ModuleObject> make_compiler_module(Vm& vm) {
  ModuleBuilder module(vm, "_compiler");
  module.function("compile", "function, fullgraph=False, background=None", compiled_copy)
      .function("disable", "function", mark_never)
      .function("reset", "", reset)
      .function("set_enabled", "mode", set_enabled)
      .function("report_json", "", report_json)
      .function("report_clear", "", report_clear)
      .function("report_totals", "", report_totals)
      .function("report_lines", "", report_lines)
      .function("save_cache_artifacts", "", save_cache_artifacts)
      .function("load_cache_artifacts", "artifacts", load_cache_artifacts);
  return module.finish();
}

}  // namespace

bool is_never_compiled(const FunctionObject* function) {
  auto* mark = static_cast<const CompiledMark*>(function->compiled.get());
  return mark && mark->never;
}

void register_compiler_module(Vm& vm) {
  register_native_module(vm, "_compiler", make_compiler_module);
}

}  // namespace tsc::interp
