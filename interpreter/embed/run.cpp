// Engines and running: what enters the virtual machine.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/embed/arguments.h"
#include "interpreter/embed/describe.h"
#include "interpreter/embed/report_text.h"
#include "interpreter/modules/importer.h"
#include "interpreter/tensor/devices.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/shape_check.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/system_hooks.h"
#include "jit/compile.h"
#include "jit/passes/pipeline.h"
#include "lang/emit/compile.h"
#include "lang/parse.h"
#include "runtime/backends/simulated.h"
#include "stdlib/embedded.h"

namespace {

using namespace tsc;
using namespace tsc::interp;

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

void write_to_process(Stream stream, std::string_view text) {
  FILE* file = stdout;
  if (stream == Stream::Error) {
    std::fflush(stdout);  // both may be one terminal: keep the order
    file = stderr;
  }
  std::fwrite(text.data(), 1, text.size(), file);
}

Config config_of(const tsc_engine_options& options, const std::vector<EmbeddedFile>& library) {
  Config config;
  config.write = write_to_process;
  config.terminal = options.output == nullptr && isatty(STDOUT_FILENO) != 0;
  if (options.max_depth != 0) config.recursion_limit = config.largest_recursion_limit = options.max_depth;
  using embed::texts_of;
  config.arguments = texts_of(options.arguments, options.argument_count, "arguments");
  config.module_path = texts_of(options.search_paths, options.search_path_count, "search_paths");
  config.grants.bits = options.grants;
  for (const auto& root : texts_of(options.read_roots, options.read_root_count, "read_roots"))
    add_root(config.grants.read_roots, root);
  for (const auto& root : texts_of(options.write_roots, options.write_root_count, "write_roots"))
    add_root(config.grants.write_roots, root);
  config.owns_signals = options.signals != 0;
  config.embedded = library.data();
  config.embedded_count = library.size();
  return config;
}

std::vector<EmbeddedFile> embedded_library() {
  std::vector<EmbeddedFile> files;
  files.reserve(static_cast<size_t>(stdlib::end() - stdlib::begin()));
  for (const stdlib::EmbeddedFile* file = stdlib::begin(); file != stdlib::end(); ++file)
    files.push_back({file->path, file->text});
  return files;
}

// The machine code that lies in the folder runs: a script that may write there, but may not run programs,
// must not find a way through it.
jit::DiskCacheOptions disk_cache_options(const tsc_engine_options& options, const Grants& grants) {
  jit::DiskCacheOptions disk;
  disk.folder = text_or_empty(options.cache_dir);
  if (options.cache_bytes != 0) disk.size_limit = options.cache_bytes;
  if (!disk.folder.empty() && !grants.has(Grant::Process) && may_write_in(grants, disk.folder))
    disk.refusal = "scripts may write to the folder '" + disk.folder + "' but not start programs";
  return disk;
}

CompileOptions compile_options(const tsc_engine_options& options, const Grants& grants) {
  CompileOptions compile;
  compile.enabled = options.jit != TSC_OFF;
  compile.break_everywhere = options.stress_break != 0;
  compile.strict = options.strict_compiler != 0;
  compile.timed = options.untimed == 0;
  compile.background = options.background != TSC_OFF;
  compile.verify_percent = std::min<uint32_t>(options.verify_percent, 100);
  const std::vector<std::string_view> passes = jit::pass_names();
  for (const std::string& name : jit::parse_pass_names(text_or_empty(options.disabled_passes))) {
    if (std::find(passes.begin(), passes.end(), name) == passes.end()) embed::refuse_word("pass", name, passes);
    compile.jit.disabled.push_back(name);
  }
  compile.disk_cache = disk_cache_options(options, grants);
  return compile;
}

// Where the lines of `logs` go.
std::function<void(std::string_view)> log_writer(tsc_engine& engine, const tsc_engine_options& options) {
  if (options.log == nullptr) return [&engine](std::string_view line) { engine.vm->write(Stream::Error, line); };
  return [&engine, log = options.log, user = options.log_user](std::string_view line) {
    engine.tell_host([&] { log(user, line.data(), line.size()); });
  };
}

void add_devices(tsc_engine& engine, const tsc_engine_options& options) {
  const std::string text = text_or_empty(options.cuda);
  if (text.empty()) return;
  std::optional<SimulatedSettings> settings = parse_simulated(text);
  if (!settings)
    throw Error(ErrorKind::ValueError,
                "the setting of device cuda cannot be '" + text + "'; there is 'simulated' (docs/gpu.md)");
  settings->poison = options.poison_memory != 0;
  settings->queue.launched_at = [&engine] { return launch_place(*engine.vm); };
  engine.device.backends = make_simulated(engine.device, *settings);
  TensorState& state = tensor_state(*engine.vm);
  state.knows_places = true;
  state.device_rng.assign(engine.device.backends.size(), state.rng);
  if (!settings->is_default) return;
  state.modes.place = Place::device(0);
  set_silent_place(*engine.vm, state.modes.place);
}

}  // namespace

