// The backward as a region of its own: the same bits as the tape, no more saved than the tape saves.
#include "jit/autodiff/split.h"

#include "jit/autodiff/rules.h"
#include "jit/passes/pipeline.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

class Leaf final : public LeafSink {
 public:
  void accumulate(const TapeTensor& gradient) override { grad = gradient.tensor; }
  Tensor grad;
};

// One way to write a function that runs on the tape and is captured in a region.
template <class Id>
struct Emit {
  std::function<Id(Op, std::vector<Id>, std::vector<int64_t>, OpAttributes)> run;
  Id operator()(Op op, std::vector<Id> in, std::vector<int64_t> scalars = {}, OpAttributes attributes = {}) const {
    return run(op, in, scalars, attributes);
  }
};

// relu(layer) then a normalisation over the last axis, then a residual; two outputs.
template <class Id>
std::vector<Id> network(const Emit<Id>& op, Id x, Id w, int64_t rows, int64_t n) {
  const std::vector<int64_t> full = {1, rows, n};
  const Id h = op(Op::dot, {x, w});
  const Id zero = op(Op::broadcast, {op(Op::full, {}, {0}, to_dtype(DType::F64))}, full);
  const Id relu = op(Op::select, {op(Op::lt, {zero, h}), h, zero});
  const Id sums = op(Op::sum, {op(Op::exp, {relu})}, {}, axes({2}));
  const Id wide = op(Op::broadcast, {op(Op::reshape, {sums}, {1, rows, 1})}, full);
  const Id scaled = op(Op::div, {relu, wide});
  const Id tail = op(Op::slice, {scaled}, {1, n - 1, 1}, axes({2}));
  const Id total = op(Op::sum, {op(Op::mul, {tail, tail})}, {}, axes({0, 1, 2}));
  return {total, op(Op::add, {scaled, h})};
}

struct Captured {
  Region region;
  std::vector<ValueId> inputs, outputs;
};

Captured capture(int64_t rows, int64_t n) {
  Captured c;
  c.region.name = "net";
  TrustingBuilder b(c.region);
  c.inputs = {c.region.add_tensor_input(DType::F64, 3), c.region.add_tensor_input(DType::F64, 3)};
  // Sizes equal to the operands' stay symbolic, as in capture.
  Emit<ValueId> op;
  op.run = [&](Op code, std::vector<ValueId> in, std::vector<int64_t> scalars, OpAttributes attributes) {
    std::vector<ValueId> numbers;
    for (int64_t scalar : scalars) {
      const bool is_rows = scalar == rows && code != Op::slice && code != Op::full;
      numbers.push_back(is_rows            ? b.size(c.inputs[0], 1)
                        : code == Op::full ? b.constant(static_cast<double>(scalar))
                                           : b.constant(scalar));
    }
    return b.op(code, in, numbers, attributes);
  };
  c.outputs = network<ValueId>(op, c.inputs[0], c.inputs[1], rows, n);
  return c;
}

std::vector<Tensor> tape_gradients(const Tensor& x, const Tensor& w, const std::vector<Tensor>& seeds) {
  const auto xl = std::make_shared<Leaf>(), wl = std::make_shared<Leaf>();
  Emit<TapeTensor> op;
  op.run = [](Op code, std::vector<TapeTensor> in, std::vector<int64_t> scalars, OpAttributes attributes) {
    std::vector<Scalar> numbers;
    for (int64_t scalar : scalars)
      numbers.push_back(code == Op::full ? Scalar::of_float(static_cast<double>(scalar)) : Scalar::of_int(scalar));
    return run_taped(code, in, numbers, attributes, true).first;
  };
  const auto outputs = network<TapeTensor>(op, {x, {}, xl}, {w, {}, wl}, x.size(1), w.size(2));
  std::vector<TapeTensor> roots, gradients;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!seeds[i].defined()) continue;
    roots.push_back(outputs[i]);
    gradients.push_back({seeds[i], {}, nullptr});
  }
  run_backward(roots, gradients, {});
  return {xl->grad, wl->grad};
}

