// What a kernel behind a product computes again instead of reading it from memory.
#include "jit/passes/fuse.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

// The results of each kernel of `region` after fusion, which must keep every bit of what it computes.
std::vector<size_t> results_of_kernels(Region region, const std::vector<Tensor>& inputs) {
  const RunExit before = run_region(region, inputs);
  fuse(region);
  verify(region);
  const RunExit after = run_region(region, inputs);
  CHECK(before.live.size() == after.live.size());
  for (size_t i = 0; i < before.live.size(); ++i) CHECK(same_bits(before.live[i].tensor, after.live[i].tensor));
  std::vector<size_t> counts;
  for (const Instruction& instruction : region.body.instructions)
    if (instruction.code == Code::Kernel) counts.push_back(instruction.results.size());
  return counts;
}

struct Builder {
  Region region;
  TrustingBuilder b{region};
  ValueId x = region.add_tensor_input(DType::F64, 3), w = region.add_tensor_input(DType::F64, 3);

  ValueId op(Op op, std::vector<ValueId> inputs) { return b.op(op, inputs, {}, {}); }
  std::vector<size_t> finish(std::vector<ValueId> results) {
    b.exit(0, results);
    std::vector<size_t> counts;
    for (int64_t rows : {0, 1, 5}) {
      std::mt19937_64 rng(3);
      counts = results_of_kernels(region.clone(),
                                  {random_doubles({1, rows, 4}, -1, 1, rng), random_doubles({1, 4, 4}, -1, 1, rng)});
    }
    return counts;
  }
};

}  // namespace

TEST_CASE("cheap values are made again behind a product, their source is kept") {
  Builder r;
  const ValueId source = r.op(Op::exp, {r.x});
  const ValueId square = r.op(Op::mul, {source, source});
  const ValueId cube = r.op(Op::mul, {square, source});
  const ValueId product = r.op(Op::dot, {r.op(Op::add, {cube, square}), r.w});
  const ValueId terms = r.op(Op::sub, {r.op(Op::mul, {product, square}), r.op(Op::mul, {product, source})});
  const ValueId later = r.op(Op::add, {r.op(Op::mul, {product, cube}), terms});
  // In front of the product: its operand and `source`; neither `square` nor `cube`.
  CHECK(r.finish({later}) == std::vector<size_t>{2, 1});
}

TEST_CASE("what is read more cheaply than it is made stays in memory") {
  Builder r;
  const ValueId source = r.op(Op::exp, {r.x});
  const ValueId costly = r.op(Op::tanh, {source});
  const ValueId product = r.op(Op::dot, {r.op(Op::add, {costly, source}), r.w});
  // `costly` is worth its memory, and so is a sum whose two terms nobody needs otherwise.
  CHECK(r.finish({r.op(Op::mul, {product, costly})}) == std::vector<size_t>{2, 1});
  Builder s;
  const ValueId sum = s.op(Op::add, {s.op(Op::exp, {s.x}), s.op(Op::sin, {s.x})});
  const ValueId behind = s.op(Op::dot, {s.op(Op::mul, {sum, sum}), s.w});
  CHECK(s.finish({s.op(Op::mul, {behind, sum})}) == std::vector<size_t>{2, 1});
}

TEST_CASE("what only a later kernel reads moves there, whatever it costs") {
  Builder r;
  const ValueId operand = r.op(Op::exp, {r.x});
  const ValueId product = r.op(Op::dot, {operand, r.w});
  const ValueId moved = r.op(Op::tanh, {operand});
  CHECK(r.finish({r.op(Op::mul, {product, moved})}) == std::vector<size_t>{1, 1});
}

TEST_CASE("results that leave and operands of products are kept as they are") {
  Builder r;
  const ValueId square = r.op(Op::mul, {r.x, r.x});
  const ValueId product = r.op(Op::dot, {square, r.w});
  const ValueId later = r.op(Op::mul, {product, square});
  CHECK(r.finish({later, square}) == std::vector<size_t>{1, 1});
}

TEST_CASE("two later kernels compute for themselves, readers of one kernel share") {
  Builder r;
  const ValueId source = r.op(Op::exp, {r.x});
  const ValueId doubled = r.op(Op::add, {source, source});
  const ValueId first = r.op(Op::dot, {r.op(Op::mul, {doubled, doubled}), r.w});
  const ValueId second = r.op(Op::dot, {r.op(Op::mul, {r.op(Op::add, {first, doubled}), doubled}), r.w});
  CHECK(r.finish({r.op(Op::mul, {second, doubled})}) == std::vector<size_t>{2, 1, 1});
}

// BatchNorm(momentum=None): the second update of its averages is scaled by a number that is read behind the first.
TEST_CASE("a number that is read behind a group's effect does not join the group") {
  Region region = parse_region(R"(region f(%0: f64[%1], %2: f64[]) {
    %3 = mul %0, %0 : f64[%1]
    write_back %0, %3
    %4 = read %2 : float
    %5 = full %4, %1 : f64[%1]
    %6 = mul %3, %5 : f64[%1]
    exit #0(%6)
  })");
  std::mt19937_64 rng(3);
  const auto inputs = [&] {
    rng.seed(3);
    return std::vector<Tensor>{random_doubles({5}, -1, 1, rng), random_doubles({}, -1, 1, rng)};
  };
  const std::vector<Tensor> first = inputs(), second = inputs();
  const RunExit before = run_region(region, first);
  fuse(region);
  verify(region);
  const RunExit after = run_region(region, second);
  CHECK(same_bits(before.live[0].tensor, after.live[0].tensor));
  CHECK(same_bits(first[0], second[0]));
  size_t kernels = 0;
  for (const Instruction& instruction : region.body.instructions) kernels += instruction.code == Code::Kernel;
  CHECK(kernels == 2);
}
