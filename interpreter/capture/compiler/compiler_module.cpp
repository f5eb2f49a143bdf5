// Module `_compiler`: the functions behind torch.compile, torch.compiler and torch._dynamo.explain, which
// are script functions of the library.
#include <algorithm>

#include "interpreter/capture/compiler/called_backend.h"
#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/string.h"
#include "interpreter/vm/annotations.h"
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

// A function of its own with the mark: the one that was given stays as it is. Of a bound method: a bound method.
Value marked_copy(Vm& vm, const Value& given, std::shared_ptr<CompiledMark> mark) {
  FunctionObject* from = function_of(vm, given);
  Local<FunctionObject> copy = vm.heap().make<FunctionObject>(vm.types().function);
  copy->code = from->code;
  copy->module = from->module;
  copy->defaults = from->defaults;
  copy->keyword_defaults = from->keyword_defaults;
  copy->closure = from->closure;
  copy->name = from->name;
  copy->qualified_name = from->qualified_name;
  copy->doc = from->doc;
  share_annotations(copy, from);
  copy->attributes = make_dict(vm);
  if (from->attributes) copy->attributes->table.copy_from(from->attributes->table);
  dict_set(vm, copy->attributes.get(), "__wrapped__", given);
  copy->compiled = std::move(mark);
  BoundMethod* bound = try_cast<BoundMethod>(given);
  if (!bound) return copy.take();
  // Reports name the region of a module after its class.
  if (copy->name && copy->name->view() == "__call__") copy->name = intern(vm, bound->self.object()->type->name);
  return make_bound_method(vm, copy.value(), bound->self);
}

struct BackendName {
  const char* name;
  Backend backend;
};
constexpr BackendName kBackends[] = {{"eager", Backend::Eager},
                                     {"capture", Backend::Capture},
                                     {"autodiff", Backend::Autodiff},
                                     {"unfused", Backend::Unfused},
                                     {"native", Backend::Native}};

// What is no name is called; torch._dynamo.backends has looked names up.
void set_backend(Vm& vm, const Value& given, CompileSettings& settings) {
  settings.backend = Backend::Called;
  settings.called = given;
  if (!is_kind(given, Kind::Str)) return;
  for (const BackendName& row : kBackends)
    if (cast<StrObject>(given)->view() == row.name) settings.backend = row.backend;
  if (settings.backend == Backend::Called) raise_type_error(vm, "an unknown backend");
  settings.called = Value();
}

std::vector<std::string> names_in(Vm& vm, const Value& given) {
  std::vector<std::string> names;
  const auto list = to_list(vm, given);
  for (const Value& name : list->items) names.emplace_back(text_of(vm, name));
  return names;
}

Value compiled_copy(Vm& vm, Args& args) {
  auto mark = std::make_shared<CompiledMark>();
  mark->fullgraph = truth(vm, args[1]);
  if (!args[2].is_none()) mark->background = truth(vm, args[2]);
  CompileSettings settings;
  set_backend(vm, args[3], settings);
  settings.specialise = truth(vm, args[4]);
  settings.disabled = names_in(vm, args[5]);
  const std::vector<std::string_view> passes = jit::pass_names();
  for (const std::string& name : settings.disabled)
    if (std::find(passes.begin(), passes.end(), name) == passes.end())
      raise(vm, vm.exceptions().ValueError, "'" + name + "' is no pass");
  if (!args[6].is_none())
    settings.recompile_limit = static_cast<uint32_t>(std::clamp<int64_t>(args[6].as_int(), 0, 1 << 30));
  mark->settings = compiler_of(vm)->requests().intern_settings(std::move(settings));
  return marked_copy(vm, args[0], std::move(mark));
}

Value disabled_copy(Vm& vm, Args& args) {
  auto mark = std::make_shared<CompiledMark>();
  mark->never = true;
  mark->recursive = truth(vm, args[1]);
  mark->reason = text_of(vm, args[2]);
  return marked_copy(vm, args[0], std::move(mark));
}

// (region, inputs): a tuple of outputs.
Value run_region(Vm& vm, Args& args) {
  RegionObject* region =
      is_kind(args[0], Kind::Native) && args[0].object()->type == compiler_of(vm)->runs().region_type()
          ? static_cast<RegionObject*>(args[0].object())
          : nullptr;
  if (!region || !is_kind(args[1], Kind::Tuple)) raise_type_error(vm, "expected a captured region and a tuple");
  const std::shared_ptr<CapturedRegion> held = region->region;
  return run_captured_region(vm, *held, cast<TupleObject>(args[1])->span());
}

