// The code object's own analyses: blocks, liveness, hash, the verifier, and the format's limits.
#include "emit_testing.h"
#include "lang/bytecode/control_flow.h"
#include "lang/bytecode/liveness.h"

using namespace tsc::lang;

namespace {

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("liveness knows what a loop still needs", "[bytecode]") {
  CodeRef code = function_code("def f(n, unused):\n  s = 0\n  for i in range(n):\n    s = s + i\n  return s\n");
  uint32_t head = 0;
  while (code->instructions[head].op != Op::ForIter) ++head;
  const RegisterSet& live = live_registers(*code, head);
  auto slot = [&](const std::string& name) {
    auto found = std::find(code->register_names.begin(), code->register_names.end(), name);
    return static_cast<uint32_t>(found - code->register_names.begin());
  };
  CHECK(live.contains(slot("s")));
  CHECK(live.contains(code->instructions[head].b));
  CHECK_FALSE(live.contains(slot("i")));
  CHECK_FALSE(live.contains(slot("unused")));
  CHECK_FALSE(live.contains(slot("n")));
}

TEST_CASE("a register that only a handler reads is live in the protected range", "[bytecode]") {
  CodeRef code = function_code("def f(a, b):\n  try:\n    g(a)\n    g(a)\n  except E:\n    return b\n  return 1\n");
  uint32_t call = 0;
  while (code->instructions[call].op != Op::Call) ++call;
  CHECK(live_registers(*code, call).contains(1));
}

TEST_CASE("blocks cover the code and know their handlers", "[bytecode]") {
  CodeRef code = function_code("def f(a):\n  try:\n    while a:\n      a = g(a)\n  finally:\n    h()\n  return a\n");
  const auto& blocks = code->control_flow().blocks();
  uint32_t next = 0;
  size_t heads = 0, handled = 0;
  for (const BasicBlock& block : blocks) {
    CHECK(block.begin == next);
    next = block.end;
    heads += block.is_loop_head;
    handled += block.handler >= 0;
  }
  CHECK(next == code->instructions.size());
  CHECK(heads == 1);
  CHECK(handled > 0);
}

TEST_CASE("the content hash sees what code does and not where it stands", "[bytecode]") {
  CodeRef a = function_code("def f(x):\n  return x + 1\n");
  CodeRef b = function_code("\n\n# comment\ndef f(x):\n    return (x + 1)\n");
  CodeRef c = function_code("def f(x):\n  return x + 2\n");
  CHECK(a->content_hash() == b->content_hash());
  CHECK_FALSE(a->content_hash() == c->content_hash());
}

TEST_CASE("the verifier finds broken code", "[bytecode]") {
  auto code = std::make_shared<CodeObject>();
  code->register_count = 2;
  code->instructions = {{Op::Add, 0, 0, 1, 7}, {Op::Jump, 0, 0, 9, 0}};
  code->spans.resize(2);
  CHECK(verify(*code).size() >= 2);
  code->instructions = {{Op::Add, 0, 0, 1, 1}, {Op::Return, 0, 0, 0, 0}};
  CHECK(verify(*code).size() == 1);  // r1 is read before any write
}

TEST_CASE("bodies too long for near jumps", "[bytecode]") {
  std::string body = repeated("    a = a + 1\n", 40000);
  CodeRef code = function_code("def f(a, b):\n  for i in b:\n" + body + "  while a < 3:\n" + body +
                               "  return a if a < 5 < b else 0\n");
  CHECK(code->instructions.size() > 80000);
  CHECK(count_ops(*code, Op::JumpLtK) == 0);
}

TEST_CASE("large displays do not need a register per item", "[bytecode]") {
  std::string items = repeated("x, ", 100000);
  CHECK(compile_checked("x = 1\ny = [" + items + "]\n")->register_count < 100);
  CHECK(compile_checked("x = 1\ny = (" + items + ")\n")->register_count < 100);
  CHECK(compile_checked("x = 1\ny = {" + items + "}\n")->register_count < 100);
  CHECK(compile_checked("x = 1\ny = {" + repeated("x: x, ", 10000) + "}\n")->register_count < 100);
  CHECK(compile_checked("x = 1\ny = f'" + repeated("{x}-", 1000) + "'\n")->register_count < 100);
  CodeRef constants = compile_checked("y = [" + repeated("1, ", 1000) + "]\n");
  CHECK(constants->instructions.size() < 10);
}

TEST_CASE("a limit of the format is a diagnostic", "[bytecode]") {
  CompileResult result = compile_text(repeated("a.b\n", 70000));
  CHECK_FALSE(result.code);
  REQUIRE(result.diagnostics.all().size() == 1);
  CHECK(result.diagnostics.all()[0].message.find("attribute") != std::string::npos);
  CHECK_FALSE(compile_text("f(" + repeated("x, ", 70000) + ")\n").code);
}

TEST_CASE("finally bodies inside finally bodies do not explode", "[bytecode]") {
  std::string text = "def f():\n";
  for (int depth = 0; depth < 60; ++depth) {
    std::string indent(static_cast<size_t>(depth) + 1, ' ');
    text += indent + "try:\n" + indent + " g()\n" + indent + "finally:\n";
  }
  text += std::string(61, ' ') + "g()\n";
  CHECK_FALSE(compile_text(text).code);
}
