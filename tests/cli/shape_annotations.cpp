// --check-shapes as a person meets it.
#include "run_tenscript.h"

using namespace tsc::test;

namespace {

const char* const kScript =
    "import torch\n"
    "def f(x: torch.Tensor['b 3']):\n"
    "    return x\n"
    "print(f(torch.ones(2, 4)).shape)\n";

}  // namespace

TEST_CASE("shapes are compared with the flag, the variable, and not without") {
  CHECK(tenscript({"-c", kScript}).out == "torch.Size([2, 4])\n");
  const ProcessResult refused = tenscript({"--check-shapes", "-c", kScript});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "TypeError: f(): argument 'x' does not fit its annotation: dimension 1 is 4, not 3"));
  CHECK(contains(refused.err, "call        f(x: Tensor[f32, \"2 4\"])"));
  CHECK(contains(refused.err, "line 4, in <module>"));
  ProcessOptions options;
  options.arguments = {TENSCRIPT_EXECUTABLE, "-c", kScript};
  options.environment = {{"TENSCRIPT_CHECK_SHAPES", "1"}, {"TENSCRIPT_CACHE_DIR", "off"}};
  CHECK(run_process(options).exit_code == 1);
  options.environment = {{"TENSCRIPT_CHECK_SHAPES", "0"}, {"TENSCRIPT_CACHE_DIR", "off"}};
  CHECK(run_process(options).exit_code == 0);
}

TEST_CASE("without the flag the bytecode knows nothing of shapes") {
  TemporaryFolder folder;
  folder.write("a.tsc", kScript);
  const std::string off = tenscript({"--emit=bytecode", "a.tsc"}, "", folder.path()).out;
  const std::string on = tenscript({"--check-shapes", "--emit=bytecode", "a.tsc"}, "", folder.path()).out;
  CHECK(off.find("__check") == std::string::npos);
  CHECK(contains(on, "__check_arguments__"));
  const std::string ask = "import builtins\nprint(hasattr(builtins, '__check_arguments__'))";
  CHECK(tenscript({"-c", ask}).out == "False\n");
}

TEST_CASE("an annotation that cannot be read is reported once and checked never") {
  TemporaryFolder folder;
  folder.write("part.tsc", "def g(x: Tensor['n, m']):\n    return x\n");
  folder.write("main.tsc",
               "from torch import Tensor\nfrom part import g\n"
               "def f(x: Tensor[f31, 'n']):\n    return g(x)\n"
               "print(f(1), f(2))\n");
  const ProcessResult result = tenscript({"--check-shapes", "main.tsc"}, "", folder.path());
  CHECK(result.exit_code == 0);
  CHECK(result.out == "1 2\n");
  for (const char* fault :
       {"main.tsc:3:17: warning[E0709]: 'f31' is no dtype", "part.tsc:1:18: warning[E0709]: 'n,' is no dimension"}) {
    CHECK(contains(result.err, fault));
    CHECK(result.err.find(fault) == result.err.rfind(fault));
  }
  CHECK(tenscript({"main.tsc"}, "", folder.path()).err.empty());
  const ProcessResult checked = tenscript({"check", "-q"}, "", folder.path());
  CHECK(checked.exit_code == 1);
  CHECK(contains(checked.out, "write blanks between dimensions, not commas"));
}

TEST_CASE("what the machine's functions are given by hand does no harm") {
  for (const char* call :
       {"__check_arguments__()", "__check_arguments__(1)", "__check_arguments__((1, 2))", "__check_arguments__(('x',))",
        "__check_arguments__(('x', 'Tensor[\"b//\"]'), 3)", "__check_result__(('x', 'Tensor'), 3, 4)",
        "__check_result__(('return', 'Tensor'), ((),), 4)",
        "__check_result__(('x', 'Tensor', 'return', 'Tensor[\"b//0\"]'), ((0, ((),), 'a'), 3), 4)",
        "__check_arguments__(('x', 'list[()]', 'y', 'Tensor[\"' + '(' * 5000 + '\"]'), 3, 4)"}) {
    INFO(call);
    const std::string text = std::string("try:\n    ") + call + "\nexcept TypeError:\n    pass\nprint('on')\n";
    CHECK(tenscript({"--check-shapes", "-c", text}).out == "on\n");
  }
}