// Bytes that the tape keeps for the same forward: what the rows of the table name, each memory once.
int64_t tape_bytes(const Captured& c, const std::vector<Tensor>& values) {
  std::vector<Storage*> seen;
  int64_t bytes = 0;
  const auto keep = [&](ValueId value) {
    Storage* storage = values[value].storage().get();
    if (std::find(seen.begin(), seen.end(), storage) != seen.end()) return;
    seen.push_back(storage);
    bytes += storage->bytes();
  };
  for (const Instruction& instruction : c.region.body.instructions) {
    if (instruction.code != Code::Op) continue;
    SmallVector<bool, 4> wanted;
    for (size_t i = 0; i < tensor_count(instruction); ++i)
      wanted.push_back(is_floating(c.region.type(instruction.operands[i]).dtype));
    const uint8_t set = saved_set(instruction.op, wanted);
    for (size_t i = 0; i < tensor_count(instruction) && i < 3; ++i)
      if (set >> i & 1) keep(instruction.operands[i]);
    if (set & kSavesR) keep(instruction.results[0]);
  }
  return bytes;
}

std::vector<RunInput> inputs_from(std::span<const RunValue> values) {
  std::vector<RunInput> inputs;
  for (const RunValue& value : values) inputs.push_back({&value.tensor, value.scalar, nullptr});
  return inputs;
}

}  // namespace

TEST_CASE("a split backward gives the tape's bits and saves no more") {
  std::mt19937_64 rng(31);
  for (int64_t rows : {0, 4, 7}) {
    const Tensor x = random_doubles({1, rows, 3}, -1, 1, rng);
    const Tensor w = random_doubles({1, 3, 5}, -1, 1, rng);
    const Captured c = capture(rows, 5);
    const SplitBackward split = split_backward(c.region, c.outputs, c.inputs);
    INFO(print(split.backward));
    // Every value of the forward leaves, to be looked at.
    std::vector<ValueId> all = c.outputs;
    all.insert(all.end(), split.saved.begin(), split.saved.end());
    const size_t first_value = all.size();
    std::vector<ValueId> tensors;
    for (const Instruction& instruction : c.region.body.instructions)
      for (ValueId result : instruction.results)
        if (c.region.type(result).kind == ValueKind::Tensor) tensors.push_back(result);
    all.insert(all.end(), tensors.begin(), tensors.end());
    Region forward = c.region.clone();
    RegionBuilder(forward).exit(0, all);
    const RunExit ran = run_region(forward, {x, w});
    std::vector<Tensor> values(c.region.value_count());
    values[c.inputs[0]] = x;
    values[c.inputs[1]] = w;
    for (size_t i = 0; i < tensors.size(); ++i) values[tensors[i]] = ran.live[first_value + i].tensor;
    int64_t saved_bytes = 0;
    for (ValueId value : split.saved)
      if (c.region.type(value).kind == ValueKind::Tensor) saved_bytes += values[value].storage()->bytes();
    CHECK(saved_bytes <= tape_bytes(c, values));
    std::vector<Tensor> seeds;
    for (size_t i = 0; i < 2; ++i) seeds.push_back(random_doubles(ran.live[i].tensor.sizes(), -1, 1, rng));
    for (int mask = 1; mask < 4; ++mask) {
      const std::vector<bool> present = {(mask & 1) != 0, (mask & 2) != 0};
      SplitBackward part = split_backward(c.region, c.outputs, c.inputs, {}, present, &split.saved);
      CHECK(part.saved == split.saved);
      for (bool optimised : {false, true}) {
        if (optimised) run_pipeline(part.backward, {});
        std::vector<RunInput> inputs = inputs_from({ran.live.data() + c.outputs.size(), split.saved.size()});
        std::vector<Tensor> given = seeds;
        for (size_t i = 0; i < 2; ++i) {
          if (present[i]) inputs.push_back({&seeds[i], {}, nullptr});
          if (!present[i]) given[i] = Tensor();
        }
        RunContext context;
        const RunExit back = make_region_executor(part.backward.clone())->run(inputs, context);
        const auto expected = tape_gradients(x, w, given);
        for (size_t i = 0; i < 2; ++i) {
          REQUIRE(part.gradients[i] >= 0);
          CHECK(same_bits(back.live[part.gradients[i]].tensor, expected[i]));
        }
      }
    }
  }
}

