// The machine's seams: frames built by others, watchers, inspection, limits, native types.
#include <pthread.h>

#include "catch2/catch.hpp"
#include "interpreter/vm/inspect.h"
#include "lang/bytecode/bytecode.h"
#include "runtime/base/error.h"
#include "support.h"

using namespace tsc::interp;

namespace {

struct RecordingWatchers : Watchers {
  Vm& vm;
  std::vector<std::string> stores;
  explicit RecordingWatchers(Vm& v) : vm(v) { vm.set_watchers(this); }
  ~RecordingWatchers() override { vm.set_watchers(nullptr); }
  void on_store(Object*, const Value& key) override { stores.push_back(key ? to_string(vm, key) : "*"); }
};

}  // namespace

TEST_CASE("every store path of a watched object is seen") {
  TestVm t;
  t.run(
      "class C: pass\n"
      "o = C(); o.a = 1\n"
      "d = {'k': 1}; l = [3, 1, 2]; s = {1}\n"
      "def make():\n"
      "    n = 0\n"
      "    def get(): return n\n"
      "    def put(v):\n"
      "        nonlocal n\n"
      "        n = v\n"
      "    return get, put\n"
      "get, put = make()\n");
  for (const char* name : {"o", "d", "l", "s", "C"}) t.global(name).object()->watch();
  cast<FunctionObject>(t.global("get"))->closure[0]->watch();
  t.module->globals->watch();
  RecordingWatchers watchers(t.vm);
  Local<CodeObject> code = compile_source(t.vm,
                                          "o.a = 2\no.b = 3\ndel o.b\n"
                                          "d['k'] = 2\nd.pop('k')\nd.update(z=1)\nd.clear()\n"
                                          "l[0] = 5\nl.append(1)\nl.sort()\ndel l[0]\n"
                                          "s.add(7)\ns.discard(7)\n"
                                          "C.x = 1\ndel C.x\nput(4)\n"
                                          "fresh = 1\n",
                                          "edit.tsc");
  t.vm.run_code(code, t.module);
  std::vector<std::string> expected = {"a", "b", "b", "k", "k", "k", "z", "*", "0",
                                       "*", "*", "*", "7", "7", "x", "x", "*", "fresh"};
  CHECK(watchers.stores == expected);
}

TEST_CASE("attributes are inspected without running code") {
  TestVm t;
  t.run(
      "class B:\n"
      "    k = 1\n"
      "    @property\n"
      "    def p(self): return 1 / 0\n"
      "    def m(self): pass\n"
      "class C(B):\n"
      "    def __getattr__(self, n): return 1 / 0\n"
      "c = C(); c.x = 5\n");
  Vm& vm = t.vm;
  Value c = t.global("c");
  auto site = [&](const char* name) { return inspect_attribute(vm, c, intern(vm, name)); };
  CHECK(site("x").found == Found::InstanceSlot);
  CHECK(site("x").value.as_int() == 5);
  CHECK(site("k").found == Found::ClassAttribute);
  CHECK(site("k").owner == cast<Type>(t.global("B")));
  CHECK(site("p").data_descriptor);
  CHECK(is_kind(site("m").value, Kind::Function));
  CHECK(site("nothing").found == Found::MissingHook);
  CHECK(inspect_global(vm, t.module, intern(vm, "len")).found == Found::BuiltinGlobal);
  CHECK(inspect_global(vm, t.module, intern(vm, "c")).found == Found::ModuleGlobal);
  CHECK(inspect_global(vm, t.module, intern(vm, "nothing")).found == Found::Absent);
}

TEST_CASE("a stack of frames built from outside goes on in the middle") {
  TestVm t;
  t.run(
      "def inner(a, b):\n"
      "    c = a * b\n"
      "    return c + 1\n"
      "def outer(x):\n"
      "    y = inner(x, 3)\n"
      "    return y * 10\n");
  auto function = [&](const char* name) { return Local<FunctionObject>(cast<FunctionObject>(t.global(name))); };
  FrameState outer, inner;
  outer.function = function("outer");
  const tsc::lang::CodeObject& code = *outer.function->code->code;
  while (code.instructions[outer.pc].op != tsc::lang::Op::Call) ++outer.pc;
  outer.registers.resize(code.register_count);
  outer.registers[0] = Value::integer(4);
  inner.function = function("inner");
  const tsc::lang::CodeObject& inner_code = *inner.function->code->code;
  // After the multiplication, with another product than it would have computed.
  while (inner_code.instructions[inner.pc].op != tsc::lang::Op::Mul) ++inner.pc;
  inner.registers.resize(inner_code.register_count);
  inner.registers[inner_code.instructions[inner.pc].a] = Value::integer(99);
  ++inner.pc;
  std::vector<FrameState> frames;
  frames.push_back(std::move(outer));
  frames.push_back(std::move(inner));
  CHECK(t.vm.run_frames(frames).as_int() == 1000);
}

TEST_CASE("no range has step 0") {
  TestVm t;
  CHECK_THROWS_AS(make_range(t.vm, 0, 5, 0), ScriptException);
}

TEST_CASE("interrupts and limits") {
  TestVm t;
  t.vm.interrupt(kInterruptKeyboard);
  CHECK(t.run("try:\n"
              "    while True: pass\n"
              "except KeyboardInterrupt:\n"
              "    print('stopped')\n") == "stopped\n");
  Config config;
  config.instruction_limit = 10000;
  TestVm limited(config);
  CHECK(limited.run("while True:\n"
                    "    try:\n"
                    "        while True: pass\n"
                    "    except BaseException:\n"
                    "        print('swallowed')\n") == "!LimitError: the script used up its limit of 10000 steps");
}

