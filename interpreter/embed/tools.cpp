// The formatter and the checker for hosts: they read a text and run nothing of it.
#include "interpreter/embed/engine.h"
#include "lang/format/format.h"

namespace tsc::embed {
namespace {

tsc_status* format_text(tsc_engine* engine, const char* name, const char* text, size_t size,
                        tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    const lang::Source source(name, std::string(text, size));
    lang::FormatResult result = lang::format(source);
    if (!result.ok) return diagnostics_status(result.diagnostics, source);
    sink(user, result.text.data(), result.text.size());
    return nullptr;
  });
}

}  // namespace

void fill_tool_functions(tsc_api& api) { api.format = format_text; }

}  // namespace tsc::embed
