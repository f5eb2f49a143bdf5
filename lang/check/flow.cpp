// Checks of the order of statements: what is never reached, loop variables that a loop inside
// overwrites.
#include <algorithm>

#include "lang/check/checks.h"
#include "lang/check/children.h"

namespace tsc::lang {

namespace {

bool is_true(const Expr* e) {
  auto* constant = try_as<const Constant>(e);
  return constant && (constant->value_kind == ConstantKind::True ||
                      (constant->value_kind == ConstantKind::Int && constant->integer != 0));
}

// Calls visit for every statement below, but not in functions and classes.
template <class Visit>
void each_statement(List<Stmt*> block, Visit&& visit) {
  for (Stmt* s : block) {
    visit(s);
    each_block(s, [&](List<Stmt*> inner) { each_statement(inner, visit); });
  }
}

bool has_break(List<Stmt*> body) {
  return std::any_of(body.begin(), body.end(), [](Stmt* s) {
    if (s->kind == StmtKind::Break) return true;
    if (auto* f = try_as<For>(s)) return has_break(f->orelse);
    if (auto* w = try_as<While>(s)) return has_break(w->orelse);
    bool found = false;
    each_block(s, [&](List<Stmt*> inner) { found |= has_break(inner); });
    return found;
  });
}

bool has_yield_in(Expr* e) {
  if (e->kind == ExprKind::Yield || e->kind == ExprKind::YieldFrom) return true;
  bool found = false;
  each_child(e, [&](Expr* c) { found |= has_yield_in(c); });
  return found;
}

bool has_yield(List<Stmt*> block) {
  bool found = false;
  each_statement(block, [&](Stmt* s) {
    if (auto* e = try_as<ExprStmt>(s)) found |= has_yield_in(e->value);
    if (auto* a = try_as<Assign>(s)) found |= has_yield_in(a->value);
    if (auto* f = try_as<For>(s)) found |= has_yield_in(f->iter);
  });
  return found;
}

bool ends(List<Stmt*> block, bool by_raise);

bool try_ends(const Try* t, bool by_raise) {
  if (ends(t->finalbody, by_raise)) return true;
  const bool body = ends(t->body, by_raise) || ends(t->orelse, by_raise);
  return body &&
         std::all_of(t->handlers.begin(), t->handlers.end(), [&](ExceptHandler* h) { return ends(h->body, by_raise); });
}

bool match_ends(const Match* m, bool by_raise) {
  const auto* last = m->cases.empty() ? nullptr : m->cases.back();
  auto* wildcard = last ? try_as<MatchAs>(last->pattern) : nullptr;
  if (!wildcard || wildcard->pattern || last->guard) return false;
  return std::all_of(m->cases.begin(), m->cases.end(), [&](MatchCase* c) { return ends(c->body, by_raise); });
}

// Whether nothing after the statement runs. A `with` may swallow an exception (by_raise false).
bool ends(Stmt* s, bool by_raise) {
  switch (s->kind) {
    case StmtKind::Return:
    case StmtKind::Break:
    case StmtKind::Continue: return true;
    case StmtKind::Raise: return by_raise;
    case StmtKind::If:
      return !as<If>(s)->orelse.empty() && ends(as<If>(s)->body, by_raise) && ends(as<If>(s)->orelse, by_raise);
    case StmtKind::While: return is_true(as<While>(s)->test) && !has_break(as<While>(s)->body) && by_raise;
    case StmtKind::With: return ends(as<With>(s)->body, false);
    case StmtKind::Try: return try_ends(as<Try>(s), by_raise);
    case StmtKind::Match: return match_ends(as<Match>(s), by_raise);
    default: return false;
  }
}

bool ends(List<Stmt*> block, bool by_raise) {
  return std::any_of(block.begin(), block.end(), [&](Stmt* s) { return ends(s, by_raise); });
}

class Reach {
 public:
  explicit Reach(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void block(List<Stmt*> list) {
    for (size_t i = 0; i < list.size(); ++i) {
      inside(list[i]);
      if (i + 1 == list.size() || !ends(list[i], true)) continue;
      // `return` before a `yield` makes an empty generator.
      if (has_yield(list.subspan(i + 1))) continue;
      diagnostics_.warning(Code::UnreachableCode, first_line(list[i + 1]), "this is never reached")
          .label(first_line(list[i]), "nothing after this runs");
      return;
    }
  }

 private:
  static Span first_line(const Stmt* s) {
    // A compound statement is marked by its keyword alone.
    const bool compound = s->kind == StmtKind::If || s->kind == StmtKind::For || s->kind == StmtKind::While ||
                          s->kind == StmtKind::Try || s->kind == StmtKind::With || s->kind == StmtKind::Match ||
                          s->kind == StmtKind::FunctionDef || s->kind == StmtKind::ClassDef;
    return compound ? Span{s->span.begin, s->span.begin + 2} : s->span;
  }

  void inside(Stmt* s) {
    if (auto* f = try_as<FunctionDef>(s)) return block(f->body);
    if (auto* c = try_as<ClassDef>(s)) return block(c->body);
    each_block(s, [this](List<Stmt*> inner) { block(inner); });
  }

  Diagnostics& diagnostics_;
};

// Names of a loop's target.
void target_names(Expr* e, std::vector<Name*>& names) {
  if (auto* name = try_as<Name>(e)) names.push_back(name);
  if (e->kind == ExprKind::Tuple || e->kind == ExprKind::ListExpr || e->kind == ExprKind::Starred)
    each_child(e, [&](Expr* c) { target_names(c, names); });
}

class Loops {
 public:
  explicit Loops(CheckRun& run) : run_(run) {}

