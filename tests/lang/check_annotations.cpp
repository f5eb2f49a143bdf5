// What `tenscript check` says of shape annotations, and what it must not say.
#include "catch2/catch.hpp"
#include "lang/check/check.h"

namespace tsc::lang {

namespace {

constexpr std::string_view kBuiltins[] = {"print", "range", "len", "int", "TypeError"};

std::string findings(const std::string& text) {
  const Source source("test.tsc", text);
  const Diagnostics found = check(source, {kBuiltins});
  std::string out;
  for (const Diagnostic& d : found.all()) {
    const LineColumn at = source.locate(d.primary.span.begin);
    if (d.code != Code::InvalidShape && d.code != Code::ShapeMismatch) continue;
    out += std::to_string(at.line) + ":" + std::to_string(at.column) + " " + code_text(d.code) + " " + d.message + "\n";
  }
  return out;
}

const std::string kHead = "import torch\nfrom torch import Tensor\n";

// Of a call in line 5.
std::string call(const std::string& parameters, const std::string& arguments) {
  return findings(kHead + "def f(" + parameters + "):\n    return 1\nf(" + arguments + ")\n");
}

// Of a function with the body `return VALUE` in line 4.
std::string result(const std::string& head, const std::string& value) {
  return findings(kHead + "def f(" + head + ":\n    return " + value + "\n");
}

}  // namespace

TEST_CASE("annotations that cannot be read are found wherever they stand") {
  CHECK(call("x: Tensor['b,']", "1") == "3:18 E0709 'b,' is no dimension\n");
  CHECK(findings("class A:\n    field: 'Tensor[f32, \"? b\"]'\n") == "2:26 E0709 '?' is no dimension\n");
  CHECK(findings("class A:\n    def m(self, x: Tensor[f31]): pass\n") == "2:27 E0709 'f31' is no dtype\n");
  CHECK(findings("def f():\n    y: Tensor['a b//'] = 1\n    return y\n") == "2:18 E0709 'b//' is no dimension\n");
  CHECK(findings("def f(x: Tensor['?']): pass  # check: ignore\n").empty());
  CHECK(findings("class Tensor: pass\ndef f(x: Tensor['?']): pass\n").empty());
}

TEST_CASE("calls that certainly do not fit") {
  CHECK(call("x: Tensor['b 3']", "torch.ones(2, 4)") ==
        "5:3 E0710 argument 'x' of f() does not fit its annotation: dimension 1 is 4, not 3\n");
  CHECK(call("x: Tensor['b 3']", "torch.zeros((2, 3, 4))") ==
        "5:3 E0710 argument 'x' of f() does not fit its annotation: it has 3 dimensions, not 2\n");
  CHECK(call("x: Tensor['b'], y: Tensor['b']", "torch.ones(2), y=torch.ones(3)") ==
        "5:20 E0710 argument 'y' of f() does not fit its annotation: dimension 0 is 3, but b is 2\n");
  CHECK(call("x: Tensor[f32]", "torch.randint(0, 9, (4,))") ==
        "5:3 E0710 argument 'x' of f() does not fit its annotation: its dtype is i64, not f32\n");
  CHECK(call("x: Tensor", "None").find("a tensor is expected") != std::string::npos);
  CHECK(call("*xs: Tensor['n']", "torch.ones(2), torch.ones(3)").find("item 1 of argument '*xs'") != std::string::npos);
  CHECK(findings(kHead + "n = 4\nx = torch.randn(n, 5)\ny = (x + 1).relu()\n"
                         "@torch.compile\ndef f(x: Tensor['5 _']): return x\nprint(f(y.float()))\n") ==
        "8:9 E0710 argument 'x' of f() does not fit its annotation: dimension 0 is 4, not 5\n");
  CHECK(findings(kHead + "class Net(torch.nn.Module):\n    def forward(self, x: Tensor['b 8']): return x\n"
                         "net = Net()\nnet(torch.ones(2, 9))\n")
            .find("6:5 E0710 argument 'x' of Net.forward()") == 0);
  CHECK(findings(kHead + "def half(x: Tensor['n d']) -> Tensor['n d//2']: return x[:, ::2]\n"
                         "def f(x: Tensor['_ 8']): return x\nf(half(torch.ones(3, 8)))\n")
            .find("dimension 1 is 4, not 8") != std::string::npos);
}

TEST_CASE("results that certainly do not fit") {
  CHECK(result("x: Tensor['b t']) -> Tensor['b']", "x") ==
        "4:12 E0710 the result of f() does not fit its annotation: it has 2 dimensions, not 1\n");
  CHECK(result("x: Tensor['b t']) -> tuple[Tensor, Tensor['1']]", "x, torch.ones(2)")
            .find("item 1 of the result of f()") != std::string::npos);
  CHECK(result("x) -> Tensor", "None").find("a tensor is expected") != std::string::npos);
  CHECK(result("x: Tensor['2 t']) -> Tensor['t 3']", "x.T").find("dimension 1 is 2, not 3") != std::string::npos);
}

TEST_CASE("nothing is said of what is not certain") {
  // Sizes of the same name may differ from each other only while running.
  CHECK(result("x: Tensor['b t']) -> Tensor['t b']", "x").empty());
  CHECK(call("x: Tensor['b 3']", "torch.ones(2, 3)").empty());
  CHECK(call("x: Tensor['3']", "torch.ones(unknown)").empty());
  CHECK(call("x: Tensor['3 3']", "torch.ones(*unknown)").empty());
  CHECK(call("x: Tensor['3'] = None", "").empty());
  CHECK(call("x: Tensor['3'] | None", "None").empty());
  CHECK(call("x: Tensor['3'] | Other", "torch.ones(2)").empty());
  CHECK(call("x: Tensor[f64]", "torch.ones(2)").empty());  // the default dtype may be another
  CHECK(call("x: Tensor['3']", "torch.ones(2), *rest").empty());
  CHECK(call("x: Tensor['3']", "helper(torch.ones(2))").empty());
  CHECK(call("x: Tensor['3']", "torch.ones(2).view(-1)").empty());
  CHECK(call("x: Tensor['3']", "torch.ones(1) + unknown").empty());
  CHECK(findings(kHead + "x = torch.ones(2)\nif x.sum() > 1:\n    x = torch.ones(3)\n"
                         "def f(x: Tensor['3']): return x\nf(x)\n")
            .empty());
  CHECK(findings(kHead + "x = torch.ones(2)\nx.data = torch.ones(3)\n"
                         "def f(x: Tensor['3']): return x\nf(x)\n")
            .empty());
  CHECK(findings(kHead + "def f(x: Tensor['3']): return x\ntry:\n    f(torch.ones(2))\n"
                         "except TypeError:\n    pass\n")
            .empty());
  CHECK(findings(kHead + "def f(x: Tensor['3']): return x\nf = print\nf(torch.ones(2))\n").empty());
  CHECK(findings(kHead + "class A:\n    def m(self, x: Tensor['3']): return x\n"
                         "    def n(self): return self.m(torch.ones(2))\n")
            .empty());  // a subclass may take another shape
  CHECK(result("x) -> Tensor['b']", "x if x else torch.ones(2, 2)").empty());
  CHECK(findings(kHead + "def f() -> Tensor:\n    yield None\n    return None\n").empty());
  CHECK(findings(kHead + "x = x + torch.ones(2)\ndef f(x: Tensor['3']): return x\nf(x)\n").empty());
}

}  // namespace tsc::lang
