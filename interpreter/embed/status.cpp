// Statuses: what an exception, a diagnostic or a misuse becomes for the host.
#include <algorithm>
#include <new>

#include "interpreter/embed/arguments.h"
#include "interpreter/value/surrogates.h"
#include "lang/bytecode/bytecode.h"
#include "lang/library_file.h"

namespace tsc::embed {
namespace {

using namespace interp;

constexpr int kInterruptedExit = 130;
constexpr int kInternalExit = 70;

// ---- colour ------------------------------------------------------------------------------------

constexpr std::string_view kPlace = "  File \"";
constexpr char kRed[] = "\033[1;31m", kDim[] = "\033[2m", kReset[] = "\033[0m";

bool is_caret_line(const std::string& line) {
  return line.find_first_of("^") != std::string::npos && line.find_first_not_of(" ^~") == std::string::npos;
}

// A traceback with its places dimmed, its carets and the error itself in red. Of places in the library the
// source is dimmed too: they are seldom where the mistake is.
std::string color_traceback(const std::string& text) {
  std::string colored;
  bool in_library = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const char* color = "";
    const bool is_place = line.starts_with(kPlace);
    if (!line.starts_with("    "))
      in_library = is_place && lang::is_library_file(std::string_view(line).substr(kPlace.size()));
    if (in_library || is_place || line.rfind("Traceback", 0) == 0) color = kDim;
    else if (is_caret_line(line)) color = kRed;
    else if (!line.empty() && line[0] != ' ') color = kRed;
    colored += *color ? color + line + kReset : line;
    if (end < text.size()) colored += '\n';
    begin = end + 1;
  }
  return colored;
}

// ---- frames ------------------------------------------------------------------------------------

void add_frames(const ExceptionObject* exception, tsc_status& status) {
  const auto& traceback = exception->traceback;
  for (auto entry = traceback.rbegin(); entry != traceback.rend(); ++entry) {
    tsc_status::Frame frame;
    frame.file = entry->file();
    frame.function = entry->name();
    frame.line = entry->line();
    const auto& source = entry->code->source;
    if (source != nullptr && entry->pc < entry->code->spans.size()) {
      const lang::Span span = entry->code->spans[entry->pc].whole;
      const lang::LineColumn begin = source->locate(span.begin), end = source->locate(span.end);
      frame.source_line = source->line_text(begin.line);
      frame.column = begin.column;
      frame.end_column = end.line == begin.line ? end.column : 0;
    }
    status.frames.push_back(std::move(frame));
  }
}

// "Did you mean: 'x'?" as an edit of the name in the innermost place, when it stands there once.
std::string fixes_of(Vm& vm, const ExceptionObject* exception) {
  constexpr std::string_view kBefore = "Did you mean: '", kAfter = "'?";
  const std::string told = hint_of(vm, exception);
  const std::string_view hint = told;
  const auto* wrong = try_cast<StrObject>(exception->name);
  if (!hint.starts_with(kBefore) || !hint.ends_with(kAfter) || wrong == nullptr) return "";
  if (exception->traceback.empty()) return "";
  const auto& entry = exception->traceback.front();
  const auto& source = entry.code->source;
  if (source == nullptr || entry.pc >= entry.code->spans.size()) return "";
  const lang::Span span = entry.code->spans[entry.pc].whole;
  const std::string_view text = source->slice(span), name = wrong->view();
  std::size_t at = text.find(name);
  if (text.ends_with("." + std::string(name))) at = text.size() - name.size();
  else if (name.empty() || at == text.npos || text.find(name, at + 1) != text.npos) return "";
  const uint32_t begin = span.begin + static_cast<uint32_t>(at);
  const std::string_view right = hint.substr(kBefore.size(), hint.size() - kBefore.size() - kAfter.size());
  return lang::render_json(lang::Fix{std::string(hint),
                                     lang::Applicability::MaybeIncorrect,
                                     {{{begin, begin + static_cast<uint32_t>(name.size())}, std::string(right)}}},
                           *source);
}

// sys.exit(): nothing or None is 0, a number is itself, anything else is printed and is 1.
void set_exit(Vm& vm, const ExceptionObject* exception, tsc_status& status) {
  status.code = TSC_EXIT;
  const auto arguments = exception->args->span();
  status.plain.clear();
  if (arguments.empty() || arguments[0].is_none()) {
    status.exit_code = 0;
  } else if (is_integer_like(arguments[0])) {
    status.exit_code = static_cast<int>(int_value(arguments[0]) & 0xFF);
  } else {
    status.exit_code = 1;
    status.plain = to_string(vm, arguments[0]) + "\n";
  }
}

// ---- table -------------------------------------------------------------------------------------

tsc_code status_code(const tsc_status* status) { return status ? status->code : TSC_OK; }
const char* status_type(const tsc_status* status) { return status ? status->type.c_str() : ""; }
const char* status_message(const tsc_status* status) { return status ? status->message.c_str() : ""; }
tsc_limit status_limit(const tsc_status* status) { return status ? status->limit : TSC_LIMIT_NONE; }
const tsc_status* status_cause(const tsc_status* status) { return status ? status->cause.get() : nullptr; }
int status_exit_code(const tsc_status* status) { return status ? status->exit_code : 0; }
size_t status_frame_count(const tsc_status* status) { return status ? status->frames.size() : 0; }

int status_frame(const tsc_status* status, size_t index, tsc_frame* frame) {
  if (status == nullptr || frame == nullptr || index >= status->frames.size()) return 0;
  const tsc_status::Frame& from = status->frames[index];
  frame->file = from.file.c_str();
  frame->function = from.function.c_str();
  frame->source_line = from.source_line.c_str();
  frame->line = from.line;
  frame->column = from.column;
  frame->end_column = from.end_column;
  return 1;
}

void status_render(const tsc_status* status, int color, tsc_sink sink, void* user) {
  if (status == nullptr || sink == nullptr) return;
  const std::string& text = color ? status->colored : status->plain;
  if (!text.empty()) sink(user, text.data(), text.size());
}

// When there is no memory for a status: one that is never freed, made before anything can fail.
tsc_status* out_of_memory() {
  static std::unique_ptr<tsc_status> shared(make_status(TSC_SCRIPT_ERROR, "MemoryError", "out of memory"));
  return shared.get();
}

void status_free(tsc_status* status) { free_status(status); }

tsc_status* error_new(tsc_engine*, const char* type, const char* message) {
  return without_engine(
      [&] { return make_status(TSC_SCRIPT_ERROR, required(type, "type"), required(message, "message")); });
}

}  // namespace

