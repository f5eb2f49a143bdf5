#include "front_testing.h"

namespace tsc::lang {

TEST_CASE("blocks") {
  CHECK(token_names("if a:\n  b\n  c\nd\n") ==
        "IF NAME COLON NEWLINE INDENT NAME NEWLINE NAME NEWLINE DEDENT NAME NEWLINE END");
  CHECK(token_names("if a:\n  if b:\n    c\n") ==
        "IF NAME COLON NEWLINE INDENT IF NAME COLON NEWLINE INDENT NAME NEWLINE DEDENT DEDENT END");
}

TEST_CASE("blank lines, comments and brackets do not count") {
  CHECK(token_names("\n  # c\na\n\n    # d\nb") == "NAME NEWLINE NAME NEWLINE END");
  CHECK(token_names("(a,\n      b\n)\n") == "LPAR NAME COMMA NAME RPAR NEWLINE END");
  CHECK(token_names("x = [ # c\n\n1]") == "NAME EQUAL LSQB INTEGER RSQB NEWLINE END");
  CHECK(token_names("") == "END");
  CHECK(token_names("   \n\t\n") == "END");
}

TEST_CASE("indentation faults") {
  CHECK(faults("x = 1\n  y = 2\nz = 3\n") == Faults{"2:3 E0203"});
  CHECK(faults("if x:\n        a\n    b\nc\n") == Faults{"3:1 E0204"});
  CHECK(faults("if x:\n\ta\n        b\n") == Faults{"3:1 E0205"});
  CHECK(faults("if x:\n        a\n\tb\n") == Faults{"3:1 E0205"});
  CHECK(faults("if x:\n\ta\n\tb\n") == Faults{});
  CHECK(faults("if x:\ny = 2\n") == Faults{"2:1 E0206"});
  CHECK(faults("class A:\n  def f(self):\n  x = 1\n") == Faults{"3:3 E0206"});
  CHECK(faults("if x:\n  y = = 1\n   z = 2\n") == Faults{"2:6 E0302", "3:4 E0203"});
}

TEST_CASE("an unclosed bracket names its opener") {
  CHECK(faults("x = foo(1,\n  2\n") == Faults{"1:8 E0201"});
  CHECK(faults("x = (1, [2\ndef f():\n  y = = 1\n") == Faults{"1:9 E0201", "3:6 E0302"});
  CHECK(faults("x = (1]\ny = = 2\n") == Faults{"1:7 E0202", "2:4 E0302"});
  CHECK(faults("x = (a[1)\ny = = 2\n") == Faults{"1:9 E0202", "2:4 E0302"});
  CHECK(faults("x = 1)\n") == Faults{"1:6 E0202"});
}

TEST_CASE("limits of nesting") {
  const auto nested = [](size_t n) { return "x = " + std::string(n, '(') + "1" + std::string(n, ')') + "\n"; };
  CHECK(faults(nested(200)) == Faults{});
  CHECK(faults(nested(201)) == Faults{"1:205 E0901"});
  CHECK(faults(nested(1000000)) == Faults{"1:205 E0901"});
  const auto blocks = [](size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += std::string(i, ' ') + "if x:\n";
    return text + std::string(n, ' ') + "y\n";
  };
  CHECK(faults(blocks(100)) == Faults{});
  CHECK(faults(blocks(101)) == Faults{"102:102 E0902"});
}

TEST_CASE("soft keywords are names wherever they can be") {
  CHECK(faults("match = 1\ncase = match\ntype = case\nprint(match, type)\nmatch[case]\nmatch(x)\n") == Faults{});
  CHECK(token_names("match x:\n  case 1: pass\n") ==
        "MATCH NAME COLON NEWLINE INDENT CASE INTEGER COLON PASS NEWLINE DEDENT END");
  CHECK(token_names("match (x):\n  case 1:\n    case = 2\n") ==
        "MATCH LPAR NAME RPAR COLON NEWLINE INDENT CASE INTEGER COLON NEWLINE INDENT NAME EQUAL "
        "INTEGER "
        "NEWLINE DEDENT DEDENT END");
  CHECK(token_names("match -x:\n  case 1: pass\n").substr(0, 5) == "MATCH");
  CHECK(token_names("match: int = 3\n").substr(0, 4) == "NAME");
}

TEST_CASE("what the language leaves out is named") {
  CHECK(faults("async def f():\n  await x\n") == Faults{"1:1 E0401"});
  CHECK(faults("def f():\n  await x\n") == Faults{"2:3 E0401"});
  CHECK(faults("type X = int\n") == Faults{"1:1 E0403"});
  CHECK(faults("def f[T](x): pass\nclass A[T]: pass\n") == Faults{"1:6 E0405", "2:8 E0405"});
}

TEST_CASE("a prompt knows when to ask for more") {
  for (const char* text : {"if x:",
                           "if x:\n",
                           "if x:\n  y\n",
                           "f(",
                           "x = [1,\n2",
                           "'''a",
                           "f'''a{x}",
                           "x = \\",
                           "x = \\\n",
                           "@d\n",
                           "class A:\n  def f(self):\n    pass\n",
                           "try:\n  x\n",
                           "def f(",
                           "def f(a,\n",
                           "f(x for",
                           "(1 +\n",
                           "{1: 2, 3",
                           "f(\"\"\"a",
                           "[x for y in",
                           "f(a=",
                           "{'a': [1,\n2],\n",
                           "x[1:",
                           "f(*",
                           "lambda: (",
                           "f'{x}' + (",
                           "if (a and\n",
                           "(a\n.b"}) {
    INFO(text);
    CHECK(incomplete(text));
  }
  for (const char* text : {"", "x", "x = 1\n", "if x:\n  y\n\n", "x = = (", "f)(", "'a", "if x: y\n", "x = (1,\n2)\n",
                           "def f(:\n", "x = [1,\n2 2\n", "f(1 +,", "(a\nb", "f(x y"}) {
    INFO(text);
    CHECK_FALSE(incomplete(text));
  }
}

}  // namespace tsc::lang
