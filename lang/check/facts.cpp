#include "lang/check/facts.h"

#include <algorithm>

#include "lang/check/children.h"

namespace tsc::lang {

namespace {

// The last part of a dotted name.
std::string_view last_name(const Expr* e) {
  if (auto* name = try_as<const Name>(e)) return name->id;
  if (auto* attribute = try_as<const Attribute>(e)) return attribute->attr;
  return {};
}

Caught caught_by(const Expr* type) {
  if (!type) return {true, true};
  if (auto* tuple = try_as<const Tuple>(type)) {
    Caught all;
    for (const Expr* e : tuple->elts) {
      const Caught one = caught_by(e);
      all = {all.names || one.names, all.calls || one.calls};
    }
    return all;
  }
  const std::string_view name = last_name(type);
  const bool any = name == "Exception" || name == "BaseException" || name.empty();
  return {any || name == "NameError" || name == "UnboundLocalError", any || name == "TypeError"};
}

// `with suppress(...)`, `with raises(...)`, `with self.assertRaises(...)`.
bool expects_failure(const With* with) {
  return std::any_of(with->items.begin(), with->items.end(), [](const WithItem* item) {
    auto* call = try_as<const Call>(item->context_expr);
    const std::string_view name = call ? last_name(call->func) : std::string_view();
    return name == "suppress" || name.starts_with("raises") || name.starts_with("assertRaises");
  });
}

class Collector {
 public:
  Collector(Module& module, const Resolution& resolution) : postponed_(module.postpones_annotations) {
    facts_.dynamic_globals = module.scope->has_star_import;
    enter_scope(module.scope);
    for (Identifier name : resolution.globals) global(name);
    block(module.body);
  }

  Facts take() { return std::move(facts_); }

 private:
  // What surrounds the node being visited.
  struct Context {
    Scope* scope = nullptr;
    uint32_t region = 0;
    Caught caught;
    bool optional = false;
    ClassDef* self_class = nullptr;  // of a method: its class
    Identifier self_name;
  };

  void enter_scope(Scope* scope) { at_.scope = scope; }
  Scope* host() const { return at_.scope->host; }

  // ---- Variables

  using Key = std::tuple<Scope*, Access, uint32_t, Identifier>;

  Variable& of_key(const Key& key, Identifier name) {
    Variable*& variable = by_key_[key];
    if (!variable) {
      variable = &facts_.variables.emplace_back();
      variable->name = name;
      variable->owner = std::get<0>(key);
      variable->in_class = std::get<1>(key) == Access::Class;
    }
    return *variable;
  }

  Variable& global(Identifier name) {
    Variable& variable = of_key({nullptr, Access::Global, 0, name}, name);
    facts_.globals[name] = &variable;
    return variable;
  }

  Variable& variable(const Binding& binding, Identifier name) {
    switch (binding.access) {
      case Access::Local: return of_key({host(), Access::Local, binding.index, {}}, name);
      case Access::Cell: return of_key({host(), Access::Cell, binding.index, {}}, name);
      case Access::Free: {
        Scope* at = host();
        uint32_t index = binding.index;
        for (;;) {
          const FreeVariable& free = at->frees[index];
          index = free.index;
          at = at->parent->host;
          if (free.from_parent_cell) return of_key({at, Access::Cell, index, {}}, name);
        }
      }
      case Access::Class: {
        Scope* at = host();
        if (at->kind == ScopeKind::Annotation) at = at->parent;
        return of_key({at, Access::Class, 0, name}, name);
      }
      default: return global(name);
    }
  }

  void bind(const Binding& binding, Identifier name, BindingSite site) {
    Variable& v = variable(binding, name);
    site.region = at_.region;
    site.optional = at_.optional;
    v.bindings.push_back(site);
    if (at_.scope != at_.scope->host) v.iterates = true;
    if (binding.access == Access::Free || (binding.access == Access::Global && host()->kind != ScopeKind::Module))
      v.rebound_elsewhere = true;
  }

  Variable& use(Name* name, bool called = false) {
    Variable& v = variable(name->binding, name->id);
    v.uses.push_back({name->span, at_.region, host(), at_.caught, called});
    return v;
  }

  // ---- Expressions

  void each(List<Expr*> list) {
    for (Expr* e : list)
      if (e) expr(e);
  }

  // Visits the parts of `e`, which are not evaluated in the order of the text.
  template <class Visit>
  void out_of_order(const Span& span, Visit visit) {
    const uint32_t before = at_.region;
    if (!at_.region) at_.region = span.begin + 1;
    visit();
    at_.region = before;
  }

