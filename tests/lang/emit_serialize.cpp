// Stored bytecode is the code that was stored, and bytes that are not are refused.
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "emit_testing.h"
#include "lang/bytecode/serialize.h"

using namespace tsc;
using namespace tsc::lang;

namespace {

constexpr size_t kChecksumAt = 28, kPayloadAt = 44;

bool same(const ParameterList& a, const ParameterList& b) {
  return a.positional_only == b.positional_only && a.positional == b.positional && a.keyword_only == b.keyword_only &&
         a.has_varargs == b.has_varargs && a.has_varkwargs == b.has_varkwargs && a.names == b.names;
}

template <class Entry, class Same>
bool all_same(const std::vector<Entry>& a, const std::vector<Entry>& b, Same&& same_entry) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_entry);
}

void check_same(const CodeObject& a, const CodeObject& b) {
  INFO(a.qualname);
  CHECK((a.kind == b.kind && a.is_generator == b.is_generator));
  CHECK((a.name == b.name && a.qualname == b.qualname));
  CHECK((a.span == b.span && a.first_line == b.first_line));
  CHECK((a.has_docstring == b.has_docstring && a.docstring == b.docstring));
  CHECK(same(a.parameters, b.parameters));
  CHECK((a.register_count == b.register_count && a.register_names == b.register_names));
  CHECK((a.cell_begin == b.cell_begin && a.cell_end == b.cell_end));
  CHECK((a.free_names == b.free_names && a.names == b.names));
  CHECK((a.instructions == b.instructions && a.constants == b.constants));
  CHECK((a.sites == b.sites && a.call_shapes == b.call_shapes));
  CHECK(all_same(a.spans, b.spans, [](const InstructionSpan& x, const InstructionSpan& y) {
    return x.whole == y.whole && x.anchor == y.anchor;
  }));
  CHECK(all_same(a.exceptions, b.exceptions, [](const ExceptionEntry& x, const ExceptionEntry& y) {
    return x.begin == y.begin && x.end == y.end && x.handler == y.handler && x.reg == y.reg &&
           x.temporaries == y.temporaries;
  }));
  CHECK(all_same(a.statements, b.statements, [](const Statement& x, const Statement& y) {
    return x.begin == y.begin && x.end == y.end && x.span == y.span && x.parent == y.parent;
  }));
  CHECK(a.source == b.source);
  REQUIRE(a.codes.size() == b.codes.size());
  for (size_t i = 0; i < a.codes.size(); ++i) check_same(*a.codes[i], *b.codes[i]);
}

void check_round_trip(const CodeObject& code) {
  DeserializeResult again = deserialize(serialize(code), code.source);
  INFO(again.error);
  REQUIRE(again.code);
  CHECK(again.error.empty());
  check_same(code, *again.code);
  CHECK(again.code->content_hash() == code.content_hash());
  CHECK(disassemble(*again.code) == disassemble(code));
}

// Every table of a code has something in it.
const char kEverything[] =
    "'''text of the module: \\0 \\u00e9'''\n"
    "import os.path as p\n"
    "@staticmethod\n"
    "def f(a, /, b=1.5, *args, c=(1, -2, ('x', b'\\x00\\xff')), **kw):\n"
    "    'what f does'\n"
    "    def g():\n"
    "        nonlocal b\n"
    "        b += 9007199254740993\n"
    "        yield from (x for x in args if x is not ...)\n"
    "    try:\n"
    "        return g(), a[1:2], kw.get(key=a, other=-0.0), 1e999, -5, f'{a!r:>{b}}'\n"
    "    except (ValueError, OSError) as e:\n"
    "        raise e from None\n"
    "    finally:\n"
    "        p.join('a', 'b')\n"
    "class C(object, metaclass=type):\n"
    "    x: int = 0\n"
    "    m = lambda self: self.x\n";

// The header's checksum made right again, so that the tables themselves are read.
std::string resealed(std::string bytes) {
  Hash128 hash = hash_bytes(std::string_view(bytes).substr(kPayloadAt));
  for (int i = 0; i < 8; ++i) {
    bytes[kChecksumAt + i] = static_cast<char>(hash.high >> 8 * i);
    bytes[kChecksumAt + 8 + i] = static_cast<char>(hash.low >> 8 * i);
  }
  return bytes;
}

// Refused with a sentence, or a code whose tables may be walked.
void check_survives(const std::string& bytes, const std::shared_ptr<const Source>& source) {
  DeserializeResult result = deserialize(bytes, source);
  if (!result.code) {
    if (result.error.empty()) FAIL_CHECK("refused without a reason");
    return;
  }
  std::function<void(const CodeObject&)> walk = [&](const CodeObject& code) {
    if (!verify_references(code).empty()) FAIL_CHECK("a reference to nothing");
    for (const CodeRef& inner : code.codes) walk(*inner);
  };
  walk(*result.code);
  if (disassemble(*result.code).empty()) FAIL_CHECK("no text");
  result.code->content_hash();
}

}  // namespace

TEST_CASE("stored code comes back as it was", "[serialize]") {
  for (const char* text : {"", "pass", "'doc'", kEverything, "x = 'a\\nb'\r\ny = 2\r\n"})
    check_round_trip(*compile_checked(text));
  std::string deep = "x";
  for (int i = 0; i < 40; ++i) deep = "(lambda: " + deep + ")";
  check_round_trip(*compile_checked(deep));
  // Far jumps, many constants.
  std::string large = "def f(a):\n  while a:\n";
  for (int i = 0; i < 20000; ++i) large += "    a.x" + std::to_string(i % 300) + " = " + std::to_string(i * i) + "\n";
  check_round_trip(*compile_checked(large));
}

