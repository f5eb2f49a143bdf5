#include "lang/ast_print.h"

#include <string>
#include <vector>

namespace tsc::lang {

namespace {

constexpr std::string_view kContexts[] = {"Load()", "Store()", "Del()"};
constexpr std::string_view kBoolOperators[] = {"And()", "Or()"};
constexpr std::string_view kUnaryOperators[] = {"Invert()", "Not()", "UAdd()", "USub()"};
constexpr std::string_view kOperators[] = {"Add()",    "Sub()",    "Mult()",    "MatMult()", "Div()",
                                           "Mod()",    "Pow()",    "LShift()",  "RShift()",  "BitOr()",
                                           "BitXor()", "BitAnd()", "FloorDiv()"};
constexpr std::string_view kCompareOperators[] = {"Eq()",  "NotEq()", "Lt()",    "LtE()", "Gt()",
                                                  "GtE()", "Is()",    "IsNot()", "In()",  "NotIn()"};
constexpr std::string_view kConstants[] = {"None", "False", "True", "Ellipsis"};

template <class E, size_t N>
std::string_view name_of(const std::string_view (&names)[N], E value) {
  return names[static_cast<size_t>(value)];
}

// A node's text and whether it is a leaf, which decides what shares a line.
struct Text {
  std::string text;
  bool simple;
};

class Printer {
 public:
  explicit Printer(bool indented) : indented_(indented) {}

  Text expr(const Expr* e);
  Text stmt(const Stmt* s);
  Text pattern(const Pattern* p);
  Text module(const Module& m) {
    ++level_;
    Fields f;
    list(f, "body", m.body, &Printer::stmt);
    f.push_back({"type_ignores", {"[]", true}});
    return node("Module", f);
  }

 private:
  struct Field {
    std::string_view name;
    Text value;
  };
  using Fields = std::vector<Field>;

  // Every printing function opens one level; node() closes it.
  Text node(std::string_view name, const Fields& fields) {
    bool simple = fields.size() <= 3;
    for (const Field& f : fields) simple &= f.value.simple;
    std::string out(name);
    out += "(";
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!simple) out += i ? separator() : prefix();
      else if (i) out += ", ";
      ((out += fields[i].name) += "=") += fields[i].value.text;
    }
    --level_;
    return {out + ")", fields.empty()};
  }
  std::string prefix() const { return indented_ ? "\n" + std::string(2 * static_cast<size_t>(level_), ' ') : ""; }
  std::string separator() const { return indented_ ? "," + prefix() : ", "; }

  template <class T, class Print>
  void list(Fields& fields, std::string_view name, List<T> items, Print print) {
    if (items.empty()) return fields.push_back({name, {"[]", true}});
    ++level_;
    std::string out = "[" + prefix();
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out += separator();
      if constexpr (std::is_member_function_pointer_v<Print>) out += (this->*print)(items[i]).text;
      else out += print(items[i]).text;
    }
    --level_;
    fields.push_back({name, {out + "]", false}});
  }
  void exprs(Fields& f, std::string_view name, List<Expr*> items) {
    list(f, name, items, [this](Expr* e) { return e ? expr(e) : Text{"None", true}; });
  }
  void stmts(Fields& f, std::string_view name, List<Stmt*> items) { list(f, name, items, &Printer::stmt); }
  void one(Fields& f, std::string_view name, const Expr* e) {
    if (e) f.push_back({name, expr(e)});
  }
  Text single(std::string_view name, const Expr* value) {
    Fields f;
    one(f, "value", value);
    return node(name, f);
  }
  void word(Fields& f, std::string_view name, std::string_view text) { f.push_back({name, {std::string(text), true}}); }
  // Operators and contexts are empty nodes: leaves.
  void id(Fields& f, std::string_view name, Identifier text) {
    if (!text.empty()) word(f, name, quote_text(text));
  }
  void ids(Fields& f, std::string_view name, List<Identifier> items) {
    list(f, name, items, [](Identifier i) { return Text{quote_text(i), true}; });
  }
  void context(Fields& f, ExprContext ctx) { word(f, "ctx", name_of(kContexts, ctx)); }

  Text constant(const Constant* c);
  Text arguments(const Arguments* a);
  Text parameter(const Parameter* p);
  Text keyword(const Keyword* k);
  Text alias(const Alias* a);
  Text comprehension(const Comprehension* c);
  Text handler(const ExceptHandler* h);
  Text with_item(const WithItem* w);
  Text match_case(const MatchCase* c);
  template <class T>
  Text comp(std::string_view name, const T* e) {
    Fields f;
    one(f, "elt", e->elt);
    list(f, "generators", e->generators, &Printer::comprehension);
    return node(name, f);
  }
  template <class T>
  Text loop(std::string_view name, Fields& f, const T* s) {
    stmts(f, "body", s->body);
    stmts(f, "orelse", s->orelse);
    return node(name, f);
  }
  Text operation(const Expr* e);
  Text display(const Expr* e);
  Text access(const Expr* e);
  Text definition(const Stmt* s);
  Text assignment(const Stmt* s);
  Text block(const Stmt* s);

  bool indented_;
  int level_ = 0;
};

