#pragma once
// Syntax tree -> one CodeObject; an Emitter per module, function, lambda, class body and generator
// expression. The work is split by construct: expressions.cpp, calls.cpp, displays.cpp (literals,
// comprehensions, f-strings), conditions.cpp, assignments.cpp, statements.cpp, loops.cpp,
// exceptions.cpp (try, with, ways out), functions.cpp, patterns.cpp.
// Knows: tree, scopes, CodeBuilder. Must not know: values, the interpreter.
// Keeps: a destination that is a variable's register is written once, by the last instruction of
// each path, so an exception on the way leaves the variable as it was.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/annotated.h"
#include "lang/ast.h"
#include "lang/emit/code_builder.h"
#include "lang/emit/compile.h"
#include "lang/resolve.h"
#include "lang/shapes/annotation.h"

namespace tsc::lang {

// What all emitters of one module share.
struct EmitContext {
  std::shared_ptr<const Source> source;
  CompileOptions options;
  bool has_walrus = false;  // ":=" occurs in the text at all
  // With checked shapes: what names mean in annotations, and where faults in these go.
  std::shared_ptr<const ShapeNames> shape_names{};
  Diagnostics* diagnostics = nullptr;
  bool reads_annotations = false, annotates_at_once = false, postpones_annotations = false;  // see Module
};

// A construct that control must leave in an orderly way: return, break and continue run the exits
// of all blocks between them and their target.
struct ControlBlock {
  enum class Kind : uint8_t { Loop, Protected, Finally, Handler, HandlerName, With };
  Kind kind;
  // Protected, and the protecting range of the others; -1: none.
  int range = -1;
  // Loop.
  JumpLabel break_label{}, continue_label{};
  std::optional<Reg> iterator = std::nullopt;
  // Finally: the body to run on the way out.
  List<Stmt*> finalbody{};
  // Handler: the exception and what was handled before it. HandlerName: whose name to forget.
  Reg exception = 0, previous_handled = 0;
  const ExceptHandler* handler = nullptr;
  // With: __exit__ and its self.
  Reg exit_pair = 0;
  Span span{};
};

class Emitter {
 public:
  Emitter(const EmitContext& context, const Scope& scope, CodeKind kind, bool long_jumps);

  void emit_module_body(const Module& module);
  void emit_expression_body(const Expr* expr);
  void emit_function_body(const FunctionDef& node);
  void emit_class_body(const ClassDef& node);
  void emit_generator_expression(const GeneratorExp& node);
  void emit_annotations(const std::vector<Annotated>& annotations);

  // Fills in the head of the code; parameters for functions only.
  void set_signature(Span span);
  void set_parameters(const Arguments& arguments);
  std::shared_ptr<CodeObject> finish() { return b_.finish(); }

 private:
  using Want = std::optional<Reg>;

  // ---- places
  InstructionSpan at(const Expr* expr) const { return {expr->span, {}}; }
  InstructionSpan at(Span span) const { return {span, {}}; }
  InstructionSpan at(Span whole, Span anchor) const { return {whole, anchor}; }
  // Of operators and items a part is pointed at, as CPython 3.11 does.
  InstructionSpan at_item(const Subscript& node) const;
  // Of an attribute whose object stands on lines above, only what begins with its name; `whole` is its span, or that of
  // the call of the method.
  InstructionSpan at_attribute(const Attribute& node, Span whole) const;

  // ---- registers
  Reg local_register(uint32_t slot) const { return slot; }
  Reg cell_register(uint32_t cell) const;
  // The destination, or a fresh temporary above `mark`, to which the stack is cut first.
  Reg destination(Want want, Reg mark);
  Operand result(Want want, Reg reg) const { return {reg, !want && b_.is_temporary(reg)}; }
  void prologue();

  // ---- expressions (expressions.cpp). expr: the value is in a variable's register or a temporary;
  // with `want` it is in that register. expr_next: it is in the next free register.
  Operand expr(const Expr* e, Want want = {});
  Reg expr_next(const Expr* e);
  void expr_to(const Expr* e, Reg to) { expr(e, to); }
  // A value that later expressions must not change by assigning its variable.
  Operand stable(const Expr* e, std::initializer_list<const Expr*> later);
  bool may_assign(const Expr* e) const;
  void discard(const Expr* e);
  Operand constant(Literal literal, Want want, InstructionSpan where);
  std::optional<uint32_t> number_constant(const Expr* e);
  Operand emit_name(const Name& node, Want want);
  // A global that the code of exec reads and writes in its own namespace, unless the text declares it global.
  Binding at_top(Binding binding, Identifier name) {
    const CodeKind kind = b_.code().kind;
    const bool at_top =
        kind == CodeKind::Module || (kind == CodeKind::Annotations && scope_.parent->kind == ScopeKind::Module);
    const bool own = context_.options.own_names && at_top && binding.access == Access::Global &&
                     std::find(declared_at_top_.begin(), declared_at_top_.end(), name) == declared_at_top_.end();
    return own ? Binding{Access::Class, 0} : binding;
  }
  Operand load_binding(Binding binding, Identifier name, Want want, InstructionSpan where);
  Operand emit_bin_op(const BinOp& node, Want want);
  Operand emit_unary_op(const UnaryOp& node, Want want);
  Operand emit_attribute(const Attribute& node, Want want);
  Operand emit_subscript(const Subscript& node, Want want);
  Operand emit_slice(const Slice& node, Want want);
  Operand emit_named_expr(const NamedExpr& node, Want want);
  Operand emit_if_exp(const IfExp& node, Want want);
  Operand emit_yield(const Yield& node, Want want);
  Operand emit_yield_from(const YieldFrom& node, Want want);

