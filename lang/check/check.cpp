#include "lang/check/check.h"

#include <algorithm>

#include "lang/check/checks.h"
#include "lang/parse.h"

namespace tsc::lang {

namespace {

constexpr std::string_view kIgnore = "# check: ignore";

}  // namespace

bool CheckRun::is_builtin(std::string_view name) const {
  // What the importer puts into every module.
  static constexpr std::string_view kModuleNames[] = {"__name__", "__file__",  "__doc__",      "__package__",
                                                      "__path__", "__spec__",  "__builtins__", "__annotations__",
                                                      "__dict__", "__loader__"};
  const auto has = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  return has(options.builtins) || has(kModuleNames);
}

Diagnostics check(const Source& source, const CheckOptions& options) {
  Arena arena;
  ParseResult parsed = parse_module(source, arena);
  if (!parsed.module) return std::move(parsed.diagnostics);
  const Resolution resolution = resolve(*parsed.module, arena, parsed.diagnostics);
  if (parsed.diagnostics.has_errors()) return std::move(parsed.diagnostics);
  const Facts facts = collect_facts(*parsed.module, resolution);
  Diagnostics found;
  CheckRun run{*parsed.module, resolution, facts, options, found, source};
  check_unknown_names(run);
  check_early_uses(run);
  check_calls(run);
  check_shapes(run);
  check_unreachable(run);
  check_loop_variables(run);
  check_hidden_builtins(run);
  check_unused(run);
  found.sort();
  Diagnostics kept;
  for (const Diagnostic& d : found.all()) {
    const uint32_t line = source.line_of(d.primary.span.begin);
    if (source.line_text(line).find(kIgnore) == std::string_view::npos) kept.add(d);
  }
  return kept;
}

}  // namespace tsc::lang
