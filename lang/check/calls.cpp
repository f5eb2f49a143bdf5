// Calls that a function known from the text cannot take.
#include <algorithm>
#include <optional>

#include "lang/check/checks.h"

namespace tsc::lang {

namespace {

// Bases that leave calls of the class to its own methods.
bool is_plain_base(const Expr* base) {
  auto* attribute = try_as<const Attribute>(base);
  auto* name = try_as<const Name>(base);
  const std::string_view id = attribute ? attribute->attr : name ? name->id : std::string_view();
  return id == "object" || id == "Module" || id == "Dataset" || id == "Exception";
}

// Builtin functions that take positional arguments only.
struct BuiltinArity {
  std::string_view name;
  size_t least, most;
};
constexpr BuiltinArity kBuiltins[] = {{"abs", 1, 1},      {"all", 1, 1},     {"any", 1, 1},        {"bin", 1, 1},
                                      {"callable", 1, 1}, {"chr", 1, 1},     {"delattr", 2, 2},    {"divmod", 2, 2},
                                      {"getattr", 2, 3},  {"hasattr", 2, 2}, {"hash", 1, 1},       {"hex", 1, 1},
                                      {"id", 1, 1},       {"input", 0, 1},   {"isinstance", 2, 2}, {"issubclass", 2, 2},
                                      {"iter", 1, 2},     {"len", 1, 1},     {"next", 1, 2},       {"oct", 1, 1},
                                      {"ord", 1, 1},      {"range", 1, 3},   {"repr", 1, 1},       {"setattr", 3, 3}};

std::string counted(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool is_starred(const Expr* e) { return e->kind == ExprKind::Starred; }

// Only raises, passes or documents: a place for subclasses, whose parameters it does not know.
bool is_abstract(const FunctionDef* f) {
  return std::all_of(f->body.begin(), f->body.end(), [](Stmt* s) {
    return s->kind == StmtKind::Pass || s->kind == StmtKind::Raise ||
           (s->kind == StmtKind::ExprStmt && as<ExprStmt>(s)->value->kind == ExprKind::Constant);
  });
}

class Calls {
 public:
  explicit Calls(CheckRun& run) : run_(run) {}

  void run() {
    for (const CallSite& site : run_.facts.calls) {
      if (site.caught.calls) continue;
      if (std::optional<Callee> callee = find(site)) compare(*site.call, *callee);
      else if (site.callee) builtin(*site.call, *site.callee);
    }
  }

 private:
  std::optional<Callee> find(const CallSite& site) const {
    if (auto callee = find_callee(site.callee)) return callee;
    if (!site.self_class) return std::nullopt;
    FunctionDef* method = only_method(site.self_class, site.method);
    if (!method || !method->decorator_list.empty() || is_abstract(method) ||
        run_.facts.assigned_attributes.count(site.method) || method->args->args.empty())
      return std::nullopt;
    return Callee{method, std::string(site.self_class->name) + "." + std::string(method->name), method->name_span, 1};
  }

  Diagnostic& report(Span span, const Callee& callee, const std::string& what) {
    Diagnostic& d = run_.diagnostics.error(Code::WrongArguments, span, callee.name + "() " + what);
    d.label(callee.span, "defined here");
    return d;
  }

  void compare(const Call& call, const Callee& callee) {
    const Arguments& a = *callee.function->args;
    std::vector<Parameter*> positional(a.posonlyargs.begin(), a.posonlyargs.end());
    positional.insert(positional.end(), a.args.begin(), a.args.end());
    const bool stars = std::any_of(call.args.begin(), call.args.end(), is_starred);
    const bool star_keywords =
        std::any_of(call.keywords.begin(), call.keywords.end(), [](Keyword* k) { return k->name.empty(); });
    const size_t count = call.args.size() + callee.given;
    if (!stars && !a.vararg && count > positional.size()) {
      const size_t most = positional.size() - std::min(positional.size(), callee.given);
      report(call.args[std::min(most, call.args.size() - 1)]->span, callee,
             "takes " + counted(most, "positional argument") + " but " + std::to_string(call.args.size()) +
                 (call.args.size() == 1 ? " was given" : " were given"));
      return;
    }
    std::vector<bool> filled(positional.size(), false);
    std::fill_n(filled.begin(), std::min(stars ? callee.given : count, filled.size()), true);
    for (const Keyword* k : call.keywords)
      if (!k->name.empty() && !keyword(*k, callee, positional, filled)) return;
    if (stars || star_keywords) return;
    missing(call, callee, positional, filled);
  }

  // False when the keyword was reported.
  bool keyword(const Keyword& k, const Callee& callee, const std::vector<Parameter*>& positional,
               std::vector<bool>& filled) {
    const Arguments& a = *callee.function->args;
    const std::string name(k.name);
    for (size_t i = a.posonlyargs.size(); i < positional.size(); ++i) {
      if (positional[i]->name != k.name) continue;
      if (filled[i]) report(k.span, callee, "got multiple values for argument '" + name + "'");
      const bool was = filled[i];
      filled[i] = true;
      return !was;
    }
    for (const Parameter* p : a.kwonlyargs)
      if (p->name == k.name) return true;
    if (a.kwarg) return true;
    Diagnostic& d = report(k.name_span, callee, "got an unexpected keyword argument '" + name + "'");
    std::vector<std::string_view> names;
    for (size_t i = a.posonlyargs.size() + (a.posonlyargs.empty() ? callee.given : 0); i < positional.size(); ++i)
      names.push_back(positional[i]->name);
    for (const Parameter* p : a.kwonlyargs) names.push_back(p->name);
    const std::string_view near = nearest_word(k.name, names);
    if (!near.empty()) d.did_you_mean(k.name_span, near);
    return false;
  }

  void missing(const Call& call, const Callee& callee, const std::vector<Parameter*>& positional,
               const std::vector<bool>& filled) {
    const Arguments& a = *callee.function->args;
    std::string names;
    size_t count = 0;
    const auto add = [&](Identifier name) { names += (count++ ? ", '" : "'") + std::string(name) + "'"; };
    const size_t required = positional.size() - a.defaults.size();
    for (size_t i = 0; i < required; ++i)
      if (!filled[i]) add(positional[i]->name);
    for (size_t i = 0; i < a.kwonlyargs.size(); ++i) {
      const bool given = std::any_of(call.keywords.begin(), call.keywords.end(),
                                     [&](Keyword* k) { return k->name == a.kwonlyargs[i]->name; });
      if (!given && !a.kw_defaults[i]) add(a.kwonlyargs[i]->name);
    }
    if (count)
      report({call.span.end - 1, call.span.end}, callee, "is missing " + counted(count, "argument") + ": " + names);
  }

  void builtin(const Call& call, const Variable& v) {
    if (v.owner || !v.bindings.empty() || run_.facts.dynamic_globals) return;
    if (std::any_of(call.args.begin(), call.args.end(), is_starred)) return;
    for (const BuiltinArity& row : kBuiltins) {
      if (row.name != v.name) continue;
      const size_t count = call.args.size();
      const std::string name(row.name);
      if (!call.keywords.empty() && !call.keywords[0]->name.empty())
        run_.diagnostics.error(Code::WrongArguments, call.keywords[0]->span, name + "() takes no keyword arguments");
      else if (call.keywords.empty() && (count < row.least || count > row.most))
        run_.diagnostics.error(
            Code::WrongArguments, call.span,
            name + "() takes " +
                (row.least == row.most ? counted(row.least, "argument")
                                       : std::to_string(row.least) + " to " + counted(row.most, "argument")) +
                ", not " + std::to_string(count));
    }
  }

  CheckRun& run_;
};

}  // namespace

const BindingSite* only_binding(const Variable* v, BindingKind kind) {
  if (!v || v->bindings.size() != 1 || v->rebound_elsewhere) return nullptr;
  const BindingSite& site = v->bindings.front();
  return site.kind == kind && !site.optional ? &site : nullptr;
}

FunctionDef* only_method(const ClassDef* c, Identifier name) {
  FunctionDef* found = nullptr;
  for (Stmt* s : c->body) {
    auto* f = try_as<FunctionDef>(s);
    if (f && f->name == name) {
      if (found) return nullptr;
      found = f;
    }
    // Bound in another way: an assignment, an if.
    if (!f && s->kind != StmtKind::ExprStmt && s->kind != StmtKind::Pass) {
      auto* a = try_as<Assign>(s);
      auto* n = try_as<AnnAssign>(s);
      if (!a && !n && s->kind != StmtKind::ClassDef) return nullptr;
      if (a && std::any_of(a->targets.begin(), a->targets.end(), [&](Expr* t) {
            auto* target = try_as<Name>(t);
            return !target || target->id == name;
          }))
        return nullptr;
    }
  }
  return found;
}

bool is_plain_class(const ClassDef* c) {
  return c->decorator_list.empty() && c->keywords.empty() && !only_method(c, "__new__") &&
         std::all_of(c->bases.begin(), c->bases.end(), [](Expr* b) { return is_plain_base(b); });
}

std::optional<Callee> find_callee(const Variable* callee) {
  if (const BindingSite* f = only_binding(callee, BindingKind::Function)) {
    auto* def = as<FunctionDef>(f->statement);
    if (callee->in_class || !def->decorator_list.empty()) return std::nullopt;
    return Callee{def, std::string(def->name), def->name_span, 0};
  }
  const BindingSite* site = only_binding(callee, BindingKind::Class);
  if (!site) return std::nullopt;
  auto* c = as<ClassDef>(site->statement);
  FunctionDef* init = is_plain_class(c) ? only_method(c, "__init__") : nullptr;
  if (!init || !init->decorator_list.empty() || init->args->args.empty()) return std::nullopt;
  return Callee{init, std::string(c->name), c->name_span, 1};
}

void check_calls(CheckRun& run) { Calls(run).run(); }

}  // namespace tsc::lang
