// Gradients of loops: the split backward of a region with a loop against finite differences, interpreted and compiled.
#include <cmath>

#include "jit/autodiff/split.h"
#include "jit/compile.h"
#include "jit/runner/kernel_cache.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

// A recurrence over the rows of x with a weight; it gives what is carried and the rows of it. `TURN` is h's next value.
std::string recurrence(const std::string& turn, const std::string& mode = "") {
  return R"(
region r(%0: f64[%1, %2, %3], %4: f64[%5, %6], %8: f64[%9, %10]) {
  assume %3 == %5
  assume %3 == %6
  assume %3 == %10
  assume %2 == %9
  %11 = const int 1
  %13, %15 = loop %1, %8)" +
         mode + R"( : f64[%2, %3], f64[%1, %2, %3] { (%20: int, %21: f64[%2, %3])
    %23 = slice %0, %20, %11, %11 axes=[0] : f64[%11, %2, %3]
    %24 = reshape %23, %2, %3 : f64[%2, %3]
    %26 = reshape %21, %11, %2, %3 : f64[%11, %2, %3]
    %27 = reshape %4, %11, %3, %3 : f64[%11, %3, %3]
    %28 = dot %26, %27 : f64[%11, %2, %3]
    %29 = reshape %28, %2, %3 : f64[%2, %3]
)" + turn +
         R"(
  }
  exit #3(%13, %15)
})";
}

const char* const kTanh = R"(
    %32 = add %29, %24 : f64[%2, %3]
    %33 = tanh %32 : f64[%2, %3]
    yield %33, %33)";
// What is stacked is no carried value, and the carried one is read twice.
const char* const kGate = R"(
    %32 = mul %29, %24 : f64[%2, %3]
    %33 = sigmoid %32 : f64[%2, %3]
    %34 = mul %21, %33 : f64[%2, %3]
    %35 = tanh %34 : f64[%2, %3]
    yield %34, %35)";
// What a turn carries on is what it got from the row alone: gradients of it arrive at the last turn.
const char* const kLast = R"(
    %32 = tanh %24 : f64[%2, %3]
    %33 = mul %29, %24 : f64[%2, %3]
    yield %32, %33)";

struct Differentiated {
  Region forward;
  SplitBackward split;
  size_t outputs;
};

Differentiated differentiate(const std::string& text) {
  Region forward = parse_region(text);
  verify(forward);
  const ValueList left = forward.body.instructions.back().operands;
  const std::vector<ValueId> outputs(left.begin(), left.end()), wrt = forward.body.parameters;
  for (size_t i = 0; i < forward.body.instructions.size(); ++i) {
    const SmallVector<ValueId, 2> results = forward.body.instructions[i].results;
    if (forward.body.instructions[i].code == Code::Loop)
      REQUIRE(prepare_backward(forward, i, std::vector<ValueId>(results.begin(), results.end()), wrt, {}));
  }
  SplitBackward split = split_backward(forward, outputs, wrt);
  verify(split.backward);
  CHECK(print(parse_region(print(split.backward))) == print(split.backward));
  for (ValueId value : split.saved) forward.body.instructions.back().operands.push_back(value);
  verify(forward);
  return {std::move(forward), std::move(split), outputs.size()};
}

std::vector<RunInput> inputs_of(const std::vector<RunValue>& values) {
  std::vector<RunInput> inputs;
  for (const RunValue& value : values) {
    RunInput input;
    if (value.kind == ValueKind::Tensor) input.tensor = &value.tensor;
    input.scalar = value.scalar;
    inputs.push_back(input);
  }
  return inputs;
}

std::vector<RunValue> run(Executable& executable, const std::vector<RunInput>& inputs) {
  RunContext context;
  return executable.run(inputs, context).live;
}

std::vector<RunInput> inputs_of(const std::vector<Tensor>& tensors) {
  std::vector<RunInput> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back({&tensor, {}, nullptr});
  return inputs;
}

double weighted(Executable& forward, const std::vector<Tensor>& tensors, const std::vector<Tensor>& weights) {
  const std::vector<RunValue> made = run(forward, inputs_of(tensors));
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto y = list_of<double>(made[i].tensor), w = list_of<double>(weights[i]);
    for (size_t k = 0; k < y.size(); ++k) sum += y[k] * w[k];
  }
  return sum;
}

void check_gradients(const std::string& text, int64_t turns) {
  const Differentiated made = differentiate(text);
  const auto forward = make_region_executor(made.forward.clone());
  std::mt19937_64 rng(7);
  std::vector<Tensor> tensors = {random_doubles({turns, 2, 3}, -1, 1, rng), random_doubles({3, 3}, -1, 1, rng),
                                 random_doubles({2, 3}, -1, 1, rng)};
  const std::vector<Tensor> weights = {random_doubles({2, 3}, -1, 1, rng), random_doubles({turns, 2, 3}, -1, 1, rng)};
  std::vector<RunValue> values = run(*forward, inputs_of(tensors));
  std::vector<RunInput> given = inputs_of(values);
  given.erase(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(made.outputs));
  for (const Tensor& weight : weights) given.push_back({&weight, {}, nullptr});
  const std::vector<RunValue> found = run(*make_region_executor(made.split.backward.clone()), given);
  CompileOptions options;
  options.cache = make_kernel_cache();
  Report report;
  const auto compiled = compile(made.split.backward.clone(), options, report);
  const std::vector<RunValue> again = run(*compiled, given);
  for (size_t i = 0; i < found.size(); ++i) CHECK(same_bits(found[i].tensor, again[i].tensor));
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int place = made.split.gradients[i];
    std::vector<double> gradient(static_cast<size_t>(tensors[i].numel()), 0.0);
    if (place >= 0) gradient = list_of<double>(found[static_cast<size_t>(place)].tensor);
    for (size_t k = 0; k < gradient.size(); ++k) {
      double& element = tensors[i].data_as<double>()[k];
      const double before = element;
      element = before + kStep;
      const double above = weighted(*forward, tensors, weights);
      element = before - kStep;
      const double below = weighted(*forward, tensors, weights);
      element = before;
      CHECK(std::abs((above - below) / (2 * kStep) - gradient[k]) < 1e-6);
    }
  }
}

}  // namespace

TEST_CASE("gradients of loops are those that finite differences find") {
  for (const char* turn : {kTanh, kGate, kLast})
    for (int64_t turns : {4, 5, 9}) {
      INFO(turn << turns);
      check_gradients(recurrence(turn), turns);
    }
}

TEST_CASE("a loop that counts down begins with its last number") {
  const Region region = parse_region(recurrence(kTanh, " mode=1"));
  verify(region);
  CHECK(print(region).find("mode=1") != std::string::npos);
  CHECK(print(parse_region(print(region))) == print(region));
  std::mt19937_64 rng(7);
  const std::vector<Tensor> tensors = {random_doubles({4, 2, 3}, -1, 1, rng), random_doubles({3, 3}, -1, 1, rng),
                                       random_doubles({2, 3}, -1, 1, rng)};
  const std::vector<RunValue> made = run(*make_region_executor(region.clone()), inputs_of(tensors));
  const auto last = list_of<double>(made[0].tensor), rows = list_of<double>(made[1].tensor);
  CHECK(last == std::vector<double>(rows.begin(), rows.begin() + 6));
  CompileOptions options;
  options.cache = make_kernel_cache();
  Report report;
  const std::vector<RunValue> compiled = run(*compile(region.clone(), options, report), inputs_of(tensors));
  for (size_t i = 0; i < made.size(); ++i) CHECK(same_bits(made[i].tensor, compiled[i].tensor));
}
