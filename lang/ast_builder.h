#pragma once
// Makes tree nodes for the grammar's actions and checks what the grammar leaves open: targets,
// orders of parameters and arguments, literals. Every fault is reported and replaced by some node,
// so that parsing goes on; a tree with reported faults is never handed out. Knows: nodes, tokens,
// diagnostics. Must not know: the parser's tables, scopes. Keeps: depth <= kMaxDepth in every tree
// that is handed out.
#include <array>
#include <initializer_list>

#include "lang/arena.h"
#include "lang/ast.h"
#include "lang/diagnostic.h"
#include "lang/token.h"

namespace tsc::lang {

// A list under construction.
template <class T>
struct Chain {
  struct Link {
    T item;
    Link* next;
  };
  Link* first = nullptr;
  Link* last = nullptr;
  size_t count = 0;
};

// Parts that exist only between grammar and tree. All trivial: they live in the parser's value
// union.

struct Elements {
  Chain<Expr*>* items;
  bool comma;  // ends with a comma
};

struct Argument {
  enum Kind : uint8_t { Positional, Generator, Star, Keyword, DoubleStar } kind;
  Expr* value;
  Identifier name;
  Span span, name_span;
};

struct ParameterItem {
  enum Kind : uint8_t { Plain, Star, DoubleStar, Slash } kind;
  Parameter* parameter;  // null for a bare '*' and for '/'
  Expr* default_value;
  Span span;
};

struct Clause {
  Expr* target;  // null: an if clause
  Expr* value;   // iterable or condition
};

struct Entry {
  Expr* key;  // null: **value
  Expr* value;
};

struct MappingItem {
  Expr* key;
  Pattern* pattern;
  const Token* rest;  // **rest
};

struct ClassPatternItem {
  const Token* name;  // null: positional
  Pattern* pattern;
};

struct FromSource {
  Chain<const Token*>* dots;
  Chain<const Token*>* module;
};

struct FieldEnd {
  const Token* equal;
  const Token* conversion;
  Expr* spec;
};

inline Span cover_rule(Span first, Span last) { return {first.begin, last.end}; }
inline Span empty_rule(Span before) { return {before.end, before.end}; }

class AstBuilder {
 public:
  AstBuilder(const Source& source, const TokenList& tokens, Arena& arena, Diagnostics& diagnostics)
      : source_(source), tokens_(tokens), arena_(arena), diagnostics_(diagnostics) {}

  Module* module() const { return module_; }
  // End of the text skipped by the last recovery at statement level.
  uint32_t recovered_until() const { return recovered_until_; }
  // Nothing said about this place would reach a reader: it is damaged, or too much was said
  // already.
  bool is_silent(uint32_t offset) const { return tokens_.is_damaged(offset) || diagnostics_.is_full(); }
  // Reports unless the place is inside damage already reported; then the result goes nowhere.
  Diagnostic& error(Code code, Span span, std::string message);
  // Whether a report stands at this place already.
  bool is_reported(uint32_t offset) const;
  // The report of a bracket that was never closed, when it stands in front of this place on the same line: what
  // is wrong between them says more than that the bracket is open.
  Diagnostic* unclosed_before(uint32_t offset);
  // While it is set, a report takes its place; null ends that.
  void replace(Diagnostic* report) { replaced_ = report; }

  // Lists.
  template <class T>
  Chain<T>* chain() {
    return arena_.make<Chain<T>>();
  }
  template <class T>
  Chain<T>* one(T item) {
    return append(chain<T>(), item);
  }
  template <class T>
  Chain<T>* append(Chain<T>* chain, T item) {
    auto* link = arena_.make<typename Chain<T>::Link>(item, nullptr);
    (chain->last ? chain->last->next : chain->first) = link;
    chain->last = link;
    ++chain->count;
    return chain;
  }
  template <class T>
  Chain<T>* prepend(T item, Chain<T>* chain) {
    chain->first = arena_.make<typename Chain<T>::Link>(item, chain->first);
    ++chain->count;
    return chain;
  }
  Chain<Stmt*>* join(Chain<Stmt*>* chain, Chain<Stmt*>* more);
  Elements elements(Chain<Expr*>* items, bool comma) { return {items, comma}; }

