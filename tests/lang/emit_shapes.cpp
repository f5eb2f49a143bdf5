// What the emitter makes of single constructs: the instructions that matter for speed and capture.
#include "emit_testing.h"

using namespace tsc::lang;

TEST_CASE("arithmetic reads variables in place and constants from the instruction", "[emit]") {
  CHECK(listing(*function_code("def f(a, b):\n  return a + b * 2\n")) ==
        "MulK r2, r1:b, 2\nAdd r2, r0:a, r2\nReturn r2!\n");
  CHECK(listing(*function_code("def f(a):\n  a += 1\n  return a\n")) == "InplaceAddK r0:a, r0:a, 1\nReturn r0:a\n");
}

TEST_CASE("a temporary is released where it is last read", "[emit]") {
  CHECK(listing(*function_code("def f(a, b, c):\n  x = (a * b) + (b * c)\n  return x\n")) ==
        "Mul r4, r0:a, r1:b\nMul r5, r1:b, r2:c\nAdd r3:x, r4!, r5!\nReturn r3:x\n");
}

TEST_CASE("a numeric loop is four instructions a turn", "[emit]") {
  CHECK(listing(*function_code("def f(n):\n  i = 0\n  while i < n:\n    i += 1\n  return i\n")) ==
        "LoadConst r1:i, 0\nJumpLt r1:i, r0:n, -> 4\nInplaceAddK r1:i, r1:i, 1\n"
        "JumpBack -> 1\nReturn r1:i\n");
}

TEST_CASE("variables that are certainly bound are not checked", "[emit]") {
  CHECK(count_ops(*function_code("def f(a):\n  x = a\n  return x + a\n"), Op::CheckBound) == 0);
  CHECK(count_ops(*function_code("def f(a):\n  if a:\n    x = 1\n  return x + x\n"), Op::CheckBound) == 1);
  CHECK(count_ops(*function_code("def f(a):\n  for x in a: pass\n  return x\n"), Op::CheckBound) == 1);
  CHECK(count_ops(*function_code("def f(a):\n  for x in a:\n    a(x)\n"), Op::CheckBound) == 0);
  CHECK(count_ops(*function_code("def f(a):\n  del a\n  return a\n"), Op::CheckBound) == 1);
  // The assignment may not have happened when the handler runs.
  CHECK(count_ops(*function_code("def f(a):\n  try:\n    x = a()\n  except E:\n    return x\n"), Op::CheckBound) == 1);
}

TEST_CASE("methods are called without a bound method object", "[emit]") {
  CodeRef code = function_code("def f(a):\n  return a.m(1, k=2)\n");
  CHECK(count_ops(*code, Op::LoadMethod) == 1);
  CHECK(count_ops(*code, Op::CallMethodKw) == 1);
  CHECK(count_ops(*code, Op::LoadAttr) == 0);
}

TEST_CASE("comprehensions run in the frame that holds them", "[emit]") {
  CodeRef code = function_code("def f(n):\n  return [i * i for i in range(n)]\n");
  CHECK(code->codes.empty());
  CHECK(count_ops(*code, Op::ListAppend) == 1);
}

TEST_CASE("an assignment's variable keeps its value when the right side fails half way", "[emit]") {
  // `or` and displays must not write x before the last operand is known.
  CodeRef code = function_code("def f(a, x):\n  x = a or g(x)\n  return x\n");
  size_t writes = 0;
  for (const Instruction& i : code->instructions) {
    writes += op_info(i.op).a == OperandKind::Dst && i.a == 1;
  }
  CHECK(writes == 1);
}

TEST_CASE("constants are folded only exactly", "[emit]") {
  auto constants = [](const std::string& text) {
    std::string out;
    CodeRef code = compile_checked("x = " + text + "\n");
    for (const Literal& literal : code->constants) {
      out += literal_text(literal) + ";";
    }
    return out;
  };
  CHECK(constants("-1") == "-1;");
  CHECK(constants("(1, -2.5, 'a', (None, True))") == "(1, -2.5, 'a', (None, True));");
  CHECK(constants("2 * 3 + 1") == "7;");
  CHECK(constants("-9223372036854775808") == "-9223372036854775808;");
  CHECK(constants("9223372036854775807 + 1") == "1;9223372036854775807;");  // raises at run time
  CHECK(constants("1 / 0.0") == "0.0;1;");
  CHECK(constants("1 + 2.0") == "2.0;1;");
  CHECK(constants("y[1:2, None, ..., ::-1]") == "(slice(1, 2, None), None, ..., slice(None, None, -1));");
}

TEST_CASE("equal looking constants of different kinds stay apart", "[emit]") {
  CodeRef code = compile_checked("x = [a(1), a(1.0), a(True), a(0.0), a(-0.0), a('1'), a(b'1'), a(1)]\n");
  CHECK(code->constants.size() == 7);
}

