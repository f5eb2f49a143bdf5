#include "interpreter/cli/repl.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "interpreter/cli/editor.h"
#include "interpreter/cli/magic.h"

namespace tsc::cli {
namespace {

constexpr char kPrompt[] = ">>> ";
constexpr char kContinuation[] = "... ";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// An open block ends with an empty line: that is the language's own rule for texts that end in one.
bool wants_more(Session& session, const std::string& text) {
  const std::string_view entry = trimmed(text);
  if (entry.empty() || entry.front() == '%' || entry.front() == '!' || is_question(entry)) return false;
  const std::string lines = text + "\n";
  return session.api().is_incomplete(session.engine(), lines.data(), lines.size()) != 0;
}

class Repl {
 public:
  explicit Repl(Session& session) : session_(session) {}

  // The code to leave with, once exit() was called.
  bool finished() const { return finished_; }
  int exit_code() const { return exit_code_; }

  // Whether the session goes on with what was entered behind it: it raised nothing and did not leave.
  bool run(const std::string& entry) {
    const std::string_view text = trimmed(entry);
    if (text.empty()) return true;
    if (text == "exit" || text == "quit") {
      finished_ = true;
      return false;
    }
    const std::string name = "<input " + std::to_string(++entry_count_) + ">";
    Session::CatchInterrupts guard(session_);
    tsc_value* value = nullptr;
    tsc_status* status = nullptr;
    if (!run_magic(session_, entry, &status))
      status = session_.api().run_entry(session_.engine(), name.c_str(), entry.data(), entry.size(), &value);
    if (status == nullptr && value != nullptr) status = show(value, text.back() != ';');
    session_.api().value_free(value);
    const bool done = status == nullptr;
    finish(status);
    std::fflush(stdout);
    return done;
  }

 private:
  tsc_status* show(tsc_value* value, bool echo) {
    const tsc_api& api = session_.api();
    if (api.kind(value) == TSC_NONE) return nullptr;
    std::string text;
    if (echo) {
      tsc_status* status = api.represent(session_.engine(), value, append_text, &text);
      if (status != nullptr) return status;
      std::fflush(stdout);
      std::printf("%s\n", text.c_str());
      const std::string summary = tensor_summary(session_, value);
      if (!summary.empty()) std::printf("%s\n", summary.c_str());
    }
    return api.set(session_.engine(), "_", value);
  }

  void finish(tsc_status* status) {
    const bool leave = session_.api().status_code(status) == TSC_EXIT;
    const int code = session_.finish(status);
    if (leave) {
      finished_ = true;
      exit_code_ = code;
    }
  }

  Session& session_;
  int entry_count_ = 0;
  bool finished_ = false;
  int exit_code_ = 0;
};

// A signal handler has no other way to the prompt.
volatile sig_atomic_t g_given_up = 0;

// While one lives Ctrl-C does not end the process: at the prompt it gives the entry up.
class CatchAtPrompt {
 public:
  CatchAtPrompt() {
    struct sigaction action{};
    action.sa_handler = [](int) { g_given_up = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before_);
  }
  ~CatchAtPrompt() { sigaction(SIGINT, &before_, nullptr); }
  CatchAtPrompt(const CatchAtPrompt&) = delete;

