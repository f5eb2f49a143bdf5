#pragma once
// What stands behind the handles of tenscript.h. Knows: the whole interpreter. Must not know: the
// command line. Keeps: every entry goes through `guarded`, so nothing thrown crosses the C line,
// and the engine's device is current while it works; a status owns plain text and outlives its
// engine.
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/embed/tenscript.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/vm.h"
#include "lang/diagnostic.h"
#include "lang/source.h"
#include "runtime/device/device.h"

struct tsc_value {
  tsc_engine* engine;
  tsc::interp::Value value;
};

struct tsc_status {
  struct Frame {
    std::string file, function, source_line;
    uint32_t line = 0, column = 0, end_column = 0;
  };
  tsc_code code = TSC_OK;
  int exit_code = 1;
  std::string type;     // "ValueError"
  std::string message;  // "ValueError: ..."
  std::vector<Frame> frames;
  std::string plain, colored;  // as status_render writes it
};

// A host function and who owns its data.
struct tsc_host_binding {
  tsc_engine* engine;
  std::string name;
  tsc_host_function function;
  void* user;
  void (*drop)(void* user);
};

struct tsc_engine {
  explicit tsc_engine(const tsc_engine_options& options);
  ~tsc_engine();
  tsc_engine(const tsc_engine&) = delete;

  // What a prompt's last expression gave; see run_entry.
  tsc::interp::Value displayed;
  bool explain_asserts = false;
  std::string emitted;  // text of a compiler stage, while `emit` runs

  std::vector<std::unique_ptr<tsc_host_binding>> bindings;

  tsc::Device device;  // outlives the vm: storage returns to its allocator
  std::vector<tsc::interp::EmbeddedFile> library;
  std::unique_ptr<tsc::interp::Vm> vm;
  tsc::interp::Local<tsc::interp::ModuleObject> main;
};

namespace tsc::embed {

tsc_status* make_status(tsc_code code, std::string type, std::string message);
tsc_status* bad_argument(std::string message);
// A script exception as a status: its exit code, traceback and rendering.
tsc_status* exception_status(tsc_engine& engine, interp::ExceptionObject* exception);
tsc_status* diagnostics_status(lang::Diagnostics& diagnostics, const lang::Source& source);
// The status of the exception in flight; call it in a catch block.
tsc_status* current_exception_status(tsc_engine* engine) noexcept;

// Runs `body` (tsc_status*() ) for an engine and turns whatever it throws into a status.
template <class Body>
tsc_status* guarded(tsc_engine* engine, Body&& body) noexcept {
  try {
    if (engine == nullptr) return bad_argument("the engine is NULL");
    DeviceScope scope(engine->device);
    return body();
  } catch (...) {
    return current_exception_status(engine);
  }
}

// Compiles and runs a text in __main__; `interactive`: its last expression goes to `displayed`.
tsc_status* execute(tsc_engine& engine, std::string name, std::string text, bool interactive);

inline tsc_value* new_value(tsc_engine* engine, interp::Value value) {
  return new tsc_value{engine, std::move(value)};
}

// Parts of the table, one file each.
void fill_value_functions(tsc_api& api);
void fill_run_functions(tsc_api& api);
void fill_inspect_functions(tsc_api& api);
void fill_cache_functions(tsc_api& api);
void fill_status_functions(tsc_api& api);
void fill_tool_functions(tsc_api& api);

}  // namespace tsc::embed