TEST_CASE("statements have ranges that nest", "[emit]") {
  CodeRef code = compile_checked("a = 1\nif a:\n  b = 2\nelse:\n  b = 3\nc = b\n");
  REQUIRE(code->statements.size() == 5);
  CHECK(code->statements[0].parent == -1);
  CHECK(code->statements[2].parent == 1);
  CHECK(code->statements[3].parent == 1);
  CHECK(code->statements[4].parent == -1);
  for (uint32_t pc = 0; pc + 1 < code->instructions.size(); ++pc) {
    int32_t index = statement_at(*code, pc);
    REQUIRE(index >= 0);
    CHECK(code->statements[size_t(index)].begin <= pc);
    CHECK(pc < code->statements[size_t(index)].end);
  }
}

TEST_CASE("at a prompt the last expression is shown", "[emit]") {
  CHECK(count_ops(*compile_checked("1\n2\n", true), Op::PrintExpr) == 1);
  CHECK(count_ops(*compile_checked("x = 1\n", true), Op::PrintExpr) == 0);
  CHECK(count_ops(*compile_checked("1\n2\n", false), Op::PrintExpr) == 0);
}

TEST_CASE("one expression compiles to code that returns it", "[emit]") {
  CompileResult result = compile_expression(std::make_shared<const Source>("<eval>", "a + 1"));
  REQUIRE(result.code);
  CHECK(listing(*result.code) == "LoadGlobal r0, 'a'\nAddK r0, r0, 1\nReturn r0!\n");
}

TEST_CASE("docstrings and annotations are kept, and not evaluated by themselves", "[emit]") {
  CodeRef code = function_code("def f(a: undefined.x = 1) -> 'text':\n  'doc'\n  b: nothing = a\n");
  CHECK(code->docstring == "doc");
  CHECK(count_ops(*code, Op::LoadGlobal) == 0);
  REQUIRE(code->annotations);
  CHECK(code->annotations->kind == CodeKind::Annotations);
  CHECK(literal_text(code->annotations->constants[0]) == "('a', 'return')");
  CHECK(code->annotations->statements.size() == 2);
  CHECK(listing(*code->annotations) ==
        "JumpNeK.1 r0:.0, 0, -> 4\nLoadGlobal r1, 'undefined'\nLoadAttr r1, r1, 'x'\nReturn r1!\n"
        "LoadConst r1, 'text'\nReturn r1!\n");
}

TEST_CASE("the making of a function does not grow with its annotations", "[emit]") {
  const auto size = [](const std::string& text) { return compile_checked(text)->instructions.size(); };
  CHECK(size("def f(a: int, b: list[str] = 3, *c: x) -> y: pass\n") == size("def f(a, b=3, *c): pass\n"));
  // Only what the annotations read of the functions around is handed on.
  const CodeRef outer = function_code("def outer(t):\n  def f(a: t): pass\n  def g(a: int): pass\n", "outer");
  std::vector<uint32_t> modes;
  for (const Instruction& i : outer->instructions)
    if (i.op == Op::MakeFunction) modes.push_back(i.mode());
  CHECK(modes == std::vector<uint32_t>{8, 0});
}

TEST_CASE("annotations of variables are kept by their class or module", "[emit]") {
  CHECK(count_ops(*compile_checked("x: int = 1\ny: str\n"), Op::KeepAnnotations) == 1);
  CHECK(count_ops(*compile_checked("x: int = 1\n"), Op::StoreSubscr) == 0);
  CHECK(count_ops(*compile_checked("a.b: int = 1\n(x): int = 2\n"), Op::KeepAnnotations) == 0);
  CHECK(count_ops(*function_code("def f():\n  x: int = 1\n"), Op::KeepAnnotations) == 0);
  // One that may be passed by says that it was reached; a text that reads `__annotations__` evaluates at once.
  CHECK(count_ops(*compile_checked("if a:\n  x: int = 1\ny: int\n"), Op::SetAdd) == 1);
  CHECK(count_ops(*compile_checked("x: int = 1\nprint(__annotations__)\n"), Op::StoreSubscr) == 1);
}

TEST_CASE("postponed annotations are their text", "[emit]") {
  const CodeRef module = compile_checked("from __future__ import annotations\ndef f(a: list [int], b: 's'): pass\n");
  const CodeRef text = module->codes[0]->annotations;
  REQUIRE(text);
  std::vector<std::string> texts;
  for (const Literal& literal : text->constants)
    if (literal.kind == LiteralKind::Str) texts.push_back(literal.text);
  CHECK(texts == std::vector<std::string>{"list[int]", "'s'"});
  CHECK(module->codes[0]->postpones_annotations);
}