Text Printer::constant(const Constant* c) {
  Fields f;
  switch (c->value_kind) {
    case ConstantKind::Int:
      word(f, "value", c->text.empty() ? std::to_string(c->integer) : std::string(c->text));
      break;
    case ConstantKind::Imaginary: word(f, "value", float_text(c->floating) + "j"); break;
    case ConstantKind::Float: word(f, "value", float_text(c->floating)); break;
    case ConstantKind::Str:
    case ConstantKind::Bytes: word(f, "value", quote_text(c->text, c->value_kind == ConstantKind::Bytes)); break;
    default: word(f, "value", name_of(kConstants, c->value_kind));
  }
  return node("Constant", f);
}

Text Printer::parameter(const Parameter* p) {
  ++level_;
  Fields f;
  id(f, "arg", p->name);
  one(f, "annotation", p->annotation);
  return node("arg", f);
}

Text Printer::arguments(const Arguments* a) {
  ++level_;
  Fields f;
  list(f, "posonlyargs", a->posonlyargs, &Printer::parameter);
  list(f, "args", a->args, &Printer::parameter);
  if (a->vararg) f.push_back({"vararg", parameter(a->vararg)});
  list(f, "kwonlyargs", a->kwonlyargs, &Printer::parameter);
  exprs(f, "kw_defaults", a->kw_defaults);
  if (a->kwarg) f.push_back({"kwarg", parameter(a->kwarg)});
  exprs(f, "defaults", a->defaults);
  return node("arguments", f);
}

Text Printer::keyword(const Keyword* k) {
  ++level_;
  Fields f;
  id(f, "arg", k->name);
  one(f, "value", k->value);
  return node("keyword", f);
}

Text Printer::alias(const Alias* a) {
  ++level_;
  Fields f;
  id(f, "name", a->name);
  id(f, "asname", a->asname);
  return node("alias", f);
}

Text Printer::comprehension(const Comprehension* c) {
  ++level_;
  Fields f;
  one(f, "target", c->target);
  one(f, "iter", c->iter);
  exprs(f, "ifs", c->ifs);
  word(f, "is_async", "0");
  return node("comprehension", f);
}

Text Printer::handler(const ExceptHandler* h) {
  ++level_;
  Fields f;
  one(f, "type", h->type);
  id(f, "name", h->name);
  stmts(f, "body", h->body);
  return node("ExceptHandler", f);
}

Text Printer::with_item(const WithItem* w) {
  ++level_;
  Fields f;
  one(f, "context_expr", w->context_expr);
  one(f, "optional_vars", w->optional_vars);
  return node("withitem", f);
}

Text Printer::match_case(const MatchCase* c) {
  ++level_;
  Fields f;
  f.push_back({"pattern", pattern(c->pattern)});
  one(f, "guard", c->guard);
  stmts(f, "body", c->body);
  return node("match_case", f);
}