  void expr(Expr* e) {
    switch (e->kind) {
      case ExprKind::Name:
        if (as<Name>(e)->ctx != ExprContext::Store) use(as<Name>(e));
        return;
      case ExprKind::Call: return call(as<Call>(e));
      case ExprKind::Lambda: return lambda(as<Lambda>(e));
      case ExprKind::ListComp:
        return comprehension(e->span, as<ListComp>(e)->scope, as<ListComp>(e)->generators, as<ListComp>(e)->elt,
                             nullptr);
      case ExprKind::SetComp:
        return comprehension(e->span, as<SetComp>(e)->scope, as<SetComp>(e)->generators, as<SetComp>(e)->elt, nullptr);
      case ExprKind::GeneratorExp:
        return comprehension(e->span, as<GeneratorExp>(e)->scope, as<GeneratorExp>(e)->generators,
                             as<GeneratorExp>(e)->elt, nullptr);
      case ExprKind::DictComp:
        return comprehension(e->span, as<DictComp>(e)->scope, as<DictComp>(e)->generators, as<DictComp>(e)->key,
                             as<DictComp>(e)->value);
      case ExprKind::IfExp: return out_of_order(e->span, [&] { each_child(e, [this](Expr* c) { expr(c); }); });
      case ExprKind::NamedExpr: {
        auto* named = as<NamedExpr>(e);
        expr(named->value);
        // ':=' in a comprehension binds in the function around, which the binding says.
        bind(named->target->binding, named->target->id, {BindingKind::Target, named->target->span, e->span.end});
        variable(named->target->binding, named->target->id)
            .uses.push_back({named->target->span, at_.region, host(), {true, true}, false});
        return;
      }
      default: each_child(e, [this](Expr* c) { expr(c); });
    }
  }

  void call(Call* c) {
    CallSite site{c, nullptr, nullptr, {}, at_.caught};
    if (auto* name = try_as<Name>(c->func)) {
      site.callee = &use(name, true);
      if (name->id == "locals" || name->id == "vars" || name->id == "eval" || name->id == "exec")
        facts_.uses_locals.insert(host());
      facts_.dynamic_globals |= name->id == "globals" || name->id == "exec";
    } else {
      expr(c->func);
      auto* attribute = try_as<Attribute>(c->func);
      auto* object = attribute ? try_as<Name>(attribute->value) : nullptr;
      if (object && at_.self_class && object->id == at_.self_name) {
        site.self_class = at_.self_class;
        site.method = attribute->attr;
      }
    }
    facts_.calls.push_back(site);
    each(c->args);
    for (Keyword* k : c->keywords) expr(k->value);
  }

  void lambda(Lambda* e) {
    each(e->args->defaults);
    each(e->args->kw_defaults);
    const Context before = at_;
    at_.scope = e->scope;
    at_.region = 0;
    parameters(e->args);
    expr(e->body);
    at_ = before;
  }

  void comprehension(Span span, Scope* scope, List<Comprehension*> generators, Expr* element, Expr* value) {
    out_of_order(span, [&] {
      expr(generators.front()->iter);
      const Context before = at_;
      at_.scope = scope;
      if (scope->host == scope) at_.region = span.begin + 1;
      for (Comprehension* g : generators) {
        target(g->target, g->iter->span.end);
        if (g != generators.front()) expr(g->iter);
        each(g->ifs);
      }
      expr(element);
      if (value) expr(value);
      at_ = before;
    });
  }

  // Names bound by an unpacking; what else stands in the target is evaluated.
  void target(Expr* e, uint32_t position) {
    if (auto* name = try_as<Name>(e)) return bind(name->binding, name->id, {BindingKind::Target, name->span, position});
    if (auto* starred = try_as<Starred>(e)) return target(starred->value, position);
    if (auto* tuple = try_as<Tuple>(e)) {
      for (Expr* item : tuple->elts) target(item, position);
    } else if (auto* list = try_as<ListExpr>(e)) {
      for (Expr* item : list->elts) target(item, position);
    } else {
      note_attribute(e);
      expr(e);
    }
  }

  void note_attribute(Expr* e) {
    if (auto* attribute = try_as<Attribute>(e)) facts_.assigned_attributes.insert(attribute->attr);
  }

  void parameters(Arguments* a) {
    const auto add = [&](Parameter* p) {
      if (!p) return;
      Scope* scope = host();
      for (uint32_t slot = 0; slot < scope->parameter_count; ++slot) {
        if (scope->locals[slot] != p->name) continue;
        Binding binding{Access::Local, slot};
        for (uint32_t cell = 0; cell < scope->cells.size(); ++cell)
          if (scope->cells[cell].parameter == static_cast<int32_t>(slot)) binding = {Access::Cell, cell};
        bind(binding, p->name, {BindingKind::Parameter, p->name_span, 0});
      }
    };
    for (Parameter* p : a->posonlyargs) add(p);
    for (Parameter* p : a->args) add(p);
    for (Parameter* p : a->kwonlyargs) add(p);
    add(a->vararg);
    add(a->kwarg);
  }

