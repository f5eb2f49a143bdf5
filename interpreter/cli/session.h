#pragma once
// One engine for the process: made from the command line, its errors printed, Ctrl-C led to it, its
// statuses turned into exit codes. Knows: the public API. Must not know: line editing.
#include <csignal>
#include <string>

#include "interpreter/cli/options.h"
#include "interpreter/embed/tenscript.h"

namespace tsc::cli {

constexpr int kExitUsage = 2;
constexpr int kExitInternal = 70;
constexpr int kExitInterrupted = 130;

class Session {
 public:
  // `output` receives what scripts print; null: the process's own streams.
  explicit Session(const Invocation& invocation, tsc_output output = nullptr, void* output_user = nullptr);
  ~Session();
  Session(const Session&) = delete;

  const tsc_api& api() const { return *api_; }
  tsc_engine* engine() const { return engine_; }
  bool color() const { return color_; }
  // Whether what is typed at the prompt may start programs.
  bool may_run_programs() const { return may_run_programs_; }
  // False when the engine could not be made; the reason is printed, and the process ends with exit_code().
  bool ok() const { return engine_ != nullptr; }
  int exit_code() const { return exit_code_; }

  // Prints what went wrong, frees the status and returns the exit code; 0 for no status.
  int finish(tsc_status* status);
  // Writes the report file that the command line asked for. Returns the exit code: the given one, or that of a
  // report that could not be written.
  int write_report(int exit_code);

  // While an object of this lives, Ctrl-C interrupts the engine and does not end the process.
  class CatchInterrupts {
   public:
    explicit CatchInterrupts(Session& session);
    ~CatchInterrupts();

   private:
    struct sigaction before_{};
  };

 private:
  const tsc_api* api_;
  tsc_engine* engine_ = nullptr;
  int exit_code_ = 0;
  bool color_ = false, may_run_programs_ = false;
  ErrorFormat error_format_ = ErrorFormat::Full;
  std::string report_file_;
};

// Sinks for the API's texts.
void append_text(void* user, const char* text, size_t size);  // user: std::string*
void print_text(void* user, const char* text, size_t size);   // user: FILE*

bool use_color(ColorMode mode, int descriptor);

}  // namespace tsc::cli
