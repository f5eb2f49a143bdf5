// --verify: calls of compiled functions are compared with the interpreter's.
#include "run_tenscript.h"

using namespace tsc::test;

TEST_CASE("--verify finds nothing where the compiler is right, and changes no result") {
  const std::string program = R"(
import torch
f = torch.compile(lambda x, y: {"a": (x * y).sum(), "b": [x.exp(), torch.rand(2)], "c": x.shape[0]})
torch.manual_seed(1)
for n in range(1, 5):
    print(f(torch.ones(n), torch.full((n,), 0.1)))
w = torch.ones(2, requires_grad=True)
g = torch.compile(lambda w: (w * w).sum())
for _ in range(3):
    w.grad = None
    g(w).backward()
print(w.grad)
h = torch.compile(lambda x: x[5])
for _ in range(2):
    try:
        h(torch.ones(2))
    except IndexError as error:
        print(error)
)";
  const ProcessResult plain = tenscript({"--no-background", "-c", program});
  for (const char* share : {"--verify=100%", "--verify=30", "--verify=0%"}) {
    const ProcessResult checked = tenscript({"--no-background", share, "-c", program});
    INFO(checked.err);
    CHECK(checked.exit_code == 0);
    CHECK(checked.out == plain.out);
    CHECK(checked.err.empty());
  }
}

TEST_CASE("--verify names what differs and the culprit, and the interpreter's result is taken") {
  const ProcessResult result = tenscript({"--verify=100%", "-c", R"(
import torch
def f(x):
    return [x + 1, {"loss": x - 1}]
wrong = torch.compile(f, backend=lambda region, inputs: lambda x: (x + 1, x - 2))
x = torch.ones(2)
print(wrong(x)[1], wrong(x)[1], wrong(x)[1])
)"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "{'loss': tensor([-1., -1.])} {'loss': tensor([0., 0.])} {'loss': tensor([0., 0.])}"));
  CHECK(contains(result.err,
                 "f (<string>:4): compiled and interpreted differ: the result[1]['loss'] has other bits; culprit: "
                 "the backend that torch.compile was given"));
}

TEST_CASE("--verify takes a share in percent") {
  for (const char* wrong : {"--verify=101", "--verify=all", "--verify=-1", "--verify=%"}) {
    const ProcessResult result = tenscript({wrong, "-c", "pass"});
    CHECK(result.exit_code != 0);
  }
}
