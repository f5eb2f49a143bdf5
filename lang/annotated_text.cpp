// An expression as text again, in the form that Python gives annotations which mean their text.
#include "lang/annotated.h"
#include "lang/ast_print.h"

namespace tsc::lang {
namespace {

// How tightly a place binds: what binds less tightly stands in brackets there.
// clang-format off
enum Tightness : int { kTuple, kTest, kOr, kAnd, kNot, kCompare, kBitOr, kBitXor, kBitAnd, kShift, kSum, kTerm,
                       kFactor, kPower, kAwait, kAtom };
// clang-format on

struct OperatorRow {
  const char* text;
  int tightness;
};
// In the order of Operator.
constexpr OperatorRow kOperators[] = {{" + ", kSum},    {" - ", kSum},   {" * ", kTerm},   {" @ ", kTerm},
                                      {" / ", kTerm},   {" % ", kTerm},  {" ** ", kPower}, {" << ", kShift},
                                      {" >> ", kShift}, {" | ", kBitOr}, {" ^ ", kBitXor}, {" & ", kBitAnd},
                                      {" // ", kTerm}};
// In the order of CompareOperator.
constexpr const char* kComparisons[] = {" == ", " != ", " < ",      " <= ", " > ",
                                        " >= ", " is ", " is not ", " in ", " not in "};

class Text {
 public:
  explicit Text(const Source& source) : source_(source) {}

  std::string expr(const Expr* e, int place) {
    const std::string text = inside(e);
    return tightness(e) < place ? "(" + text + ")" : text;
  }

 private:
  static int tightness(const Expr* e) {
    if (auto* node = try_as<const BinOp>(e)) return kOperators[static_cast<size_t>(node->op)].tightness;
    if (auto* node = try_as<const BoolOp>(e)) return node->op == BoolOperator::Or ? kOr : kAnd;
    if (auto* node = try_as<const UnaryOp>(e)) return node->op == UnaryOperator::Not ? kNot : kFactor;
    if (auto* node = try_as<const Tuple>(e)) return node->elts.empty() ? kAtom : kTuple;
    if (e->kind == ExprKind::Lambda || e->kind == ExprKind::IfExp) return kTest;
    return e->kind == ExprKind::Compare ? kCompare : kAtom;
  }

  std::string list(List<Expr*> items, int place = kTest) {
    std::string out;
    for (const Expr* item : items) out += (out.empty() ? "" : ", ") + expr(item, place);
    return out;
  }

  std::string inside(const Expr* e) {
    switch (e->kind) {
      case ExprKind::Constant: return constant(*as<const Constant>(e));
      case ExprKind::Name: return std::string(source_.slice(e->span));
      case ExprKind::Attribute: {
        auto& node = *as<const Attribute>(e);
        auto* number = try_as<const Constant>(static_cast<const Expr*>(node.value));
        const bool is_int = number && number->value_kind == ConstantKind::Int;
        return expr(node.value, kAtom) + (is_int ? " ." : ".") + std::string(source_.slice(node.attr_span));
      }
      case ExprKind::Subscript: {
        auto& node = *as<const Subscript>(e);
        return expr(node.value, kAtom) + "[" + expr(node.slice, kTuple) + "]";
      }
      case ExprKind::Call: return call(*as<const Call>(e));
      case ExprKind::Tuple: {
        auto& elts = as<const Tuple>(e)->elts;
        return elts.empty() ? "()" : list(elts) + (elts.size() == 1 ? "," : "");
      }
      case ExprKind::ListExpr: return "[" + list(as<const ListExpr>(e)->elts) + "]";
      case ExprKind::Set: return "{" + list(as<const Set>(e)->elts) + "}";
      case ExprKind::Starred: return "*" + expr(as<const Starred>(e)->value, kBitOr);
      default: return operation(e);
    }
  }

  std::string operation(const Expr* e) {
    if (auto* node = try_as<const BinOp>(e)) {
      const OperatorRow& row = kOperators[static_cast<size_t>(node->op)];
      const bool from_right = node->op == Operator::Pow;
      return expr(node->left, row.tightness + from_right) + row.text + expr(node->right, row.tightness + !from_right);
    }
    if (auto* node = try_as<const UnaryOp>(e)) {
      static constexpr const char* kTexts[] = {"~", "not ", "+", "-"};
      return kTexts[static_cast<size_t>(node->op)] + expr(node->operand, tightness(e));
    }
    if (auto* node = try_as<const BoolOp>(e)) {
      std::string out;
      const char* word = node->op == BoolOperator::Or ? " or " : " and ";
      for (const Expr* value : node->values) out += (out.empty() ? "" : word) + expr(value, tightness(e) + 1);
      return out;
    }
    if (auto* node = try_as<const Compare>(e)) {
      std::string out = expr(node->left, kCompare + 1);
      for (size_t i = 0; i < node->ops.size(); ++i)
        out += kComparisons[static_cast<size_t>(node->ops[i])] + expr(node->comparators[i], kCompare + 1);
      return out;
    }
    if (auto* node = try_as<const IfExp>(e))
      return expr(node->body, kTest + 1) + " if " + expr(node->test, kTest + 1) + " else " + expr(node->orelse, kTest);
    if (auto* node = try_as<const Lambda>(e)) {
      const std::string parameters = arguments(*node->args);
      return "lambda" + (parameters.empty() ? "" : " " + parameters) + ": " + expr(node->body, kTest);
    }
    return rest(e);
  }

