// The formatter, the checker, descriptions and counters for hosts.
#include <algorithm>
#include <cstring>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/embed/arguments.h"
#include "interpreter/embed/describe.h"
#include "lang/check/check.h"
#include "lang/format/format.h"

namespace tsc::embed {
namespace {

tsc_status* format_text(tsc_engine* engine, const char* name, const char* text, size_t size, tsc_sink sink,
                        void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    required(sink, "sink");
    const lang::Source source(required_text(name, "name"), std::string(required_text(text, size, "text")));
    lang::FormatResult result = lang::format(source);
    if (!result.ok) return diagnostics_status(result.diagnostics, source);
    sink(user, result.text.data(), result.text.size());
    return nullptr;
  });
}

// The names that every module sees.
std::vector<std::string> builtin_names(tsc_engine& engine) {
  std::vector<std::string> names;
  const interp::DictObject* dict = engine.vm->builtins()->globals;
  for (uint32_t place = 0; place < dict->table.used(); ++place)
    if (const auto* name = interp::try_cast<interp::StrObject>(dict->table.entry(place).key))
      names.emplace_back(name->view());
  return names;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

tsc_status* check_text(tsc_engine* engine, const char* name, const char* text, size_t size, const char* format,
                       tsc_sink sink, void* user, size_t* findings) {
  if (findings != nullptr) *findings = 0;
  return guarded(engine, [&]() -> tsc_status* {
    const std::string wanted = required_text(format, "format");
    const std::string path = required_text(name, "name");
    required(sink, "sink");
    required(findings, "findings");
    if (wanted != "text" && wanted != "color" && wanted != "json" && wanted != "short")
      return bad_argument("there is no format '" + wanted +
                          "' of findings; the formats are text, color, short and json");
    const lang::Source source(path, std::string(required_text(text, size, "text")));
    const std::vector<std::string> names = builtin_names(*engine);
    const std::vector<std::string_view> builtins(names.begin(), names.end());
    lang::CheckOptions options;
    options.builtins = builtins;
    options.exports_imports = ends_with(path, "__init__.tsc");
    options.is_private = path.substr(path.rfind('/') + 1).starts_with("_");
    const lang::Diagnostics found = lang::check(source, options);
    *findings = found.all().size();
    for (const lang::Diagnostic& d : found.all()) {
      const auto shape = wanted == "short" ? lang::ErrorFormat::Short : lang::ErrorFormat::Full;
      const std::string rendered = wanted == "json"
                                       ? lang::render_json(d, source)
                                       : lang::render(d, source, {.format = shape, .color = wanted == "color"});
      sink(user, rendered.data(), rendered.size());
    }
    return nullptr;
  });
}

tsc_status* describe_value(tsc_engine* engine, const tsc_value* value, int with_source, tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    required(sink, "sink");
    const std::string text = describe(*engine->vm, value_of(engine, value, "value"), with_source != 0);
    sink(user, text.data(), text.size());
    return nullptr;
  });
}

tsc_status* reset_tensor_peak(tsc_engine* engine) {
  return guarded(engine, [&]() -> tsc_status* {
    engine->device.allocator->reset_peak();
    return nullptr;
  });
}

}  // namespace

void fill_tool_functions(tsc_api& api) {
  api.format = format_text;
  api.check = check_text;
  api.describe = describe_value;
  api.reset_tensor_peak = reset_tensor_peak;
}

}  // namespace tsc::embed