Text Printer::operation(const Expr* e) {
  Fields f;
  if (auto* x = try_as<const BoolOp>(e)) {
    word(f, "op", name_of(kBoolOperators, x->op));
    exprs(f, "values", x->values);
    return node("BoolOp", f);
  }
  if (auto* x = try_as<const BinOp>(e)) {
    one(f, "left", x->left);
    word(f, "op", name_of(kOperators, x->op));
    one(f, "right", x->right);
    return node("BinOp", f);
  }
  if (auto* x = try_as<const UnaryOp>(e)) {
    word(f, "op", name_of(kUnaryOperators, x->op));
    one(f, "operand", x->operand);
    return node("UnaryOp", f);
  }
  if (auto* x = try_as<const Compare>(e)) {
    one(f, "left", x->left);
    list(f, "ops", x->ops, [](CompareOperator op) { return Text{std::string(name_of(kCompareOperators, op)), true}; });
    exprs(f, "comparators", x->comparators);
    return node("Compare", f);
  }
  if (auto* x = try_as<const IfExp>(e)) {
    one(f, "test", x->test);
    one(f, "body", x->body);
    one(f, "orelse", x->orelse);
    return node("IfExp", f);
  }
  if (auto* x = try_as<const NamedExpr>(e)) {
    one(f, "target", x->target);
    one(f, "value", x->value);
    return node("NamedExpr", f);
  }
  auto* x = as<const Lambda>(e);
  f.push_back({"args", arguments(x->args)});
  one(f, "body", x->body);
  return node("Lambda", f);
}

Text Printer::display(const Expr* e) {
  Fields f;
  if (auto* x = try_as<const Dict>(e)) {
    exprs(f, "keys", x->keys);
    exprs(f, "values", x->values);
    return node("Dict", f);
  }
  if (auto* x = try_as<const Set>(e)) {
    exprs(f, "elts", x->elts);
    return node("Set", f);
  }
  if (auto* x = try_as<const ListExpr>(e)) {
    exprs(f, "elts", x->elts);
    context(f, x->ctx);
    return node("List", f);
  }
  if (auto* x = try_as<const Tuple>(e)) {
    exprs(f, "elts", x->elts);
    context(f, x->ctx);
    return node("Tuple", f);
  }
  if (auto* x = try_as<const ListComp>(e)) return comp("ListComp", x);
  if (auto* x = try_as<const SetComp>(e)) return comp("SetComp", x);
  if (auto* x = try_as<const GeneratorExp>(e)) return comp("GeneratorExp", x);
  if (auto* x = try_as<const JoinedStr>(e)) {
    exprs(f, "values", x->values);
    return node("JoinedStr", f);
  }
  if (auto* x = try_as<const FormattedValue>(e)) {
    one(f, "value", x->value);
    word(f, "conversion", x->conversion ? std::to_string(int{x->conversion}) : "-1");
    one(f, "format_spec", x->format_spec);
    return node("FormattedValue", f);
  }
  auto* x = as<const DictComp>(e);
  one(f, "key", x->key);
  one(f, "value", x->value);
  list(f, "generators", x->generators, &Printer::comprehension);
  return node("DictComp", f);
}

Text Printer::access(const Expr* e) {
  Fields f;
  if (auto* x = try_as<const Name>(e)) {
    id(f, "id", x->id);
    context(f, x->ctx);
    return node("Name", f);
  }
  if (auto* x = try_as<const Attribute>(e)) {
    one(f, "value", x->value);
    id(f, "attr", x->attr);
    context(f, x->ctx);
    return node("Attribute", f);
  }
  if (auto* x = try_as<const Subscript>(e)) {
    one(f, "value", x->value);
    one(f, "slice", x->slice);
    context(f, x->ctx);
    return node("Subscript", f);
  }
  if (auto* x = try_as<const Starred>(e)) {
    one(f, "value", x->value);
    context(f, x->ctx);
    return node("Starred", f);
  }
  if (auto* x = try_as<const Slice>(e)) {
    one(f, "lower", x->lower);
    one(f, "upper", x->upper);
    one(f, "step", x->step);
    return node("Slice", f);
  }
  if (auto* x = try_as<const Yield>(e)) return single("Yield", x->value);
  if (auto* x = try_as<const YieldFrom>(e)) return single("YieldFrom", x->value);
  auto* x = as<const Call>(e);
  one(f, "func", x->func);
  exprs(f, "args", x->args);
  list(f, "keywords", x->keywords, &Printer::keyword);
  return node("Call", f);
}

