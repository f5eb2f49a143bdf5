#include "interpreter/cli/session.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpreter/cli/files.h"

namespace tsc::cli {
namespace {

// A signal handler has no other way to its engine.
const tsc_api* g_interrupt_api = nullptr;
tsc_engine* volatile g_interrupted_engine = nullptr;
volatile sig_atomic_t g_interrupt_count = 0;

// A script that does not stop at the third Ctrl-C is in native code that does not poll.
constexpr int kPatience = 3;

void on_interrupt(int) {
  g_interrupt_count = g_interrupt_count + 1;
  if (g_interrupt_count >= kPatience) _exit(kExitInterrupted);
  tsc_engine* engine = g_interrupted_engine;
  if (engine != nullptr) g_interrupt_api->interrupt(engine);
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> raw;
  for (const std::string& text : texts) raw.push_back(text.c_str());
  return raw;
}

}  // namespace

void append_text(void* user, const char* text, size_t size) { static_cast<std::string*>(user)->append(text, size); }

void print_text(void* user, const char* text, size_t size) { std::fwrite(text, 1, size, static_cast<FILE*>(user)); }

bool use_color(ColorMode mode, int descriptor) {
  if (mode != ColorMode::Auto) return mode == ColorMode::Always;
  const char* forced = std::getenv("FORCE_COLOR");
  if (forced != nullptr && *forced != '\0') return true;
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (refused != nullptr && *refused != '\0') return false;
  return isatty(descriptor) && (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

Session::Session(const Invocation& invocation, tsc_output output, void* output_user)
    : api_(tsc_get_api(TSC_API_VERSION)), color_(use_color(invocation.color, STDERR_FILENO)),
      error_format_(invocation.error_format), report_file_(invocation.report_file) {
  tsc_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = invocation.threads;
  options.jit = invocation.no_jit ? TSC_OFF : TSC_DEFAULT;
  const bool waits = invocation.no_background || invocation.command == Command::Explain;
  options.background = waits ? TSC_OFF : TSC_DEFAULT;
  options.check_shapes = invocation.check_shapes;
  options.has_seed = invocation.has_seed;
  options.seed = invocation.seed;
  const auto arguments = pointers(invocation.arguments);
  options.arguments = arguments.data();
  options.argument_count = arguments.size();
  const auto paths = pointers(invocation.search_paths);
  options.search_paths = paths.data();
  options.search_path_count = paths.size();
  options.disabled_passes = invocation.disabled_passes.c_str();
  options.logs = invocation.logs.c_str();
  options.cuda = invocation.cuda.c_str();
  options.stress_break = invocation.stress_break;
  options.verify_percent = invocation.verify_percent;
  options.strict_compiler = invocation.strict_compiler;
  options.untimed = invocation.untimed;
  options.signals = invocation.sandbox ? 0 : 1;
  options.poison_memory = invocation.poison_memory;
  const auto readable = pointers(invocation.read_roots), writable = pointers(invocation.write_roots);
  options.grants = invocation.sandbox ? invocation.grants : TSC_GRANT_ALL;
  may_run_programs_ = (options.grants & TSC_GRANT_PROCESS) != 0;
  options.read_roots = readable.data();
  options.read_root_count = readable.size();
  options.write_roots = writable.data();
  options.write_root_count = writable.size();
  options.cache_dir = invocation.cache_dir.c_str();
  options.cache_bytes = invocation.cache_bytes;
  options.output = output;
  options.output_user = output_user;
  options.explain_asserts = invocation.command == Command::Test;
  options.memory_limit = invocation.memory_limit;
  options.time_limit_ns = invocation.time_limit_ns;
  options.error_format = static_cast<tsc_error_format>(invocation.error_format);
  options.import_python = invocation.import_python;
  exit_code_ = finish(api_->engine_new(&options, &engine_));
}

Session::~Session() { api_->engine_free(engine_); }

int Session::finish(tsc_status* status) {
  if (status == nullptr) return 0;
  std::fflush(stdout);
  switch (error_format_) {
    case ErrorFormat::Full: api_->status_render(status, color_, print_text, stderr); break;
    case ErrorFormat::Json: api_->status_json(status, print_text, stderr); break;
    case ErrorFormat::Short: api_->status_short(status, print_text, stderr); break;
  }
  const tsc_code code = api_->status_code(status);
  int exit_code = api_->status_exit_code(status);
  if (code == TSC_NOT_FOUND || code == TSC_BAD_ARGUMENT) exit_code = kExitUsage;
  if (code == TSC_INTERRUPTED) exit_code = kExitInterrupted;
  if (code == TSC_INTERNAL) exit_code = kExitInternal;
  api_->status_free(status);
  return exit_code;
}

int Session::write_report(int exit_code) {
  if (report_file_.empty()) return exit_code;
  std::string report, problem;
  if (const int failed = finish(api_->report(engine_, "json", append_text, &report))) return failed;
  if (replace_file(report_file_, report, problem)) return exit_code;
  std::fprintf(stderr, "tenscript: %s\n", problem.c_str());
  return exit_code != 0 ? exit_code : 1;
}

Session::CatchInterrupts::CatchInterrupts(Session& session) {
  g_interrupt_api = session.api_;
  g_interrupted_engine = session.engine_;
  g_interrupt_count = 0;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &before_);
}

Session::CatchInterrupts::~CatchInterrupts() {
  sigaction(SIGINT, &before_, nullptr);
  tsc_engine* engine = g_interrupted_engine;
  g_interrupted_engine = nullptr;
  if (engine != nullptr) g_interrupt_api->clear_interrupt(engine);
}

}  // namespace tsc::cli