  // Statements (build_statements.cpp).
  void finish_module(Chain<Stmt*>* body);
  void finish_expression(Expr* value);
  Chain<Stmt*>* recovered(Span span);
  Stmt* pass(Span span) { return stmt<Pass>(span); }
  Stmt* break_stmt(Span span) { return stmt<Break>(span); }
  Stmt* continue_stmt(Span span) { return stmt<Continue>(span); }
  Stmt* return_stmt(Expr* value, Span span);
  Stmt* raise_stmt(Expr* exc, Expr* cause, Span span);
  Stmt* delete_stmt(Expr* targets, Span span);
  Stmt* assert_stmt(Expr* test, Expr* msg, Span span);
  Stmt* global_stmt(Chain<const Token*>* names, Span span);
  Stmt* nonlocal_stmt(Chain<const Token*>* names, Span span);
  Stmt* expression_stmt(Expr* value);
  Stmt* assign(Chain<Expr*>* parts, Span span);
  Stmt* augmented_assign(Expr* target, Operator op, Expr* value, Span op_span, Span span);
  Stmt* annotated_assign(Expr* target, Expr* annotation, Expr* value, Span span);
  Stmt* import_stmt(Chain<Alias*>* names, Span span);
  FromSource from_source(Chain<const Token*>* dots, Chain<const Token*>* module) { return {dots, module}; }
  Stmt* import_from(FromSource from, Chain<Alias*>* names, Span span);
  Stmt* import_star(FromSource from, Span star, Span span);
  Alias* alias(Chain<const Token*>* name, const Token* asname, Span span);
  Stmt* if_stmt(Expr* test, Chain<Stmt*>* body, Chain<Stmt*>* orelse, Span span);
  Stmt* while_stmt(Expr* test, Chain<Stmt*>* body, Chain<Stmt*>* orelse, Span span);
  Stmt* for_stmt(Expr* target, Expr* iter, Chain<Stmt*>* body, Chain<Stmt*>* orelse, Span span);
  Stmt* try_stmt(Chain<Stmt*>* body, Chain<ExceptHandler*>* handlers, Chain<Stmt*>* orelse, Chain<Stmt*>* finalbody,
                 Span span);
  ExceptHandler* handler(Expr* type, const Token* name, Chain<Stmt*>* body, Span span);
  ExceptHandler* handler_star(Expr* type, const Token* name, Chain<Stmt*>* body, Span star, Span span);
  Stmt* with_stmt(Chain<WithItem*>* items, Chain<Stmt*>* body, Span span);
  WithItem* with_item(Expr* context, Expr* target);
  Stmt* decorate(Chain<Expr*>* decorators, Stmt* definition);
  Stmt* function(const Token* name, Chain<ParameterItem*>* parameters, Expr* returns, Chain<Stmt*>* body, Span span);
  Stmt* class_def(const Token* name, Chain<Argument*>* arguments, Chain<Stmt*>* body, Span span);

