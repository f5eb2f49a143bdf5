// Checks of variables: unknown, read too early, never read, hiding a builtin.
#include <algorithm>

#include "lang/check/checks.h"

namespace tsc::lang {

namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

void suggest(Diagnostic& d, std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest_word(name, known);
  if (!near.empty()) d.did_you_mean(d.primary.span, near);
}

// Names that a use in `host` can see, the nearest scope first.
std::vector<std::string_view> visible_names(const CheckRun& run, const Scope* host) {
  std::vector<std::string_view> names;
  for (; host; host = host->parent)
    if (host->kind != ScopeKind::Class) names.insert(names.end(), host->locals.begin(), host->locals.end());
  names.insert(names.end(), run.resolution.globals.begin(), run.resolution.globals.end());
  names.insert(names.end(), run.options.builtins.begin(), run.options.builtins.end());
  return names;
}

// Certainly no function or class.
bool is_plain_value(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Constant:
    case ExprKind::JoinedStr:
    case ExprKind::ListExpr:
    case ExprKind::Tuple:
    case ExprKind::Dict:
    case ExprKind::Set:
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
    case ExprKind::Compare: return true;
    default: return false;
  }
}

}  // namespace

void check_unknown_names(CheckRun& run) {
  if (run.facts.dynamic_globals) return;
  for (const auto& [name, variable] : run.facts.globals) {
    if (!variable->bindings.empty() || run.is_builtin(name)) continue;
    if (std::binary_search(run.resolution.globals.begin(), run.resolution.globals.end(), name)) continue;
    for (const Use& use : variable->uses) {
      if (use.caught.names) continue;
      Diagnostic& d = run.diagnostics.error(Code::UnknownName, use.span, "name " + quoted(name) + " is not defined");
      suggest(d, name, visible_names(run, use.host));
    }
  }
}

// A use before all bindings in the text that no loop can bring behind one of them.
void check_early_uses(CheckRun& run) {
  for (const Variable& v : run.facts.variables) {
    const bool is_global = v.owner == nullptr;
    if (v.in_class || v.iterates || v.rebound_elsewhere || v.bindings.empty()) continue;
    if (is_global && (run.facts.dynamic_globals || run.is_builtin(v.name))) continue;
    for (const Use& use : v.uses) {
      const bool at_home = is_global ? use.host->kind == ScopeKind::Module : use.host == v.owner;
      if (!at_home || use.caught.names) continue;
      const bool early = std::all_of(v.bindings.begin(), v.bindings.end(), [&](const BindingSite& site) {
        return site.position > use.span.begin && (!site.region || site.region != use.region);
      });
      if (!early) continue;
      run.diagnostics.error(Code::EarlyUse, use.span, quoted(v.name) + " is read before anything is assigned to it")
          .label(v.bindings.front().span, "assigned here");
      break;
    }
  }
}

// A public module is the face of the private ones beside it: what it takes from them is for others.
bool publishes(const ImportFrom& import, const CheckOptions& options) {
  const std::string_view module = import.module;
  return import.level > 0 && !options.is_private && module.starts_with("_");
}

void check_unused(CheckRun& run) {
  for (const Variable& v : run.facts.variables) {
    if (!v.uses.empty() || v.in_class || v.bindings.empty() || v.name.starts_with("_")) continue;
    const BindingSite& site = v.bindings.front();
    const bool is_global = v.owner == nullptr || v.owner->kind == ScopeKind::Module;
    if (site.kind == BindingKind::Import) {
      auto* from = try_as<ImportFrom>(site.statement);
      const bool for_others = is_global && (run.options.exports_imports || (from && publishes(*from, run.options)));
      if (for_others || site.optional || run.facts.exported.count(v.name) || run.facts.dynamic_globals ||
          (from && from->module == "__future__"))
        continue;
      run.diagnostics.warning(Code::UnusedImport, site.span, quoted(v.name) + " is imported but never used")
          .help("remove it, or list it in __all__ when it is meant for other modules");
      continue;
    }
    const bool plain = std::all_of(v.bindings.begin(), v.bindings.end(),
                                   [](const BindingSite& b) { return b.kind == BindingKind::Assignment; });
    if (is_global || !plain || v.rebound_elsewhere || run.facts.uses_locals.count(v.owner)) continue;
    run.diagnostics.warning(Code::UnusedVariable, site.span, quoted(v.name) + " is assigned but never used")
        .help("remove it, or begin its name with '_' when that is meant");
  }
}

// A variable with a builtin's name that is called and can never be called.
void check_hidden_builtins(CheckRun& run) {
  for (const Variable& v : run.facts.variables) {
    const auto is_builtin = [&] {
      const auto& names = run.options.builtins;
      return std::find(names.begin(), names.end(), v.name) != names.end();
    };
    if (v.bindings.empty() || v.in_class || v.rebound_elsewhere || !is_builtin()) continue;
    const bool plain = std::all_of(v.bindings.begin(), v.bindings.end(), [](const BindingSite& b) {
      return b.kind == BindingKind::Assignment && b.value && is_plain_value(b.value);
    });
    if (!plain) continue;
    for (const Use& use : v.uses) {
      if (!use.called || use.caught.calls || use.span.begin < v.bindings.front().position) continue;
      run.diagnostics
          .warning(Code::HiddenBuiltin, use.span,
                   quoted(v.name) +
                       " is called here, but it was assigned a value that hides the "
                       "builtin")
          .label(v.bindings.front().span, "hidden here")
          .help("give the variable another name");
      break;
    }
  }
}

}  // namespace tsc::lang
