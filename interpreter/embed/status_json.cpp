// Statuses for machines: one JSON object a line, or one line a fault.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "interpreter/embed/arguments.h"
#include "lang/error_pages.h"
#include "lang/library_file.h"

namespace tsc::embed {
namespace {

using Json = nlohmann::ordered_json;

// "ValueError: text" without the type.
std::string bare_message(const tsc_status& status) {
  const std::string prefix = status.type + ": ";
  if (!status.type.empty() && status.message.rfind(prefix, 0) == 0) return status.message.substr(prefix.size());
  return status.message == status.type ? "" : status.message;
}

Json frames_of(const tsc_status& status) {
  Json frames = Json::array();
  for (const tsc_status::Frame& from : status.frames) {
    Json frame{{"file", from.file}, {"function", from.function}, {"line", from.line}};
    if (from.column != 0) frame["column"] = from.column;
    if (from.end_column != 0) frame["end_column"] = from.end_column;
    frame["source"] = from.source_line;
    frames.push_back(std::move(frame));
  }
  return frames;
}

// By tsc_code.
constexpr const char* kKinds[] = {"ok",          "exception", "syntax",   "usage", "usage",
                                  "interrupted", "exit",      "internal", "limit", "usage"};

Json object_of(const tsc_status& status) {
  Json object{{"kind", kKinds[status.code]},
              {"type", status.type},
              {"message", bare_message(status)},
              {"exit_code", status.exit_code},
              {"frames", frames_of(status)}};
  if (!status.fixes.empty()) object["fixes"] = Json::array({Json::parse(status.fixes)});
  if (status.cause != nullptr) object["cause"] = object_of(*status.cause);
  return object;
}

// Chains are at most a hundred long, so the recursion is too.
void status_json(const tsc_status* status, tsc_sink sink, void* user) {
  if (status == nullptr || sink == nullptr) return;
  std::string text = status->json;
  if (text.empty()) {
    if (status->code == TSC_EXIT && status->plain.empty()) return;
    text = object_of(*status).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  sink(user, text.data(), text.size());
}

// The innermost place of the script itself: the library is seldom where the mistake is.
const tsc_status::Frame* place_of(const tsc_status& status) {
  for (auto frame = status.frames.rbegin(); frame != status.frames.rend(); ++frame)
    if (!lang::is_library_file(frame->file)) return &*frame;
  return status.frames.empty() ? nullptr : &status.frames.back();
}

// A message of several lines is one line here.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, " ");
  return text;
}

void status_short(const tsc_status* status, tsc_sink sink, void* user) {
  if (status == nullptr || sink == nullptr) return;
  std::string text = status->lines;
  const bool placed = status->code == TSC_SCRIPT_ERROR || status->code == TSC_LIMIT;
  if (text.empty() && placed && place_of(*status) != nullptr) {
    const tsc_status::Frame& frame = *place_of(*status);
    text = frame.file + ":" + std::to_string(frame.line) + ":" + std::to_string(std::max(1u, frame.column)) + ": " +
           one_line(status->message) + "\n";
  }
  if (text.empty()) text = status->plain;
  sink(user, text.data(), text.size());
}

tsc_status* error_page(const char* code, int color, tsc_sink sink, void* user) {
  return without_engine([&]() -> tsc_status* {
    const std::string wanted = required_text(code, "code");
    required(sink, "sink");
    if (const auto found = lang::find_code(wanted)) {
      const std::string page = lang::render_page(*found, color != 0);
      sink(user, page.data(), page.size());
      return nullptr;
    }
    const std::string near = lang::nearest_code(wanted);
    return make_status(
        TSC_NOT_FOUND, "",
        "there is no error code '" + wanted + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  });
}

}  // namespace

std::string diagnostics_text(const lang::Diagnostics& diagnostics, const lang::Source& source,
                             tsc_error_format format) {
  if (format == TSC_ERRORS_FULL) return lang::render_all(diagnostics, source, {});
  if (format == TSC_ERRORS_SHORT) return lang::render_all(diagnostics, source, {.format = lang::ErrorFormat::Short});
  std::string text;
  for (const lang::Diagnostic& d : diagnostics.all())
    text += "{\"kind\":\"diagnostic\"," + lang::render_json(d, source).substr(1) + "\n";
  return text;
}

void fill_status_json_functions(tsc_api& api) {
  api.status_json = status_json;
  api.error_page = error_page;
  api.status_short = status_short;
}

}  // namespace tsc::embed