  // ---- Annotations: names in them are used, nothing in them is checked.
  // `scope` is what they are evaluated in; null, or where they are text: the one that they stand in.
  void annotation(Expr* e, Scope* scope) {
    if (!e) return;
    const Context before = at_;
    at_.caught = {true, true};
    if (scope && !postponed_) {
      at_.scope = scope;
      at_.region = 0;
    }
    expr(e);
    text_annotation(e);
    at_ = before;
  }

  void text_annotation(Expr* e) {
    if (auto* text = try_as<Constant>(e); text && text->value_kind == ConstantKind::Str) {
      const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
      for (size_t i = 0; i < text->text.size();) {
        size_t end = i;
        while (end < text->text.size() && in_name(text->text[end])) ++end;
        if (end > i) facts_.exported.insert(text->text.substr(i, end - i));
        i = end + 1;
      }
    }
    each_child(e, [this](Expr* c) { text_annotation(c); });
  }

  // ---- Statements

  void block(List<Stmt*> list) {
    for (Stmt* s : list) stmt(s);
  }

  void function(FunctionDef* f) {
    each(f->decorator_list);
    each(f->args->defaults);
    each(f->args->kw_defaults);
    for (List<Parameter*> group : {f->args->posonlyargs, f->args->args, f->args->kwonlyargs})
      for (Parameter* p : group) annotation(p->annotation, f->annotations);
    if (f->args->vararg) annotation(f->args->vararg->annotation, f->annotations);
    if (f->args->kwarg) annotation(f->args->kwarg->annotation, f->annotations);
    annotation(f->returns, f->annotations);
    bind(f->binding, f->name, {BindingKind::Function, f->name_span, f->name_span.end, 0, nullptr, f});
    const Context before = at_;
    const bool method = at_.scope->kind == ScopeKind::Class && !f->args->args.empty();
    if (at_.scope->kind == ScopeKind::Class) at_.self_class = nullptr;
    if (method && f->decorator_list.empty()) {
      at_.self_class = facts_.classes[at_.scope];
      at_.self_name = f->args->args[0]->name;
    }
    at_.scope = f->scope;
    at_.region = 0;
    parameters(f->args);
    block(f->body);
    at_ = before;
  }

  void class_def(ClassDef* c) {
    each(c->decorator_list);
    each(c->bases);
    for (Keyword* k : c->keywords) expr(k->value);
    bind(c->binding, c->name, {BindingKind::Class, c->name_span, c->name_span.end, 0, nullptr, c});
    const Context before = at_;
    facts_.classes[c->scope] = c;
    at_.scope = c->scope;
    at_.region = 0;
    at_.self_class = nullptr;
    block(c->body);
    at_ = before;
  }

  void assign(Assign* a) {
    expr(a->value);
    for (Expr* t : a->targets) {
      auto* name = try_as<Name>(t);
      if (!name) {
        target(t, a->span.end);
        continue;
      }
      bind(name->binding, name->id, {BindingKind::Assignment, name->span, a->span.end, 0, a->value, a});
      if (name->id == "__all__") export_names(a->value);
    }
  }

  void export_names(Expr* e) {
    if (auto* text = try_as<Constant>(e); text && text->value_kind == ConstantKind::Str)
      facts_.exported.insert(text->text);
    each_child(e, [this](Expr* c) { export_names(c); });
  }

  void import(Stmt* s, List<Alias*> names) {
    for (Alias* a : names) {
      if (a->name == "*") continue;
      Identifier bound = !a->asname.empty()            ? a->asname
                         : s->kind == StmtKind::Import ? a->name.substr(0, a->name.find('.'))
                                                       : a->name;
      bind(a->binding, bound, {BindingKind::Import, a->span, s->span.end, 0, nullptr, s});
    }
  }

  void try_stmt(Try* t) {
    const Context before = at_;
    for (ExceptHandler* h : t->handlers) {
      const Caught caught = caught_by(h->type);
      at_.caught = {at_.caught.names || caught.names, at_.caught.calls || caught.calls};
    }
    at_.optional = true;
    block(t->body);
    at_.caught = before.caught;
    for (ExceptHandler* h : t->handlers) {
      if (h->type) expr(h->type);
      if (!h->name.empty()) bind(h->binding, h->name, {BindingKind::Handler, h->name_span, h->name_span.end});
      block(h->body);
    }
    at_.optional = before.optional;
    block(t->orelse);
    block(t->finalbody);
  }

  void with_stmt(With* w) {
    const Caught before = at_.caught;
    for (WithItem* item : w->items) {
      expr(item->context_expr);
      if (item->optional_vars) target(item->optional_vars, item->context_expr->span.end);
    }
    if (expects_failure(w)) at_.caught = {true, true};
    block(w->body);
    at_.caught = before;
  }

