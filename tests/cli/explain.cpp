// What `tenscript explain` tells: places of the program, the way to objects, one line a place, costs.
#include <fstream>
#include <regex>

#include "run_tenscript.h"

using namespace tsc::test;

namespace {

std::string explained(const TemporaryFolder& folder, const std::string& program) {
  const std::string file = folder.path() + "/model.tsc";
  std::ofstream(file) << program;
  const ProcessResult result = tenscript({"explain", file});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  return result.out;
}

bool has(const std::string& text, const std::string& pattern) { return std::regex_search(text, std::regex(pattern)); }

constexpr const char* kModel = R"(
import torch
import torch.nn as nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.scale = 1

    def forward(self, x):
        y = self.linear(x) * self.scale
        if y.sum() > 100:
            return y
        return y - 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

net = Net()
step = torch.compile(net)
for n in range(4):
    step(torch.ones(n + 1, 2))
net.blocks[0].scale = 3
step(torch.ones(1, 2))
)";

}  // namespace

TEST_CASE("explain names the module, the program's own lines and the object that changed") {
  const TemporaryFolder folder;
  const std::string text = explained(folder, kModel);
  INFO(text);
  CHECK(has(text, R"(\nNet \(.*model\.tsc:\d+\).*, captured in [0-9.]+ ms)"));
  CHECK(has(text, R"(tensor_branch exit  .*model\.tsc:13 )"));
  CHECK(has(text, R"('scale' of 'Block' \(self\.blocks\[0\]\) changed)"));
  CHECK_FALSE(has(text, R"(exit  <stdlib>)"));
}

TEST_CASE("explain has one line for a place that was compiled many times") {
  const TemporaryFolder folder;
  const std::string text = explained(folder, R"(
import torch

@torch.compile
def f(x, mode):
    return x + 1 if mode == "a" else x * 2

for mode in "abcdcb":
    f(torch.ones(2), mode)
)");
  INFO(text);
  CHECK(has(text, R"(\nf \(.*model\.tsc:6\), 4 regions, captured in)"));
  CHECK(has(
      text,
      R"(  recompile  .*model\.tsc:6  3 times, all captures there took [0-9.]+ ms\n    'mode'  \(3 times; last: 'c' -> 'd'\)\n)"));
  CHECK(text.find("recompile  ") == text.rfind("recompile  "));
}

TEST_CASE("explain tells where the library left the region, behind the line that called it") {
  const TemporaryFolder folder;
  const std::string text = explained(folder, R"(
import torch

@torch.compile
def f(x):
    return torch.fft.rfft(x).abs()

f(torch.ones(3))
)");
  INFO(text);
  CHECK(has(text, R"(exit  .*model\.tsc:6  .* in <stdlib>/torch/)"));
}