Text Printer::expr(const Expr* e) {
  ++level_;
  switch (e->kind) {
    case ExprKind::Constant: return constant(as<const Constant>(e));
    case ExprKind::BoolOp:
    case ExprKind::BinOp:
    case ExprKind::UnaryOp:
    case ExprKind::Compare:
    case ExprKind::IfExp:
    case ExprKind::NamedExpr:
    case ExprKind::Lambda: return operation(e);
    case ExprKind::Dict:
    case ExprKind::Set:
    case ExprKind::ListExpr:
    case ExprKind::Tuple:
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
    case ExprKind::GeneratorExp:
    case ExprKind::JoinedStr:
    case ExprKind::FormattedValue: return display(e);
    case ExprKind::Name:
    case ExprKind::Attribute:
    case ExprKind::Subscript:
    case ExprKind::Starred:
    case ExprKind::Slice:
    case ExprKind::Yield:
    case ExprKind::YieldFrom:
    case ExprKind::Call: return access(e);
  }
  return {};
}

Text Printer::definition(const Stmt* s) {
  Fields f;
  if (auto* x = try_as<const FunctionDef>(s)) {
    id(f, "name", x->name);
    f.push_back({"args", arguments(x->args)});
    stmts(f, "body", x->body);
    exprs(f, "decorator_list", x->decorator_list);
    one(f, "returns", x->returns);
    return node("FunctionDef", f);
  }
  if (auto* x = try_as<const ClassDef>(s)) {
    id(f, "name", x->name);
    exprs(f, "bases", x->bases);
    list(f, "keywords", x->keywords, &Printer::keyword);
    stmts(f, "body", x->body);
    exprs(f, "decorator_list", x->decorator_list);
    return node("ClassDef", f);
  }
  if (auto* x = try_as<const Import>(s)) {
    list(f, "names", x->names, &Printer::alias);
    return node("Import", f);
  }
  if (auto* x = try_as<const ImportFrom>(s)) {
    id(f, "module", x->module);
    list(f, "names", x->names, &Printer::alias);
    word(f, "level", std::to_string(x->level));
    return node("ImportFrom", f);
  }
  if (auto* x = try_as<const Global>(s)) {
    ids(f, "names", x->names);
    return node("Global", f);
  }
  ids(f, "names", as<const Nonlocal>(s)->names);
  return node("Nonlocal", f);
}

Text Printer::assignment(const Stmt* s) {
  Fields f;
  if (auto* x = try_as<const Assign>(s)) {
    exprs(f, "targets", x->targets);
    one(f, "value", x->value);
    return node("Assign", f);
  }
  if (auto* x = try_as<const AugAssign>(s)) {
    one(f, "target", x->target);
    word(f, "op", name_of(kOperators, x->op));
    one(f, "value", x->value);
    return node("AugAssign", f);
  }
  if (auto* x = try_as<const AnnAssign>(s)) {
    one(f, "target", x->target);
    one(f, "annotation", x->annotation);
    one(f, "value", x->value);
    word(f, "simple", x->simple ? "1" : "0");
    return node("AnnAssign", f);
  }
  if (auto* x = try_as<const Delete>(s)) {
    exprs(f, "targets", x->targets);
    return node("Delete", f);
  }
  if (auto* x = try_as<const Return>(s)) return single("Return", x->value);
  if (auto* x = try_as<const Raise>(s)) {
    one(f, "exc", x->exc);
    one(f, "cause", x->cause);
    return node("Raise", f);
  }
  if (auto* x = try_as<const Assert>(s)) {
    one(f, "test", x->test);
    one(f, "msg", x->msg);
    return node("Assert", f);
  }
  return single("Expr", as<const ExprStmt>(s)->value);
}

