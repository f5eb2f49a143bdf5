// Functions, lambdas, classes: making them, not calling them.
#include <algorithm>

#include "lang/emit/emitter.h"

namespace tsc::lang {
namespace {

enum FunctionPart : uint32_t {
  kDefaults = 1,
  kKeywordDefaults = 2,
  kClosure = 4,
  kAnnotationClosure = 8,
  kAnnotationNames = 16
};

// Whether the code reads names of the namespace that a class body, or the code of exec, writes to.
bool reads_namespace(const CodeObject& code) {
  return std::any_of(code.sites.begin(), code.sites.end(),
                     [](const Site& site) { return site.kind == SiteKind::Name; });
}

}  // namespace

CodeRef Emitter::nested_code(const Scope& scope, CodeKind kind, Span span, const Arguments* args,
                             const EmitBody& body) const {
  for (bool long_jumps : {false, true}) {
    Emitter inner(context_, scope, kind, long_jumps);
    inner.set_signature(span);
    if (args) inner.set_parameters(*args);
    body(inner);
    if (auto code = inner.finish()) return code;
  }
  TSC_CHECK(false, "a jump beyond 32 bits");
  return nullptr;
}

void Emitter::set_parameters(const Arguments& arguments) {
  ParameterList& out = b_.code().parameters;
  auto add = [&](const Parameter* parameter) { out.names.emplace_back(parameter->name); };
  for (const Parameter* parameter : arguments.posonlyargs) add(parameter);
  for (const Parameter* parameter : arguments.args) add(parameter);
  for (const Parameter* parameter : arguments.kwonlyargs) add(parameter);
  if (arguments.vararg) add(arguments.vararg);
  if (arguments.kwarg) add(arguments.kwarg);
  out.positional_only = static_cast<uint16_t>(arguments.posonlyargs.size());
  out.positional = static_cast<uint16_t>(arguments.posonlyargs.size() + arguments.args.size());
  out.keyword_only = static_cast<uint16_t>(arguments.kwonlyargs.size());
  out.has_varargs = arguments.vararg != nullptr;
  out.has_varkwargs = arguments.kwarg != nullptr;
}

// The cells that the new function inherits, as one tuple in the next register.
void Emitter::push_closure(const Scope& scope, Span span) {
  Reg first = b_.top();
  for (const FreeVariable& variable : scope.frees) {
    Reg to = b_.allocate();
    if (variable.from_parent_cell) b_.move(to, {cell_register(variable.index), false}, at(span));
    else b_.emit(Op::LoadFreeCell, to, variable.index, 0, at(span));
  }
  b_.reset(first);
  b_.emit(Op::BuildTuple, b_.allocate(), first, static_cast<uint32_t>(scope.frees.size()), at(span));
}

void Emitter::push_defaults(const Arguments& args, uint32_t& mode, Span span) {
  if (!args.defaults.empty()) {
    mode |= kDefaults;
    Literal items;
    items.kind = LiteralKind::Tuple;
    for (const Expr* value : args.defaults) {
      auto literal = fold(value);
      if (!literal) break;
      items.items.push_back(std::move(*literal));
    }
    bool all_known = items.items.size() == args.defaults.size();
    if (all_known) constant(std::move(items), {}, at(span));
    else emit_sequence(args.defaults, Op::BuildTuple, span, {});
  }
  Reg first = b_.top();
  uint32_t pairs = 0;
  for (size_t i = 0; i < args.kwonlyargs.size(); ++i) {
    if (!args.kw_defaults[i]) continue;
    b_.load_constant(b_.allocate(), str_literal(args.kwonlyargs[i]->name), at(span));
    expr_next(args.kw_defaults[i]);
    ++pairs;
  }
  if (pairs == 0) return;
  mode |= kKeywordDefaults;
  b_.reset(first);
  b_.emit(Op::BuildMap, b_.allocate(), first, pairs, at(span));
}

Operand Emitter::make_function(const Scope& scope, CodeRef code, const Arguments* args, Span span, Want want,
                               const Scope* annotations) {
  Reg first = b_.top();
  uint32_t mode = 0;
  if (args) push_defaults(*args, mode, span);
  if (!scope.frees.empty()) {
    mode |= kClosure;
    push_closure(scope, span);
  }
  if (annotations && !annotations->frees.empty()) {
    mode |= kAnnotationClosure;
    push_closure(*annotations, span);
  }
  const CodeObject* evaluator = code->kind == CodeKind::Annotations ? code.get() : code->annotations.get();
  if (evaluator && reads_namespace(*evaluator)) mode |= kAnnotationNames;
  Reg to = destination(want, first);
  b_.emit(Op::MakeFunction, to, b_.nested(std::move(code)), mode ? first : 0, at(span), mode);
  return result(want, to);
}

Operand Emitter::emit_lambda(const Lambda& node, Want want) {
  CodeRef code = nested_code(*node.scope, CodeKind::Lambda, node.span, node.args,
                             [&](Emitter& inner) { inner.emit_expression_body(node.body); });
  return make_function(*node.scope, std::move(code), node.args, node.span, want);
}

// Decorators stand in registers from `first` on, the value above them.
void Emitter::apply_decorators(List<Expr*> decorators, Reg first, Reg value) {
  for (size_t i = decorators.size(); i-- > 0;) {
    Reg function = first + static_cast<Reg>(i);
    TSC_CHECK(value == function + 1, "a decorator away from its value");
    b_.emit(Op::Call, function, function, 1, at(decorators[i]));
    value = function;
  }
  b_.reset(first + (decorators.empty() ? 0 : 1));
}

void Emitter::emit_function_def(const FunctionDef& node) {
  Reg mark = b_.top();
  for (const Expr* decorator : node.decorator_list) expr_next(decorator);
  CodeRef code = nested_code(*node.scope, CodeKind::Function, node.span, node.args, [&](Emitter& inner) {
    if (node.annotations) {
      inner.b_.code().annotations = annotations_code(*node.annotations, annotated_parts(node), node.name_span);
    }
    inner.emit_function_body(node);
  });
  bool is_plain_local = node.decorator_list.empty() && node.binding.access == Access::Local;
  Want want;
  if (is_plain_local) want = local_register(node.binding.index);
  Operand function = make_function(*node.scope, std::move(code), node.args, node.name_span, want, node.annotations);
  if (!is_plain_local) {
    apply_decorators(node.decorator_list, mark, function.reg);
    store_binding(node.binding, node.name, {mark, true}, at(node.name_span));
  }
  b_.reset(mark);
}

void Emitter::emit_class_body(const ClassDef& node) {
  prologue();
  InstructionSpan where = at(node.name_span);
  Reg value = b_.allocate();
  auto store_name = [&](std::string_view name) {
    b_.emit(Op::StoreName, b_.site(SiteKind::Name, name), value, 0, where);
    b_.code().instructions.back().flags |= kReleaseB;
  };
  b_.emit(Op::LoadName, value, b_.site(SiteKind::Name, "__name__"), 0, where);
  store_name("__module__");
  b_.load_constant(value, str_literal(node.scope->qualname), where);
  store_name("__qualname__");
  begin_annotations(node.body, node.name_span);
  if (b_.code().has_docstring) {
    b_.load_constant(value, str_literal(b_.code().docstring), where);
    store_name("__doc__");
  }
  b_.reset(value);
  statements(node.body);
  b_.allocate();
  for (uint32_t i = 0; i < scope_.cells.size(); ++i) {
    if (scope_.cells[i].name != "__class__") continue;
    b_.move(value, {cell_register(i), false}, where);
    store_name("__classcell__");
  }
  b_.emit(Op::LoadNamespace, value, 0, 0, where);
  b_.effect(Op::Return, {value, true}, where);
}

// The name and the function of the body, in two registers.
void Emitter::class_head(const ClassDef& node, CodeRef body, Reg base) {
  b_.load_constant(base, str_literal(node.name), at(node.name_span));
  make_function(*node.scope, std::move(body), nullptr, node.name_span, base + 1);
}

Operand Emitter::class_value(const ClassDef& node) {
  CodeRef body = nested_code(*node.scope, CodeKind::ClassBody, node.span, nullptr, [&](Emitter& inner) {
    if (auto* text = docstring(node.body)) inner.b_.code().set_docstring(text->text);
    inner.emit_class_body(node);
  });
  bool is_plain = true;
  for (const Expr* base : node.bases) is_plain &= base->kind != ExprKind::Starred;
  for (const Keyword* keyword : node.keywords) is_plain &= !keyword->name.empty();
  if (!is_plain) return class_value_ex(node, std::move(body));
  Reg base = b_.allocate(2);
  class_head(node, std::move(body), base);
  argument_values(node.bases, node.keywords);
  b_.reset(base);
  Reg to = b_.allocate();
  b_.emit(Op::MakeClass, to, base, call_shape(node.bases.size(), node.keywords), at(node.name_span));
  return {to, true};
}

Operand Emitter::class_value_ex(const ClassDef& node, CodeRef body) {
  Reg base = b_.allocate(2);
  class_head(node, std::move(body), base);
  emit_sequence(node.bases, Op::BuildTuple, node.name_span, {});
  if (node.keywords.empty()) {
    Reg keywords = b_.allocate();
    b_.emit(Op::BuildMap, keywords, keywords, 0, at(node.name_span));
  } else {
    keyword_dict(node.keywords, {}, node.name_span);
  }
  b_.reset(base);
  Reg to = b_.allocate();
  b_.emit(Op::MakeClassEx, to, base, 0, at(node.name_span));
  return {to, true};
}

void Emitter::emit_class_def(const ClassDef& node) {
  Reg mark = b_.top();
  for (const Expr* decorator : node.decorator_list) expr_next(decorator);
  Operand value = class_value(node);
  apply_decorators(node.decorator_list, mark, value.reg);
  store_binding(node.binding, node.name, {mark, true}, at(node.name_span));
  b_.reset(mark);
}

}  // namespace tsc::lang