  std::string rest(const Expr* e) {
    if (auto* node = try_as<const Slice>(e)) {
      const auto part = [&](const Expr* p) { return p ? expr(p, kTest) : std::string(); };
      return part(node->lower) + ":" + part(node->upper) + (node->step ? ":" + part(node->step) : "");
    }
    if (auto* node = try_as<const Dict>(e)) {
      std::string out;
      for (size_t i = 0; i < node->values.size(); ++i) {
        const Expr* key = node->keys[i];
        out += out.empty() ? "" : ", ";
        out += key ? expr(key, kTest) + ": " + expr(node->values[i], kTest) : "**" + expr(node->values[i], kBitOr);
      }
      return "{" + out + "}";
    }
    if (auto* node = try_as<const JoinedStr>(e)) return "f" + quote_text(pieces(*node));
    if (auto* node = try_as<const ListComp>(e)) return "[" + expr(node->elt, kTest) + loops(node->generators) + "]";
    if (auto* node = try_as<const SetComp>(e)) return "{" + expr(node->elt, kTest) + loops(node->generators) + "}";
    if (auto* node = try_as<const GeneratorExp>(e)) return "(" + expr(node->elt, kTest) + loops(node->generators) + ")";
    if (auto* node = try_as<const DictComp>(e))
      return "{" + expr(node->key, kTest) + ": " + expr(node->value, kTest) + loops(node->generators) + "}";
    return std::string(source_.slice(e->span));
  }

  std::string loops(List<Comprehension*> generators) {
    std::string out;
    for (const Comprehension* loop : generators) {
      out += " for " + expr(loop->target, kTuple) + " in " + expr(loop->iter, kTest + 1);
      for (const Expr* test : loop->ifs) out += " if " + expr(test, kTest + 1);
    }
    return out;
  }

  std::string call(const Call& node) {
    std::string out = list(node.args);
    for (const Keyword* keyword : node.keywords) {
      out += out.empty() ? "" : ", ";
      out += (keyword->name.empty() ? "**" : std::string(source_.slice(keyword->name_span)) + "=") +
             expr(keyword->value, kTest);
    }
    const bool only_generator =
        node.args.size() == 1 && node.keywords.empty() && node.args[0]->kind == ExprKind::GeneratorExp;
    return expr(node.func, kAtom) + (only_generator ? out : "(" + out + ")");
  }

  std::string arguments(const Arguments& args) {
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    const size_t positional = args.posonlyargs.size() + args.args.size();
    const auto with_default = [&](const Parameter* p, size_t index) {
      const size_t required = positional - args.defaults.size();
      add(name(p) + (index < required ? "" : "=" + expr(args.defaults[index - required], kTest)));
    };
    for (size_t i = 0; i < args.posonlyargs.size(); ++i) with_default(args.posonlyargs[i], i);
    if (!args.posonlyargs.empty()) add("/");
    for (size_t i = 0; i < args.args.size(); ++i) with_default(args.args[i], args.posonlyargs.size() + i);
    if (args.vararg) add("*" + name(args.vararg));
    if (!args.vararg && !args.kwonlyargs.empty()) add("*");
    for (size_t i = 0; i < args.kwonlyargs.size(); ++i)
      add(name(args.kwonlyargs[i]) + (args.kw_defaults[i] ? "=" + expr(args.kw_defaults[i], kTest) : ""));
    if (args.kwarg) add("**" + name(args.kwarg));
    return out;
  }
  std::string name(const Parameter* p) { return std::string(source_.slice(p->name_span)); }

  // What stands between the quotes of an f-string, before it is quoted.
  std::string pieces(const JoinedStr& node) {
    std::string out;
    for (const Expr* piece : node.values) {
      if (auto* text = try_as<const Constant>(piece)) {
        for (char c : text->text) out += c == '{' ? "{{" : c == '}' ? "}}" : std::string(1, c);
        continue;
      }
      auto& field = *as<const FormattedValue>(piece);
      const std::string value = expr(field.value, kTest + 1);
      out += (value.starts_with('{') ? "{ " : "{") + value;
      if (field.conversion) (out += '!') += field.conversion;
      if (field.format_spec) out += ":" + pieces(*as<const JoinedStr>(static_cast<const Expr*>(field.format_spec)));
      out += "}";
    }
    return out;
  }

  static std::string constant(const Constant& node) {
    switch (node.value_kind) {
      case ConstantKind::None: return "None";
      case ConstantKind::False: return "False";
      case ConstantKind::True: return "True";
      case ConstantKind::Ellipsis: return "...";
      case ConstantKind::Int:
        if (node.needs_negation) return "9223372036854775808";
        return node.text.empty() ? std::to_string(node.integer) : std::string(node.text);
      case ConstantKind::Float: return number(node.floating);
      case ConstantKind::Imaginary: {
        std::string text = number(node.floating);
        return (text.ends_with(".0") ? text.substr(0, text.size() - 2) : text) + "j";
      }
      case ConstantKind::Str: return quote_text(node.text);
      case ConstantKind::Bytes: return quote_text(node.text, true);
    }
    return "";
  }
  // Infinity has no literal of its own.
  static std::string number(double value) { return value > 1.7976931348623157e308 ? "1e309" : float_text(value); }

  const Source& source_;
};

}  // namespace

std::string expression_text(const Expr* e, const Source& source) { return Text(source).expr(e, kTest); }

}  // namespace tsc::lang
