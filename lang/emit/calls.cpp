// Calls: plain, of methods, with keywords, with * and **.
#include "lang/emit/emitter.h"

namespace tsc::lang {
namespace {

bool needs_call_ex(const Call& node) {
  for (const Expr* argument : node.args) {
    if (argument->kind == ExprKind::Starred) return true;
  }
  for (const Keyword* keyword : node.keywords) {
    if (keyword->name.empty()) return true;
  }
  return false;
}

}  // namespace

void Emitter::argument_values(List<Expr*> args, List<Keyword*> keywords) {
  for (const Expr* argument : args) expr_next(argument);
  for (const Keyword* keyword : keywords) expr_next(keyword->value);
}

uint32_t Emitter::call_shape(size_t positional, List<Keyword*> keywords) {
  std::vector<std::string_view> names;
  for (const Keyword* keyword : keywords) names.push_back(keyword->name);
  return b_.shape(static_cast<uint32_t>(positional), names);
}

Operand Emitter::emit_call(const Call& node, Want want) {
  Operand out;
  if (emit_super(node, want, out)) return out;
  if (needs_call_ex(node)) return emit_call_ex(node, want);
  if (auto* function = try_as<const Attribute>(node.func)) {
    return emit_method_call(node, *function, want);
  }
  InstructionSpan where = at(node.span);
  Reg base = b_.top();
  expr_next(node.func);
  argument_values(node.args, node.keywords);
  Reg to = destination(want, base);
  if (node.keywords.empty()) {
    b_.emit(Op::Call, to, base, static_cast<uint32_t>(node.args.size()), where);
  } else {
    b_.emit(Op::CallKw, to, base, call_shape(node.args.size(), node.keywords), where);
  }
  return result(want, to);
}

Operand Emitter::emit_method_call(const Call& node, const Attribute& function, Want want) {
  InstructionSpan where = at_attribute(function, node.span);
  Reg base = b_.top();
  Operand object = expr(function.value);
  b_.reset(base);
  b_.allocate(2);
  b_.unary(Op::LoadMethod, base, object, b_.site(SiteKind::Method, function.attr),
           at_attribute(function, function.span));
  argument_values(node.args, node.keywords);
  Reg to = destination(want, base);
  if (node.keywords.empty()) {
    b_.emit(Op::CallMethod, to, base, static_cast<uint32_t>(node.args.size()), where);
  } else {
    b_.emit(Op::CallMethodKw, to, base, call_shape(node.args.size(), node.keywords), where);
  }
  return result(want, to);
}

// super() is super(__class__, first parameter), spelled out.
bool Emitter::emit_super(const Call& node, Want want, Operand& out) {
  auto* function = try_as<const Name>(node.func);
  bool is_super = function && function->id == "super" && node.args.empty() && node.keywords.empty() &&
                  function->binding.access == Access::Global && b_.code().parameters.positional > 0 &&
                  !scope_.deletes_first;
  if (!is_super) return false;
  uint32_t free = 0;
  while (free < scope_.frees.size() && scope_.frees[free].name != "__class__") ++free;
  if (free == scope_.frees.size()) return false;
  Reg base = b_.top();
  expr_next(function);
  b_.emit(Op::LoadFree, b_.allocate(), free, 0, at(&node));
  Binding first{Access::Local, 0};
  for (uint32_t i = 0; i < scope_.cells.size(); ++i) {
    if (scope_.cells[i].parameter == 0) first = {Access::Cell, i};
  }
  load_binding(first, scope_.locals[0], b_.allocate(), at(&node));
  Reg to = destination(want, base);
  b_.emit(Op::Call, to, base, 2, at(node.span));
  out = result(want, to);
  return true;
}

Operand Emitter::emit_call_ex(const Call& node, Want want) {
  Reg base = b_.top();
  expr_next(node.func);
  positional_tuple(node.args, node.span);
  if (!node.keywords.empty()) keyword_dict(node.keywords, base, node.span);
  Reg to = destination(want, base);
  b_.emit(Op::CallEx, to, base, node.keywords.empty() ? 0 : 1, at(node.span));
  return result(want, to);
}

// The positional arguments as one iterable in the next register.
void Emitter::positional_tuple(List<Expr*> args, Span span) {
  if (args.size() == 1 && args[0]->kind == ExprKind::Starred) {
    expr_next(as<const Starred>(static_cast<const Expr*>(args[0]))->value);
    return;
  }
  emit_sequence(args, Op::BuildTuple, span, {});
}

// The keyword arguments as one mapping in the next register. Runs of named ones are merged like
// mappings once a ** came before, so that a repeated name is found.
void Emitter::keyword_dict(List<Keyword*> keywords, std::optional<Reg> callee, Span span) {
  if (keywords.size() == 1 && keywords[0]->name.empty() && callee) {
    expr_next(keywords[0]->value);
    return;
  }
  Reg map = b_.allocate();
  bool is_first = true;
  for (size_t i = 0; i < keywords.size();) {
    Reg part = b_.top();
    if (keywords[i]->name.empty()) {
      if (is_first) b_.emit(Op::BuildMap, map, map, 0, at(span));
      expr_next(keywords[i++]->value);
    } else {
      uint32_t pairs = 0;
      for (; i < keywords.size() && !keywords[i]->name.empty(); ++i, ++pairs) {
        b_.load_constant(b_.allocate(), str_literal(keywords[i]->name), at(keywords[i]->span));
        expr_next(keywords[i]->value);
      }
      b_.reset(part);
      Reg to = is_first ? map : b_.allocate();
      b_.emit(Op::BuildMap, to, part, pairs, at(span));
      if (is_first) {
        is_first = false;
        continue;
      }
    }
    is_first = false;
    Operand function = {callee ? *callee : map, false};
    b_.effect(Op::MapMerge, {map, false}, {part, true}, function, at(span));
    b_.reset(map + 1);
  }
}

}  // namespace tsc::lang
