// A C++ program that runs a small model on a buffer of its own: the buffer is lent without a copy, the
// script calls a function of the program, the program calls a function of the script and shows its
// error.
#include <cstdio>
#include <string>
#include <tenscript/tenscript.hpp>
#include <vector>

namespace {

constexpr const char* kScript = R"(
import torch
import host

class Filter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[1., 2.], [3., 4.]]))

    @torch.compile
    def forward(self, x):
        return torch.relu(x @ self.weight - host_threshold)

host_threshold = host.threshold("filter")
model = Filter()

def predict(x):
    with torch.no_grad():
        return model(x)
)";

}  // namespace

int main() {
  std::string log;
  tenscript::Options options;
  options.seed = 7;
  options.has_seed = true;
  options.output = [&](tsc_stream, std::string_view text) { log += text; };
  tenscript::Engine engine(options);

  engine.define("host", "threshold", [](std::string name) { return name == "filter" ? 5.0 : 0.0; });
  engine.run_source(kScript, "filter.tsc");

  std::vector<float> frame = {1, 2, 3, 4};
  int released = 0;
  {
    tenscript::Value x = engine.borrow({2, 2}, frame.data(), [&] { ++released; });
    const tenscript::Value y = engine.call("predict", x);
    const tsc_tensor_info info = y.tensor();
    const auto* out = static_cast<const float*>(info.data);
    std::printf("predict: %g %g %g %g\n", out[0], out[1], out[2], out[3]);
    engine.run_source("def double_in_place(x):\n    x.mul_(2)\n");
    engine.call("double_in_place", x);
  }
  std::printf("frame: %g %g %g %g, released %d\n", frame[0], frame[1], frame[2], frame[3], released);

  try {
    engine.call("predict", 3);
  } catch (const tenscript::Error& error) {
    std::printf("%s", error.render().c_str());
    return released == 1 && log.empty() ? 0 : 1;
  }
  return 1;
}
