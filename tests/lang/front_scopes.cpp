#include "front_testing.h"

namespace tsc::lang {

namespace {

struct Resolved {
  explicit Resolved(const std::string& text) : source("test.tsc", text) {
    result = parse_module(source, arena);
    INFO(text << render_all(result.diagnostics, source));
    REQUIRE(result.module);
    resolution = resolve(*result.module, arena, result.diagnostics);
    INFO(render_all(result.diagnostics, source));
    REQUIRE(!result.diagnostics.has_errors());
  }
  const Scope& scope(std::string_view qualname) const {
    for (Scope* scope : resolution.scopes)
      if (scope->qualname == qualname) return *scope;
    FAIL("no scope " << qualname);
    return *resolution.module;
  }
  // "locals a b | cells c | frees d"
  std::string frame(std::string_view qualname) const {
    const Scope& s = scope(qualname);
    std::string out = "locals";
    for (Identifier name : s.locals) out += " " + std::string(name);
    out += " | cells";
    for (const CellVariable& cell : s.cells)
      out += " " + std::string(cell.name) + (cell.parameter >= 0 ? "=" + std::to_string(cell.parameter) : "");
    out += " | frees";
    for (const FreeVariable& free : s.frees)
      out += " " + std::string(free.name) + (free.from_parent_cell ? "<cell" : "<free") + std::to_string(free.index);
    return out;
  }

