#pragma once
// What is certain of an expression's value, as far as shapes go, without running anything: literal
// creations, variables that are bound once, elementwise operations, reshapes by literals, calls of annotated
// functions. Knows: facts, annotations. Must not know: what is a mistake.
// Keeps: what may depend on anything else is Unknown.
#include <unordered_map>
#include <unordered_set>

#include "lang/check/checks.h"
#include "lang/shapes/match.h"

namespace tsc::lang {

class StaticShapes {
 public:
  explicit StaticShapes(CheckRun& run);

  const ShapeNames& names() const { return names_; }
  ShapeFact of(const Expr* e);
  // The annotations of a function; faults in them are findings, once.
  const ShapeSignature& signature(const FunctionDef* f);
  // The function that a call certainly reaches, decorated ones that keep their parameters included, or the
  // forward() of a module that the variable certainly is.
  std::optional<Callee> callee(const Call* call) const;
  // A fact for each parameter of the signature. Nullopt: the call gives them in a way that is not known.
  std::optional<std::vector<ShapeFact>> arguments(const Call& call, const Callee& callee);
  const Variable* variable_of(const Expr* e) const;

 private:
  ShapeFact compute(const Expr* e);
  ShapeFact of_constant(const Constant& node) const;
  ShapeFact of_name(const Name& node);
  ShapeFact of_call(const Call& call);
  ShapeFact of_torch_call(const Call& call, std::string_view function);
  ShapeFact of_method(const Call& call, const Attribute& method);
  ShapeFact of_operator(const BinOp& node);
  ShapeFact reshaped(const ShapeFact& of, const std::vector<const Expr*>& arguments, std::string_view method);
  ShapeFact created(const Call& call, std::vector<const Expr*> sizes);
  void take_dtype(const Call& call, ShapeFact& fact) const;
  std::optional<int64_t> integer(const Expr* e) const;
  std::optional<std::vector<Size>> sizes(const std::vector<const Expr*>& arguments) const;
  void collect(List<Stmt*> block);

  CheckRun& run_;
  ShapeNames names_;
  SizeLogic logic_;
  bool shapes_are_set_;  // x.data = y somewhere: a variable's tensor may change its shape
  std::unordered_map<uint32_t, const Variable*> variables_;  // by where they are used
  std::unordered_map<const FunctionDef*, ShapeSignature> signatures_;
  std::unordered_map<const Expr*, ShapeFact> known_;
  std::unordered_set<const Expr*> asked_;  // on the way to an answer
  // Parameters by where their name stands.
  std::unordered_map<uint32_t, std::pair<const FunctionDef*, Identifier>> parameters_;
};

}  // namespace tsc::lang
