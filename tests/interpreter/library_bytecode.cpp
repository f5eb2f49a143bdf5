// The library runs from the bytecode that the build stored, and from its text where the two differ.
#include "catch2/catch.hpp"
#include "interpreter/vm/vm.h"
#include "lang/bytecode/disassemble.h"
#include "lang/bytecode/serialize.h"
#include "lang/emit/compile.h"
#include "stdlib/embedded.h"

using namespace tsc;
using namespace tsc::interp;

TEST_CASE("every library file has the bytecode of its text", "[library]") {
  for (const stdlib::EmbeddedFile* file = stdlib::begin(); file != stdlib::end(); ++file) {
    INFO(file->path);
    auto source = std::make_shared<const lang::Source>(std::string(file->path), std::string(file->text));
    lang::DeserializeResult stored = lang::deserialize(file->bytecode, source);
    INFO(stored.error);
    REQUIRE(stored.code);
    lang::CompileResult compiled = lang::compile_module(source);
    REQUIRE(compiled.code);
    CHECK(lang::disassemble(*stored.code) == lang::disassemble(*compiled.code));
    CHECK(stored.code->content_hash() == compiled.code->content_hash());
    CHECK(lang::serialize(*stored.code) == file->bytecode);
  }
}

TEST_CASE("a host's own text of a library file is what runs", "[library]") {
  const EmbeddedFile own[] = {{"textwrap.tsc", "answer = 42\n"}};
  Config config;
  std::string printed;
  config.write = [&](Stream, std::string_view text) { printed += text; };
  config.embedded = own;
  config.embedded_count = 1;
  Vm vm(config);
  vm.run_module("import textwrap\nprint(textwrap.answer, hasattr(textwrap, 'dedent'))\n", "host.tsc");
  CHECK(printed == "42 False\n");
}