  // ---- conditions (conditions.cpp)
  void jump_if(const Expr* test, bool sense, JumpLabel target);
  void jump_if_compare(const Compare& node, bool sense, JumpLabel target);
  void jump_if_pair(CompareOperator op, const Expr* right, Operand left, Operand right_value,
                    std::optional<uint32_t> right_constant, bool sense, JumpLabel target, InstructionSpan where);
  void jump_if_bool_op(const BoolOp& node, bool sense, JumpLabel target);
  Operand emit_bool_op(const BoolOp& node, Want want);
  void bool_operand(const Expr* e, Reg value, bool sense, JumpLabel target);
  void bool_value(const Expr* e, Reg value, JumpLabel end);
  Operand emit_compare(const Compare& node, Want want);
  void compare_into(Reg to, CompareOperator op, Operand left, const Expr* right, InstructionSpan where);

  // ---- displays (displays.cpp)
  Operand emit_sequence(List<Expr*> elts, Op build, Span span, Want want);
  Operand emit_starred_list(List<Expr*> elts, Span span);
  Operand emit_dict(const Dict& node, Want want);
  Operand emit_set(const Set& node, Want want);
  Operand emit_joined_str(const JoinedStr& node, Want want);
  Operand emit_formatted_value(const FormattedValue& node, Want want);
  struct ComprehensionParts {
    ExprKind kind;
    const Expr* element;  // or the key
    const Expr* value;    // of a dict
    List<Comprehension*> generators;
    const Scope* scope;
    Span span;
  };
  Operand emit_comprehension(const ComprehensionParts& parts, Want want);
  void comprehension_loops(const ComprehensionParts& parts, size_t depth, Operand collection);
  void comprehension_element(const ComprehensionParts& parts, Operand collection);
  Operand emit_generator_call(const GeneratorExp& node, Want want);

  // ---- calls (calls.cpp)
  Operand emit_call(const Call& node, Want want);
  bool emit_super(const Call& node, Want want, Operand& out);
  Operand emit_method_call(const Call& node, const Attribute& function, Want want);
  Operand emit_call_ex(const Call& node, Want want);
  void positional_tuple(List<Expr*> args, Span span);
  void keyword_dict(List<Keyword*> keywords, std::optional<Reg> callee, Span span);
  // Values into consecutive registers; the shape of the keyword part.
  void argument_values(List<Expr*> args, List<Keyword*> keywords);
  uint32_t call_shape(size_t positional, List<Keyword*> keywords);

  // ---- functions and classes (functions.cpp)
  Operand make_function(const Scope& scope, CodeRef code, const Arguments* args, Span span, Want want,
                        const Scope* annotations = nullptr);
  void push_closure(const Scope& scope, Span span);
  void push_defaults(const Arguments& args, uint32_t& mode, Span span);
  Operand emit_lambda(const Lambda& node, Want want);
  void emit_function_def(const FunctionDef& node);
  void emit_class_def(const ClassDef& node);
  Operand class_value(const ClassDef& node);
  Operand class_value_ex(const ClassDef& node, CodeRef body);
  void class_head(const ClassDef& node, CodeRef body, Reg base);
  void apply_decorators(List<Expr*> decorators, Reg first, Reg value);
  using EmitBody = std::function<void(Emitter&)>;
  CodeRef nested_code(const Scope& scope, CodeKind kind, Span span, const Arguments* args, const EmitBody& body) const;

  // ---- annotations (annotations.cpp)
  Operand annotation_value(const Expr* annotation);
  CodeRef annotations_code(const Scope& scope, const std::vector<Annotated>& annotations, Span span) const;
  bool annotates_at_once() {
    return context_.reads_annotations || (context_.annotates_at_once && b_.code().kind == CodeKind::Module);
  }
  void begin_annotations(List<Stmt*> body, Span span);
  void note_annotation(const AnnAssign& node);
  void annotate_at_once(const AnnAssign& node);

