// Looking inside: stages of compilation, what the compiler did, what this machine offers.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/embed/arguments.h"
#include "interpreter/embed/complete.h"
#include "interpreter/embed/report_text.h"
#include "interpreter/vm/shape_checking.h"
#include "jit/codegen_api.h"
#include "jit/runner/kernel_cache.h"
#include "lang/ast_print.h"
#include "lang/bytecode/disassemble.h"
#include "lang/emit/compile.h"
#include "lang/layout.h"
#include "lang/parse.h"

namespace tsc::embed {
namespace {

using interp::compiler_of;
using Json = nlohmann::ordered_json;

// The names of files in it may be any bytes.
std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void send(tsc_sink sink, void* user, const std::string& text) { sink(user, text.data(), text.size()); }

// ---- stages -----------------------------------------------------------------------------------

using SourceRef = std::shared_ptr<const lang::Source>;

// A stage that only reads the text: fills `out`, or returns what is wrong.
tsc_status* emit_tokens(const SourceRef& source, const lang::CompileOptions&, std::string& out) {
  lang::Diagnostics diagnostics;
  const lang::TokenList list = lang::tokenize(*source, diagnostics);
  out = lang::print_tokens(list, *source);
  return diagnostics.has_errors() ? diagnostics_status(diagnostics, *source) : nullptr;
}

tsc_status* emit_tree(const SourceRef& source, const lang::CompileOptions&, std::string& out) {
  lang::Arena arena;
  lang::ParseResult parsed = lang::parse_module(*source, arena);
  if (parsed.module == nullptr) return diagnostics_status(parsed.diagnostics, *source);
  out = lang::print_ast(*parsed.module, true) + "\n";
  return nullptr;
}

tsc_status* emit_bytecode(const SourceRef& source, const lang::CompileOptions& options, std::string& out) {
  lang::CompileResult compiled = lang::compile_module(source, options);
  if (!compiled.code) return diagnostics_status(compiled.diagnostics, *source);
  out = lang::disassemble(*compiled.code);
  return nullptr;
}

struct TextStage {
  const char* name;
  tsc_status* (*emit)(const SourceRef& source, const lang::CompileOptions& options, std::string& out);
};

constexpr TextStage kTextStages[] = {
    {"tokens", emit_tokens},
    {"ast", emit_tree},
    {"bytecode", emit_bytecode},
};

constexpr const char* kStages[] = {"tokens", "ast",  "bytecode", "region", "backward", "fused",
                                   "loops",  "llvm", "asm",      "ptx",    nullptr};

const char* const* emit_stages() { return kStages; }

[[noreturn]] void refuse_stage(const std::string& stage) {
  std::vector<std::string_view> names;
  for (const char* const* name = kStages; *name != nullptr; ++name) names.push_back(*name);
  refuse_word("stage", stage, names);
}

// While a program runs for one stage: what it prints goes to standard error, and the compiler tells the stage.
class Emitting {
 public:
  Emitting(tsc_engine& engine, const std::string& stage)
      : config_(engine.vm->config()), options_(compiler_of(*engine.vm)->options()), write_(config_.write) {
    engine.emitted.clear();
    options_.jit.emit = stage;
    options_.jit.emitted = &engine.emitted;
    config_.write = [this](interp::Stream, std::string_view printed) { write_(interp::Stream::Error, printed); };
  }
  ~Emitting() {
    config_.write = write_;
    options_.jit.emit.clear();
    options_.jit.emitted = nullptr;
  }
  Emitting(const Emitting&) = delete;

 private:
  interp::Config& config_;
  interp::CompileOptions& options_;
  decltype(interp::Config::write) write_;
};

// A stage of the compiler: the program runs (what it prints goes to standard error, so that the
// stage can be sent to a file), then the text of everything that was compiled is there.
tsc_status* emit_compiled(tsc_engine& engine, const std::string& stage, const std::string& name, std::string text,
                          std::string& out) {
  interp::Vm& vm = *engine.vm;
  if (name.rfind('<', 0) != 0) become_file(engine, name);
  tsc_status* status = nullptr;
  {
    const Emitting emitting(engine, stage);
    status = execute(engine, name, std::move(text), false);
  }
  out = engine.emitted;
  if (out.empty() && status == nullptr)
    vm.write(interp::Stream::Error,
             "nothing was compiled: --emit=" + stage + " shows what functions marked @torch.compile become\n");
  return status;
}

bool is_stage(const std::string& stage) {
  for (const char* const* name = kStages; *name != nullptr; ++name)
    if (stage == *name) return true;
  return false;
}

tsc_status* emit(tsc_engine* engine, const char* stage_name, const char* name, const char* text, size_t size,
                 tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string stage = required_text(stage_name, "stage"), path = required_text(name, "name");
    const std::string source(required_text(text, size, "text"));
    required(sink, "sink");
    if (!is_stage(stage)) refuse_stage(stage);
    std::string out;
    tsc_status* status = nullptr;
    const auto* row = std::find_if(std::begin(kTextStages), std::end(kTextStages),
                                   [&](const TextStage& known) { return stage == known.name; });
    if (row != std::end(kTextStages)) {
      lang::CompileOptions options;
      options.check_shapes = interp::shape_checking(*engine->vm) != nullptr;
      status = row->emit(std::make_shared<const lang::Source>(path, source), options, out);
    } else {
      status = emit_compiled(*engine, stage, path, source, out);
    }
    send(sink, user, out);
    return status;
  });
}