void free_status(tsc_status* status) noexcept {
  if (status != out_of_memory()) delete status;
}

tsc_status* make_status(tsc_code code, std::string type, std::string message) {
  auto status = std::make_unique<tsc_status>();
  status->code = code;
  status->exit_code = code == TSC_INTERNAL ? kInternalExit : code == TSC_INTERRUPTED ? kInterruptedExit : 1;
  status->message = type.empty() ? message : type + ": " + message;
  status->type = std::move(type);
  status->plain = "tenscript: " + status->message + "\n";
  status->colored = status->plain;
  return status.release();
}

tsc_status* bad_argument(std::string message) { return make_status(TSC_BAD_ARGUMENT, "", std::move(message)); }

tsc_status* no_engine() noexcept {
  try {
    return bad_argument("the engine is NULL");
  } catch (...) {
    return out_of_memory();
  }
}

namespace {

constexpr int kLimitExit = 3;
constexpr int kLongestChain = 100;

tsc_limit limit_of(StopCause cause) {
  switch (cause) {
    case StopCause::Time: return TSC_LIMIT_TIME;
    case StopCause::Steps: return TSC_LIMIT_STEPS;
    case StopCause::Memory: return TSC_LIMIT_MEMORY;
    case StopCause::Host: return TSC_LIMIT_STOP;
    case StopCause::None: break;
  }
  return TSC_LIMIT_NONE;
}

void set_limit(tsc_engine& engine, tsc_status& status) {
  status.code = TSC_LIMIT;
  status.exit_code = kLimitExit;
  status.limit = limit_of(engine.device.stop.cause());
  engine.limit_reported = engine.cut_short = true;
}

// What the traceback shows above this exception, as a chain of statuses. A chain may lead back to
// itself: `left` ends it.
std::unique_ptr<tsc_status> cause_of(Vm& vm, ExceptionObject* exception, int left) {
  const Value& next = is_kind(exception->cause, Kind::Exception) ? exception->cause
                      : exception->suppress_context              ? exception->cause
                                                                 : exception->context;
  if (left == 0 || !is_kind(next, Kind::Exception)) return nullptr;
  ExceptionObject* cause = cast<ExceptionObject>(next);
  std::unique_ptr<tsc_status> status(make_status(TSC_SCRIPT_ERROR, cause->type->name, ""));
  status->message = with_surrogates_escaped(exception_line(vm, cause));
  status->plain = status->colored = status->message + "\n";
  add_frames(cause, *status);
  status->cause = cause_of(vm, cause, left - 1);
  return status;
}

}  // namespace