tsc_engine::tsc_engine(const tsc_engine_options& options)
    : device(static_cast<int>(options.threads)), library(embedded_library()),
      watchdog([this] { vm->stop(StopCause::Time); }) {
  device.allocator->set_poison(options.poison_memory != 0);
}

// Exceptions of the script's kind are objects of the machine: they go before it does.
tsc_status* tsc_engine::set_up(const tsc_engine_options& options) noexcept {
  const DeviceScope scope(device);
  try {
    vm = std::make_unique<Vm>(make_config(options));
    const HeapScope heap_scope(&vm->heap());
    try {
      fill(options);
      return nullptr;
    } catch (...) {
      return embed::current_exception_status(this);
    }
  } catch (...) {
    return embed::current_exception_status(nullptr);
  }
}

Config tsc_engine::make_config(const tsc_engine_options& options) {
  Config config = config_of(options, library);
  if (options.output != nullptr)
    config.write = [this, output = options.output, user = options.output_user](Stream stream, std::string_view text) {
      const tsc_stream to = stream == Stream::Out ? TSC_STDOUT : TSC_STDERR;
      tell_host([&] { output(user, to, text.data(), text.size()); });
    };
  config.display = [this](const Value& value) { displayed = value; };
  config.budget = device.budget;
  config.stop = &device.stop;
  config.stop_reason = [this] {
    return stop_reason_state == ReasonState::Ready ? std::string(stop_reason) : std::string();
  };
  if (options.loader != nullptr) {
    config.find_module = [this, loader = options.loader, user = options.loader_user](const std::string& name) {
      return embed::load(*this, loader, user, name);
    };
  }
  return config;
}

void tsc_engine::fill(const tsc_engine_options& options) {
  explain_asserts = options.explain_asserts != 0;
  error_format = options.error_format;
  vm->importer().import_python(options.import_python != 0);
  // A worker of a kernel may ask too: the objects belong to the thread that runs the script.
  device.budget->set_reclaim([this] {
    if (vm->heap().is_current()) vm->heap().trim();
    device.allocator->release_cached();
  });
  embed::add_stay_parts(*this);
  install_tensors(*vm);
  if (options.check_shapes != 0) {
    install_shape_checks(*vm, {[this](const lang::Diagnostics& found, const lang::Source& source) {
      vm->write(Stream::Error, embed::diagnostics_text(found, source, error_format));
    }});
  }
  if (options.has_seed) tensor_state(*vm).rng = {options.seed, 0};
  add_devices(*this, options);
  install_compiler(*vm, compile_options(options, vm->config().grants));
  embed::add_log_sink(compiler_of(*vm)->report(), text_or_empty(options.logs), log_writer(*this, options));
  embed::install_help(*vm);
  main = make_module(*vm, "__main__");
  for (const char* name : {"__doc__", "__package__", "__loader__", "__spec__"})
    dict_set(*vm, main->globals, name, Value::none());
  dict_set(*vm, vm->modules(), "__main__", main.value());
  tsc_limits limits{};
  limits.memory_bytes = options.memory_limit;
  limits.time_ns = options.time_limit_ns;
  limits.steps = options.step_limit;
  embed::apply_limits(*this, limits);
}

