#pragma once
// The syntax tree: Python 3.11's abstract syntax, node for node (async and type comments left out).
// Nodes live in an Arena and die with it; texts point into the Source or the Arena, so both must
// outlive the tree. Every node has the span of its source text.
// Knows: spans. Must not know: how names are found (resolve fills Binding and Scope pointers) and
// what code is made of it.
// Keeps: children before parents, depth bounded (kMaxDepth), so recursion over a tree is safe.
#include <cstdint>
#include <string_view>

#include "lang/arena.h"
#include "lang/source.h"
#include "runtime/base/error.h"

namespace tsc::lang {

struct Scope;  // resolve.h

// Deepest nesting of nodes the parser accepts.
inline constexpr unsigned kMaxDepth = 1000;

using Identifier = std::string_view;

// How a name is reached from the code that holds it; filled in by resolve().
enum class Access : uint8_t {
  Unresolved,
  Local,   // register `index` of the frame (Scope::locals of the host scope)
  Cell,    // own cell `index` (Scope::cells of the host scope), shared with inner functions
  Free,    // cell `index` inherited from the enclosing function (Scope::frees)
  Global,  // by name: the module's namespace, then the builtins
  Class,   // by name: the class body's namespace, then the module's, then the builtins
};

struct Binding {
  Access access = Access::Unresolved;
  uint32_t index = 0;
};

// clang-format off
#define TSC_EXPR_KINDS(X)                                                                    \
  X(BoolOp)                                                                                  \
  X(NamedExpr) X(BinOp) X(UnaryOp) X(Lambda) X(IfExp) X(Dict) X(Set) X(ListComp) X(SetComp)  \
      X(DictComp) X(GeneratorExp) X(Yield) X(YieldFrom) X(Compare) X(Call) X(FormattedValue) \
          X(JoinedStr) X(Constant) X(Attribute) X(Subscript) X(Starred) X(Name) X(ListExpr)  \
              X(Tuple) X(Slice)

#define TSC_STMT_KINDS(X)                                                                      \
  X(FunctionDef)                                                                               \
  X(ClassDef) X(Return) X(Delete) X(Assign) X(AugAssign) X(AnnAssign) X(For) X(While) X(If)    \
      X(With) X(Match) X(Raise) X(Try) X(Assert) X(Import) X(ImportFrom) X(Global) X(Nonlocal) \
          X(ExprStmt) X(Pass) X(Break) X(Continue)

#define TSC_PATTERN_KINDS(X)                                                               \
  X(MatchValue)                                                                            \
  X(MatchSingleton) X(MatchSequence) X(MatchMapping) X(MatchClass) X(MatchStar) X(MatchAs) \
      X(MatchOr)
// clang-format on

#define TSC_ENUMERATOR(name) name,
enum class ExprKind : uint8_t { TSC_EXPR_KINDS(TSC_ENUMERATOR) };
enum class StmtKind : uint8_t { TSC_STMT_KINDS(TSC_ENUMERATOR) };
enum class PatternKind : uint8_t { TSC_PATTERN_KINDS(TSC_ENUMERATOR) };
#undef TSC_ENUMERATOR

enum class ExprContext : uint8_t { Load, Store, Del };
enum class BoolOperator : uint8_t { And, Or };
enum class UnaryOperator : uint8_t { Invert, Not, UAdd, USub };
enum class Operator : uint8_t {
  Add,
  Sub,
  Mult,
  MatMult,
  Div,
  Mod,
  Pow,
  LShift,
  RShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv
};
enum class CompareOperator : uint8_t { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
enum class ConstantKind : uint8_t { None, False, True, Ellipsis, Int, Float, Imaginary, Str, Bytes };

struct Expr {
  ExprKind kind;
  bool parenthesized = false;  // written inside its own round brackets
  uint16_t depth = 1;          // 1 + the deepest child
  Span span;
};

struct Stmt {
  StmtKind kind;
  uint16_t depth = 1;
  Span span;
};

struct Pattern {
  PatternKind kind;
  Span span;
};

// The parts that are neither expression, statement nor pattern.

struct Parameter {  // ASDL's arg
  Identifier name;
  Expr* annotation = nullptr;
  Span span;
  Span name_span;
};

struct Arguments {
  List<Parameter*> posonlyargs;
  List<Parameter*> args;
  Parameter* vararg = nullptr;
  List<Parameter*> kwonlyargs;
  List<Expr*> kw_defaults;  // one per keyword-only parameter, null when it has none
  Parameter* kwarg = nullptr;
  List<Expr*> defaults;  // of the last parameters of posonlyargs + args
};

struct Keyword {
  Identifier name;  // empty: **value
  Expr* value = nullptr;
  Span span;
  Span name_span;
};

struct Alias {
  Identifier name;    // dotted, or "*"
  Identifier asname;  // empty: none
  Span span;
  Binding binding;  // of asname, or of the first part of name
};

struct Comprehension {
  Expr* target = nullptr;
  Expr* iter = nullptr;
  List<Expr*> ifs;
};

struct WithItem {
  Expr* context_expr = nullptr;
  Expr* optional_vars = nullptr;
};

struct ExceptHandler {
  Expr* type = nullptr;  // null: everything
  Span star;             // of except*; empty: none
  Identifier name;       // empty: none
  List<Stmt*> body;
  Span span;
  Span name_span;
  Binding binding;
};

struct MatchCase {
  Pattern* pattern = nullptr;
  Expr* guard = nullptr;
  List<Stmt*> body;
  Span span;
};

// Expressions.

struct BoolOp : Expr {
  static constexpr ExprKind kKind = ExprKind::BoolOp;
  BoolOperator op;
  List<Expr*> values;
};

struct Name;

struct NamedExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::NamedExpr;
  Name* target;
  Expr* value;
};

struct BinOp : Expr {
  static constexpr ExprKind kKind = ExprKind::BinOp;
  Expr* left;
  Operator op;
  Expr* right;
  Span op_span;
};

struct UnaryOp : Expr {
  static constexpr ExprKind kKind = ExprKind::UnaryOp;
  UnaryOperator op;
  Expr* operand;
};

struct Lambda : Expr {
  static constexpr ExprKind kKind = ExprKind::Lambda;
  Arguments* args;
  Expr* body;
  Scope* scope = nullptr;
};

struct IfExp : Expr {
  static constexpr ExprKind kKind = ExprKind::IfExp;
  Expr* test;
  Expr* body;
  Expr* orelse;
};

struct Dict : Expr {
  static constexpr ExprKind kKind = ExprKind::Dict;
  List<Expr*> keys;  // null key: **value
  List<Expr*> values;
};

struct Set : Expr {
  static constexpr ExprKind kKind = ExprKind::Set;
  List<Expr*> elts;
};

struct ListComp : Expr {
  static constexpr ExprKind kKind = ExprKind::ListComp;
  Expr* elt;
  List<Comprehension*> generators;
  Scope* scope = nullptr;
};

struct SetComp : Expr {
  static constexpr ExprKind kKind = ExprKind::SetComp;
  Expr* elt;
  List<Comprehension*> generators;
  Scope* scope = nullptr;
};

struct DictComp : Expr {
  static constexpr ExprKind kKind = ExprKind::DictComp;
  Expr* key;
  Expr* value;
  List<Comprehension*> generators;
  Scope* scope = nullptr;
};

struct GeneratorExp : Expr {
  static constexpr ExprKind kKind = ExprKind::GeneratorExp;
  Expr* elt;
  List<Comprehension*> generators;
  Scope* scope = nullptr;
};

struct Yield : Expr {
  static constexpr ExprKind kKind = ExprKind::Yield;
  Expr* value;  // may be null
};

struct YieldFrom : Expr {
  static constexpr ExprKind kKind = ExprKind::YieldFrom;
  Expr* value;
};

struct Compare : Expr {
  static constexpr ExprKind kKind = ExprKind::Compare;
  Expr* left;
  List<CompareOperator> ops;
  List<Expr*> comparators;
};

struct Call : Expr {
  static constexpr ExprKind kKind = ExprKind::Call;
  Expr* func;
  List<Expr*> args;  // may hold Starred
  List<Keyword*> keywords;
};

struct FormattedValue : Expr {
  static constexpr ExprKind kKind = ExprKind::FormattedValue;
  Expr* value;
  char conversion;    // 0, 's', 'r' or 'a'
  Expr* format_spec;  // a JoinedStr, or null
};

struct JoinedStr : Expr {
  static constexpr ExprKind kKind = ExprKind::JoinedStr;
  List<Expr*> values;  // str Constants and FormattedValues
};

struct Constant : Expr {
  static constexpr ExprKind kKind = ExprKind::Constant;
  ConstantKind value_kind = ConstantKind::None;
  // The literal 9223372036854775808: its negation is a 64-bit integer.
  bool needs_negation = false;
  int64_t integer = 0;
  double floating = 0;    // Float; of an Imaginary what stands before its j
  std::string_view text;  // Str (UTF-8) and Bytes, decoded; of an Int beyond 64 bits its text without underscores
};

struct Attribute : Expr {
  static constexpr ExprKind kKind = ExprKind::Attribute;
  Expr* value;
  Identifier attr;
  ExprContext ctx = ExprContext::Load;
  Span attr_span;
};

struct Subscript : Expr {
  static constexpr ExprKind kKind = ExprKind::Subscript;
  Expr* value;
  Expr* slice;  // any expression, a Slice, or a Tuple that may hold Slices
  ExprContext ctx = ExprContext::Load;
};

struct Starred : Expr {
  static constexpr ExprKind kKind = ExprKind::Starred;
  Expr* value;
  ExprContext ctx = ExprContext::Load;
};

struct Name : Expr {
  static constexpr ExprKind kKind = ExprKind::Name;
  Identifier id;
  ExprContext ctx = ExprContext::Load;
  Binding binding;
};

struct ListExpr : Expr {  // ASDL's List
  static constexpr ExprKind kKind = ExprKind::ListExpr;
  List<Expr*> elts;
  ExprContext ctx = ExprContext::Load;
};

struct Tuple : Expr {
  static constexpr ExprKind kKind = ExprKind::Tuple;
  List<Expr*> elts;
  ExprContext ctx = ExprContext::Load;
};

struct Slice : Expr {
  static constexpr ExprKind kKind = ExprKind::Slice;
  Expr* lower;  // each may be null
  Expr* upper;
  Expr* step;
};

// Statements.

struct FunctionDef : Stmt {
  static constexpr StmtKind kKind = StmtKind::FunctionDef;
  Identifier name;
  Arguments* args;
  List<Stmt*> body;
  List<Expr*> decorator_list;
  Expr* returns;
  Span name_span;
  Binding binding;
  Scope* scope = nullptr;
  Scope* annotations = nullptr;  // what its annotations are evaluated in; null: nothing evaluates them
};

struct ClassDef : Stmt {
  static constexpr StmtKind kKind = StmtKind::ClassDef;
  Identifier name;
  List<Expr*> bases;
  List<Keyword*> keywords;
  List<Stmt*> body;
  List<Expr*> decorator_list;
  Span name_span;
  Binding binding;
  Scope* scope = nullptr;
};

struct Return : Stmt {
  static constexpr StmtKind kKind = StmtKind::Return;
  Expr* value;  // may be null
};

struct Delete : Stmt {
  static constexpr StmtKind kKind = StmtKind::Delete;
  List<Expr*> targets;
};

struct Assign : Stmt {
  static constexpr StmtKind kKind = StmtKind::Assign;
  List<Expr*> targets;
  Expr* value;
};

struct AugAssign : Stmt {
  static constexpr StmtKind kKind = StmtKind::AugAssign;
  Expr* target;
  Operator op;
  Expr* value;
};

struct AnnAssign : Stmt {
  static constexpr StmtKind kKind = StmtKind::AnnAssign;
  Expr* target;
  Expr* annotation;
  Expr* value;  // may be null
  bool simple;  // a plain name without brackets
};

struct For : Stmt {
  static constexpr StmtKind kKind = StmtKind::For;
  Expr* target;
  Expr* iter;
  List<Stmt*> body;
  List<Stmt*> orelse;
};

struct While : Stmt {
  static constexpr StmtKind kKind = StmtKind::While;
  Expr* test;
  List<Stmt*> body;
  List<Stmt*> orelse;
};

struct If : Stmt {
  static constexpr StmtKind kKind = StmtKind::If;
  Expr* test;
  List<Stmt*> body;
  List<Stmt*> orelse;  // elif: one nested If
};

struct With : Stmt {
  static constexpr StmtKind kKind = StmtKind::With;
  List<WithItem*> items;
  List<Stmt*> body;
};

struct Match : Stmt {
  static constexpr StmtKind kKind = StmtKind::Match;
  Expr* subject;
  List<MatchCase*> cases;
};

struct Raise : Stmt {
  static constexpr StmtKind kKind = StmtKind::Raise;
  Expr* exc;    // may be null
  Expr* cause;  // may be null
};

struct Try : Stmt {
  static constexpr StmtKind kKind = StmtKind::Try;
  List<Stmt*> body;
  List<ExceptHandler*> handlers;
  bool is_star = false;  // handlers are except*
  List<Stmt*> orelse;
  List<Stmt*> finalbody;
};

struct Assert : Stmt {
  static constexpr StmtKind kKind = StmtKind::Assert;
  Expr* test;
  Expr* msg;  // may be null
};

struct Import : Stmt {
  static constexpr StmtKind kKind = StmtKind::Import;
  List<Alias*> names;
};

struct ImportFrom : Stmt {
  static constexpr StmtKind kKind = StmtKind::ImportFrom;
  Identifier module;  // empty: from . import x
  List<Alias*> names;
  unsigned level;  // number of leading dots
};

struct Global : Stmt {
  static constexpr StmtKind kKind = StmtKind::Global;
  List<Identifier> names;
};

struct Nonlocal : Stmt {
  static constexpr StmtKind kKind = StmtKind::Nonlocal;
  List<Identifier> names;
};

struct ExprStmt : Stmt {  // ASDL's Expr
  static constexpr StmtKind kKind = StmtKind::ExprStmt;
  Expr* value;
};

struct Pass : Stmt {
  static constexpr StmtKind kKind = StmtKind::Pass;
};

struct Break : Stmt {
  static constexpr StmtKind kKind = StmtKind::Break;
};

struct Continue : Stmt {
  static constexpr StmtKind kKind = StmtKind::Continue;
};

// Patterns.

struct MatchValue : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchValue;
  Expr* value;  // a Constant, its negation, or a dotted name
};

