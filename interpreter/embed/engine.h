#pragma once
// What stands behind the handles of tenscript.h. Knows: the whole interpreter. Must not know: the
// command line. Keeps: every entry goes through `guarded`, so nothing thrown crosses the C line, one
// thread is inside at a time, and the engine's device, heap and limits hold while it works; a status
// owns plain text and outlives its engine.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/embed/tenscript.h"
#include "interpreter/embed/watchdog.h"
#include "interpreter/tensor/tensor_object.h"
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
  // Diagnostics as status_json and status_short write them; of the rest those are made when asked.
  std::string json, lines;
  std::string fixes;  // JSON objects: what "Did you mean" means as edits
  tsc_limit limit = TSC_LIMIT_NONE;
  std::unique_ptr<tsc_status> cause;  // of `raise ... from`, or what was handled meanwhile
};

// What the host lends to the script until the engine goes: a function or an op, and who owns its data.
struct tsc_host_binding {
  tsc_engine* engine;
  std::string name;
  tsc_host_function function = nullptr;
  tsc_op op = {};
  void* user = nullptr;
  void (*drop)(void* user) = nullptr;
};

struct tsc_engine {
  // An engine without a virtual machine: set_up() makes it.
  explicit tsc_engine(const tsc_engine_options& options);
  ~tsc_engine();
  // Null, or what went wrong; then it can only be deleted.
  tsc_status* set_up(const tsc_engine_options& options) noexcept;
  tsc_engine(const tsc_engine&) = delete;

  // What a prompt's last expression gave; see run_entry.
  tsc::interp::Value displayed;
  // A text that ran imports that from __future__: so does what is typed at the prompt.
  bool postpones_annotations = false;
  bool explain_asserts = false;
  tsc_error_format error_format = TSC_ERRORS_FULL;
  std::string emitted;  // text of a compiler stage, while `emit` runs

  // Calls an output or a log callback, and raises in the script what it left with raise_later.
  template <class F>
  void tell_host(F&& callback) {
    struct Inside {
      int& callbacks;
      explicit Inside(int& count) : callbacks(count) { ++callbacks; }
      ~Inside() { --callbacks; }
    };
    {
      const Inside inside(callbacks);
      callback();
    }
    if (callbacks == 0 && callback_error != nullptr) raise_callback_error();
  }
  int callbacks = 0;
  tsc_status* callback_error = nullptr;
  [[noreturn]] void raise_callback_error();

  std::vector<std::unique_ptr<tsc_host_binding>> bindings;

  // Who is inside, and how deep the host and the script call one another. See Entry.
  std::atomic<const void*> owner{nullptr};
  int depth = 0;                // with `callbacks` and `callback_error`, of the thread of the script whose turn it is
  bool limit_reported = false;  // a status of the entry that runs says TSC_LIMIT
  tsc::interp::Modes modes;     // at the beginning of the entry, for when it is cut short
  bool cut_short = false;       // a limit, an interrupt or a lack of memory ended the entry that runs
  bool recovering = false;      // a memory limit ended an entry, and most of it is still in use
  bool armed = false;           // the watchdog waits for the end of this entry's time
  int64_t deadline = 0;         // of this entry; 0: none
  bool runs_script = false;     // so a stop that comes during this entry is meant for it
  std::atomic<int64_t> time_limit{0};
  // Values that another thread freed while this engine was busy, for the next entry.
  std::mutex dropped_mutex;
  std::vector<tsc_value*> dropped;
  std::atomic<bool> has_dropped{false};
  // What `statistics` says of the compiler, kept where any thread may read it.
  struct CompilerCounts {
    std::atomic<uint64_t> regions{0}, kernels{0}, kernel_cache_hits{0}, recompiles{0}, fallbacks{0}, compile_ns{0};
  } counts;
  // Of `stop`: written once, by whichever thread or signal handler comes first.
  enum class ReasonState : int { Unset, Writing, Ready };
  char stop_reason[128] = {};
  std::atomic<ReasonState> stop_reason_state{ReasonState::Unset};

  tsc::Device device;  // outlives the vm: storage returns to its allocator
  std::vector<tsc::interp::EmbeddedFile> library;
  std::unique_ptr<tsc::interp::Vm> vm;
  tsc::interp::Local<tsc::interp::ModuleObject> main;
  tsc::embed::Watchdog watchdog;  // first to go: nothing stops an engine that is not there

 private:
  tsc::interp::Config make_config(const tsc_engine_options& options);
  void fill(const tsc_engine_options& options);
};