  void block(List<Stmt*> list) {
    for (Stmt* s : list) {
      if (auto* f = try_as<FunctionDef>(s)) block(f->body);
      else if (auto* c = try_as<ClassDef>(s)) block(c->body);
      if (auto* outer = try_as<For>(s)) loop(outer);
      each_block(s, [this](List<Stmt*> inner) { block(inner); });
    }
  }

 private:
  void loop(For* outer) {
    std::vector<Name*> names;
    target_names(outer->target, names);
    scan(outer, names, outer->body);
  }

  void scan(For* outer, const std::vector<Name*>& names, List<Stmt*> block) {
    for (Stmt* s : block) {
      each_block(s, [&](List<Stmt*> inner) { scan(outer, names, inner); });
      auto* inner = try_as<For>(s);
      if (!inner || continues(outer->iter, inner->iter)) continue;
      std::vector<Name*> again;
      target_names(inner->target, again);
      for (Name* a : again)
        for (Name* n : names)
          if (a->id == n->id && a->id != "_" && a->binding.index == n->binding.index &&
              a->binding.access == n->binding.access)
            compare(inner, n, a, block.back()->span.end);
    }
  }

  // The inner loop takes more from the outer loop's iterator, and its variable on purpose.
  static bool continues(Expr* outer, Expr* inner) {
    auto* name = try_as<Name>(inner);
    if (!name) return false;
    if (auto* own = try_as<Name>(outer)) return own->id == name->id;
    bool found = false;
    each_child(outer, [&](Expr* c) { found |= continues(c, inner); });
    return found;
  }

  // Harmful when the block goes on to read what it believes to be the outer loop's variable, and
  // nothing gave it another value in between.
  void compare(For* inner, Name* name, Name* again, uint32_t block_end) {
    for (const Variable& v : run_.facts.variables) {
      const auto binds = [&](Span span) {
        return std::any_of(v.bindings.begin(), v.bindings.end(),
                           [&](const BindingSite& site) { return site.span == span; });
      };
      if (v.name != name->id || !binds(name->span) || !binds(again->span)) continue;
      for (const Use& use : v.uses) {
        if (use.span.begin < inner->span.end || use.span.begin >= block_end) continue;
        const bool renewed = std::any_of(v.bindings.begin(), v.bindings.end(), [&](const BindingSite& site) {
          return site.span.begin >= inner->span.end && site.span.begin <= use.span.begin;
        });
        if (renewed) return;
        run_.diagnostics
            .warning(Code::HiddenLoopVariable, again->span,
                     "this loop overwrites the variable '" + std::string(name->id) + "' of the loop around it")
            .label(name->span, "the outer loop's variable")
            .label(use.span, "read here, after the inner loop has changed it")
            .help("give the inner variable another name");
        return;
      }
    }
  }

  CheckRun& run_;
};

}  // namespace

void check_unreachable(CheckRun& run) { Reach(run.diagnostics).block(run.module.body); }

void check_loop_variables(CheckRun& run) { Loops(run).block(run.module.body); }

}  // namespace tsc::lang
