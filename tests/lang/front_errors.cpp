#include <set>

#include "front_testing.h"

namespace tsc::lang {

TEST_CASE("a report shows the place, the cause and the way out") {
  CHECK(report("if x = 3:\n    pass\n") ==
        "test.tsc:1:6: error[E0303]: '=' cannot stand inside an expression\n"
        " 1 | if x = 3:\n"
        "   |      ^\n"
        "   = help: write '==' to compare, or ':=' in brackets to assign\n");
  CHECK(report("x = foo(1,\n  2\ny = 3\nimport y\n") ==
        "test.tsc:1:8: error[E0201]: '(' was never closed\n"
        " 1 | x = foo(1,\n"
        "   |        ^\n"
        "  ...\n"
        " 4 | import y\n"
        "   | ------ a new statement begins here\n");
}

TEST_CASE("short form, colour and narrow terminals") {
  RenderOptions options;
  options.format = ErrorFormat::Short;
  CHECK(report("x = = 1\n", options) == "test.tsc:1:4: error[E0302]: expected an expression after '='\n");
  options = {};
  options.color = true;
  CHECK(report("x = = 1\n", options).find("\x1b[1;31merror[E0302]\x1b[0m") != std::string::npos);
  options = {};
  options.width = 60;
  std::string text = report("x = " + std::string(100, 'a') + " + = " + std::string(100, 'b') + "\n", options);
  INFO(text);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (text.compare(begin, 8, "test.tsc") != 0) CHECK(end - begin <= 60);
    begin = end + 1;
  }
  CHECK(text.find("...") != std::string::npos);
}

TEST_CASE("carets stand under wide characters and tabs") {
  CHECK(report("x = '\xE6\x97\xA5\xE6\x9C\xAC' = 1\n").find("   |     ^^^^^^\n") != std::string::npos);
  CHECK(report("if x:\n\ty = = 1\n").find(" 2 |     y = = 1\n   |        ^\n") != std::string::npos);
}

TEST_CASE("machine form") {
  Source source("a\"b.tsc", "x = '\xF0\x9F\x98\x80' 3\n");
  Arena arena;
  ParseResult result = parse_module(source, arena);
  REQUIRE(result.diagnostics.all().size() == 1);
  std::string json = render_json(result.diagnostics.all()[0], source);
  CHECK(json.find("{\"file\":\"a\\\"b.tsc\",\"range\":{\"start\":{\"line\":0,\"character\":9},"
                  "\"end\":{\"line\":0,\"character\":10}},\"severity\":1,\"code\":\"E0301\"") == 0);
}

TEST_CASE("several faults in one run") {
  CHECK(faults("class A\n    x = 1\n    def f(self):\n        retrun 2\n    y = [1 2]\nz = 1 +\n") ==
        Faults{"1:8 E0302", "4:9 E0301", "5:12 E0307", "6:8 E0302"});
  CHECK(faults("f(a b, c)\ng(d e)\nx = [1, 2 3, 4]\n") == Faults{"1:5 E0307", "2:5 E0307", "3:11 E0307"});
  CHECK(faults("def f(a b):\n  x = = 1\n  return x\ny = )\n") == Faults{"1:9 E0307", "2:6 E0302", "4:5 E0202"});
}

TEST_CASE("one cause, one report") {
  CHECK(faults("if x = 3:\n  a\nelif y:\n  b\nelse:\n  c\n") == Faults{"1:6 E0303"});
  CHECK(faults("try = 3:\n  a\nexcept:\n  b\n").size() == 1);
  CHECK(faults("print('abc)\nx = 1\n") == Faults{"1:7 E0103"});
  CHECK(faults("x = {'a': [1, 2, 'b': 3}\n") == Faults{"1:24 E0202"});
  CHECK(faults("function f(x):\n    pass\n") == Faults{"1:1 E0301"});
  CHECK(faults("x = \xE2\x80\x9Chi\xE2\x80\x9D + \xE2\x80\x98y\xE2\x80\x99\n").size() == 2);
}