tsc_engine::~tsc_engine() {
  // From here on nobody enters: what a `release` of the host calls finds a busy engine.
  owner.store(this, std::memory_order_relaxed);
  if (vm) {
    DeviceScope scope(device);
    HeapScope heap_scope(&vm->heap());
    device.stop.clear();
    device.budget->set_reclaim({});  // tensors that the host exported keep the budget
    for (tsc_value* value : dropped) delete value;
    displayed.reset();
    main = {};
    vm.reset();
  }
  embed::free_status(callback_error);
  for (const auto& binding : bindings)
    if (binding->drop != nullptr) binding->drop(binding->user);
}

void tsc_engine::raise_callback_error() { embed::raise_status(*vm, std::exchange(callback_error, nullptr)); }

namespace tsc::embed {
namespace {

tsc_status* engine_new(const tsc_engine_options* given, tsc_engine** engine) {
  return without_engine([&]() -> tsc_status* {
    *required(engine, "engine") = nullptr;
    const tsc_engine_options options = embed::copy_of(given);
    auto made = std::make_unique<tsc_engine>(options);
    if (tsc_status* status = made->set_up(options)) return status;
    *engine = made.release();
    return nullptr;
  });
}

// To free what somebody is using would end in a crash somewhere else: the mistake is told where it is made.
void engine_free(tsc_engine* engine) {
  const void* nobody = nullptr;
  if (engine != nullptr && !engine->owner.compare_exchange_strong(nobody, engine, std::memory_order_acquire)) {
    std::fputs(
        "tenscript: engine_free was called while a call is inside the engine (in a callback, or from another "
        "thread): the engine is not freed; free it when its calls are back\n",
        stderr);
    return;
  }
  if (engine == nullptr) return;
  engine->owner.store(nullptr, std::memory_order_release);
  finish_unless_done(*engine);
  delete engine;
}

void interrupt(tsc_engine* engine) {
  if (engine != nullptr) engine->vm->interrupt(kInterruptKeyboard);
}

void clear_interrupt(tsc_engine* engine) {
  if (engine == nullptr) return;
  engine->vm->interrupts().fetch_and(~static_cast<uint32_t>(kInterruptKeyboard));
}

// Runs what a person has started. Of an exception that nobody catches the program's own sys.excepthook is told; then
// there is nothing left to show of it.
template <class Run>
tsc_status* run_with_hook(tsc_engine& engine, Run run) {
  try {
    return run();
  } catch (const ScriptException& exception) {
    if (!tell_excepthook(*engine.vm, exception.exception())) throw;
    tsc_status* status = exception_status(engine, exception.exception());
    status->plain.clear();
    status->colored.clear();
    return status;
  }
}

// ---- source -----------------------------------------------------------------------------------

tsc_status* run_source(tsc_engine* engine, const char* name, const char* text, size_t size) {
  return guarded(engine, [&] {
    return run_with_hook(*engine, [&] {
      return execute(*engine, required_text(name, "name"), std::string(required_text(text, size, "text")), false);
    });
  });
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// The text of a file, or false.
bool read_text(const std::string& path, std::string& text) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream out;
  // A folder opens like a file; only reading it fails.
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) return stream.eof();
  out << stream.rdbuf();
  text = out.str();
  return true;
}

void set_main_file(tsc_engine& engine, const std::string& path) {
  dict_set(*engine.vm, engine.main->globals, "__file__", system_text(*engine.vm, path));
  engine.main->file = path;
}

tsc_status* execute_file(tsc_engine& engine, const std::string& path) {
  std::string text;
  if (!read_text(path, text)) return make_status(TSC_NOT_FOUND, "", "cannot read '" + path + "'");
  set_main_file(engine, path);
  return run_with_hook(engine, [&] { return execute(engine, path, std::move(text), false); });
}

tsc_status* run_file(tsc_engine* engine, const char* given) {
  return guarded(engine, [&] {
    const std::string path = required_text(given, "path");
    engine->vm->importer().search_first(folder_of(path));
    return execute_file(*engine, path);
  });
}

// A module as a program: its file, and the package that its relative imports start from.
struct ModuleProgram {
  std::string file, package;
};

bool is_file(const std::string& path) { return std::ifstream(path).good(); }

// The packages above it are imported on the way, and so is a package whose __main__ is the program.
ModuleProgram find_module_program(Vm& vm, const std::string& dotted_name) {
  const std::size_t dot = dotted_name.rfind('.');
  const std::string leaf = dot == std::string::npos ? dotted_name : dotted_name.substr(dot + 1);
  const std::string above = dot == std::string::npos ? "" : dotted_name.substr(0, dot);
  const auto folders = above.empty() ? vm.config().module_path : vm.import_module(above)->path;
  std::vector<std::string> endings{".tsc"};
  if (vm.importer().imports_python()) endings.push_back(".py");
  for (const std::string& folder : folders)
    for (const std::string& ending : endings) {
      const std::string path = folder + "/" + leaf;
      if (is_file(path + ending)) return {path + ending, above};
      if (!is_file(path + "/__main__" + ending)) continue;
      if (is_file(path + "/__init__" + ending)) vm.import_module(dotted_name);
      return {path + "/__main__" + ending, dotted_name};
    }
  return {};
}

// A module of the current folder or the search path as the program; `-m`.
tsc_status* run_module(tsc_engine* engine, const char* given) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string dotted_name = required_text(given, "dotted_name");
    engine->vm->importer().search_first(".");
    begin_run(*engine);  // the packages above it
    const ModuleProgram program = find_module_program(*engine->vm, dotted_name);
    if (program.file.empty()) return make_status(TSC_NOT_FOUND, "", "no module named '" + dotted_name + "'");
    dict_set(*engine->vm, engine->main->globals, "__package__", str_value(*engine->vm, program.package));
    return execute_file(*engine, program.file);
  });
}