TEST_CASE("masks, views and constants are made again instead of saved") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F32, 1);
  const ValueId y = b.op(Op::exp, std::vector{x}, {}, {});
  const ValueId zero = b.fill(b.constant(0.5), std::vector{b.size(x, 0)}, DType::F32);
  const ValueId mask = b.op(Op::lt, std::vector{zero, y}, {}, {});
  const ValueId picked = b.op(Op::select, std::vector{mask, y, zero}, {}, {});
  const ValueId wrt[] = {x};
  const ValueId outputs[] = {picked};
  const SplitBackward split = split_backward(region, outputs, wrt);
  CHECK(split.saved == std::vector<ValueId>{y});
  CHECK(split.gradients == std::vector<int>{0});
}

TEST_CASE("what the program saves and what is broadcast is saved in place of what is made of them") {
  const bool saves_input = GENERATE(true, false), is_seen = GENERATE(false, true);
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F32, 2);
  const ValueId sizes[] = {b.size(x, 0), b.size(x, 1)}, row[] = {sizes[0], b.constant(int64_t{1})};
  const ValueId input = saves_input ? b.op(Op::save_for_backward, std::vector{x}, {}, {}) : x;
  const ValueId sum = b.op(Op::sum, std::vector{input}, {}, axes({1}));
  const ValueId wide = b.op(Op::broadcast, std::vector{b.op(Op::reshape, std::vector{sum}, row, {})}, sizes, {});
  const ValueId centred = b.op(Op::sub, std::vector{input, wide}, {}, {});
  const ValueId cubes =
      b.op(Op::mul, std::vector{centred, b.op(Op::mul, std::vector{centred, centred}, {}, {})}, {}, {});
  const ValueId wrt[] = {x}, outputs[] = {cubes};
  ValueSet reachable = {x, cubes};
  if (is_seen) reachable.insert(centred);
  const SplitBackward split = split_backward(region, outputs, wrt, {}, {}, nullptr, &reachable);
  std::vector<ValueId> tensors;
  for (ValueId value : split.saved)
    if (region.type(value).kind == ValueKind::Tensor) tensors.push_back(value);
  CHECK(tensors == (saves_input && !is_seen ? std::vector{x, sum} : std::vector{centred}));
}

TEST_CASE("a backward that needs no forward value saves nothing") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F32, 2);
  const ValueId other = region.add_tensor_input(DType::F32, 2);
  const ValueId sum = b.op(Op::sum, std::vector{x}, {}, axes({1}));
  const ValueId wrt[] = {x, other};
  const ValueId outputs[] = {sum};
  const SplitBackward split = split_backward(region, outputs, wrt);
  // The summed size is the only thing that the gradient does not know.
  REQUIRE(split.saved.size() == 1);
  CHECK(split.saved[0] == b.size(x, 1));
  CHECK(split.gradients == std::vector<int>{0, -1});
  RunInput inputs[2];
  inputs[0].scalar = Scalar::of_int(3);
  const Tensor g = floats({2}, {5, 7});
  inputs[1].tensor = &g;
  RunContext context;
  const RunExit exit = make_region_executor(split.backward.clone())->run(inputs, context);
  CHECK(same_bits(exit.live[0].tensor, floats({2, 3}, {5, 5, 5, 7, 7, 7})));
}

TEST_CASE("a split backward can be split again") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 1);
  const ValueId square = b.op(Op::mul, std::vector{x, x}, {}, {});
  const ValueId cube = b.op(Op::mul, std::vector{x, square}, {}, {});
  const ValueId wrt[] = {x};
  const ValueId outputs[] = {cube};
  const SplitBackward first = split_backward(region, outputs, wrt);
  REQUIRE(first.saved == std::vector<ValueId>{x});
  const auto& inputs = first.backward.body.parameters;
  const ValueId gradient = first.backward.body.instructions.back().operands[0];
  const SplitBackward second = split_backward(first.backward, {&gradient, 1}, inputs);
  const Tensor at = doubles({2}, {2, 3}), one = doubles({2}, {1, 1});
  // saved of the second split are values of the first backward: run it to get them.
  Region forward = first.backward.clone();
  forward.body.instructions.pop_back();
  RegionBuilder(forward).exit(0, second.saved);
  const RunExit ran = run_region(forward, {at, one});
  std::vector<RunInput> given = inputs_from(ran.live);
  given.push_back({&one, {}, nullptr});
  RunContext context;
  const RunExit exit = make_region_executor(second.backward.clone())->run(given, context);
  // d/dx 3x^2 = 6x
  CHECK(list_of<double>(exit.live[second.gradients[0]].tensor) == std::vector<double>{12, 18});
}
