// What is wrong with an argument is TSC_BAD_ARGUMENT and names it: NULL, values of another engine, text that is
// none, names that are none.
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "catch2/catch.hpp"
#include "interpreter/embed/dlpack.h"
#include "interpreter/embed/tenscript.hpp"
#include "process.h"

using namespace tenscript;

namespace {

// "" when the status is TSC_BAD_ARGUMENT and says this, else what it is.
std::string refused(tsc_status* status, const std::string& says) {
  const std::string message = api().status_message(status);
  const bool right = api().status_code(status) == TSC_BAD_ARGUMENT && message.find(says) != std::string::npos;
  const std::string found = right ? "" : std::to_string(api().status_code(status)) + " " + message;
  api().status_free(status);
  return found;
}

constexpr const char* kNull = "' is NULL";

void take_text(void*, const char*, size_t) {}
tsc_status* do_nothing(void*, tsc_engine*, tsc_value* const*, size_t, tsc_value**) { return nullptr; }

// An engine with one value of each use, and places for results.
struct Ground {
  Engine engine;
  tsc_engine* e = engine.handle();
  Value number = engine.value(1), list = engine.list({});
  tsc_value* n = number.handle();
  tsc_value* items[2] = {n, nullptr};
  const char* names[2] = {"a", nullptr};
  tsc_value* out = nullptr;
  size_t count = 0;
};

}  // namespace

TEST_CASE("NULL in an engine's options and texts") {
  Ground g;
  const tsc_api& a = api();
  tsc_engine_options options{};
  options.struct_size = sizeof options;
  tsc_engine* made = nullptr;
  CHECK(refused(a.engine_new(&options, nullptr), "'engine' is NULL") == "");
  options.argument_count = 3;
  CHECK(refused(a.engine_new(&options, &made), "'arguments' is NULL") == "");
  options.arguments = g.names;
  CHECK(refused(a.engine_new(&options, &made), "'arguments[1]' is NULL") == "");
  options.argument_count = 0;
  options.read_root_count = 2;
  CHECK(refused(a.engine_new(&options, &made), "'read_roots' is NULL") == "");
  options.read_root_count = 0;
  options.search_path_count = 1;
  CHECK(refused(a.engine_new(&options, &made), "'search_paths' is NULL") == "");
  CHECK(made == nullptr);
  CHECK(refused(a.run_source(g.e, nullptr, "x", 1), "'name' is NULL") == "");
  CHECK(refused(a.run_source(g.e, "a", nullptr, 5), "'text' is NULL") == "");
  CHECK(a.run_source(g.e, "a", nullptr, 0) == nullptr);  // no text at all
  CHECK(refused(a.run_file(g.e, nullptr), "'path' is NULL") == "");
  CHECK(refused(a.run_module(g.e, nullptr), kNull) == "");
  CHECK(refused(a.run_entry(g.e, nullptr, "x", 1, &g.out), "'name' is NULL") == "");
  CHECK(refused(a.run_entry(g.e, "a", nullptr, 1, &g.out), "'text' is NULL") == "");
  CHECK(a.is_incomplete(g.e, nullptr, 4) == 0);
  CHECK(a.complete(g.e, nullptr, 3, take_text, nullptr) == 3);
  CHECK(a.complete(g.e, "pri", 3, nullptr, nullptr) == 3);
  CHECK(refused(a.add_module(g.e, nullptr, "x", 1, 0), "'dotted_name' is NULL") == "");
  CHECK(refused(a.add_module(g.e, "m", nullptr, 1, 0), "'text' is NULL") == "");
  CHECK(refused(a.import_module(g.e, nullptr, &g.out), kNull) == "");
  CHECK(refused(a.import_module(g.e, "math", nullptr), "'module' is NULL") == "");
  CHECK(refused(a.error_new(g.e, nullptr, "text"), "'type' is NULL") == "");
  CHECK(refused(a.error_new(g.e, "ValueError", nullptr), "'message' is NULL") == "");
}