TEST_CASE("recursion ends in an error on a small stack too") {
  auto body = [](void*) -> void* {
    TestVm t;
    std::string out = t.run(
        "def f(n): return f(n + 1)\n"
        "class C:\n"
        "    def __repr__(self): return repr(self)\n"
        "    def __eq__(self, o): return self == o\n"
        "for g in (lambda: f(0), lambda: repr(C()), lambda: C() == C()):\n"
        "    try: g()\n"
        "    except RecursionError: print('ok')\n"
        "l = []\n"
        "for i in range(100000): l = [l]\n"
        "try: repr(l)\n"
        "except RecursionError: print('ok')\n");
    return out == "ok\nok\nok\nok\n" ? const_cast<char*>("fine") : nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  size_t stack = 512 << 10;
#ifdef __SANITIZE_THREAD__
  stack += 790 << 10;  // what ThreadSanitizer puts on every thread's stack for itself
#endif
  pthread_attr_setstacksize(&attributes, stack);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, body, nullptr) == 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  CHECK(result != nullptr);
}

namespace {

struct Vector2 : Instance {
  double x = 0, y = 0;
  Vector2() : Instance(Kind::Native) {}
};
Value vector_construct(Vm& vm, Type* type, Args& args) {
  Local<Vector2> v = vm.heap().make<Vector2>(type);
  if (args.count > 0) v->x = to_double(vm, args[0]);
  if (args.count > 1) v->y = to_double(vm, args[1]);
  return v.take();
}
Value vector_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  if (op != BinaryOp::Add || !is_kind(a, Kind::Native) || !is_kind(b, Kind::Native)) return vm.not_implemented();
  Local<Vector2> r = vm.heap().make<Vector2>(cast<Object>(a)->type);
  r->x = cast<Vector2>(a)->x + cast<Vector2>(b)->x;
  r->y = cast<Vector2>(a)->y + cast<Vector2>(b)->y;
  return r.take();
}
Value vector_scale(Vm& vm, Args& a) {
  if (to_double(vm, a[1]) == 0) throw tsc::Error(tsc::ErrorKind::ValueError, "factor is zero");
  cast<Vector2>(a[0])->x *= to_double(vm, a[1]);
  return a[0];
}
Value vector_x(Vm&, const Value& v) { return Value::real(cast<Vector2>(v)->x); }
void traverse_vector(Object* o, Visitor& visit) { traverse_instance(o, visit); }

}  // namespace

TEST_CASE("a native type with attributes, operators and script subclasses") {
  TestVm t;
  TypeBuilder builder(t.vm, "Vector", Kind::Native);
  builder.with_attributes(offset_of(&Vector2::state)).allow_subclasses();
  builder.slots().destroy = destroy_as<Vector2>;
  builder.slots().traverse = traverse_vector;
  builder.slots().clear = clear_instance;
  builder.slots().construct = vector_construct;
  builder.slots().binary = vector_binary;
  builder.method("scale", "self, factor, *, twice=False", vector_scale).getter("x", vector_x);
  dict_set(t.vm, t.vm.builtins()->globals, "Vector", Value(builder.finish()));
  CHECK(t.run("v = Vector(1, 2); v.tag = 'a'\n"
              "print((v + v).x, v.tag, v.scale(3).x)\n"
              "class W(Vector):\n"
              "    def __add__(self, o): return ('mine', super().__add__(o).x)\n"
              "    def __sub__(self, o): return 'sub'\n"
              "    @property\n"
              "    def double(self): return self.x * 2\n"
              "w = W(5); w.me = w\n"
              "print(w + v, w - v, w.double, isinstance(w, Vector), w.scale(factor=2).x)\n"
              "try: v.scale(0)\n"
              "except ValueError as e: print(e)\n"
              "try: v.scale(1, 2)\n"
              "except TypeError as e: print(e)\n"
              "try: v - v\n"
              "except TypeError as e: print(e)\n") ==
        "2.0 a 3.0\n"
        "('mine', 8.0) sub 10.0 True 10.0\n"
        "factor is zero\n"
        "scale() takes exactly 1 argument (2 given)\n"
        "unsupported operand type(s) for -: 'Vector' and 'Vector'\n");
}

TEST_CASE("modules: packages, relative imports, cycles, missing names") {
  TestVm t;
  Importer& importer = t.vm.importer();
  importer.register_source("pkg", "from . import a\nfrom .b import value as v\n");
  importer.register_source("pkg.a", "import pkg.b\nname = __name__\n");
  importer.register_source("pkg.b", "value = 7\n__all__ = ['value']\nhidden = 1\n");
  importer.register_source("one", "from two import x\ny = 1\n");
  importer.register_source("two", "from one import y\nx = 1\n");
  CHECK(t.run("import pkg, pkg.a as pa\nfrom pkg.b import *\n"
              "print(pkg.v, pa.name, value, pkg.__name__)\n"
              "try: from pkg.b import valu\n"
              "except ImportError as e: print(e)\n"
              "try: import pkg.none\n"
              "except ModuleNotFoundError as e: print(e)\n") ==
        "7 pkg.a 7 pkg\n"
        "cannot import name 'valu' from 'pkg.b' (pkg.b.tsc)\n"
        "No module named 'pkg.none'\n");
  CHECK(t.run("import one\n").find("circular import: one -> two -> one") != std::string::npos);
}