namespace tsc::embed {

// Thrown where this interface was used wrongly: TSC_BAD_ARGUMENT with this message.
struct Misuse {
  std::string message;
};

tsc_status* make_status(tsc_code code, std::string type, std::string message);
// The one that stands for "out of memory" is shared and stays.
void free_status(tsc_status* status) noexcept;
struct FreeStatus {
  void operator()(tsc_status* status) const noexcept { free_status(status); }
};
using OwnedStatus = std::unique_ptr<tsc_status, FreeStatus>;
// What a callback gave: its handle is freed, unless it is one of those that it was given.
interp::Value take_result(tsc_engine* engine, tsc_value* result, const std::vector<tsc_value>& given,
                          const std::string& function);
tsc_status* bad_argument(std::string message);
tsc_status* no_engine() noexcept;
// A script exception as a status: its exit code, traceback and rendering.
tsc_status* exception_status(tsc_engine& engine, interp::ExceptionObject* exception);
tsc_status* diagnostics_status(lang::Diagnostics& diagnostics, const lang::Source& source);
std::string diagnostics_text(const lang::Diagnostics& diagnostics, const lang::Source& source, tsc_error_format format);
// The status of the exception in flight; call it in a catch block.
tsc_status* current_exception_status(tsc_engine* engine) noexcept;

// A thread's stay in an engine. The outermost one arms the limits; inner ones (a host function that
// calls back) count within it.
class Entry {
 public:
  explicit Entry(tsc_engine& engine);
  ~Entry();
  Entry(const Entry&) = delete;
  // False: another thread is inside; nothing of the engine may be touched.
  explicit operator bool() const { return entered_; }

 private:
  tsc_engine& engine_;
  bool entered_;
  DeviceScope device_;
  interp::HeapScope heap_;
};

// Every thread of the script is inside the engine, and the owner is the one whose turn it is.
void add_stay_parts(tsc_engine& engine);
// What engine_free does first; see `finish` of the table.
void finish_unless_done(tsc_engine& engine) noexcept;

// Around what may run script code. Before it: a stop that came between the calls raises LimitError. After it:
// so does a stop that came too late for the script to hear, and a time limit that is over. What ended so is not stopped
// again.
void begin_run(tsc_engine& engine);
void end_run(tsc_engine& engine);

// Runs `body`, which returns a Value.
template <class Body>
interp::Value run_script(tsc_engine& engine, Body&& body) {
  begin_run(engine);
  interp::Value value = body();
  end_run(engine);
  return value;
}

// The status for what another thread is using.
tsc_status* wrong_thread() noexcept;

// Runs `body` (tsc_status*() ) for an engine and turns whatever it throws into a status.
template <class Body>
tsc_status* guarded(tsc_engine* engine, Body&& body) noexcept {
  if (engine == nullptr) return no_engine();
  Entry entry(*engine);
  if (!entry) return wrong_thread();
  try {
    return body();
  } catch (...) {
    return current_exception_status(engine);
  }
}

// Compiles and runs a text in __main__; `interactive`: its last expression goes to `displayed`.
tsc_status* execute(tsc_engine& engine, std::string name, std::string text, bool interactive);
// The main module is the file: __file__, and its folder in front of the search path.
void become_file(tsc_engine& engine, const std::string& path);

// Functions that become attributes of a module, which is made when it is not there yet.
void set_module_member(tsc_engine& engine, const std::string& module, const std::string& name,
                       const interp::Value& value);
// Raises in the script what a host's callback returned; the status is freed.
[[noreturn]] void raise_status(interp::Vm& vm, tsc_status* status);
// A module's source from the host's loader; empty when it has none.
std::optional<interp::ModuleSource> load(tsc_engine& engine, tsc_loader loader, void* user, const std::string& name);
// Lets go of a handle, also when another thread is inside the engine.
void drop_value(tsc_value* value);

interp::Local<interp::TensorObject> make_tensor_value(tsc_engine& engine, Tensor tensor);
void fill_tensor_info(const Tensor& tensor, tsc_tensor_info& info);
DType checked_dtype(tsc_dtype dtype);
tsc_dtype dtype_of(DType dtype);
Sizes checked_sizes(const int64_t* sizes, uint32_t rank);

void apply_limits(tsc_engine& engine, const tsc_limits& limits);
tsc_status* wrong_kind(const tsc_value* value, const char* wanted);

inline tsc_value* new_value(tsc_engine* engine, interp::Value value) { return new tsc_value{engine, std::move(value)}; }

// Parts of the table, one file each.
void fill_value_functions(tsc_api& api);
void fill_run_functions(tsc_api& api);
void fill_inspect_functions(tsc_api& api);
void fill_cache_functions(tsc_api& api);
void fill_limit_functions(tsc_api& api);
void fill_host_functions(tsc_api& api);
void fill_host_op_functions(tsc_api& api);
void fill_tensor_functions(tsc_api& api);
void fill_status_functions(tsc_api& api);
void fill_status_json_functions(tsc_api& api);
void fill_tool_functions(tsc_api& api);

}  // namespace tsc::embed