namespace {

struct Row {
  const char* text;
  const char* fault;
  const char* words;
};
const Row kSlips[] = {
    {"print 'hello'\n", "1:1 E0312", "write print(...)"},
    {"x++\n", "1:2 E0316", "'++' is not an operator"},
    {"if a && b: pass\n", "1:6 E0316", "write 'and'"},
    {"if a || b: pass\n", "1:6 E0316", "write 'or'"},
    {"if !a: pass\n", "1:4 E0316", "write 'not'"},
    {"x = a <> b\n", "1:7 E0316", "write '!='"},
    {"x = a === b\n", "1:7 E0316", "write '=='"},
    {"if a:\n  b\nelse if c:\n  d\n", "3:1 E0301", "write 'elif'"},
    {"improt os\n", "1:1 E0301", "did you mean `import`?"},
    {"esle:\n", "1:1 E0301", "did you mean `else`?"},
    {"let x = 3\n", "1:1 E0301", "an assignment needs no keyword"},
    {"function f(x):\n  pass\n", "1:1 E0301", "write `def`"},
    {"class = 3\n", "1:1 E0315", "such as class_"},
    {"def class(): pass\n", "1:5 E0315", "is a keyword"},
    {"f(lambda=1)\n", "1:3 E0315", "is a keyword"},
    {"def f(if): pass\n", "1:7 E0315", "such as if_"},
    {"def f(a, *class): pass\n", "1:11 E0315", "such as class_"},
    {"def f(:\n    pass\n", "1:7 E0201", "expected ')' before ':'"},
    {"if (x == 1:\n    pass\n", "1:11 E0201", "expected ')' before ':'"},
    {"x = (1 2\ny = 3\n", "1:8 E0307", "expected ',' or an operator"},
    {"x = [1, 2\nprint(x)\n", "1:5 E0201", "'[' was never closed"},
    {"[x, y for x, y in z]\n", "1:2 E0301", "a comprehension has one element"},
    {"f'{lambda x: 1}'\n", "1:4 E0108", "a lambda in an f-string needs brackets"},
    {"def 1f(): pass\n", "1:5 E0104", "a name cannot start with a digit"},
    {"while x\n  pass\n", "1:8 E0302", "expected ':'"},
    {"for x in y print(x)\n", "1:12 E0302", "expected ':', found name 'print'"},
    {"x := 3\n", "1:3 E0313", "write '='"},
    {"f(1) = 2\n", "1:1 E0304", "cannot assign to a function call"},
    {"None = 2\n", "1:1 E0304", "cannot assign to None"},
    {"a + b = c\n", "1:1 E0304", "cannot assign to an expression"},
    {"del f()\n", "1:5 E0304", "cannot delete a function call"},
    {"x, y += 1\n", "1:1 E0304", "one target, not a tuple"},
    {"(x, y): int\n", "1:1 E0304", "single target can be annotated"},
    {"f(a=1, 2)\n", "1:8 E0305", "positional argument follows keyword argument"},
    {"f(**k, 1)\n", "1:8 E0305", "keyword argument unpacking"},
    {"f(**k, *a)\n", "1:8 E0305", "iterable unpacking follows"},
    {"f(x for x in y, 1)\n", "1:3 E0305", "needs its own brackets"},
    {"f(a=1, a=2)\n", "1:8 E0611", "repeated: a"},
    {"f(a.b=1)\n", "1:6 E0303", "must be a plain name"},
    {"def f(a=1, b): pass\n", "1:12 E0306", "without a default follows"},
    {"def f(*): pass\n", "1:7 E0306", "must follow bare '*'"},
    {"def f(**k, a): pass\n", "1:12 E0306", "no parameter can follow"},
    {"def f(/, a): pass\n", "1:7 E0306", "must stand before '/'"},
    {"try:\n  x\ny = 1\n", "3:1 E0311", "expected 'except' or 'finally'"},
    {"try:\n  x\nexcept A, B:\n  y\n", "3:9 E0311", "write except (A, B):"},
    {"else:\n  x\n", "1:1 E0301", "without a matching 'if', 'for'"},
    {"finally:\n  x\n", "1:1 E0311", "without a matching 'try'"},
    {"x = 5 if y\n", "1:11 E0302", "expected 'else'"},
    {"x = {1: 2, 3}\n", "1:13 E0302", "expected ':' after a dictionary key"},
    {"x = {1, 2: 3}\n", "1:10 E0301", "this is a set"},
    {"a = 1 b = 2\n", "1:7 E0301", "end of the line before name 'b'"},
    {"from x import\n", "1:14 E0314", "expected names"},
    {"from x import a,\n", "1:16 E0314", "trailing comma"},
    {"import a from b\n", "1:10 E0314", "from module import name"},
    {"x = *a\n", "1:5 E0308", "cannot stand alone"},
    {"[*x for x in y]\n", "1:2 E0308", "cannot be starred"},
    {"a, *b, *c = x\n", "1:8 E0610", "two starred targets"},
    {"match x:\n  case 1: pass\n  y = 1\n", "3:3 E0309", "expected 'case'"},
    {"x = a ? b : c\n", "1:7 E0101", "a if condition else b"},
    {"x = (1 := 2)\n", "1:6 E0313", "cannot use an assignment expression"},
};

}  // namespace

TEST_CASE("common slips get their own words") {
  for (const Row& row : kSlips) {
    INFO(row.text << report(row.text));
    Faults found = faults(row.text);
    REQUIRE(!found.empty());
    CHECK(found[0] == row.fault);
    CHECK(found.size() == 1);
    CHECK(report(row.text).find(row.words) != std::string::npos);
  }
}

TEST_CASE("suggestions are near and few") {
  const std::string_view words[] = {"kernel_size", "stride", "shape", "max_split", "x"};
  CHECK(nearest_word("kernal_size", words) == "kernel_size");
  CHECK(nearest_word("shpae", words) == "shape");
  CHECK(nearest_word("maxsplit", words) == "max_split");
  CHECK(nearest_word("Shape", words) == "shape");
  CHECK(nearest_word("y", words).empty());
  CHECK(nearest_word("dropout", words).empty());
  CHECK(nearest_word("", words).empty());
  CHECK(nearest_word(std::string(10000, 'a'), words).empty());
}

TEST_CASE("every code has a meaning of its own") {
  std::set<std::string> seen;
  for (Code code : all_codes()) {
    CHECK(seen.insert(code_text(code)).second);
    CHECK(!code_meaning(code).empty());
    CHECK(code_text(code).size() == 5);
  }
}

TEST_CASE("a tuple as an assertion is a warning") {
  Source source("test.tsc", "assert (x, 'y')\n");
  Arena arena;
  ParseResult result = parse_module(source, arena);
  CHECK(result.module);
  REQUIRE(result.diagnostics.all().size() == 1);
  CHECK(result.diagnostics.all()[0].severity == Severity::Warning);
}

}  // namespace tsc::lang