Value exchange_flag(Vm& vm, bool& flag, const Value& now) {
  return Value::boolean(std::exchange(flag, truth(vm, now)));
}

// Sets what holds for all functions; what it was before.
Value demand(Vm& vm, Args& args) {
  CompileDemands& demands = compiler_of(vm)->demands();
  const std::string name(text_of(vm, args[0]));
  if (name == "error_on_graph_break") return exchange_flag(vm, demands.error_on_graph_break, args[1]);
  if (name == "error_on_recompile") return exchange_flag(vm, demands.error_on_recompile, args[1]);
  if (name == "fail_on_recompile_limit_hit") return exchange_flag(vm, demands.fail_on_limit, args[1]);
  if (name == "stance" && args[1].is_int())
    return Value::integer(static_cast<int64_t>(
        std::exchange(demands.stance, static_cast<Stance>(std::clamp<int64_t>(args[1].as_int(), 0, 3)))));
  if (name != "recompile_limit") raise(vm, vm.exceptions().ValueError, "nothing is called '" + name + "'");
  const Value before = demands.recompile_limit ? Value::integer(*demands.recompile_limit) : Value::none();
  demands.recompile_limit.reset();
  if (args[1].is_int())
    demands.recompile_limit = static_cast<uint32_t>(std::clamp<int64_t>(args[1].as_int(), 0, 1 << 30));
  return before;
}

// Names of event kinds.
Value set_logs(Vm& vm, Args& args) {
  std::set<jit::EventKind> kinds;
  const std::vector<std::string> names = names_in(vm, args[0]);
  for (int i = 0; i < jit::kEventKinds; ++i)
    if (std::find(names.begin(), names.end(), jit::event_kind_name(static_cast<jit::EventKind>(i))) != names.end())
      kinds.insert(static_cast<jit::EventKind>(i));
  compiler_of(vm)->reports().log(std::move(kinds));
  return Value::none();
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

Value report_json(Vm& vm, Args&) { return str_value(vm, compiler_of(vm)->finished_report().json()); }

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
  dict_set(vm, dict.get(), "compile_ms", Value::real(report.total_ms(jit::EventKind::CompileTime)));
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
  return make_tuple(vm, {make_bytes(vm, std::move(bytes)).value(), Value::integer(static_cast<int64_t>(counts.kernels)),
                         Value::integer(static_cast<int64_t>(counts.plans))})
      .take();
}

// (kernels, plans, skipped). The bytes are machine code that will run: who may not start a process may not do
// this either.
Value load_cache_artifacts(Vm& vm, Args& args) {
  check_grant(vm, Grant::Process, "torch.compiler.load_cache_artifacts()");
  if (!Buffer::is_bytes_like(args[0]))
    raise_type_error(vm, "load_cache_artifacts() takes bytes, not '" + type_name(vm, args[0]) + "'");
  const std::string bytes = copied_bytes(vm, args[0]);
  Compiler* compiler = compiler_of(vm);
  const auto loaded = compiler->options().jit.cache->load_artifacts(bytes, compiler->report());
  return make_tuple(vm, {Value::integer(static_cast<int64_t>(loaded.kernels)),
                         Value::integer(static_cast<int64_t>(loaded.plans)),
                         Value::integer(static_cast<int64_t>(loaded.skipped))})
      .take();
}

// Names of the natives that have a form of their own while capturing.
Value symbolic_natives(Vm& vm, Args&) {
  Local<ListObject> names = make_list(vm);
  for (const char* name : names_of_symbolic_forms()) list_append(vm, names.get(), str_value(vm, name));
  return names.take();
}

Local<ModuleObject> make_compiler_module(Vm& vm) {
  ModuleBuilder module(vm, "_compiler");
  module
      .function("compile", "function, fullgraph, background, backend, specialise, disabled, recompile_limit",
                compiled_copy)
      .function("disable", "function, recursive=True, reason='torch.compiler.disable'", disabled_copy)
      .function("run_region", "region, inputs", run_region)
      .function("demand", "name, value", demand)
      .function("set_logs", "kinds", set_logs)
      .function("reset", "", reset)
      .function("set_enabled", "mode", set_enabled)
      .function("symbolic_natives", "", symbolic_natives)
      .function("report_json", "", report_json)
      .function("report_clear", "", report_clear)
      .function("report_totals", "", report_totals)
      .function("report_lines", "", report_lines)
      .function("save_cache_artifacts", "", save_cache_artifacts)
      .function("load_cache_artifacts", "artifacts", load_cache_artifacts);
  return module.finish();
}

}  // namespace

void register_compiler_module(Vm& vm) { register_native_module(vm, "_compiler", make_compiler_module); }

}  // namespace tsc::interp