tsc_status* exception_status(tsc_engine& engine, ExceptionObject* exception) {
  Vm& vm = *engine.vm;
  Heap::Exempt exempt(vm.heap());
  auto status = std::make_unique<tsc_status>();
  status->code = TSC_SCRIPT_ERROR;
  status->type = exception->type->name;
  status->message = with_surrogates_escaped(exception_line(vm, exception));
  status->plain = with_surrogates_escaped(render_traceback(vm, exception));
  if (!status->plain.empty() && status->plain.back() != '\n') status->plain += '\n';
  add_frames(exception, *status);
  status->fixes = fixes_of(vm, exception);
  const ExceptionTypes& types = vm.exceptions();
  if (exception->type->is_subtype_of(types.SystemExit)) {
    set_exit(vm, exception, *status);
  } else if (exception->type->is_subtype_of(types.KeyboardInterrupt)) {
    status->code = TSC_INTERRUPTED;
    status->exit_code = kInterruptedExit;
    engine.cut_short = true;
  } else if (exception->type->is_subtype_of(types.MemoryError)) {
    engine.cut_short = true;
  } else if (exception->is_limit) {
    set_limit(engine, *status);
  }
  status->cause = cause_of(vm, exception, kLongestChain);
  status->colored = color_traceback(status->plain);
  return status.release();
}

tsc_status* diagnostics_status(lang::Diagnostics& diagnostics, const lang::Source& source) {
  diagnostics.sort();
  auto status = std::make_unique<tsc_status>();
  status->code = TSC_SYNTAX_ERROR;
  status->type = "SyntaxError";
  status->plain = lang::render_all(diagnostics, source, {});
  status->colored = lang::render_all(diagnostics, source, {.color = true});
  status->json = diagnostics_text(diagnostics, source, TSC_ERRORS_JSON);
  status->lines = diagnostics_text(diagnostics, source, TSC_ERRORS_SHORT);
  for (const lang::Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != lang::Severity::Error) continue;
    const lang::LineColumn begin = source.locate(diagnostic.primary.span.begin);
    const lang::LineColumn end = source.locate(diagnostic.primary.span.end);
    status->frames.push_back({source.name(), "<module>", std::string(source.line_text(begin.line)), begin.line,
                              begin.column, end.line == begin.line ? end.column : 0});
    if (status->message.empty()) status->message = "SyntaxError: " + diagnostic.message;
  }
  return status.release();
}

tsc_status* current_exception_status(tsc_engine* engine) noexcept {
  try {
    try {
      throw;
    } catch (const Misuse& misuse) {
      return bad_argument(misuse.message);
    } catch (const ScriptException& exception) {
      return exception_status(*engine, exception.exception());
    } catch (const Stopped&) {
      return exception_status(*engine, engine->vm->limit_exception().get());
    } catch (const Error& error) {
      tsc_status* status = make_status(TSC_SCRIPT_ERROR, std::string(error_kind_name(error.kind())), error.message());
      if (engine != nullptr && error.kind() == ErrorKind::LimitError) {
        engine->vm->begin_grace();
        set_limit(*engine, *status);
      }
      return status;
    } catch (const InternalFault& fault) {
      return make_status(TSC_INTERNAL, "internal fault", fault.what());
    } catch (const std::bad_alloc&) {
      if (engine != nullptr) engine->cut_short = true;
      return make_status(TSC_SCRIPT_ERROR, "MemoryError", "out of memory");
    } catch (const std::exception& error) {
      return make_status(TSC_INTERNAL, "internal fault", error.what());
    }
  } catch (...) {
    if (engine != nullptr) engine->cut_short = true;
    return out_of_memory();
  }
}

void fill_status_functions(tsc_api& api) {
  out_of_memory();
  api.status_code = status_code;
  api.status_type = status_type;
  api.status_message = status_message;
  api.status_exit_code = status_exit_code;
  api.status_limit = status_limit;
  api.status_cause = status_cause;
  api.status_frame_count = status_frame_count;
  api.status_frame = status_frame;
  api.status_render = status_render;
  api.status_free = status_free;
  api.error_new = error_new;
}

}  // namespace tsc::embed