  // Expressions (build_expressions.cpp).
  Expr* named(Expr* target, Expr* value, Span op_span, Span span);
  Expr* if_exp(Expr* test, Expr* body, Expr* orelse, Span span);
  Expr* lambda(Chain<ParameterItem*>* parameters, Expr* body, Span span);
  Expr* unary(UnaryOperator op, Expr* operand, Span span);
  Expr* boolean(BoolOperator op, Expr* left, Expr* right, Span span);
  Expr* compare(Expr* left, CompareOperator op, Expr* right, Span span);
  Expr* binary(Expr* left, Operator op, Expr* right, Span op_span, Span span);
  Expr* attribute(Expr* value, const Token* name, Span span);
  Expr* subscript(Expr* value, Expr* index, Span span);
  Expr* subscript_tuple(Chain<Expr*>* items, bool comma, Span span);
  Expr* slice(Expr* lower, Expr* upper, Expr* step, Span span);
  Expr* name(const Token* token);
  Expr* placeholder(Span span) { return constant(ConstantKind::None, span); }
  Expr* parenthesized(Expr* value);
  Expr* group(Expr* value, Span span);
  Expr* tuple(Elements elements, Span span);
  Expr* list(Elements elements, Span span);
  Expr* set(Elements elements, Span span);
  Expr* tuple_or_single(Elements elements, Span span);
  Expr* dict(Chain<Entry>* entries, Span span);
  Entry entry(Expr* key, Expr* value) { return {key, value}; }
  Clause for_clause(Expr* target, Expr* iter);
  Clause if_clause(Expr* condition) { return {nullptr, condition}; }
  Expr* generator(Expr* element, Chain<Clause>* clauses, Span span);
  Expr* list_comp(Expr* element, Chain<Clause>* clauses, Span span);
  Expr* set_comp(Expr* element, Chain<Clause>* clauses, Span span);
  Expr* dict_comp(Entry entry, Chain<Clause>* clauses, Span span);
  Expr* yield(Expr* value, Span span);
  Expr* yield_from(Expr* value, Span span);
  Expr* starred(Expr* value, Span span);

  // Calls and parameters (build_calls.cpp).
  Expr* call(Expr* func, Chain<Argument*>* arguments, Span span);
  Argument* argument(Expr* value, Span span) { return make_argument(Argument::Positional, value, span); }
  Argument* generator_argument(Expr* element, Chain<Clause>* clauses, Span span);
  Argument* keyword_argument(Expr* name, Expr* value, Span equal, Span span);
  Argument* star_argument(Expr* value, Span span);
  Argument* double_star_argument(Expr* value, Span span);
  Chain<Argument*>* check_arguments(Chain<Argument*>* arguments, bool comma);
  ParameterItem* parameter(const Token* name, Expr* annotation, Expr* value, Span span);
  ParameterItem* star_parameter(const Token* name, Expr* annotation, Span span);
  ParameterItem* double_star_parameter(const Token* name, Expr* annotation, Span span);
  ParameterItem* slash_parameter(Span span) {
    return arena_.make<ParameterItem>(ParameterItem::Slash, nullptr, nullptr, span);
  }

  // Literals (build_literals.cpp).
  Expr* constant(ConstantKind kind, Span span);
  Expr* integer(const Token* token);
  Expr* floating(const Token* token);
  Expr* string(const Token* token);
  Expr* strings(Chain<Expr*>* parts, Span span);
  Expr* fstring(const Token* start, Chain<Expr*>* parts, Span span);
  Expr* fstring_text(const Token* token, bool in_spec);
  Expr* field(const Token* open, Expr* value, FieldEnd end, Span span);
  FieldEnd field_end(const Token* equal, const Token* conversion, Expr* spec) { return {equal, conversion, spec}; }
  Expr* spec(Chain<Expr*>* parts, Span span);

  // Patterns (build_patterns.cpp).
  Stmt* match_stmt(Expr* subject, Chain<MatchCase*>* cases, Span span);
  MatchCase* match_case(Pattern* pattern, Expr* guard, Chain<Stmt*>* body, Span span);
  Pattern* lone_star_pattern(Pattern* star);
  Pattern* sequence_pattern(Chain<Pattern*>* patterns, Span span);
  Pattern* as_pattern(Pattern* pattern, const Token* name, Span span);
  Pattern* or_pattern(Chain<Pattern*>* alternatives, Span span);
  Pattern* star_pattern(const Token* name, Span span);
  Pattern* capture_pattern(const Token* name);
  Pattern* value_pattern(Expr* value, Span span);
  Pattern* complex_pattern(Expr* real, Operator op, Expr* imaginary, Span span);
  Pattern* singleton_pattern(ConstantKind kind, Span span);
  Pattern* mapping_pattern(Chain<MappingItem>* items, Span span);
  MappingItem mapping_item(Expr* key, Pattern* pattern) { return {key, pattern, nullptr}; }
  MappingItem mapping_rest(const Token* name) { return {nullptr, nullptr, name}; }
  Pattern* class_pattern(Expr* cls, Chain<ClassPatternItem>* items, Span span);
  ClassPatternItem class_item(Pattern* pattern) { return {nullptr, pattern}; }
  ClassPatternItem class_keyword(const Token* name, Pattern* pattern) { return {name, pattern}; }

