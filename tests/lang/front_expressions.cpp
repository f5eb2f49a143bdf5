#include "front_testing.h"

namespace tsc::lang {

namespace {

// An expression with every operator in brackets, to see what binds to what.
std::string shape(const Expr* e) {
  if (auto* x = try_as<const Name>(e)) return std::string(x->id);
  if (auto* x = try_as<const Constant>(e)) return x->value_kind == ConstantKind::Int ? std::to_string(x->integer) : "c";
  if (auto* x = try_as<const BinOp>(e)) {
    static const char* const kSigns[] = {"+", "-", "*", "@", "/", "%", "**", "<<", ">>", "|", "^", "&", "//"};
    return "(" + shape(x->left) + kSigns[static_cast<size_t>(x->op)] + shape(x->right) + ")";
  }
  if (auto* x = try_as<const UnaryOp>(e)) {
    static const char* const kSigns[] = {"~", "not ", "+", "-"};
    return "(" + std::string(kSigns[static_cast<size_t>(x->op)]) + shape(x->operand) + ")";
  }
  if (auto* x = try_as<const BoolOp>(e)) {
    std::string out;
    for (const Expr* value : x->values)
      out += (out.empty() ? "" : x->op == BoolOperator::And ? " and " : " or ") + shape(value);
    return "(" + out + ")";
  }
  if (auto* x = try_as<const Compare>(e)) {
    std::string out = shape(x->left);
    for (const Expr* value : x->comparators) out += "?" + shape(value);
    return "(" + out + ")";
  }
  if (auto* x = try_as<const IfExp>(e))
    return "(" + shape(x->body) + " if " + shape(x->test) + " else " + shape(x->orelse) + ")";
  if (auto* x = try_as<const Lambda>(e)) return "(lambda " + shape(x->body) + ")";
  if (auto* x = try_as<const NamedExpr>(e)) return "(" + shape(x->target) + ":=" + shape(x->value) + ")";
  return "?";
}

std::string shape(const std::string& text) {
  Source source("test.tsc", text);
  Arena arena;
  ParseResult result = parse_expression(source, arena);
  INFO(text);
  REQUIRE(result.module);
  return shape(as<ExprStmt>(result.module->body[0])->value);
}

}  // namespace

TEST_CASE("precedence and associativity") {
  CHECK(shape("a - b - c") == "((a-b)-c)");
  CHECK(shape("a ** b ** c") == "(a**(b**c))");
  CHECK(shape("-a ** b") == "(-(a**b))");
  CHECK(shape("a ** -b + c") == "((a**(-b))+c)");
  CHECK(shape("a ** -b ** c") == "(a**(-(b**c)))");
  CHECK(shape("-a * b") == "((-a)*b)");
  CHECK(shape("~-a") == "(~(-a))");
  CHECK(shape("a | b ^ c & d << e + f * g") == "(a|(b^(c&(d<<(e+(f*g))))))");
  CHECK(shape("a @ b // c % d") == "(((a@b)//c)%d)");
  CHECK(shape("not a == b") == "(not (a?b))");
  CHECK(shape("not a and b or c") == "(((not a) and b) or c)");
  CHECK(shape("a or b or c and d and e") == "(a or b or (c and d and e))");
  CHECK(shape("a or (b or c)") == "(a or (b or c))");
  CHECK(shape("a < b < c") == "(a?b?c)");
  CHECK(shape("(a < b) < c") == "((a?b)?c)");
  CHECK(shape("a | b < c") == "((a|b)?c)");
  CHECK(shape("a if b else c if d else e") == "(a if b else (c if d else e))");
  CHECK(shape("lambda: a if b else c") == "(lambda (a if b else c))");
  CHECK(shape("(a := b if c else d)") == "(a:=(b if c else d))");
}

TEST_CASE("comparisons keep every operator") {
  CHECK(expression("a is not b not in c") ==
        "Compare(left=Name(id='a'), ops=[IsNot(), NotIn()], comparators=[Name(id='b'), "
        "Name(id='c')])");
}

TEST_CASE("primaries") {
  CHECK(expression("a.b(c)[d]") ==
        "Subscript(value=Call(func=Attribute(value=Name(id='a'), attr='b'), args=[Name(id='c')], "
        "keywords=[]), slice=Name(id='d'))");
  CHECK(expression("f(a, *b, c, k=1, **d)") ==
        "Call(func=Name(id='f'), args=[Name(id='a'), Starred(value=Name(id='b')), Name(id='c')], "
        "keywords=[keyword(arg='k', value=Constant(value=1)), keyword(value=Name(id='d'))])");
  CHECK(expression("f(x for x in y)").find("args=[GeneratorExp(") != std::string::npos);
  CHECK(expression("f(a := 1)").find("NamedExpr(") != std::string::npos);
  CHECK(expression("x[1:2, ::3, ..., None, *y]") ==
        "Subscript(value=Name(id='x'), slice=Tuple(elts=[Slice(lower=Constant(value=1), "
        "upper=Constant(value=2)), Slice(step=Constant(value=3)), Constant(value=Ellipsis), "
        "Constant(value=None), Starred(value=Name(id='y'))]))");
  CHECK(expression("x[:]") == "Subscript(value=Name(id='x'), slice=Slice())");
  CHECK(expression("x[a,]").find("slice=Tuple(") != std::string::npos);
}

TEST_CASE("displays") {
  CHECK(expression("()") == "Tuple(elts=[])");
  CHECK(expression("(a)") == "Name(id='a')");
  CHECK(expression("(a,)") == "Tuple(elts=[Name(id='a')])");
  CHECK(expression("[*a, b]") == "List(elts=[Starred(value=Name(id='a')), Name(id='b')])");
  CHECK(expression("{a, *b}") == "Set(elts=[Name(id='a'), Starred(value=Name(id='b'))])");
  CHECK(expression("{}") == "Dict(keys=[], values=[])");
  CHECK(expression("{a: 1, **b}") == "Dict(keys=[Name(id='a'), None], values=[Constant(value=1), Name(id='b')])");
}

TEST_CASE("comprehensions") {
  CHECK(tree("[x for x, y in z if a if b for w in x]") ==
        "Expr(value=ListComp(elt=Name(id='x', ctx=Load()), generators=[comprehension("
        "target=Tuple(elts=[Name(id='x', ctx=Store()), Name(id='y', ctx=Store())], ctx=Store()), "
        "iter=Name(id='z', ctx=Load()), ifs=[Name(id='a', ctx=Load()), Name(id='b', ctx=Load())], "
        "is_async=0), comprehension(target=Name(id='w', ctx=Store()), iter=Name(id='x', ctx=Load()), "
        "ifs=[], is_async=0)]))");
  CHECK(expression("{k: v for k, v in d}").substr(0, 8) == "DictComp");
  CHECK(expression("{k for k in d}").substr(0, 7) == "SetComp");
  CHECK(expression("(k for k in d)").substr(0, 12) == "GeneratorExp");
  CHECK(expression("[y for x in a if (y := x)]").find("NamedExpr") != std::string::npos);
}

TEST_CASE("lambdas take every kind of parameter") {
  CHECK(expression("lambda a, /, b=1, *c, d, e=2, **f: 0") ==
        "Lambda(args=arguments(posonlyargs=[arg(arg='a')], args=[arg(arg='b')], vararg=arg(arg='c'), "
        "kwonlyargs=[arg(arg='d'), arg(arg='e')], kw_defaults=[None, Constant(value=2)], "
        "kwarg=arg(arg='f'), defaults=[Constant(value=1)]), body=Constant(value=0))");
  CHECK(expression("lambda *, a: a").find("kwonlyargs=[arg(arg='a')]") != std::string::npos);
}

TEST_CASE("spans cover the source of each node") {
  Source source("test.tsc", "x = (a + b) * f(c)[1]\n");
  Arena arena;
  ParseResult result = parse_module(source, arena);
  auto* product = as<BinOp>(as<Assign>(result.module->body[0])->value);
  CHECK(source.slice(product->span) == "(a + b) * f(c)[1]");
  CHECK(source.slice(product->left->span) == "a + b");
  CHECK(source.slice(product->op_span) == "*");
  CHECK(source.slice(product->right->span) == "f(c)[1]");
  CHECK(source.slice(as<Subscript>(product->right)->value->span) == "f(c)");
}

TEST_CASE("depth is limited, not the stack") {
  CHECK(faults("x = " + std::string(900, '-') + "1\n") == Faults{});
  const size_t kMany = 1000000;
  std::string chain = "x = 1", nots = "x = ", lambdas = "x = ", dots = "x = a", ifs = "x = ";
  for (size_t i = 0; i < kMany; ++i) chain += "+1";
  for (size_t i = 0; i < kMany; ++i) nots += "not ";
  for (size_t i = 0; i < kMany / 10; ++i) lambdas += "lambda:";
  for (size_t i = 0; i < kMany / 10; ++i) dots += ".b";
  for (size_t i = 0; i < kMany / 10; ++i) ifs += "a if b else ";
  for (const std::string& text : {chain, nots + "y", lambdas + "y", dots, ifs + "y"}) {
    Faults found = faults(text + "\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].substr(found[0].size() - 5) == "E0903");
  }
  std::string flat = "x = [";
  for (size_t i = 0; i < 100000; ++i) flat += "1,";
  CHECK(faults(flat + "]\n") == Faults{});
  std::string alternatives = "x = a";
  for (size_t i = 0; i < 100000; ++i) alternatives += " or a";
  CHECK(faults(alternatives + "\n") == Faults{});
  std::string elifs = "if a: b\n";
  for (size_t i = 0; i < 5000; ++i) elifs += "elif a: b\n";
  CHECK(faults(elifs).size() == 1);
}

}  // namespace tsc::lang