 private:
  struct sigaction before_{};
};

// Waits for a line of the terminal; false when Ctrl-C came first. It is let in only while this waits, so that none
// is lost between the question and the answer.
bool wait_for_line() {
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  while (!g_given_up && ppoll(&ready, 1, nullptr, &before) < 0 && errno == EINTR) {
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return !g_given_up;
}

int run_lines(Session& session) {
  Repl repl(session);
  std::string entry;
  bool prompted = false;
  char* line = nullptr;
  std::size_t capacity = 0;
  const bool prompts = isatty(STDIN_FILENO) != 0;
  std::optional<CatchAtPrompt> guard;
  if (prompts) guard.emplace();
  for (;;) {
    if (prompts) {
      g_given_up = 0;
      std::fputs(entry.empty() ? kPrompt : kContinuation, stdout);
      std::fflush(stdout);
    }
    if (prompts && !wait_for_line()) {
      std::fputs("\nKeyboardInterrupt\n", stdout);
      entry.clear();
      continue;
    }
    const ssize_t length = getline(&line, &capacity, stdin);
    if (length > 0) {
      // Lines copied from a session carry its prompts.
      std::string_view text(line, static_cast<std::size_t>(length));
      if (entry.empty()) prompted = text.substr(0, 4) == kPrompt;
      if (prompted && (entry.empty() || text.substr(0, 3) == "..."))
        text.remove_prefix(std::min<std::size_t>(4, text.size() - 1));
      entry += text;
    }
    if (!entry.empty() && entry.back() == '\n') entry.pop_back();
    if (length > 0 && wants_more(session, entry)) {
      entry += '\n';
      continue;
    }
    repl.run(entry);
    entry.clear();
    if (length <= 0 || repl.finished()) break;
  }
  std::free(line);
  if (prompts && !repl.finished()) std::fputc('\n', stdout);
  return repl.exit_code();
}

EditorQuestions questions_of(Session& session) {
  EditorQuestions questions;
  questions.is_complete = [&session](const std::string& text) { return !wants_more(session, text); };
  questions.complete = [&session](const std::string& text, std::size_t cursor) {
    std::vector<std::string> names;
    std::size_t begin_of_path = 0;
    if (complete_beyond_names(session, text, cursor, begin_of_path, names))
      return std::make_pair(begin_of_path, std::move(names));
    auto collect = [](void* user, const char* name, size_t size) {
      static_cast<std::vector<std::string>*>(user)->emplace_back(name, size);
    };
    const std::size_t begin = session.api().complete(session.engine(), text.c_str(), cursor, collect, &names);
    return std::make_pair(begin, std::move(names));
  };
  return questions;
}

// What `set editing-mode` says in readline's own settings, where the user has any.
EditKeys keys_of_inputrc() {
  const char* named = std::getenv("INPUTRC");
  const char* home = std::getenv("HOME");
  std::string path;
  if (named != nullptr && *named != '\0') path = named;
  else if (home != nullptr) path = std::string(home) + "/.inputrc";
  std::ifstream file(path);
  EditKeys keys = EditKeys::Emacs;
  for (std::string line, set, name, value; std::getline(file, line);) {
    std::istringstream words(line);
    if (!(words >> set >> name >> value) || set != "set" || name != "editing-mode") continue;
    keys = value == "vi" ? EditKeys::Vi : EditKeys::Emacs;
  }
  return keys;
}

int run_editor(Session& session, KeyStyle style) {
  std::printf("tenscript %s; Ctrl-D leaves, Tab completes, Up recalls\n", session.api().version_text());
  std::fflush(stdout);
  Terminal terminal(STDIN_FILENO, STDOUT_FILENO);
  History history(default_history_path());
  const EditKeys keys = style == KeyStyle::Vi      ? EditKeys::Vi
                        : style == KeyStyle::Emacs ? EditKeys::Emacs
                                                   : keys_of_inputrc();
  Editor editor(terminal, history, questions_of(session), keys);
  Repl repl(session);
  while (!repl.finished()) {
    std::string entry;
    const EditResult result = editor.read(kPrompt, kContinuation, entry);
    if (result == EditResult::End) break;
    if (result == EditResult::Cancelled) continue;
    history.add(std::string(trimmed(entry)));
    for (const std::string& block : editor.blocks())
      if (!repl.run(block)) break;
  }
  return repl.exit_code();
}

}  // namespace

int run_repl(Session& session, const Invocation& invocation) {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  if (invocation.basic || dumb || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return run_lines(session);
  return run_editor(session, invocation.keys);
}

}  // namespace tsc::cli
