// The checker, finding by finding, and what it must not report.
#include "catch2/catch.hpp"
#include "lang/check/check.h"

namespace tsc::lang {

namespace {

constexpr std::string_view kBuiltins[] = {"print", "len",   "range",     "list",       "Exception",
                                          "int",   "super", "NameError", "TypeError",  "ValueError",
                                          "open",  "max",   "object",    "isinstance", "locals"};

// "2:5 E0701 message", one a line.
std::string findings(const std::string& text, bool init = false) {
  const Source source("test.tsc", text);
  const Diagnostics found = check(source, {kBuiltins, init});
  std::string out;
  for (const Diagnostic& d : found.all()) {
    const LineColumn at = source.locate(d.primary.span.begin);
    out += std::to_string(at.line) + ":" + std::to_string(at.column) + " " + code_text(d.code) + " " + d.message + "\n";
    for (const std::string& help : d.helps) out += "  " + help + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("unknown names, with the nearest known one") {
  CHECK(findings("lenght = 1\nprint(lenth)\n") == "2:7 E0701 name 'lenth' is not defined\n  did you mean `lenght`?\n");
  CHECK(findings("def f(batch):\n    return btach + 1\nf(1)\n") ==
        "2:12 E0701 name 'btach' is not defined\n  did you mean `batch`?\n");
  CHECK(findings("def f():\n    return later\nlater = 1\nf()\n").empty());
  CHECK(findings("from os import *\nprint(anything)\n").empty());
  CHECK(findings("try:\n    unicode\nexcept NameError:\n    pass\n").empty());
  CHECK(findings("def f(x: Unknown) -> 'Other': pass\nf(1)\n").empty());
  CHECK(findings("class A:\n    x = 1\n    y = x\n    def f(self): return __class__\n").empty());
  CHECK(findings("print(__name__, [i for i in range(3)], (n := 1), n)\n").empty());
  CHECK(findings("globals()['a'] = 1\nprint(a)\n").empty());
}

TEST_CASE("calls that a known function cannot take") {
  const std::string f = "def f(a, b=1, *, key=None): print(a, b, key)\n";
  CHECK(findings(f + "f(1, 2, 3)\n") == "2:9 E0702 f() takes 2 positional arguments but 3 were given\n");
  CHECK(findings(f + "f()\n") == "2:3 E0702 f() is missing 1 argument: 'a'\n");
  CHECK(findings(f + "f(1, kye=2)\n") ==
        "2:6 E0702 f() got an unexpected keyword argument 'kye'\n  did you mean `key`?\n");
  CHECK(findings(f + "f(1, a=2)\n") == "2:6 E0702 f() got multiple values for argument 'a'\n");
  CHECK(findings(f + "f(1, b=2, key=3)\nf(*x)\nf(**y)\nx = y = 1\n").find("E0702") == std::string::npos);
  CHECK(findings("def g(*, key): print(key)\ng()\n") == "2:3 E0702 g() is missing 1 argument: 'key'\n");
  CHECK(findings("len(1, 2)\nrange()\nlen(obj=1)\nlen(*[1])\n") ==
        "1:1 E0702 len() takes 1 argument, not 2\n2:1 E0702 range() takes 1 to 3 arguments, not 0\n"
        "3:5 E0702 len() takes no keyword arguments\n");
  CHECK(findings("try:\n    len(1, 2)\nexcept TypeError:\n    pass\n").empty());
  CHECK(findings("with raises(TypeError):\n    len(1, 2)\nraises = 1\n").find("E0702") == std::string::npos);
}

TEST_CASE("constructors and methods of self") {
  const std::string box = "class Box:\n    def __init__(self, w, h=1): self.w = w\n";
  CHECK(findings(box + "Box(1, 2, 3)\n") == "3:11 E0702 Box() takes 2 positional arguments but 3 were given\n");
  CHECK(findings(box + "Box(heigth=1, w=1)\n").find("got an unexpected keyword") != std::string::npos);
  CHECK(findings("class B(Other):\n    def __init__(self): pass\nB(1)\nOther = 1\n").find("E0702") ==
        std::string::npos);
  CHECK(findings("class A:\n    def f(self, x): print(x)\n    def g(self): self.f()\n") ==
        "3:25 E0702 A.f() is missing 1 argument: 'x'\n");
  // What a subclass or an assignment may replace is not known.
  CHECK(findings("class A:\n    def f(self): raise NotImplementedError\n"
                 "    def g(self): self.f(1)\nNotImplementedError = 1\n")
            .empty());
  CHECK(findings("class A:\n    def f(self): print(1)\n    def g(self, h):\n"
                 "        self.f = h\n        self.f(1)\n")
            .empty());
  CHECK(findings("def deco(f): return f\n@deco\ndef f(): pass\nf(1)\n").empty());
  CHECK(findings("def f(): pass\nif len('a'):\n    def f(x): print(x)\nf(1)\n").empty());
}

TEST_CASE("code that is never reached") {
  CHECK(findings("def f():\n    return 1\n    print(2)\n    print(3)\nf()\n") == "3:5 E0703 this is never reached\n");
  CHECK(findings("while True:\n    pass\nprint(1)\n") == "3:1 E0703 this is never reached\n");
  CHECK(findings("while True:\n    if len('a'): break\nprint(1)\n").empty());
  CHECK(findings("while 1:\n    for i in range(3):\n        break\nprint(i)\n") == "4:1 E0703 this is never reached\n");
  CHECK(findings("def f(a):\n    if a: return 1\n    else: raise ValueError\n    print(a)\nf(1)\n") ==
        "4:5 E0703 this is never reached\n");
  CHECK(findings("def f():\n    return\n    yield\nf()\n").empty());
  CHECK(findings("def f():\n    with open('x'):\n        raise ValueError\n    print(1)\nf()\n").empty());
  CHECK(findings("def f():\n    try:\n        return 1\n    except ValueError:\n        pass\n"
                 "    print(1)\nf()\n")
            .empty());
  CHECK(findings("def f(x):\n    match x:\n        case 1: return 1\n        case _: return 2\n"
                 "    return 3\nf(1)\n") == "5:5 E0703 this is never reached\n");
}

TEST_CASE("names that hide others to harm") {
  CHECK(findings("list = [1, 2]\nprint(list(range(3)))\n") ==
        "2:7 E0704 'list' is called here, but it was assigned a value that hides the builtin\n"
        "  give the variable another name\n");
  CHECK(findings("max = 3\nprint(max)\n").empty());
  CHECK(findings("def f(list): return list(1)\nf(1)\n").empty());
  CHECK(findings("for i in range(3):\n    for i in range(2):\n        print(i)\n    print(i)\n") ==
        "2:9 E0705 this loop overwrites the variable 'i' of the loop around it\n"
        "  give the inner variable another name\n");
  CHECK(findings("for i in range(3):\n    for i in range(2):\n        print(i)\n").empty());
  CHECK(findings("for i in range(3):\n    print([i for i in range(2)], i)\n").empty());
}

TEST_CASE("imports and variables that nobody reads") {
  CHECK(findings("import os\nimport sys as s, json\nprint(s)\n") ==
        "1:8 E0706 'os' is imported but never used\n"
        "  remove it, or list it in __all__ when it is meant for other modules\n"
        "2:18 E0706 'json' is imported but never used\n"
        "  remove it, or list it in __all__ when it is meant for other modules\n");
  CHECK(findings("import os\n", true).empty());
  CHECK(findings("import os, re\n__all__ = ['os']\ndef f(x: 're.Pattern'): print(x)\n").empty());
  CHECK(findings("try:\n    import fast\nexcept Exception:\n    fast = None\n").empty());
  CHECK(findings("from __future__ import annotations\n").empty());
  CHECK(findings("from ._parts import wheel\n").empty());
  CHECK_FALSE(findings("from .parts import wheel\n").empty());
  CHECK_FALSE(findings("from _parts import wheel\n").empty());
  CHECK(findings("import os  # check: ignore\n").empty());
  CHECK(findings("def f():\n    x = 1\n    _y = 2\n    a, b = 1, 2\n    for i in range(3): pass\nf()\n") ==
        "2:5 E0707 'x' is assigned but never used\n"
        "  remove it, or begin its name with '_' when that is meant\n");
  CHECK(findings("def f():\n    x = 1\n    return locals()\nf()\n").empty());
  CHECK(findings("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\nf()\n").empty());
  CHECK(findings("def f():\n    x = 1\n    return lambda: x\nf()\n").empty());
}

TEST_CASE("variables read before they have a value") {
  CHECK(findings("def f():\n    print(x)\n    x = 1\nf()\n") ==
        "2:11 E0708 'x' is read before anything is assigned to it\n");
  CHECK(findings("def f():\n    total += 1\nf()\n") == "2:5 E0708 'total' is read before anything is assigned to it\n");
  CHECK(findings("g()\ndef g(): pass\n") == "1:1 E0708 'g' is read before anything is assigned to it\n");
  CHECK(findings("def f(max_):\n    max = max(max_, 1)\n    return max\nf(1)\n") ==
        "2:11 E0708 'max' is read before anything is assigned to it\n");
  CHECK(findings("def f():\n    for i in range(3):\n        if i: print(x)\n        x = i\nf()\n").empty());
  CHECK(findings("def f(c):\n    if c: x = 1\n    print(x)\nf(1)\n").empty());
  CHECK(findings("print([y for x in [1] if (y := x)])\n").empty());
  CHECK(findings("print(y if (y := 1) else 0)\n").empty());
  CHECK(findings("def f():\n    try: x\n    except NameError: pass\n    x = 1\nf()\n").empty());
  CHECK(findings("print = print\n").empty());
}

TEST_CASE("a text with syntax errors has those as findings") {
  CHECK(findings("x = (\n").find("E0201") != std::string::npos);
  CHECK(findings("return 1\n").find("E0601") != std::string::npos);
  CHECK(findings("").empty());
}

}  // namespace tsc::lang
