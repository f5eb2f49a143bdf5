#include "front_testing.h"

namespace tsc::lang {

TEST_CASE("assignments") {
  CHECK(tree("a = b = c") ==
        "Assign(targets=[Name(id='a', ctx=Store()), Name(id='b', ctx=Store())], value=Name(id='c', "
        "ctx=Load()))");
  CHECK(tree("a, *b = c") ==
        "Assign(targets=[Tuple(elts=[Name(id='a', ctx=Store()), Starred(value=Name(id='b', "
        "ctx=Store()), "
        "ctx=Store())], ctx=Store())], value=Name(id='c', ctx=Load()))");
  CHECK(tree("x[0].y @= 2") ==
        "AugAssign(target=Attribute(value=Subscript(value=Name(id='x', ctx=Load()), "
        "slice=Constant(value=0), ctx=Load()), attr='y', ctx=Store()), op=MatMult(), "
        "value=Constant(value=2))");
  CHECK(tree("x: int = 3") ==
        "AnnAssign(target=Name(id='x', ctx=Store()), annotation=Name(id='int', ctx=Load()), "
        "value=Constant(value=3), simple=1)");
  CHECK(tree("(x): int").find("simple=0") != std::string::npos);
  CHECK(tree("x = yield_ = *a, b").find("Starred(value=Name(id='a', ctx=Load()), ctx=Load())") != std::string::npos);
  CHECK(tree("del a, b[0], c.d") ==
        "Delete(targets=[Name(id='a', ctx=Del()), Subscript(value=Name(id='b', ctx=Load()), "
        "slice=Constant(value=0), ctx=Del()), Attribute(value=Name(id='c', ctx=Load()), attr='d', "
        "ctx=Del())])");
}

TEST_CASE("imports") {
  CHECK(tree("import a.b as c, d") == "Import(names=[alias(name='a.b', asname='c'), alias(name='d')])");
  CHECK(tree("from ...a.b import (c as d, e,)") ==
        "ImportFrom(module='a.b', names=[alias(name='c', asname='d'), alias(name='e')], level=3)");
  CHECK(tree("from . import x") == "ImportFrom(names=[alias(name='x')], level=1)");
  CHECK(tree("from a import *") == "ImportFrom(module='a', names=[alias(name='*')], level=0)");
}

TEST_CASE("functions and classes") {
  CHECK(tree("@d(1)\n@e\ndef f(a: int, /, b=2, *c: t, k, **r) -> x: return\n") ==
        "FunctionDef(name='f', args=arguments(posonlyargs=[arg(arg='a', annotation=Name(id='int', "
        "ctx=Load()))], args=[arg(arg='b')], vararg=arg(arg='c', annotation=Name(id='t', "
        "ctx=Load())), "
        "kwonlyargs=[arg(arg='k')], kw_defaults=[None], kwarg=arg(arg='r'), "
        "defaults=[Constant(value=2)]), body=[Return()], decorator_list=[Call(func=Name(id='d', "
        "ctx=Load()), args=[Constant(value=1)], keywords=[]), Name(id='e', ctx=Load())], "
        "returns=Name(id='x', ctx=Load()))");
  CHECK(tree("class A(B, m=C):\n  'doc'\n  x = 1\n") ==
        "ClassDef(name='A', bases=[Name(id='B', ctx=Load())], keywords=[keyword(arg='m', "
        "value=Name(id='C', ctx=Load()))], body=[Expr(value=Constant(value='doc')), "
        "Assign(targets=[Name(id='x', ctx=Store())], value=Constant(value=1))], decorator_list=[])");
  CHECK(tree("class A: pass") == "ClassDef(name='A', bases=[], keywords=[], body=[Pass()], decorator_list=[])");
}

TEST_CASE("blocks with clauses") {
  CHECK(tree("if a: b\nelif c: d\nelse: e") ==
        "If(test=Name(id='a', ctx=Load()), body=[Expr(value=Name(id='b', ctx=Load()))], "
        "orelse=[If(test=Name(id='c', ctx=Load()), body=[Expr(value=Name(id='d', ctx=Load()))], "
        "orelse=[Expr(value=Name(id='e', ctx=Load()))])])");
  CHECK(tree("for a, in *b, c:\n  break\nelse:\n  continue\n") ==
        "For(target=Tuple(elts=[Name(id='a', ctx=Store())], ctx=Store()), iter=Tuple(elts=[Starred("
        "value=Name(id='b', ctx=Load()), ctx=Load()), Name(id='c', ctx=Load())], ctx=Load()), "
        "body=[Break()], orelse=[Continue()])");
  CHECK(tree("while a: pass\nelse: b") ==
        "While(test=Name(id='a', ctx=Load()), body=[Pass()], orelse=[Expr(value=Name(id='b', "
        "ctx=Load()))])");
  CHECK(tree("try: a\nexcept (B, C) as e: pass\nexcept: d\nelse: f\nfinally: g") ==
        "Try(body=[Expr(value=Name(id='a', ctx=Load()))], handlers=[ExceptHandler(type=Tuple("
        "elts=[Name(id='B', ctx=Load()), Name(id='C', ctx=Load())], ctx=Load()), name='e', "
        "body=[Pass()]), ExceptHandler(body=[Expr(value=Name(id='d', ctx=Load()))])], "
        "orelse=[Expr(value=Name(id='f', ctx=Load()))], finalbody=[Expr(value=Name(id='g', "
        "ctx=Load()))])");
}

TEST_CASE("with statements in every spelling") {
  const std::string two =
      "With(items=[withitem(context_expr=Name(id='a', ctx=Load()), optional_vars=Name(id='b', "
      "ctx=Store())), withitem(context_expr=Name(id='c', ctx=Load()), optional_vars=Name(id='d', "
      "ctx=Store()))], body=[Pass()])";
  CHECK(tree("with a as b, c as d: pass") == two);
  CHECK(tree("with (a as b, c as d): pass") == two);
  CHECK(tree("with (\n  a as b,\n  c as d,\n): pass") == two);
  CHECK(tree("with (a, c): pass").find("Tuple") == std::string::npos);
  CHECK(tree("with (a, c) as b: pass").find("Tuple") != std::string::npos);
  CHECK(tree("with (a, c), b: pass").find("Tuple") != std::string::npos);
  CHECK(tree("with (yield): pass").find("Yield()") != std::string::npos);
  CHECK(tree("with (a): pass") == "With(items=[withitem(context_expr=Name(id='a', ctx=Load()))], body=[Pass()])");
}

TEST_CASE("simple statements") {
  CHECK(tree("raise A from b; assert c, d; global e, f; pass") ==
        "Raise(exc=Name(id='A', ctx=Load()), cause=Name(id='b', ctx=Load())), "
        "Assert(test=Name(id='c', "
        "ctx=Load()), msg=Name(id='d', ctx=Load())), Global(names=['e', 'f']), Pass()");
  CHECK(tree("def f():\n  x = yield a\n  yield\n  yield from b\n  nonlocal_ = (yield)\n").find("YieldFrom") !=
        std::string::npos);
  CHECK(tree("return *a, b").find("Starred") != std::string::npos);
}

TEST_CASE("match statements") {
  const auto pattern = [](const std::string& text) {
    std::string printed = tree("match x:\n  case " + text + ": pass\n");
    const std::string head = "Match(subject=Name(id='x', ctx=Load()), cases=[match_case(pattern=";
    const std::string tail = ", body=[Pass()])])";
    return printed.substr(head.size(), printed.size() - head.size() - tail.size());
  };
  CHECK(pattern("_") == "MatchAs()");
  CHECK(pattern("a") == "MatchAs(name='a')");
  CHECK(pattern("-1.5") == "MatchValue(value=UnaryOp(op=USub(), operand=Constant(value=1.5)))");
  CHECK(pattern("'a' 'b'") == "MatchValue(value=Constant(value='ab'))");
  CHECK(pattern("None | True") == "MatchOr(patterns=[MatchSingleton(value=None), MatchSingleton(value=True)])");
  CHECK(pattern("a.b.c").find("MatchValue(value=Attribute(") == 0);
  CHECK(pattern("[a, *_, b]") == "MatchSequence(patterns=[MatchAs(name='a'), MatchStar(), MatchAs(name='b')])");
  CHECK(pattern("a, *r") == "MatchSequence(patterns=[MatchAs(name='a'), MatchStar(name='r')])");
  CHECK(pattern("(a)") == "MatchAs(name='a')");
  CHECK(pattern("(a,)") == "MatchSequence(patterns=[MatchAs(name='a')])");
  CHECK(pattern("()") == "MatchSequence(patterns=[])");
  CHECK(pattern("[a]") == "MatchSequence(patterns=[MatchAs(name='a')])");
  CHECK(pattern("1 as n") == "MatchAs(pattern=MatchValue(value=Constant(value=1)), name='n')");
  CHECK(pattern("{'k': v, **r}") == "MatchMapping(keys=[Constant(value='k')], patterns=[MatchAs(name='v')], rest='r')");
  CHECK(pattern("P(1, x=y)") ==
        "MatchClass(cls=Name(id='P', ctx=Load()), patterns=[MatchValue(value=Constant(value=1))], "
        "kwd_attrs=['x'], kwd_patterns=[MatchAs(name='y')])");
  CHECK(pattern("a.B()").find("MatchClass(cls=Attribute(") == 0);
  CHECK(pattern("a if b") == "MatchAs(name='a'), guard=Name(id='b', ctx=Load())");
  CHECK(pattern("-1-2j").find("BinOp(") != std::string::npos);
  CHECK(faults("match x:\n  case 1j+2j: pass\n") == Faults{"2:8 E0309"});
  CHECK(faults("match x:\n  case 1+2: pass\n") == Faults{"2:8 E0309"});
  CHECK(faults("match x:\n  case *a: pass\n") == Faults{"2:8 E0309"});
  CHECK(faults("match x:\n  case [*a, *b]: pass\n") == Faults{"2:13 E0309"});
  CHECK(faults("match x:\n  case f'{a}': pass\n") == Faults{"2:8 E0309"});
  CHECK(faults("match x:\n  case {**r, 'a': 1}: pass\n") == Faults{"2:11 E0309"});
  CHECK(faults("match x:\n  case A(b=1, b=2): pass\n") == Faults{"2:15 E0611"});
}

TEST_CASE("printed trees can be indented") {
  Source source("test.tsc", "x = f(1)\n");
  Arena arena;
  CHECK(print_ast(*parse_module(source, arena).module, true) ==
        "Module(\n  body=[\n    Assign(\n      targets=[\n        Name(id='x', ctx=Store())],\n"
        "      value=Call(\n        func=Name(id='f', ctx=Load()),\n        args=[\n"
        "          Constant(value=1)],\n        keywords=[]))],\n  type_ignores=[])");
}

}  // namespace tsc::lang