struct MatchSingleton : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchSingleton;
  ConstantKind value;  // None, True or False
};

struct MatchSequence : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchSequence;
  List<Pattern*> patterns;
};

struct MatchMapping : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchMapping;
  List<Expr*> keys;
  List<Pattern*> patterns;
  Identifier rest;  // empty: none
  Span rest_span;
  Binding binding;  // of rest
};

struct MatchClass : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchClass;
  Expr* cls;
  List<Pattern*> patterns;
  List<Identifier> kwd_attrs;
  List<Pattern*> kwd_patterns;
};

struct MatchStar : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchStar;
  Identifier name;  // empty: *_
  Binding binding;
};

struct MatchAs : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchAs;
  Pattern* pattern;  // null: a capture, or the wildcard _
  Identifier name;   // empty: the wildcard
  Binding binding;
};

struct MatchOr : Pattern {
  static constexpr PatternKind kKind = PatternKind::MatchOr;
  List<Pattern*> patterns;
};

struct Module {
  List<Stmt*> body;
  Span span;
  Scope* scope = nullptr;
  // The name `__annotations__` stands in the text: annotations of variables, of the module and its classes, are
  // evaluated where they stand.
  bool reads_annotations = false;
  // Those of the module are for another reason: it shares its namespace with other texts.
  bool annotates_at_once = false;
  // `from __future__ import annotations`: annotations mean their text.
  bool postpones_annotations = false;
};

// Checked down casts: as<T> insists, try_as<T> answers null.
template <class T, class Base>
T* as(Base* node) {
  TSC_CHECK(node && node->kind == T::kKind, "syntax node of another kind");
  return static_cast<T*>(node);
}

template <class T, class Base>
T* try_as(Base* node) {
  return node && node->kind == T::kKind ? static_cast<T*>(node) : nullptr;
}

// The text of a body's first statement when that is a string, else null.
inline Constant* docstring(List<Stmt*> body) {
  auto* first = body.empty() ? nullptr : try_as<ExprStmt>(body.front());
  auto* text = first ? try_as<Constant>(first->value) : nullptr;
  return text && text->value_kind == ConstantKind::Str ? text : nullptr;
}

}  // namespace tsc::lang