  Source source;
  Arena arena;
  ParseResult result;
  Resolution resolution;
};

}  // namespace

TEST_CASE("parameters come first, then locals") {
  Resolved r("def f(a, /, b, *c, d, **e):\n  x = a\n  global g\n  g = y\n");
  CHECK(r.frame("f") == "locals a b d c e x | cells | frees");
  CHECK(r.scope("f").parameter_count == 5);
  CHECK(r.resolution.globals == std::vector<Identifier>{"f", "g"});
  REQUIRE(r.resolution.unbound_globals.size() == 1);
  CHECK(r.resolution.unbound_globals[0]->id == "y");
}

TEST_CASE("closures pass cells down") {
  Resolved r(
      "def f(a, b):\n  c = 1\n  def g():\n    def h():\n      nonlocal c\n      c = a\n    return "
      "h\n  return g\n");
  CHECK(r.frame("f") == "locals a b g | cells a=0 c | frees");
  CHECK(r.frame("f.<locals>.g") == "locals h | cells | frees c<cell1 a<cell0");
  CHECK(r.frame("f.<locals>.g.<locals>.h") == "locals | cells | frees c<free0 a<free1");
}

TEST_CASE("class bodies are not seen by their methods") {
  Resolved r("def f():\n  x = 1\n  class A:\n    x = 2\n    y = x\n    def m(self): return x\n");
  CHECK(r.frame("f.<locals>.A") == "locals | cells | frees x<cell0");
  CHECK(r.frame("f.<locals>.A.m") == "locals self | cells | frees x<free0");
  auto* f = as<FunctionDef>(r.result.module->body[0]);
  auto* cls = as<ClassDef>(f->body[1]);
  CHECK(as<Name>(as<Assign>(cls->body[1])->value)->binding.access == Access::Class);
  CHECK(as<Name>(as<Assign>(cls->body[0])->targets[0])->binding.access == Access::Class);
}

TEST_CASE("super() reaches its class through a cell") {
  Resolved r("class A(B):\n  def __init__(self):\n    super().__init__()\n  def plain(self): pass\n");
  CHECK(r.scope("A").needs_class_cell);
  CHECK(r.frame("A") == "locals | cells __class__ | frees");
  CHECK(r.frame("A.__init__") == "locals self | cells | frees __class__<cell0");
  CHECK(r.frame("A.plain") == "locals self | cells | frees");
  CHECK_FALSE(Resolved("def f(): return super\n").scope("f").needs_class_cell);
}

TEST_CASE("comprehensions live in their host's frame") {
  Resolved r("def f(y):\n  x = 1\n  return [x + y for x in y if x]\n");
  CHECK(r.frame("f") == "locals y x x | cells | frees");
  const Scope* comp = r.resolution.scopes[2];
  CHECK(comp->kind == ScopeKind::Comprehension);
  CHECK(comp->host == &r.scope("f"));
  REQUIRE(comp->own_slots.size() == 1);
  CHECK(comp->own_slots[0] == 2);
  Resolved captured("x = [lambda: i for i in y]\n");
  CHECK(captured.frame("<module>") == "locals | cells i | frees");
  CHECK(captured.frame("<lambda>") == "locals | cells | frees i<cell0");
  CHECK(captured.resolution.scopes[1]->own_cells.size() == 1);
  Resolved in_class("class A:\n  n = 3\n  v = [n for i in range(n)]\n");
  auto* cls = as<ClassDef>(in_class.result.module->body[0]);
  auto* value = as<ListComp>(as<Assign>(cls->body[1])->value);
  CHECK(as<Name>(value->elt)->binding.access == Access::Global);
  CHECK(as<Name>(as<Call>(value->generators[0]->iter)->args[0])->binding.access == Access::Class);
}

TEST_CASE("generator expressions are functions of their iterable") {
  Resolved r("def f(y):\n  return (x for x in y for z in x)\n");
  CHECK(r.frame("f.<locals>.<genexpr>") == "locals .0 x z | cells | frees");
  CHECK(r.scope("f.<locals>.<genexpr>").is_generator);
  CHECK(r.scope("f.<locals>.<genexpr>").parameter_count == 1);
}

TEST_CASE("':=' binds outside its comprehensions") {
  Resolved r("def f(y):\n  [z := x for x in y]\n  return z, any((w := x) for x in y), w\n");
  CHECK(r.frame("f") == "locals y z x | cells w | frees");
  CHECK(r.frame("f.<locals>.<genexpr>") == "locals .0 x | cells | frees w<cell0");
  CHECK(Resolved("[z := x for x in y]\n").resolution.globals == std::vector<Identifier>{"z"});
}

TEST_CASE("generators are known by their yield") {
  Resolved r("def f():\n  yield\ndef g():\n  lambda: (yield)\n");
  CHECK(r.scope("f").is_generator);
  CHECK_FALSE(r.scope("g").is_generator);
  CHECK(r.scope("g.<locals>.<lambda>").is_generator);
}

TEST_CASE("annotations have a scope of their own, which sees the class around it") {
  Resolved r(
      "def f(t, u):\n  class A:\n    n = 1\n    a: n\n    if u:\n      b: t\n    def m(self, x: n, y: t) -> u: pass\n"
      "  def g(x: int): v: t\n");
  std::vector<std::string> found;
  for (const Scope* scope : r.resolution.scopes) {
    if (scope->kind != ScopeKind::Annotation) continue;
    std::string frees;
    for (const FreeVariable& free : scope->frees) frees += " " + std::string(free.name);
    found.push_back(std::string(scope->parent->name) + frees);
  }
  CHECK(found == std::vector<std::string>{"A .reached t", "A t u", "f"});
  CHECK(r.scope("f.<locals>.A").annotations != nullptr);
  CHECK(r.frame("f.<locals>.A") == "locals | cells .reached | frees u<cell1 t<cell0");
  auto* cls = as<ClassDef>(as<FunctionDef>(r.result.module->body[0])->body[0]);
  CHECK(as<Name>(as<AnnAssign>(cls->body[1])->annotation)->binding.access == Access::Class);
}

TEST_CASE("private names carry their class") {
  Resolved r("class _A:\n  def __f(self, __p):\n    return self.__x + __p + self.__y__\n");
  auto* f = as<FunctionDef>(as<ClassDef>(r.result.module->body[0])->body[0]);
  CHECK(f->name == "_A__f");
  CHECK(r.scope("_A.__f").name == "__f");
  CHECK(f->args->args[1]->name == "_A__p");
  auto* sum = as<BinOp>(as<Return>(f->body[0])->value);
  CHECK(as<Attribute>(as<BinOp>(sum->left)->left)->attr == "_A__x");
  CHECK(as<Attribute>(sum->right)->attr == "__y__");
}

TEST_CASE("every binder gets a binding") {
  Resolved r(
      "def f(v):\n  import a.b, c as d\n  from e import g\n  try: pass\n  except E as h: pass\n"
      "  with v as i: pass\n  for j in v: pass\n  match v:\n    case {'k': k, **l}: pass\n"
      "    case [m, *n] | (n, *m): pass\n  def o(): pass\n  class P: pass\n  del i\n");
  CHECK(r.frame("f") == "locals v a d g h i j k l m n o P | cells | frees");
}

TEST_CASE("scope faults") {
  CHECK(faults("def f(x, x): pass\n") == Faults{"1:10 E0501"});
  CHECK(faults("lambda x, *x: 0\n") == Faults{"1:12 E0501"});
  CHECK(faults("def f():\n  nonlocal q\n") == Faults{"2:3 E0502"});
  CHECK(report("def f():\n  count = 0\n  def g():\n    nonlocal conut\n").find("did you mean `count`?") !=
        std::string::npos);
  CHECK(faults("def f():\n  x = 1\n  global x\n") == Faults{"3:3 E0503"});
  CHECK(faults("def f():\n  print(x)\n  global x\n") == Faults{"3:3 E0503"});
  CHECK(faults("def f(x):\n  global x\n") == Faults{"2:3 E0504"});
  CHECK(faults("nonlocal x\n") == Faults{"1:1 E0505"});
  CHECK(faults("[(x := 1) for x in y]\n") == Faults{"1:3 E0506"});
  CHECK(faults("[x for y in (x := z)]\n") == Faults{"1:14 E0313"});
  CHECK(faults("class A:\n  [(x := 1) for y in z]\n") == Faults{"2:5 E0313"});
}

TEST_CASE("statements out of place") {
  CHECK(faults("return 1\n") == Faults{"1:1 E0601"});
  CHECK(faults("class A:\n  return 1\n") == Faults{"2:3 E0601"});
  CHECK(faults("yield 1\n") == Faults{"1:1 E0602"});
  CHECK(faults("def f():\n  def g(x: (yield)): pass\n  y: (yield 1) = 2\n") == Faults{"2:13 E0613", "3:7 E0613"});
  CHECK(faults("x: (y := 1)\ndef f() -> (z := 2): pass\n") == Faults{"1:5 E0613", "2:13 E0613"});
  CHECK(faults("x: (lambda: (yield))\n").empty());
  CHECK(faults("'doc'\nfrom __future__ import annotations\nimport a\nfrom __future__ import division\n") ==
        Faults{"4:1 E0612"});
  CHECK(faults("from __future__ import annotations, braces\n") == Faults{"1:37 E0612"});
  CHECK(faults("break\n") == Faults{"1:1 E0603"});
  CHECK(faults("for x in y:\n  def f():\n    break\n") == Faults{"3:5 E0603"});
  CHECK(faults("for x in y: pass\nelse: continue\n") == Faults{"2:7 E0604"});
  CHECK(faults("while x:\n  try:\n    break\n  finally:\n    continue\n") == Faults{});
  CHECK(faults("def f():\n  from m import *\n") == Faults{"2:3 E0605"});
  CHECK(faults("def f():\n  [(yield) for x in y]\n") == Faults{"2:5 E0606"});
  CHECK(faults("try: x\nexcept: y\nexcept A: z\n") == Faults{"2:1 E0607"});
  CHECK(faults("try: x\nexcept* A: break\nexcept* B: return\n") == Faults{"2:12 E0614", "3:12 E0614"});
  CHECK(faults("for x in y:\n  try: x\n  except* A: continue\n  else: break\n") == Faults{"3:14 E0614"});
  CHECK(faults("try: x\nexcept* A:\n  for b in c: break\n") == Faults{});
  CHECK(faults("try: x\nexcept* A: y\nexcept B: z\n") == Faults{"3:1 E0311"});
  CHECK(faults("match x:\n  case _: pass\n  case 1: pass\n") == Faults{"2:8 E0608"});
  CHECK(faults("match x:\n  case a | 1: pass\n") == Faults{"2:8 E0608"});
  CHECK(faults("match x:\n  case [a] | [b]: pass\n") == Faults{"2:14 E0609"});
  CHECK(faults("match x:\n  case [a, a]: pass\n") == Faults{"2:12 E0609"});
}

}  // namespace tsc::lang