TEST_CASE("NULL among names, values and results") {
  Ground g;
  const tsc_api& a = api();
  CHECK(refused(a.get(g.e, "print", nullptr), "'value' is NULL") == "");
  CHECK(refused(a.get(g.e, nullptr, &g.out), kNull) == "");
  CHECK(refused(a.set(g.e, "a", nullptr), "'value' is NULL") == "");
  CHECK(refused(a.set(g.e, nullptr, g.n), "'name' is NULL") == "");
  CHECK(refused(a.get_attribute(g.e, nullptr, "x", &g.out), "'object' is NULL") == "");
  CHECK(refused(a.get_attribute(g.e, g.n, nullptr, &g.out), "'name' is NULL") == "");
  CHECK(refused(a.get_attribute(g.e, g.n, "x", nullptr), "'value' is NULL") == "");
  CHECK(refused(a.set_attribute(g.e, nullptr, "x", g.n), kNull) == "");
  CHECK(refused(a.set_attribute(g.e, g.n, nullptr, g.n), kNull) == "");
  CHECK(refused(a.set_attribute(g.e, g.n, "x", nullptr), kNull) == "");
  CHECK(refused(a.get_item(g.e, nullptr, g.n, &g.out), kNull) == "");
  CHECK(refused(a.get_item(g.e, g.list.handle(), nullptr, &g.out), "'key' is NULL") == "");
  CHECK(refused(a.get_item(g.e, g.list.handle(), g.n, nullptr), "'item' is NULL") == "");
  CHECK(refused(a.set_item(g.e, g.n, g.n, nullptr), "'item' is NULL") == "");
  CHECK(refused(a.value_copy(nullptr, &g.out), kNull) == "");
  CHECK(refused(a.value_copy(g.n, nullptr), "'copy' is NULL") == "");
  CHECK(refused(a.call(g.e, nullptr, nullptr, 0, nullptr, nullptr, 0, &g.out), "'function' is NULL") == "");
  const Value print = g.engine.get("print");
  tsc_value* f = print.handle();
  CHECK(refused(a.call(g.e, f, nullptr, 1, nullptr, nullptr, 0, &g.out), "'arguments' is NULL") == "");
  CHECK(refused(a.call(g.e, f, g.items, 2, nullptr, nullptr, 0, &g.out), "'arguments[1]' is NULL") == "");
  CHECK(refused(a.call(g.e, f, nullptr, 0, nullptr, g.items, 1, &g.out), "'keyword_names' is NULL") == "");
  CHECK(refused(a.call(g.e, f, nullptr, 0, g.names, nullptr, 1, &g.out), "'keyword_values' is NULL") == "");
  tsc_value* twice[2] = {g.n, g.n};
  CHECK(refused(a.call(g.e, f, nullptr, 0, g.names, twice, 2, &g.out), "'keyword_names[1]' is NULL") == "");
  CHECK(refused(a.list_new(g.e, nullptr, SIZE_MAX, &g.out), "'items' is NULL") == "");
  CHECK(refused(a.list_new(g.e, g.items, 2, &g.out), "'items[1]' is NULL") == "");
  CHECK(refused(a.tuple_new(g.e, g.items, 2, &g.out), "'items[1]' is NULL") == "");
  CHECK(refused(a.dict_new(g.e, g.items, twice, 2, &g.out), "'keys[1]' is NULL") == "");
  CHECK(refused(a.dict_new(g.e, twice, g.items, 2, &g.out), "'values[1]' is NULL") == "");
  CHECK(refused(a.str_new(g.e, nullptr, 5, &g.out), "'text' is NULL") == "");
  CHECK(refused(a.int_new(g.e, 5, nullptr), kNull) == "");
  CHECK(g.out == nullptr);
}