tsc_status* run_entry(tsc_engine* engine, const char* name, const char* text, size_t size, tsc_value** value) {
  if (value != nullptr) *value = nullptr;
  return guarded(engine, [&]() -> tsc_status* {
    engine->displayed.reset();
    tsc_status* status = nullptr;
    try {
      status = run_with_hook(*engine, [&] {
        return execute(*engine, required_text(name, "name"), std::string(required_text(text, size, "text")), true);
      });
    } catch (const ScriptException& exception) {
      dict_set(*engine->vm, engine->main->globals, "_err", exception.local().value());
      throw;
    }
    if (status == nullptr && value != nullptr && !engine->displayed.is_undefined())
      *value = new_value(engine, std::move(engine->displayed));
    engine->displayed.reset();
    return status;
  });
}

int is_incomplete(tsc_engine*, const char* text, size_t size) {
  try {
    lang::Arena arena;
    const lang::Source source("<input>", std::string(required_text(text, size, "text")));
    return lang::parse_module(source, arena).is_incomplete;
  } catch (...) {
    return 0;
  }
}

// ---- names and calls --------------------------------------------------------------------------

Value lookup(tsc_engine& engine, const std::string& dotted_name) {
  Vm& vm = *engine.vm;
  const std::string first = dotted_name.substr(0, dotted_name.find('.'));
  Value value = dict_get(vm, engine.main->globals, first);
  if (value.is_undefined()) value = dict_get(vm, vm.builtins()->globals, first);
  if (value.is_undefined()) return value;
  if (first == dotted_name) return value;
  begin_run(engine);
  for (std::size_t at = first.size(); at < dotted_name.size();) {
    const std::size_t end = std::min(dotted_name.find('.', at + 1), dotted_name.size());
    value = get_attribute(vm, value, std::string_view(dotted_name).substr(at + 1, end - at - 1));
    at = end;
  }
  end_run(engine);
  return value;
}

tsc_status* get(tsc_engine* engine, const char* given, tsc_value** out) {
  if (out != nullptr) *out = nullptr;
  return guarded(engine, [&]() -> tsc_status* {
    const std::string dotted_name = required_text(given, "dotted_name");
    required(out, "value");
    Value value = lookup(*engine, dotted_name);
    if (value.is_undefined()) return make_status(TSC_NOT_FOUND, "", "the name '" + dotted_name + "' is not defined");
    *out = new_value(engine, std::move(value));
    return nullptr;
  });
}