TEST_CASE("own bytecode is decoded when it is asked for", "[serialize]") {
  CodeRef code = compile_checked(kEverything);
  const std::string bytes = serialize(*code);
  DeserializeResult own = deserialize_own(bytes, code->source);
  INFO(own.error);
  REQUIRE(own.code);
  const CodeObject& inner = *own.code->codes.front();
  CHECK((inner.name == "f" && inner.docstring == "what f does"));
  CHECK(same(inner.parameters, code->codes.front()->parameters));
  CHECK(inner.instructions.empty());
  std::function<void(const CodeObject&)> ask = [&](const CodeObject& one) {
    CHECK(!one.whole().instructions.empty());
    for (const CodeRef& nested : one.codes) ask(*nested);
  };
  ask(*own.code);
  check_same(*code, *own.code);
  // The analyses ask by themselves.
  CHECK(deserialize_own(bytes, code->source).code->content_hash() == code->content_hash());
  CHECK(disassemble(*deserialize_own(bytes, code->source).code) == disassemble(*code));
  CHECK(serialize(*deserialize_own(bytes, code->source).code) == bytes);
  CHECK(!deserialize_own("TSCB", code->source).code);
  CHECK(!deserialize_own(std::string(60, 'x'), code->source).code);
}

TEST_CASE("every script of the corpus and the library survives storing", "[serialize]") {
  namespace fs = std::filesystem;
  size_t stored = 0;
  for (const char* folder : {"tests/scripts", "stdlib", "examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TSC_SOURCE_FOLDER) / folder)) {
      if (entry.path().extension() != ".tsc") continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      CompileResult compiled = compile_text(text.str());
      if (!compiled.code) continue;  // a script about a diagnostic
      INFO(entry.path());
      check_round_trip(*compiled.code);
      ++stored;
    }
  }
  CHECK(stored > 100);
}

TEST_CASE("bytes of another format, text or length are refused", "[serialize]") {
  CodeRef code = compile_checked(kEverything);
  const std::string bytes = serialize(*code);
  const auto error_of = [&](const std::string& changed) { return deserialize(changed, code->source).error; };
  CHECK(error_of("") == "these bytes are no bytecode");
  CHECK(error_of("text " + bytes) == "these bytes are no bytecode");
  std::string other_format = bytes;
  ++other_format[4];
  CHECK(error_of(other_format) == "the bytecode has another format or another instruction set");
  CHECK(error_of(bytes + "x") == "the bytecode of 'test.tsc' is damaged: wrong checksum");
  CHECK(error_of(resealed(bytes + "x")) == "the bytecode of 'test.tsc' is damaged: bytes follow its end");
  auto other_text = std::make_shared<const Source>("other.tsc", std::string(kEverything) + "\n");
  DeserializeResult result = deserialize(bytes, other_text);
  CHECK(result.code == nullptr);
  CHECK(result.error == "the bytecode was made from another text than 'other.tsc'");
  // The name is the reader's.
  auto renamed = std::make_shared<const Source>("renamed.tsc", kEverything);
  REQUIRE(deserialize(bytes, renamed).code);
  CHECK(deserialize(bytes, renamed).code->codes.front()->file() == "renamed.tsc");
}

TEST_CASE("truncated bytecode is refused at every length", "[serialize]") {
  CodeRef code = compile_checked(kEverything);
  const std::string bytes = serialize(*code);
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK(deserialize(bytes.substr(0, size), code->source).code == nullptr);
    if (size < kPayloadAt) continue;
    DeserializeResult result = deserialize(resealed(bytes.substr(0, size)), code->source);
    CHECK(result.code == nullptr);
    CHECK_FALSE(result.error.empty());
  }
}

TEST_CASE("flipped bytes are refused, and never trusted when the checksum is right", "[serialize]") {
  CodeRef code = compile_checked(kEverything);
  const std::string bytes = serialize(*code);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int flip : {1, 2, 16, 127, 128, 255}) {
      INFO(at << " ^ " << flip);
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      CHECK(deserialize(changed, code->source).code == nullptr);
      if (at >= kPayloadAt) check_survives(resealed(changed), code->source);
    }
  }
}

TEST_CASE("what nests as deep as a tree may is read back", "[serialize]") {
  std::string lambdas;
  std::string tuples = "1,";
  for (int depth = 0; depth < 900; ++depth) lambdas += "lambda: ";
  for (int depth = 0; depth < 190; ++depth) tuples = "(" + tuples + "),";
  for (const std::string& text : {lambdas + "1", tuples}) {
    CodeRef code = compile_checked(text);
    const std::string bytes = serialize(*code);
    DeserializeResult again = deserialize(bytes, code->source);
    CHECK(again.error == "");
    REQUIRE(again.code);
    CHECK(serialize(*again.code) == bytes);
  }
}

TEST_CASE("long counts and deep nesting in bytes are refused", "[serialize]") {
  CodeRef code = compile_checked("pass");
  const std::string bytes = serialize(*code);
  // A number of nine continued bytes in place of any byte: a count that no memory could hold.
  for (size_t at = kPayloadAt; at < bytes.size(); ++at) {
    std::string changed = bytes.substr(0, at) + std::string(8, '\xff') + "\x7f" + bytes.substr(at + 1);
    check_survives(resealed(changed), code->source);
    check_survives(resealed(bytes.substr(0, at) + std::string(100000, '\x08')), code->source);
    check_survives(resealed(bytes.substr(0, at) + std::string(20, '\xff')), code->source);
  }
}