  void pattern(Pattern* p) {
    const auto name = [&](const Binding& binding, Identifier id, Span span) {
      if (!id.empty()) bind(binding, id, {BindingKind::Target, span, span.begin});
    };
    switch (p->kind) {
      case PatternKind::MatchValue: return expr(as<MatchValue>(p)->value);
      case PatternKind::MatchSequence:
        for (Pattern* item : as<MatchSequence>(p)->patterns) pattern(item);
        return;
      case PatternKind::MatchMapping:
        each(as<MatchMapping>(p)->keys);
        for (Pattern* item : as<MatchMapping>(p)->patterns) pattern(item);
        return name(as<MatchMapping>(p)->binding, as<MatchMapping>(p)->rest, p->span);
      case PatternKind::MatchClass:
        expr(as<MatchClass>(p)->cls);
        for (Pattern* item : as<MatchClass>(p)->patterns) pattern(item);
        for (Pattern* item : as<MatchClass>(p)->kwd_patterns) pattern(item);
        return;
      case PatternKind::MatchStar: return name(as<MatchStar>(p)->binding, as<MatchStar>(p)->name, p->span);
      case PatternKind::MatchAs:
        if (as<MatchAs>(p)->pattern) pattern(as<MatchAs>(p)->pattern);
        return name(as<MatchAs>(p)->binding, as<MatchAs>(p)->name, p->span);
      case PatternKind::MatchOr:
        for (Pattern* item : as<MatchOr>(p)->patterns) pattern(item);
        return;
      default: return;
    }
  }

  void loop(Stmt* s) {
    if (auto* f = try_as<For>(s)) {
      expr(f->iter);
      out_of_order(s->span, [&] {
        target(f->target, f->iter->span.end);
        block(f->body);
      });
      return block(f->orelse);
    }
    auto* w = as<While>(s);
    out_of_order(s->span, [&] {
      expr(w->test);
      block(w->body);
    });
    block(w->orelse);
  }

  void augmented(AugAssign* a) {
    auto* name = try_as<Name>(a->target);
    if (!name) {
      expr(a->target);
      return expr(a->value);
    }
    use(name);
    expr(a->value);
    bind(name->binding, name->id, {BindingKind::Augmented, name->span, a->span.end});
  }

  void annotated(AnnAssign* a) {
    annotation(a->annotation, a->simple ? at_.scope->annotations : nullptr);
    if (a->value) expr(a->value);
    auto* name = try_as<Name>(a->target);
    if (!name) return target(a->target, a->span.end);
    if (a->value) bind(name->binding, name->id, {BindingKind::Assignment, name->span, a->span.end, 0, a->value, a});
  }

  void stmt(Stmt* s) {
    const auto one = [this](Expr* e) {
      if (e) expr(e);
    };
    switch (s->kind) {
      case StmtKind::FunctionDef: return function(as<FunctionDef>(s));
      case StmtKind::ClassDef: return class_def(as<ClassDef>(s));
      case StmtKind::Return: return one(as<Return>(s)->value);
      case StmtKind::Delete: return each(as<Delete>(s)->targets);
      case StmtKind::Assign: return assign(as<Assign>(s));
      case StmtKind::AugAssign: return augmented(as<AugAssign>(s));
      case StmtKind::AnnAssign: return annotated(as<AnnAssign>(s));
      case StmtKind::For:
      case StmtKind::While: return loop(s);
      case StmtKind::If: expr(as<If>(s)->test); return each_block(s, [this](List<Stmt*> b) { block(b); });
      case StmtKind::With: return with_stmt(as<With>(s));
      case StmtKind::Match:
        expr(as<Match>(s)->subject);
        for (MatchCase* c : as<Match>(s)->cases) {
          pattern(c->pattern);
          one(c->guard);
          block(c->body);
        }
        return;
      case StmtKind::Raise: one(as<Raise>(s)->exc); return one(as<Raise>(s)->cause);
      case StmtKind::Try: return try_stmt(as<Try>(s));
      case StmtKind::Assert: one(as<Assert>(s)->test); return one(as<Assert>(s)->msg);
      case StmtKind::Import: return import(s, as<Import>(s)->names);
      case StmtKind::ImportFrom: return import(s, as<ImportFrom>(s)->names);
      case StmtKind::ExprStmt: return one(as<ExprStmt>(s)->value);
      default: return;
    }
  }

  const bool postponed_;  // annotations are text
  Facts facts_;
  std::map<Key, Variable*> by_key_;
  Context at_;
};

}  // namespace

Facts collect_facts(Module& module, const Resolution& resolution) { return Collector(module, resolution).take(); }

}  // namespace tsc::lang