tsc_status* set(tsc_engine* engine, const char* name, tsc_value* value) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string known = required_name(name, "name");
    dict_set(*engine->vm, engine->main->globals, known, value_of(engine, value, "value"));
    return nullptr;
  });
}

tsc_status* set_attribute_of(tsc_engine* engine, tsc_value* object, const char* name, tsc_value* value) {
  return guarded(engine, [&]() -> tsc_status* {
    const Local<StrObject> known = intern(*engine->vm, required_text(name, "name"));
    const Value &to = value_of(engine, object, "object"), &given = value_of(engine, value, "value");
    begin_run(*engine);
    set_attribute(*engine->vm, to, known.get(), given);
    end_run(*engine);
    return nullptr;
  });
}

tsc_status* get_attribute_of(tsc_engine* engine, tsc_value* object, const char* name, tsc_value** out) {
  return making(engine, out, "value", [&] {
    const Value& of = value_of(engine, object, "object");
    const std::string known = required_text(name, "name");
    return run_script(*engine, [&] { return get_attribute(*engine->vm, of, std::string_view(known)); });
  });
}

tsc_status* call_value(tsc_engine* engine, tsc_value* function, tsc_value* const* arguments, size_t count,
                       const char* const* keyword_names, tsc_value* const* keyword_values, size_t keyword_count,
                       tsc_value** result) {
  if (result != nullptr) *result = nullptr;
  return guarded(engine, [&]() -> tsc_status* {
    const Value callee = value_of(engine, function, "function");
    const std::vector<Value> positional = values_of(engine, arguments, count, "arguments");
    const std::vector<Value> keywords = values_of(engine, keyword_values, keyword_count, "keyword_values");
    std::vector<Local<StrObject>> names;
    std::vector<StrObject*> raw_names;
    for (const std::string& name : texts_of(keyword_names, keyword_count, "keyword_names")) {
      names.push_back(intern(*engine->vm, name));
      raw_names.push_back(names.back().get());
    }
    Args args;
    args.positional = positional.data();
    args.count = static_cast<uint32_t>(count);
    args.keyword_count = static_cast<uint32_t>(keyword_count);
    args.keyword_names = raw_names.data();
    args.keyword_values = keywords.data();
    Value value = run_script(*engine, [&] { return call(*engine->vm, callee, args); });
    if (result != nullptr) *result = new_value(engine, std::move(value));
    return nullptr;
  });
}

}  // namespace

void become_file(tsc_engine& engine, const std::string& path) {
  engine.vm->importer().search_first(folder_of(path));
  set_main_file(engine, path);
}

tsc_status* execute(tsc_engine& engine, std::string name, std::string text, bool interactive) {
  begin_run(engine);
  auto source = std::make_shared<const lang::Source>(std::move(name), std::move(text));
  lang::CompileOptions options;
  options.interactive = interactive;
  options.postpones_annotations = interactive && engine.postpones_annotations;
  options.explain_asserts = engine.explain_asserts;
  options.check_shapes = shape_checking(*engine.vm) != nullptr;
  lang::CompileResult compiled = lang::compile_module(source, options);
  if (!compiled.code) return diagnostics_status(compiled.diagnostics, *source);
  engine.postpones_annotations |= compiled.code->postpones_annotations;
  Vm& vm = *engine.vm;
  if (!compiled.diagnostics.all().empty())
    vm.write(Stream::Error, diagnostics_text(compiled.diagnostics, *source, engine.error_format));
  vm.run_code(make_code(vm, compiled.code), engine.main);
  end_run(engine);
  return nullptr;
}

void fill_run_functions(tsc_api& api) {
  api.engine_new = engine_new;
  api.engine_free = engine_free;
  api.interrupt = interrupt;
  api.clear_interrupt = clear_interrupt;
  api.run_source = run_source;
  api.run_file = run_file;
  api.run_module = run_module;
  api.run_entry = run_entry;
  api.is_incomplete = is_incomplete;
  api.get = get;
  api.set = set;
  api.get_attribute = get_attribute_of;
  api.set_attribute = set_attribute_of;
  api.call = call_value;
}

}  // namespace tsc::embed