 private:
  Argument* make_argument(Argument::Kind kind, Expr* value, Span span) {
    return arena_.make<Argument>(kind, value, Identifier(), span, Span());
  }
  template <class T>
  T* expr(Span span, std::initializer_list<const Expr*> children = {}) {
    T* node = arena_.make<T>();
    node->kind = T::kKind;
    node->span = span;
    for (const Expr* child : children) deepen(*node, child);
    return node;
  }
  template <class T>
  T* stmt(Span span, std::initializer_list<const Expr*> children = {}) {
    T* node = arena_.make<T>();
    node->kind = T::kKind;
    node->span = span;
    for (const Expr* child : children) deepen(*node, child);
    return node;
  }
  template <class T>
  T* pattern(Span span) {
    T* node = arena_.make<T>();
    node->kind = T::kKind;
    node->span = span;
    return node;
  }
  template <class T>
  List<T> list_of(const Chain<T>* chain) {
    List<T> out = arena_.list<T>(chain ? chain->count : 0);
    if (chain && chain->count) {
      size_t i = 0;
      for (auto* link = chain->first; link; link = link->next) out[i++] = link->item;
    }
    return out;
  }
  // Keeps `parent` deeper than its child; too deep is reported once.
  template <class Parent, class Child>
  void deepen(Parent& parent, const Child* child) {
    if (!child || child->depth < parent.depth) return;
    if (child->depth >= kMaxDepth) return too_deep(child->span);
    parent.depth = static_cast<uint16_t>(child->depth + 1);
  }
  template <class Parent>
  List<Expr*> children(Parent& parent, const Chain<Expr*>* chain) {
    List<Expr*> out = list_of(chain);
    for (Expr* child : out) deepen(parent, child);
    return out;
  }
  // A suite's statements; also moves the end of `parent` to the end of the last one.
  List<Stmt*> body(Stmt& parent, const Chain<Stmt*>* chain);
  void too_deep(Span span);

  Identifier identifier(const Token& token);
  List<Identifier> identifiers(const Chain<const Token*>* names);
  Identifier dotted(const Chain<const Token*>* parts);
  // Turns an expression into a target; reports what cannot be one.
  void make_target(Expr* target, ExprContext context);
  void make_name_target(Expr* target, std::string_view what);
  void add_call_arguments(const Chain<Argument*>* arguments, List<Expr*>& args, List<Keyword*>& keywords);
  template <class Parent>
  List<Comprehension*> comprehensions(Parent& parent, const Chain<Clause>* clauses);
  template <class T>
  Expr* element_comp(Expr* element, const Chain<Clause>* clauses, Span span);
  template <class Parent>
  Arguments* arguments_of(Parent& parent, const Chain<ParameterItem*>* items);
  template <class T>
  T* sequence(Elements elements, Span span);
  std::string_view decode(std::string_view text, uint32_t offset, bool raw, bool bytes, bool braces);
  JoinedStr* joined(const Chain<Expr*>* parts, Span span);

  const Source& source_;
  const TokenList& tokens_;
  Arena& arena_;
  Diagnostics& diagnostics_;
  Diagnostics suppressed_;
  Diagnostic* replaced_ = nullptr;
  Module* module_ = nullptr;
  bool reads_annotations_ = false, postpones_annotations_ = false;  // see Module
  uint32_t recovered_until_ = UINT32_MAX;
  bool too_deep_reported_ = false;
};

// What a message calls an expression: "a function call", "a literal".
std::string_view describe(const Expr* expr);

}  // namespace tsc::lang
