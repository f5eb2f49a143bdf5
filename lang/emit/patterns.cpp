// The match statement: each case tests its pattern step by step and jumps to the next case at the
// first mismatch. Names are bound only when the whole pattern has matched.
#include "lang/emit/emitter.h"

namespace tsc::lang {
namespace {

bool is_wildcard(const Pattern* p) {
  if (auto* node = try_as<const MatchAs>(p)) return !node->pattern && node->name.empty();
  if (auto* node = try_as<const MatchStar>(p)) return node->name.empty();
  return false;
}

bool all_wildcards(List<Pattern*> patterns) {
  for (const Pattern* p : patterns) {
    if (!is_wildcard(p)) return false;
  }
  return true;
}

}  // namespace

void Emitter::emit_match(const Match& node) {
  Reg subject = expr_next(node.subject);
  Reg mark = b_.top();
  JumpLabel end = b_.make_label();
  Reg highest = mark;
  for (const MatchCase* item : node.cases) {
    JumpLabel next = b_.make_label();
    Captures captures;
    pattern(item->pattern, subject, next, captures);
    for (const Capture& capture : captures) {
      store_binding(capture.binding, capture.name, {capture.value, false}, at(capture.span));
    }
    if (item->guard) jump_if(item->guard, false, next);
    highest = std::max(highest, b_.top());
    // The parts that the pattern took out of the subject die before the body runs.
    for (Reg reg = subject; reg < b_.top(); ++reg) b_.emit(Op::Clear, reg, 0, 0, at(item->span));
    b_.reset(mark);
    statements(item->body);
    b_.jump(end, at(item->span));
    b_.place(next);
  }
  for (Reg reg = subject; reg < highest; ++reg) b_.emit(Op::Clear, reg, 0, 0, at(node.subject));
  b_.place(end);
  b_.reset(subject);
}

void Emitter::pattern(const Pattern* p, Reg subject, JumpLabel fail, Captures& captures) {
  switch (p->kind) {
    case PatternKind::MatchValue: {
      Reg mark = b_.top();
      const Expr* value = as<const MatchValue>(p)->value;
      std::optional<uint32_t> index = number_constant(value);
      Operand expected = index ? Operand{} : expr(value);
      jump_if_pair(CompareOperator::Eq, value, {subject, false}, expected, index, false, fail, at(value));
      b_.reset(mark);
      break;
    }
    case PatternKind::MatchSingleton: {
      ConstantKind value = as<const MatchSingleton>(p)->value;
      if (value == ConstantKind::None) {
        b_.jump_if(Op::JumpIfNotNone, {subject, false}, fail, at(p->span));
        break;
      }
      Literal literal;
      literal.kind = value == ConstantKind::True ? LiteralKind::True : LiteralKind::False;
      Operand expected = constant(std::move(literal), {}, at(p->span));
      b_.binary(Op::Is, expected.reg, {subject, false}, expected, at(p->span));
      b_.jump_if(Op::JumpIfFalse, expected, fail, at(p->span));
      b_.reset(expected.reg);
      break;
    }
    case PatternKind::MatchSequence: pattern_sequence(*as<const MatchSequence>(p), subject, fail, captures); break;
    case PatternKind::MatchMapping: pattern_mapping(*as<const MatchMapping>(p), subject, fail, captures); break;
    case PatternKind::MatchClass: pattern_class(*as<const MatchClass>(p), subject, fail, captures); break;
    case PatternKind::MatchStar: {
      auto& node = *as<const MatchStar>(p);
      if (!node.name.empty()) captures.push_back({node.binding, node.name, subject, node.span});
      break;
    }
    case PatternKind::MatchAs: {
      auto& node = *as<const MatchAs>(p);
      if (node.pattern) pattern(node.pattern, subject, fail, captures);
      if (!node.name.empty()) captures.push_back({node.binding, node.name, subject, node.span});
      break;
    }
    case PatternKind::MatchOr: pattern_or(*as<const MatchOr>(p), subject, fail, captures); break;
  }
}

void Emitter::pattern_sequence(const MatchSequence& node, Reg subject, JumpLabel fail, Captures& captures) {
  InstructionSpan where = at(node.span);
  size_t star = 0;
  while (star < node.patterns.size() && node.patterns[star]->kind != PatternKind::MatchStar) ++star;
  bool has_star = star < node.patterns.size();
  uint32_t count = static_cast<uint32_t>(node.patterns.size());
  Reg test = b_.allocate();
  b_.unary(Op::MatchSequence, test, {subject, false}, 0, where);
  b_.jump_if(Op::JumpIfFalse, {test, true}, fail, where);
  uint32_t least = has_star ? count - 1 : count;
  if (!has_star || least > 0) {
    b_.unary(Op::Length, test, {subject, false}, 0, where);
    Operand length{test, true};
    CompareOperator op = has_star ? CompareOperator::GtE : CompareOperator::Eq;
    jump_if_pair(op, nullptr, length, {}, b_.constant(int_literal(least)), false, fail, where);
  }
  b_.reset(test);
  if (all_wildcards(node.patterns)) return;
  if (has_star && is_wildcard(node.patterns[star])) return pattern_items(node, star, subject, fail, captures);
  Reg first = b_.allocate(count);
  if (has_star) {
    size_t after = node.patterns.size() - star - 1;
    if (star > 255 || after > 255) throw CodeLimit{"patterns on one side of a starred one"};
    b_.unary(Op::UnpackEx, first, {subject, false}, static_cast<uint32_t>(star | after << 8), where);
  } else {
    b_.unary(Op::UnpackSequence, first, {subject, false}, count, where);
  }
  for (uint32_t i = 0; i < count; ++i) pattern(node.patterns[i], first + i, fail, captures);
}

// What nobody names between the first and the last ones is not looked at: it may be long, or without an end.
void Emitter::pattern_items(const MatchSequence& node, size_t star, Reg subject, JumpLabel fail, Captures& captures) {
  InstructionSpan where = at(node.span);
  for (size_t i = 0; i < node.patterns.size(); ++i) {
    if (is_wildcard(node.patterns[i])) continue;
    Reg item = b_.allocate();
    if (i < star) {
      b_.load_constant(item, int_literal(static_cast<int64_t>(i)), where);
    } else {
      b_.unary(Op::Length, item, {subject, false}, 0, where);
      Operand back = constant(int_literal(static_cast<int64_t>(node.patterns.size() - i)), {}, where);
      b_.binary(Op::Sub, item, {item, true}, back, where);
      b_.reset(item + 1);
    }
    b_.binary(Op::LoadSubscr, item, {subject, false}, {item, true}, where);
    pattern(node.patterns[i], item, fail, captures);
  }
}

void Emitter::pattern_mapping(const MatchMapping& node, Reg subject, JumpLabel fail, Captures& captures) {
  InstructionSpan where = at(node.span);
  uint32_t count = static_cast<uint32_t>(node.keys.size());
  Reg test = b_.allocate();
  b_.unary(Op::MatchMapping, test, {subject, false}, 0, where);
  b_.jump_if(Op::JumpIfFalse, {test, true}, fail, where);
  b_.reset(test);
  if (count) {
    Operand keys = emit_sequence(node.keys, Op::BuildTuple, node.span, {});
    b_.binary(Op::MatchKeys, keys.reg, {subject, false}, keys, where);
    b_.jump_if(Op::JumpIfNone, keys.kept(), fail, where);
    Reg first = b_.allocate(count);
    b_.unary(Op::UnpackSequence, first, keys, count, where);
    for (uint32_t i = 0; i < count; ++i) pattern(node.patterns[i], first + i, fail, captures);
  }
  if (!node.rest.empty()) mapping_rest(node, subject, captures);
}

void Emitter::mapping_rest(const MatchMapping& node, Reg subject, Captures& captures) {
  InstructionSpan where = at(node.rest_span);
  Reg rest = b_.allocate();
  b_.emit(Op::BuildMap, rest, rest, 0, where);
  b_.effect(Op::MapUpdate, {rest, false}, {subject, false}, where);
  for (const Expr* key : node.keys) {
    Operand value = expr(key);
    b_.effect(Op::DeleteSubscr, {rest, false}, value, where);
    b_.reset(rest + 1);
  }
  captures.push_back({node.binding, node.rest, rest, node.rest_span});
}

void Emitter::pattern_class(const MatchClass& node, Reg subject, JumpLabel fail, Captures& captures) {
  InstructionSpan where = at(node.span);
  Reg window = b_.allocate();
  b_.move(window, {subject, false}, where);
  expr_next(node.cls);
  std::vector<std::string_view> names(node.kwd_attrs.begin(), node.kwd_attrs.end());
  uint32_t positional = static_cast<uint32_t>(node.patterns.size());
  uint32_t count = positional + static_cast<uint32_t>(names.size());
  b_.reset(window + 1);
  b_.emit(Op::MatchClass, window, window, b_.shape(positional, names), where);
  b_.jump_if(Op::JumpIfNone, {window, false}, fail, where);
  if (count == 0) return;
  Reg first = b_.allocate(count);
  b_.unary(Op::UnpackSequence, first, {window, true}, count, where);
  for (uint32_t i = 0; i < positional; ++i) pattern(node.patterns[i], first + i, fail, captures);
  for (uint32_t i = positional; i < count; ++i) {
    pattern(node.kwd_patterns[i - positional], first + i, fail, captures);
  }
}

// Every alternative binds the same names: whichever matches moves its values to one place.
void Emitter::pattern_or(const MatchOr& node, Reg subject, JumpLabel fail, Captures& captures) {
  JumpLabel matched = b_.make_label();
  Captures shared;
  Reg results = 0;
  for (size_t i = 0; i < node.patterns.size(); ++i) {
    bool is_last = i + 1 == node.patterns.size();
    JumpLabel next = is_last ? fail : b_.make_label();
    Captures own;
    pattern(node.patterns[i], subject, next, own);
    if (i == 0) {
      shared = own;
      results = b_.allocate(static_cast<uint32_t>(own.size()));
    }
    for (size_t k = 0; k < shared.size(); ++k) {
      for (const Capture& capture : own) {
        if (capture.name != shared[k].name) continue;
        b_.move(results + static_cast<Reg>(k), {capture.value, false}, at(capture.span));
      }
    }
    if (!is_last) {
      b_.jump(matched, at(node.patterns[i]->span));
      b_.place(next);
    }
  }
  b_.place(matched);
  for (size_t k = 0; k < shared.size(); ++k) {
    shared[k].value = results + static_cast<Reg>(k);
    captures.push_back(shared[k]);
  }
}

}  // namespace tsc::lang
