// The formatter's style, by example.
#include "format_testing.h"

namespace tsc::lang {

TEST_CASE("blanks around operators, commas, colons") {
  CHECK(formatted("x=1\n") == "x = 1\n");
  CHECK(formatted("x  =  f( a ,b , * c,k = 3, ** d )") == "x = f(a, b, *c, k=3, **d)\n");
  CHECK(formatted("y = -x**-2+ ~a*b // c @ d") == "y = -x ** -2 + ~a * b // c @ d\n");
  CHECK(formatted("a [1 : 2, ::3, -1:, ... ] [ None ]") == "a[1:2, ::3, -1:, ...][None]\n");
  CHECK(formatted("d = {'a':1 , ** e, 2:lambda x , * y:x+ 1}") == "d = {'a': 1, **e, 2: lambda x, *y: x + 1}\n");
  CHECK(formatted("print (not x, a<b <= c, a is not b, a not in b)") ==
        "print(not x, a < b <= c, a is not b, a not in b)\n");
  CHECK(formatted("x = 1 .real; y = 1.0.real") == "x = 1 .real\ny = 1.0.real\n");
  CHECK(formatted("f = lambda:0\ng = lambda *a, k=1:- a") == "f = lambda: 0\ng = lambda *a, k=1: -a\n");
  CHECK(formatted("if(a):pass\nwhile(b) :pass") == "if a:\n    pass\nwhile b:\n    pass\n");
  CHECK(formatted("x = a if(b)else(c)\n") == "x = a if (b) else (c)\n");
  CHECK(formatted("from . import x\nfrom ..a . b import c as d , e\nfrom ... import y\n") ==
        "from . import x\nfrom ..a.b import c as d, e\nfrom ... import y\n");
  CHECK(formatted("x:int=3\ny : List [ int ]\n") == "x: int = 3\ny: List[int]\n");
  CHECK(formatted("if (n:=f()) > 1: x[a:=1]\n") == "if (n := f()) > 1:\n    x[a := 1]\n");
  CHECK(formatted("try:pass\nexcept(A,B)as e:raise C from e\n") ==
        "try:\n    pass\nexcept (A, B) as e:\n    raise C from e\n");
  CHECK(formatted("t = 1,\nu = (1,)\nx[1,]\n") == "t = 1,\nu = (1,)\nx[1,]\n");
}

TEST_CASE("definitions") {
  CHECK(formatted("def f (a,b=1,*,c:int=2,** k)->int :return a") ==
        "def f(a, b=1, *, c: int = 2, **k) -> int:\n    return a\n");
  CHECK(formatted("@ d . e (1)\nclass A ( B,metaclass = C ) : x=1;y=2") ==
        "@d.e(1)\nclass A(B, metaclass=C):\n    x = 1\n    y = 2\n");
  CHECK(formatted("def f(a, /, b): yield\n") == "def f(a, /, b):\n    yield\n");
}

TEST_CASE("strings and numbers stay as written") {
  CHECK(formatted("x = 'a' \"b\"\n") == "x = 'a' \"b\"\n");
  CHECK(formatted("y = f'{x!r:>{w}} {a  +b}'\nz = 0XFF+1E5\n'''two\n  rows'''\n") ==
        "y = f'{x!r:>{w}} {a  +b}'\nz = 0XFF + 1E5\n'''two\n  rows'''\n");
}

TEST_CASE("indentation is four blanks, line ends are line feeds") {
  CHECK(formatted("if a:\r\n  if b:\r\n\t  c\r\n  else: d\r\n") ==
        "if a:\n    if b:\n        c\n    else:\n        d\n");
  CHECK(formatted("\xEF\xBB\xBFx=1") == "x = 1\n");
  CHECK(formatted("") == "");
  CHECK(formatted("\n\n  \n") == "");
  CHECK(formatted("x = \\\n  1 + \\\n  2\n") == "x = 1 + 2\n");
}

TEST_CASE("empty lines") {
  CHECK(formatted("\n\nimport a\n\n\n\n\nx = 1\n\n\n") == "import a\n\n\nx = 1\n");
  CHECK(formatted("x = 1\ndef f():\n\n\n    a\n\n\n\n    b\n    def g(): pass\n    c\ny = 2\n") ==
        "x = 1\n\n\ndef f():\n    a\n\n    b\n\n    def g():\n        pass\n\n    c\n\n\ny = 2\n");
  CHECK(formatted("class A:\n  '''doc'''\n  x = 1\n  def f(self): pass\n  def g(self): pass\n") ==
        "class A:\n    '''doc'''\n    x = 1\n\n    def f(self):\n        pass\n\n"
        "    def g(self):\n        pass\n");
  CHECK(formatted("x\n# about f\n@d\n\ndef f(): pass\n") == "x\n\n\n# about f\n@d\ndef f():\n    pass\n");
  CHECK(formatted("if a:\n    def f(): pass\nelse:\n    x\n") == "if a:\n    def f():\n        pass\nelse:\n    x\n");
}

TEST_CASE("comments stay where they belong") {
  CHECK(formatted("#!/usr/bin/env tenscript\n#first\nx = 1    # one\n\n# two\n") ==
        "#!/usr/bin/env tenscript\n#first\nx = 1  # one\n\n# two\n");
  CHECK(formatted("if a: # why\n  b\n  # still inside\n# outside\nc\n") ==
        "if a:  # why\n    b\n    # still inside\n# outside\nc\n");
  CHECK(formatted("if a:\n   # first\n   b\n#out\nelse:\n   c; # end\n") ==
        "if a:\n    # first\n    b\n#out\nelse:\n    c  # end\n");
  CHECK(formatted("f(a, # one\n b) # two\n") == "f(\n    a,  # one\n    b,\n)  # two\n");
  CHECK(formatted("f( # open\n  # before a\n  a # after a\n  , b\n  # end\n)\n") ==
        "f(  # open\n    # before a\n    a,  # after a\n    b,\n    # end\n)\n");
  CHECK(formatted("x = (a # one\n + b)\n") == "x = (\n    a  # one\n    + b\n)\n");
  CHECK(formatted("f(\n# nothing\n)\n") == "f(\n    # nothing\n)\n");
  CHECK(formatted("x = [\n 1, 2, # pair\n 3]\n") == "x = [\n    1,\n    2,  # pair\n    3,\n]\n");
}

TEST_CASE("long lines break inside brackets") {
  CHECK(formatted("result = function(argument_one, argument_two, third)\n", 40) ==
        "result = function(\n    argument_one, argument_two, third\n)\n");
  CHECK(formatted("result = function(argument_one, argument_two, argument_three)\n", 40) ==
        "result = function(\n    argument_one,\n    argument_two,\n    argument_three,\n)\n");
  CHECK(formatted("result = module.first(one).second(argument_two)\n", 40) ==
        "result = module.first(one).second(\n    argument_two\n)\n");
  CHECK(formatted("def function(parameter_one, parameter_two=1) -> Dict[str, int]: pass\n", 40) ==
        "def function(\n    parameter_one, parameter_two=1\n) -> Dict[str, int]:\n    pass\n");
  CHECK(formatted("f(x for x in some_long_iterable if some_condition(x))\n", 40) ==
        "f(\n    x\n    for x in some_long_iterable\n    if some_condition(x)\n)\n");
  CHECK(formatted("x = [1, 2, ]\n") == "x = [\n    1,\n    2,\n]\n");
  CHECK(formatted("f(outer(inner_function(argument_one), argument_two), z)\n", 30) ==
        "f(\n    outer(\n        inner_function(\n            argument_one\n        ),\n"
        "        argument_two,\n    ),\n    z,\n)\n");
}

TEST_CASE("brackets come and go with the line's length") {
  CHECK(formatted("return_value = first_operand + second_operand * third\n", 45) ==
        "return_value = (\n    first_operand + second_operand * third\n)\n");
  CHECK(formatted("x = (a + b)\nreturn_ = (a, b)\ny = ((c))\nz = (yield_)\n") ==
        "x = a + b\nreturn_ = (a, b)\ny = c\nz = yield_\n");
  CHECK(formatted("if first_condition and second_condition or third_one: pass\n", 40) ==
        "if (\n    first_condition and second_condition\n    or third_one\n):\n    pass\n");
  CHECK(formatted("from package import (one, two)\n") == "from package import one, two\n");
  CHECK(formatted("from package import one_name, another_name\n", 30) ==
        "from package import (\n    one_name, another_name\n)\n");
  CHECK(formatted("with open(a_long_name) as f, open(another) as g: pass\n", 40) ==
        "with (\n    open(a_long_name) as f,\n    open(another) as g,\n):\n    pass\n");
  CHECK(formatted("def f():\n    return first_value, second_value, third_value\n", 40) ==
        "def f():\n    return (\n        first_value,\n        second_value,\n        third_value,\n"
        "    )\n");
  CHECK(formatted("x = ('first part of a text' 'second part of it')\n", 40) ==
        "x = (\n    'first part of a text'\n    'second part of it'\n)\n");
  CHECK(formatted("value = total + function_name(argument, other)\n", 40) ==
        "value = total + function_name(\n    argument, other\n)\n");
}

// A bracket that its comment breaks anyway gets a comma after its last argument, which is no part
// of the line in front of it: counting it made the second pass break one bracket more.
TEST_CASE("a bracket broken by a comment does not change what is in front of it") {
  const std::string text = "print(torch.tensor([1.0, 2.0]).clamp(1.2 # low\n, 1.8).tolist(), last)\n";
  for (uint32_t width = 20; width <= 80; ++width) {
    INFO("at " << width << " columns");
    formatted(text, width);
  }
}

TEST_CASE("a target's brackets stay whole where those of the value break") {
  const std::string text = "a, (b, [c, *d]) = call(first_argument, second_argument, third_argument)\n";
  CHECK(formatted(text, 60) == "a, (b, [c, *d]) = call(\n    first_argument, second_argument, third_argument\n)\n");
  for (uint32_t width = 20; width <= 80; ++width) {
    INFO("at " << width << " columns");
    formatted(text, width);
  }
}

TEST_CASE("a text with errors is not touched") {
  Source source("t.tsc", "x = (1,\ny = ]\n");
  const FormatResult result = format(source);
  CHECK_FALSE(result.ok);
  CHECK(result.text.empty());
  CHECK(result.diagnostics.has_errors());
}

}  // namespace tsc::lang