TEST_CASE("NULL where a value is read") {
  Ground g;
  const tsc_api& a = api();
  const Value text = g.engine.value("text"), yes = g.engine.value(true), entries = g.engine.dict({});
  const char* characters = nullptr;
  for (const tsc_value* value : {static_cast<const tsc_value*>(nullptr), static_cast<const tsc_value*>(g.n)}) {
    CHECK(refused(a.as_int(value, nullptr), kNull) == "");
    CHECK(refused(a.as_float(value, nullptr), kNull) == "");
  }
  CHECK(refused(a.as_bool(nullptr, nullptr), kNull) == "");
  CHECK(refused(a.as_bool(yes.handle(), nullptr), "'truth' is NULL") == "");
  CHECK(refused(a.as_str(text.handle(), nullptr, &g.count), "'text' is NULL") == "");
  CHECK(refused(a.as_str(text.handle(), &characters, nullptr), "'size' is NULL") == "");
  CHECK(refused(a.length(text.handle(), nullptr), "'length' is NULL") == "");
  CHECK(refused(a.item(g.list.handle(), 0, nullptr), "'item' is NULL") == "");
  CHECK(refused(a.item(nullptr, 0, &g.out), kNull) == "");
  CHECK(refused(a.dict_entry(entries.handle(), 0, nullptr, &g.out), "'key' is NULL") == "");
  CHECK(refused(a.dict_entry(entries.handle(), 0, &g.out, nullptr), "'item' is NULL") == "");
  CHECK(refused(a.tensor_info(nullptr, nullptr), kNull) == "");
  CHECK(refused(a.represent(g.e, nullptr, take_text, nullptr), "'value' is NULL") == "");
  CHECK(refused(a.represent(g.e, g.n, nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.describe(g.e, nullptr, 0, take_text, nullptr), "'value' is NULL") == "");
  CHECK(refused(a.describe(g.e, g.n, 0, nullptr, nullptr), "'sink' is NULL") == "");
}

TEST_CASE("NULL for statuses, tools and functions of the host") {
  Ground g;
  const tsc_api& a = api();
  tsc_status* status = a.error_new(g.e, "ValueError", "text");
  a.status_render(status, 0, nullptr, nullptr);
  a.status_json(status, nullptr, nullptr);
  a.status_short(status, nullptr, nullptr);
  CHECK(a.status_frame(status, 0, nullptr) == 0);
  a.status_free(status);
  CHECK(refused(a.set_limits(g.e, nullptr), "'limits' is NULL") == "");
  CHECK(refused(a.report(g.e, nullptr, take_text, nullptr), "'format' is NULL") == "");
  CHECK(refused(a.report(g.e, "json", nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.info(g.e, nullptr, take_text, nullptr), "'format' is NULL") == "");
  CHECK(refused(a.info(g.e, "json", nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.cache(g.e, nullptr, "text", take_text, nullptr), "'action' is NULL") == "");
  CHECK(refused(a.cache(g.e, "path", nullptr, take_text, nullptr), "'format' is NULL") == "");
  CHECK(refused(a.cache(g.e, "path", "text", nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.emit(g.e, nullptr, "a", "x", 1, take_text, nullptr), "'stage' is NULL") == "");
  CHECK(refused(a.emit(g.e, "ast", nullptr, "x", 1, take_text, nullptr), "'name' is NULL") == "");
  CHECK(refused(a.emit(g.e, "ast", "a", nullptr, 1, take_text, nullptr), "'text' is NULL") == "");
  CHECK(refused(a.emit(g.e, "ast", "a", "x", 1, nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.format(g.e, nullptr, "x", 1, take_text, nullptr), "'name' is NULL") == "");
  CHECK(refused(a.format(g.e, "a", nullptr, 1, take_text, nullptr), "'text' is NULL") == "");
  CHECK(refused(a.format(g.e, "a", "x", 1, nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.check(g.e, "a", "x", 1, nullptr, take_text, nullptr, &g.count), "'format' is NULL") == "");
  CHECK(refused(a.check(g.e, nullptr, "x", 1, "text", take_text, nullptr, &g.count), "'name' is NULL") == "");
  CHECK(refused(a.check(g.e, "a", nullptr, 1, "text", take_text, nullptr, &g.count), "'text' is NULL") == "");
  CHECK(refused(a.check(g.e, "a", "x", 1, "text", nullptr, nullptr, &g.count), "'sink' is NULL") == "");
  CHECK(refused(a.check(g.e, "a", "x", 1, "text", take_text, nullptr, nullptr), "'findings' is NULL") == "");
  CHECK(refused(a.error_page(nullptr, 0, take_text, nullptr), "'code' is NULL") == "");
  CHECK(refused(a.error_page("E0103", 0, nullptr, nullptr), "'sink' is NULL") == "");
  CHECK(refused(a.define(g.e, nullptr, "f", do_nothing, nullptr, nullptr), "'module' is NULL") == "");
  CHECK(refused(a.define(g.e, "m", nullptr, do_nothing, nullptr, nullptr), "'name' is NULL") == "");
  CHECK(refused(a.define(g.e, "m", "f", nullptr, nullptr, nullptr), "'function' is NULL") == "");
  CHECK(refused(a.define_op(g.e, nullptr), "'op' is NULL") == "");
  tsc_op op{};
  op.struct_size = sizeof op;
  op.module = op.name = "o";
  CHECK(refused(a.define_op(g.e, &op), "'op.run' is NULL") == "");
}

TEST_CASE("NULL for tensors") {
  Ground g;
  const tsc_api& a = api();
  float memory[4] = {};
  const int64_t sizes[2] = {2, 2};
  CHECK(refused(a.tensor_new(g.e, TSC_FLOAT32, nullptr, 2, memory, &g.out), "'sizes' is NULL") == "");
  CHECK(refused(a.tensor_new(g.e, TSC_FLOAT32, sizes, 2, memory, nullptr), "'value' is NULL") == "");
  CHECK(refused(a.tensor_borrow(g.e, TSC_FLOAT32, nullptr, 2, memory, nullptr, nullptr, &g.out), "'sizes' is NULL") ==
        "");
  CHECK(refused(a.tensor_lend(g.e, nullptr, &g.out), "'buffer' is NULL") == "");
  tsc_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.dtype = TSC_FLOAT32;
  buffer.rank = 2;
  buffer.data = memory;
  CHECK(refused(a.tensor_lend(g.e, &buffer, &g.out), "'sizes' is NULL") == "");
  CHECK(refused(a.dlpack_export(nullptr, nullptr), kNull) == "");
  CHECK(refused(a.dlpack_import(g.e, nullptr, &g.out), "'tensor' is NULL") == "");
  int deleted = 0;
  DLManagedTensorVersioned foreign{};
  foreign.version = {1, 0};
  foreign.manager_ctx = &deleted;
  foreign.deleter = [](DLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager_ctx); };
  foreign.dl_tensor = {memory, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
  CHECK(refused(a.dlpack_import(g.e, &foreign, &g.out), "'sizes' is NULL") == "");
  CHECK(refused(a.dlpack_import(g.e, &foreign, nullptr), "'value' is NULL") == "");
  CHECK(deleted == 2);
  CHECK(g.out == nullptr);
}

TEST_CASE("a value of another engine is refused wherever a value is taken") {
  Ground g, other;
  const tsc_api& a = api();
  const char* what = "is a value of another engine";
  tsc_value* foreign = other.list.handle();
  tsc_value* items[2] = {g.n, foreign};
  CHECK(refused(a.list_new(g.e, items, 2, &g.out), std::string("'items[1]' ") + what) == "");
  CHECK(refused(a.tuple_new(g.e, items, 2, &g.out), what) == "");
  CHECK(refused(a.dict_new(g.e, items, items, 2, &g.out), what) == "");
  CHECK(refused(a.set(g.e, "x", foreign), what) == "");
  CHECK(refused(a.call(g.e, foreign, nullptr, 0, nullptr, nullptr, 0, &g.out), what) == "");
  const Value print = g.engine.get("print");
  CHECK(refused(a.call(g.e, print.handle(), items, 2, nullptr, nullptr, 0, &g.out), what) == "");
  CHECK(refused(a.call(g.e, print.handle(), nullptr, 0, g.names, &foreign, 1, &g.out), what) == "");
  CHECK(refused(a.get_attribute(g.e, foreign, "append", &g.out), what) == "");
  CHECK(refused(a.set_attribute(g.e, foreign, "x", g.n), what) == "");
  CHECK(refused(a.set_attribute(g.e, g.n, "x", foreign), what) == "");
  CHECK(refused(a.get_item(g.e, g.list.handle(), foreign, &g.out), what) == "");
  CHECK(refused(a.set_item(g.e, g.list.handle(), g.n, foreign), what) == "");
  CHECK(refused(a.represent(g.e, foreign, take_text, nullptr), what) == "");
  CHECK(refused(a.describe(g.e, foreign, 0, take_text, nullptr), what) == "");
  g.engine.define("host", "leak", "", [&](const std::vector<Value>&) { return other.list.copy(); });
  CHECK_THROWS_WITH(g.engine.run_source("import host\nhost.leak()"),
                    "RuntimeError: the host's function leak returned a value of another engine");
}

TEST_CASE("a host's function may return an argument as it came") {
  Engine engine;
  const auto same = [](void*, tsc_engine*, tsc_value* const* arguments, size_t, tsc_value** result) {
    *result = arguments[0];
    return static_cast<tsc_status*>(nullptr);
  };
  check(api().define(engine.handle(), "host", "same", same, nullptr, nullptr));
  engine.run_source("import host\nassert host.same([1]) == [1]");
}

TEST_CASE("names that no script can write are refused") {
  Ground g;
  const tsc_api& a = api();
  const char* what = "which no script can write as a name";
  for (const char* name : {"", "a b", "a.b", "None", "1a", "a-b", "lambda", "a\n", " a", "a#", "\xf0\x9f", "f("}) {
    INFO(name);
    CHECK(refused(a.set(g.e, name, g.n), what) == "");
    CHECK(refused(a.define(g.e, "host", name, do_nothing, nullptr, nullptr), what) == "");
    if (std::string(name) == "a.b") continue;
    CHECK(refused(a.define(g.e, name, "f", do_nothing, nullptr, nullptr), what) == "");
    CHECK(refused(a.add_module(g.e, name, "x = 1", 5, 0), what) == "");
  }
  for (const char* name : {".", "a.", ".a", "a..b", "a.None"})
    CHECK(refused(a.add_module(g.e, name, "x = 1", 5, 0), what) == "");
  g.engine.set("größe_2", g.number);
  g.engine.set("match", g.number);
  g.engine.run_source("assert größe_2 == match == 1");
}

TEST_CASE("parameters of a host's function: a list, and nothing that runs") {
  Engine engine;
  const auto define = [&](const char* parameters) {
    return api().define_function(engine.handle(), "host", "f", parameters, nullptr, do_nothing, nullptr, nullptr);
  };
  for (const char* wrong : {"x=open('/etc/passwd')", "x=[y for y in range(3)]", "x=1/0", "x=y", "x=(1, 2)", "x=b'a'",
                            "x=...", "x=f'{1}'", "x=not 1", "x='both \\' and \"'"})
    CHECK(refused(define(wrong), "the default of 'x' must be") == "");
  CHECK(refused(define("x,x"), "x") == "");
  CHECK(refused(define("x, *, x"), "x") == "");
  CHECK(refused(define("x=1,y"), "'parameters' is 'x=1,y'") == "");
  for (const char* wrong :
       {"x): pass\ndef z(", "x): pass #", "x) -> (y", "):\n if (1", "?", "x=?", "@x", "x|y", "x y", "(x)"})
    CHECK(refused(define(wrong), "'parameters' is '") == "");
  engine.define("host", "g", "a, /, b: int = -5, *rest, c='a, b', d=\"it's\", e=0x10, f=1e400, h=-2.0, **more",
                [&](const std::vector<Value>& v) {
                  return engine.list([&] {
                    std::vector<Value> copies;
                    for (const Value& value : v) copies.push_back(value.copy());
                    return copies;
                  }());
                });
  engine.run_source(
      "import host\n"
      "assert host.g(1) == [1, -5, 'a, b', \"it's\", 16, float('inf'), -2.0, (), {}]\n"
      "assert host.g(1, 2, 3, c=4, z=5) == [1, 2, 4, \"it's\", 16, float('inf'), -2.0, (3,), {'z': 5}]\n");
}

TEST_CASE("modules of the host inside packages that nobody made") {
  Engine engine;
  engine.add_module("deep.down.below", "x = 7\n");
  engine.run_source("import deep.down.below\nassert deep.down.below.x == 7\nfrom deep.down import below\n");
  engine.define("outer.inner", "f", [] { return 8; });
  engine.run_source("import outer.inner\nassert outer.inner.f() == 8\nfrom outer import inner\n");
  engine.define("torch.host", "f", [] { return 9; });
  engine.run_source("import torch.host\nassert torch.host.f() == 9 and torch.ones(2).sum() == 2");
  CHECK_THROWS_WITH(engine.run_source("import deep.up"), Catch::Contains("No module named 'deep.up'"));
}

TEST_CASE("bools are 0 and 1, whatever bytes the host has for them") {
  Engine engine;
  const uint8_t bytes[] = {0, 1, 2, 255};
  const int64_t size = 4;
  tsc_value* out = nullptr;
  check(api().tensor_new(engine.handle(), TSC_BOOL8, &size, 1, bytes, &out));
  engine.set("b", Value(out));
  engine.run_source(
      "assert b.sum().item() == 3 and b.tolist() == [False, True, True, True] and (b == True).sum() == 3");
}

TEST_CASE("an engine that is in use is not freed") {
  Engine engine;
  engine.define("host", "free", [&] { api().engine_free(engine.handle()); });
  engine.run_source("import host\nhost.free()\nalive = 1");
  CHECK(engine.get("alive").as<int>() == 1);
}

TEST_CASE("a str of the host is UTF-8") {
  Engine engine;
  for (const std::string text : {"\xf0\x9f", "a\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ab\x80"}) {
    tsc_value* out = nullptr;
    CHECK(refused(api().str_new(engine.handle(), text.data(), text.size(), &out), "'text' is no UTF-8 from byte") ==
          "");
    CHECK(out == nullptr);
  }
  CHECK(engine.value("é€😀").size() == 3);
}