Text Printer::block(const Stmt* s) {
  Fields f;
  if (auto* x = try_as<const For>(s)) {
    one(f, "target", x->target);
    one(f, "iter", x->iter);
    return loop("For", f, x);
  }
  if (auto* x = try_as<const While>(s)) {
    one(f, "test", x->test);
    return loop("While", f, x);
  }
  if (auto* x = try_as<const If>(s)) {
    one(f, "test", x->test);
    return loop("If", f, x);
  }
  if (auto* x = try_as<const With>(s)) {
    list(f, "items", x->items, &Printer::with_item);
    stmts(f, "body", x->body);
    return node("With", f);
  }
  if (auto* x = try_as<const Match>(s)) {
    one(f, "subject", x->subject);
    list(f, "cases", x->cases, &Printer::match_case);
    return node("Match", f);
  }
  auto* x = as<const Try>(s);
  stmts(f, "body", x->body);
  list(f, "handlers", x->handlers, &Printer::handler);
  stmts(f, "orelse", x->orelse);
  stmts(f, "finalbody", x->finalbody);
  return node(x->is_star ? "TryStar" : "Try", f);
}

Text Printer::stmt(const Stmt* s) {
  ++level_;
  switch (s->kind) {
    case StmtKind::FunctionDef:
    case StmtKind::ClassDef:
    case StmtKind::Import:
    case StmtKind::ImportFrom:
    case StmtKind::Global:
    case StmtKind::Nonlocal: return definition(s);
    case StmtKind::Return:
    case StmtKind::Delete:
    case StmtKind::Assign:
    case StmtKind::AugAssign:
    case StmtKind::AnnAssign:
    case StmtKind::Raise:
    case StmtKind::Assert:
    case StmtKind::ExprStmt: return assignment(s);
    case StmtKind::For:
    case StmtKind::While:
    case StmtKind::If:
    case StmtKind::With:
    case StmtKind::Match:
    case StmtKind::Try: return block(s);
    case StmtKind::Pass: return node("Pass", {});
    case StmtKind::Break: return node("Break", {});
    case StmtKind::Continue: return node("Continue", {});
  }
  return {};
}

Text Printer::pattern(const Pattern* p) {
  ++level_;
  Fields f;
  switch (p->kind) {
    case PatternKind::MatchValue: one(f, "value", as<const MatchValue>(p)->value); return node("MatchValue", f);
    case PatternKind::MatchSingleton:
      word(f, "value", name_of(kConstants, as<const MatchSingleton>(p)->value));
      return node("MatchSingleton", f);
    case PatternKind::MatchSequence:
      list(f, "patterns", as<const MatchSequence>(p)->patterns, &Printer::pattern);
      return node("MatchSequence", f);
    case PatternKind::MatchMapping: {
      auto* x = as<const MatchMapping>(p);
      exprs(f, "keys", x->keys);
      list(f, "patterns", x->patterns, &Printer::pattern);
      id(f, "rest", x->rest);
      return node("MatchMapping", f);
    }
    case PatternKind::MatchClass: {
      auto* x = as<const MatchClass>(p);
      one(f, "cls", x->cls);
      list(f, "patterns", x->patterns, &Printer::pattern);
      ids(f, "kwd_attrs", x->kwd_attrs);
      list(f, "kwd_patterns", x->kwd_patterns, &Printer::pattern);
      return node("MatchClass", f);
    }
    case PatternKind::MatchStar: id(f, "name", as<const MatchStar>(p)->name); return node("MatchStar", f);
    case PatternKind::MatchAs: {
      auto* x = as<const MatchAs>(p);
      if (x->pattern) f.push_back({"pattern", pattern(x->pattern)});
      id(f, "name", x->name);
      return node("MatchAs", f);
    }
    case PatternKind::MatchOr:
      list(f, "patterns", as<const MatchOr>(p)->patterns, &Printer::pattern);
      return node("MatchOr", f);
  }
  return {};
}

}  // namespace

std::string print_ast(const Module& module, bool indented) { return Printer(indented).module(module).text; }

std::string print_ast(const Expr& expr, bool indented) { return Printer(indented).expr(&expr).text; }

}  // namespace tsc::lang