// ---- the compiler's events ---------------------------------------------------------------------

tsc_status* report(tsc_engine* engine, const char* format, tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string wanted = required_text(format, "format");
    required(sink, "sink");
    if (wanted == "json") {
      send(sink, user, compiler_of(*engine->vm)->finished_report().json());
    } else if (wanted == "explain") {
      send(sink, user, explain_text(compiler_of(*engine->vm)->finished_report()));
    } else if (wanted == "summary") {
      send(sink, user, summary_text(compiler_of(*engine->vm)->finished_report()));
    } else {
      return bad_argument("there is no report format '" + wanted + "'; the formats are explain, summary and json");
    }
    return nullptr;
  });
}

// ---- machine ----------------------------------------------------------------------------------

std::string processor_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

// Where compiled kernels are kept and how much there is; null: nowhere.
void add_cache_info(tsc_engine& engine, Json& info) {
  jit::DiskCache& cache = compiler_of(*engine.vm)->options().jit.cache->disk();
  if (cache.folder().empty()) {
    info["kernel cache"] = nullptr;
    return;
  }
  jit::Problem problem;
  uint64_t bytes = 0;
  for (const jit::DiskCacheRow& row : cache.list(&problem)) bytes += row.bytes;
  info["kernel cache"] = cache.folder();
  info["kernel cache bytes"] = bytes;
  if (!problem.empty()) info["kernel cache problem"] = problem;
}

Json collect_info(tsc_engine& engine) {
  constexpr const char* kInstructionSets[] = {"baseline", "AVX2", "AVX-512"};
  Json info;
  info["version"] = TSC_VERSION_TEXT;
  info["processor"] = processor_name();
  info["reference kernels"] = kInstructionSets[static_cast<int>(engine.device.isa)];
  info["threads"] = engine.device.threads.count();
  std::string problem;
  const auto compiler = jit::load_kernel_compiler(&problem);
  info["compiler"] = compiler ? compiler->target_description() : "none: " + problem;
  info["library files"] = engine.library.size();
  add_cache_info(engine, info);
  Json& path = info["module path"] = Json::array();
  for (const std::string& folder : engine.vm->config().module_path) path.push_back(folder);
  return info;
}

tsc_status* info(tsc_engine* engine, const char* format, tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string wanted = required_text(format, "format");
    required(sink, "sink");
    const Json collected = collect_info(*engine);
    if (wanted == "json") {
      send(sink, user, json_text(collected) + "\n");
      return nullptr;
    }
    std::string text;
    for (const auto& [key, value] : collected.items()) {
      std::string name = key + ":";
      name.resize(20, ' ');
      text += name + (value.is_string() ? value.get<std::string>() : json_text(value, -1)) + "\n";
    }
    send(sink, user, text);
    return nullptr;
  });
}

size_t complete_name(tsc_engine* engine, const char* text, size_t cursor, tsc_sink sink, void* user) {
  size_t begin = cursor;
  tsc_status* status = guarded(engine, [&]() -> tsc_status* {
    required(sink, "sink");
    const Completion completion = complete(*engine->vm, engine->main, required_text(text, cursor, "text"), cursor);
    begin = completion.begin;
    for (const std::string& name : completion.names) send(sink, user, name);
    return nullptr;
  });
  free_status(status);  // a prompt that cannot complete completes nothing
  return begin;
}

}  // namespace

void fill_inspect_functions(tsc_api& api) {
  api.emit = emit;
  api.emit_stages = emit_stages;
  api.report = report;
  api.info = info;
  api.complete = complete_name;
}

}  // namespace tsc::embed