  // ---- statements (statements.cpp)
  void statements(List<Stmt*> body);
  void statement(const Stmt* s);
  void emit_expr_stmt(const ExprStmt& node);
  void emit_return(const Return& node);
  void return_value(const Expr* value, Span where);
  void emit_if(const If& node);
  void emit_assert(const Assert& node);
  void emit_explained_assert(const Assert& node);
  void explain_assert(const Assert& node, Reg left, Reg right);
  void emit_raise(const Raise& node);
  void emit_import(const Import& node);
  void emit_import_from(const ImportFrom& node);
  bool is_last_interactive(const Stmt* s) const { return s == interactive_result_; }

  // ---- checked annotations (shape_checks.cpp): nothing without the option
  void check_shape_arguments(const FunctionDef& node);
  Reg begin_shape_call(const char* function, InstructionSpan where);
  void check_shape_result(Operand value, InstructionSpan where);
  void emit_return_none(InstructionSpan where);

  // ---- loops (loops.cpp)
  void emit_for(const For& node);
  void emit_while(const While& node);
  void emit_break(Span span);
  void emit_continue(Span span);
  // Places the loop's head, takes the next item and stores it into the target.
  void for_step(const Expr* target, Reg iterator, JumpLabel head, JumpLabel exhausted, InstructionSpan where);

  // ---- assignments (assignments.cpp)
  void emit_assign(const Assign& node);
  void emit_aug_assign(const AugAssign& node);
  void emit_ann_assign(const AnnAssign& node);
  void emit_delete(const Expr* target);
  void store(const Expr* target, Operand value);
  void store_binding(Binding binding, Identifier name, Operand value, InstructionSpan where);
  void delete_binding(Binding binding, Identifier name, InstructionSpan where);
  void unpack(List<Expr*> targets, Operand value, Span span);
  bool assign_pairwise(const Expr* target, const Expr* value);
  std::optional<Reg> variable_register(const Expr* target) const;
  void inplace(Operator op, Reg to, Operand left, const Expr* value, InstructionSpan where);

  // ---- exceptions (exceptions.cpp)
  void emit_try(const Try& node);
  void emit_try_except(const Try& node);
  void emit_handlers(const Try& node, Reg exception, JumpLabel end);
  void emit_handler(const ExceptHandler& handler, Reg exception, Reg previous, int range, JumpLabel end);
  void emit_handler_body(const ExceptHandler& handler);
  void emit_star_handlers(const Try& node, Reg exception, JumpLabel end);
  void emit_star_handler(const ExceptHandler& handler, Reg rest, Reg raised);
  void emit_star_body(const ExceptHandler& handler, Reg raised);
  void forget_handler_name(const ExceptHandler& handler);
  void emit_finally(const Try& node);
  // Restores what was handled before and goes on unwinding; the end of a handler that did not
  // catch.
  void restore_and_reraise(Reg exception, Reg previous, Span span);
  void emit_with(List<WithItem*> items, List<Stmt*> body, Span span);
  void with_handler(Reg exception, Reg previous, Reg exit_pair, JumpLabel end, Span span);
  // Runs the exits of all blocks above `depth`, innermost first; the code then jumps or returns,
  // and resume_blocks makes the protecting ranges cover what follows.
  void leave_blocks(size_t depth, Span span);
  void resume_blocks(size_t depth);
  void leave_block(const ControlBlock& block, Span span);

  // ---- match (patterns.cpp)
  struct Capture {
    Binding binding;
    Identifier name;
    Reg value;
    Span span;
  };
  using Captures = std::vector<Capture>;
  void emit_match(const Match& node);
  void pattern(const Pattern* p, Reg subject, JumpLabel fail, Captures& captures);
  void pattern_sequence(const MatchSequence& node, Reg subject, JumpLabel fail, Captures& captures);
  void pattern_items(const MatchSequence& node, size_t star, Reg subject, JumpLabel fail, Captures& captures);
  void pattern_mapping(const MatchMapping& node, Reg subject, JumpLabel fail, Captures& captures);
  void pattern_class(const MatchClass& node, Reg subject, JumpLabel fail, Captures& captures);
  void pattern_or(const MatchOr& node, Reg subject, JumpLabel fail, Captures& captures);
  void mapping_rest(const MatchMapping& node, Reg subject, Captures& captures);

  const EmitContext& context_;
  std::vector<Identifier> declared_at_top_;  // by the global statements of a module
  const Scope& scope_;
  CodeBuilder b_;
  std::vector<ControlBlock> blocks_;
  const Stmt* interactive_result_ = nullptr;
  std::vector<Annotated> annotated_;  // of a class body or module
  uint32_t comprehensions_ = 0;       // that the code being emitted stands in
  // What the arguments were, for the check of the result; nullopt: none is checked.
  std::optional<Reg> shape_state_;
  uint32_t shape_constant_ = 0;
};

// The value of an expression that is known now and is immutable; numbers are folded only where the
// result is exactly what run time would give.
std::optional<Literal> fold(const Expr* e);
Literal none_literal();
Literal int_literal(int64_t value);
Literal str_literal(std::string_view text);

}  // namespace tsc::lang
