// Every gradient rule against finite differences, in both of its users: the eager tape and the region.
#include <cmath>

#include "jit/autodiff/gradient.h"
#include "jit/autodiff/rules.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

struct Case {
  Op op;
  std::vector<Tensor> tensors;  // floating ones get a gradient
  std::vector<Scalar> scalars;
  OpAttributes attributes;
};

bool floats_of(const Tensor& x) { return is_floating(x.dtype()); }

class CountingSink final : public LeafSink {
 public:
  void accumulate(const TapeTensor& gradient) override { total = gradient; }
  TapeTensor total;
};

std::vector<TapeTensor> leaves(const std::vector<Tensor>& tensors) {
  std::vector<TapeTensor> out;
  for (const Tensor& x : tensors) out.push_back({x, {}, floats_of(x) ? std::make_shared<CountingSink>() : nullptr});
  return out;
}

// sum(op(x) * weights)
double weighted(const Case& c, const std::vector<Tensor>& tensors, const Tensor& weights) {
  const auto y = list_of<double>(run_op(c.op, tensors, c.scalars, c.attributes).first);
  const auto w = list_of<double>(weights);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * w[i];
  return sum;
}

std::vector<Tensor> eager_gradients(const Case& c, const Tensor& weights) {
  auto inputs = leaves(c.tensors);
  const TapeTensor y = run_taped(c.op, inputs, c.scalars, c.attributes, true).first;
  std::vector<TapeTensor> wanted;
  for (const TapeTensor& input : inputs)
    if (input.leaf) wanted.push_back(input);
  const TapeTensor seed{weights, {}, nullptr};
  std::vector<Tensor> out;
  for (const TapeTensor& g : gradients_of({&y, 1}, {&seed, 1}, wanted, {})) out.push_back(g.tensor);
  return out;
}

// The same through a region. Sizes are unknown to it, the scalars of the op constants.
std::vector<Tensor> region_gradients(const Case& c, const Tensor& weights) {
  Region region;
  region.name = std::string(op_name(c.op));
  TrustingBuilder b(region);
  std::vector<ValueId> inputs, scalars, wanted;
  for (const Tensor& x : c.tensors) {
    inputs.push_back(region.add_tensor_input(x.dtype(), static_cast<int>(x.rank())));
    if (floats_of(x)) wanted.push_back(inputs.back());
  }
  const ValueId seed = region.add_tensor_input(weights.dtype(), static_cast<int>(weights.rank()));
  for (const Scalar& scalar : c.scalars)
    scalars.push_back(scalar.kind == Scalar::Kind::Float ? b.constant(scalar.f) : b.constant(scalar.i));
  // A size 1 that grows is a size the embedder knows.
  if (c.op == Op::broadcast) {
    const int lead = static_cast<int>(c.scalars.size() - c.tensors[0].rank());
    for (int axis = 0; axis < c.tensors[0].rank(); ++axis)
      if (c.tensors[0].size(axis) == 1 && c.scalars[lead + axis].i != 1)
        b.assume_equal(b.size(inputs[0], axis), b.constant(int64_t{1}));
  }
  const ValueId y = b.op(c.op, inputs, scalars, c.attributes);
  for (int axis = 0; axis < b.rank(y); ++axis) b.assume_equal(b.size(y, axis), b.size(seed, axis));
  const GradientSeed seeds[] = {{y, seed}};
  const auto gradients = append_backward(b, seeds, wanted);
  std::vector<ValueId> live;
  for (ValueId g : gradients)
    if (g != kNoValue) live.push_back(g);
  b.exit(0, live);
  verify(region);
  const std::string text = print(region);
  REQUIRE(print(parse_region(text)) == text);
  auto tensors = c.tensors;
  tensors.push_back(weights);
  const RunExit exit = run_region(region, tensors);
  std::vector<Tensor> out;
  size_t next = 0;
  for (ValueId g : gradients) out.push_back(g == kNoValue ? Tensor() : exit.live[next++].tensor);
  return out;
}

void check_case(const Case& c, std::mt19937_64& rng) {
  const Tensor y = run_op(c.op, c.tensors, c.scalars, c.attributes).first;
  const Tensor weights = random_doubles(y.sizes(), 0.5, 1.5, rng);
  const auto eager = eager_gradients(c, weights);
  const auto compiled = region_gradients(c, weights);
  REQUIRE(eager.size() == compiled.size());
  size_t at = 0;
  for (size_t k = 0; k < c.tensors.size(); ++k) {
    if (!floats_of(c.tensors[k])) continue;
    INFO(op_name(c.op) << " operand " << k << " of shape " << shape_text(c.tensors[k].sizes()));
    REQUIRE(eager[at].defined());
    REQUIRE(compiled[at].defined());
    CHECK(same_bits(eager[at], compiled[at]));
    REQUIRE(eager[at].sizes() == c.tensors[k].sizes());
    const auto gradient = list_of<double>(eager[at]);
    for (size_t i = 0; i < gradient.size(); ++i) {
      auto up = c.tensors, down = c.tensors;
      up[k] = fresh(c.tensors[k]);
      down[k] = fresh(c.tensors[k]);
      const double h = 1e-6;
      up[k].data_as<double>()[i] += h;
      down[k].data_as<double>()[i] -= h;
      const double slope = (weighted(c, up, weights) - weighted(c, down, weights)) / (2 * h);
      INFO("element " << i);
      CHECK(gradient[i] == Approx(slope).epsilon(2e-6).margin(2e-6));
    }
    ++at;
  }
}

const std::vector<Sizes> kShapes = {{}, {0}, {1}, {5}, {2, 3}, {0, 3}, {2, 1, 4}};

double low_of(Domain domain) {
  switch (domain) {
    case Domain::NonNegative:
    case Domain::Positive: return 0.3;
    case Domain::NonZero: return 0.4;
    default: return -0.8;
  }
}

}  // namespace

TEST_CASE("gradients of elementwise primitives") {
  std::mt19937_64 rng(1);
  for (const OpRow& row : op_rows()) {
    if (!is_elementwise(row.op) || !is_differentiable(row.op) || row.op == Op::cast) continue;
    for (const Sizes& shape : kShapes) {
      const double high = row.domain == Domain::Unit ? 0.8 : 1.7;
      Case c{row.op, {}, {}, {}};
      for (int k = 0; k < row.tensors; ++k) c.tensors.push_back(random_doubles(shape, low_of(row.domain), high, rng));
      if (row.op == Op::select) {
        const Tensor zero = doubles({}, {0.0});
        const Tensor zeros = view_broadcast(zero, shape);
        const Tensor both[] = {zeros, c.tensors[0]};
        c.tensors[0] = run_op(Op::lt, both, {}, {}).first;
      }
      check_case(c, rng);
    }
  }
}

TEST_CASE("gradients of casts go back to the operand's dtype") {
  std::mt19937_64 rng(2);
  check_case({Op::cast, {random_doubles({2, 3}, -1, 1, rng)}, {}, to_dtype(DType::F64)}, rng);
  auto inputs = leaves({floats({2}, {1.5f, 2.5f})});
  const TapeTensor y = run_taped(Op::cast, inputs, {}, to_dtype(DType::F64), true).first;
  const TapeTensor seed{doubles({2}, {1.0 / 3, 2.0}), {}, nullptr};
  const auto g = gradients_of({&y, 1}, {&seed, 1}, inputs, {});
  CHECK(same_bits(g[0].tensor, floats({2}, {static_cast<float>(1.0 / 3), 2.0f})));
  const TapeTensor whole = run_taped(Op::cast, inputs, {}, to_dtype(DType::I64), true).first;
  CHECK(!whole.needs_grad());
}

TEST_CASE("gradients of views") {
  std::mt19937_64 rng(3);
  const auto x = [&](Sizes sizes) { return std::vector{random_doubles(sizes, -1, 1, rng)}; };
  check_case({Op::reshape, x({2, 6}), ints({3, 4}), {}}, rng);
  check_case({Op::reshape, x({0, 6}), ints({3, 0}), {}}, rng);
  check_case({Op::reshape, x({1}), {}, {}}, rng);
  check_case({Op::permute, x({2, 3, 4}), {}, axes({2, 0, 1})}, rng);
  check_case({Op::permute, x({}), {}, {}}, rng);
  check_case({Op::broadcast, x({3}), ints({2, 3}), {}}, rng);
  check_case({Op::broadcast, x({1, 3}), ints({4, 2, 3}), {}}, rng);
  check_case({Op::broadcast, x({2, 1, 3}), ints({2, 0, 3}), {}}, rng);
  check_case({Op::broadcast, x({}), ints({2, 2}), {}}, rng);
  check_case({Op::broadcast, x({1}), ints({1}), {}}, rng);
  check_case({Op::slice, x({5, 3}), ints({1, 3, 1}), axes({0})}, rng);
  check_case({Op::slice, x({5, 3}), ints({4, 3, -2}), axes({0})}, rng);
  check_case({Op::slice, x({2, 7}), ints({1, 3, 2}), axes({1})}, rng);
  check_case({Op::slice, x({4}), ints({3, 4, -1}), axes({0})}, rng);
  check_case({Op::slice, x({4}), ints({2, 0, 1}), axes({0})}, rng);
  check_case({Op::slice, x({4}), ints({4, 0, 3}), axes({0})}, rng);
  for (int64_t offset : {0, 1, -1, 3, -2, 9})
    check_case({Op::diagonal, x({3, 2, 4}), ints({offset}), axes({0, 2})}, rng);
  check_case({Op::unfold, x({2, 7}), ints({3, 2}), axes({1})}, rng);
  check_case({Op::unfold, x({5, 2}), ints({3, 1}), axes({0})}, rng);
  check_case({Op::unfold, x({6}), ints({2, 3}), axes({0})}, rng);
}

TEST_CASE("gradients of moves") {
  std::mt19937_64 rng(4);
  const auto x = [&](Sizes sizes) { return random_doubles(sizes, -1, 1, rng); };
  const auto pad = [&](Sizes sizes, int64_t low, int64_t high, int64_t axis) {
    std::vector<Scalar> scalars = {Scalar::of_float(0.5), Scalar::of_int(low), Scalar::of_int(high)};
    check_case({Op::pad, {x(sizes)}, scalars, axes({axis})}, rng);
  };
  pad({2, 3}, 1, 2, 1);
  pad({4, 3}, -1, 1, 0);
  pad({4}, -2, -1, 0);
  pad({0}, 1, 1, 0);
  check_case({Op::copy, {x({2, 2})}, {}, {}}, rng);
  check_case({Op::concat, {x({2, 3}), x({0, 3}), x({1, 3})}, {}, axes({0})}, rng);
  check_case({Op::concat, {x({2, 1}), x({2, 2})}, {}, axes({1})}, rng);
  // x[1:3, ::2] = y of a (4, 5) tensor; one element; nothing.
  check_case({Op::store, {x({4, 5}), x({2, 3})}, ints({5, 2, 3, 5, 2}), {}}, rng);
  check_case({Op::store, {x({4}), x({})}, ints({2}), {}}, rng);
  check_case({Op::store, {x({4}), x({0})}, ints({0, 0, 1}), {}}, rng);
}

TEST_CASE("gradients of indexing") {
  std::mt19937_64 rng(5);
  const auto x = [&](Sizes sizes) { return random_doubles(sizes, -1, 1, rng); };
  check_case({Op::take, {x({4, 3}), longs({2, 2}, {3, 0, 3, 1})}, {}, axes({0})}, rng);
  check_case({Op::take, {x({4, 3}), longs({}, {1})}, {}, axes({1})}, rng);
  check_case({Op::take, {x({4, 3}), longs({0}, {})}, {}, axes({1})}, rng);
  const Tensor index = longs({2, 3}, {0, 2, 2, 1, 0, 3});
  check_case({Op::gather, {x({4, 3}), index}, {}, axes({0})}, rng);
  check_case({Op::index_add, {x({4, 2}), longs({3}, {1, 1, 3}), x({3, 2})}, {}, axes({0})}, rng);
  check_case({Op::scatter_add, {x({4, 3}), index, x({2, 3})}, {}, axes({0})}, rng);
  check_case({Op::scatter, {x({4, 3}), index, x({2, 3})}, {}, axes({0})}, rng);
}

TEST_CASE("gradients of reductions, scans, sort and dot") {
  std::mt19937_64 rng(6);
  const auto x = [&](Sizes sizes) { return std::vector{random_doubles(sizes, 0.2, 2, rng)}; };
  for (Op op : {Op::sum, Op::prod, Op::amax, Op::amin}) {
    check_case({op, x({2, 3, 2}), {}, axes({1})}, rng);
    check_case({op, x({2, 3, 2}), {}, axes({0, 2})}, rng);
    check_case({op, x({2, 3}), {}, axes({0, 1})}, rng);
    check_case({op, x({3}), {}, {}}, rng);
    check_case({op, x({0, 3}), {}, axes({1})}, rng);
    check_case({op, x({1}), {}, axes({0})}, rng);
    if (op == Op::sum || op == Op::prod) check_case({op, x({2, 0}), {}, axes({1})}, rng);
  }
  for (Op op : {Op::cumsum, Op::cumprod}) {
    check_case({op, x({3, 4}), {}, axes({1})}, rng);
    check_case({op, x({3, 4}), {}, axes({0})}, rng);
    check_case({op, x({0}), {}, axes({0})}, rng);
    check_case({op, x({1}), {}, axes({0})}, rng);
  }
  check_case({Op::sort, x({3, 4}), {}, axes({1})}, rng);
  OpAttributes down = axes({0});
  down.mode = 1;
  check_case({Op::sort, x({5, 2}), {}, down}, rng);
  for (Op op : {Op::cummax, Op::cummin}) {
    check_case({op, x({3, 4}), {}, axes({1})}, rng);
    check_case({op, x({3, 4}), {}, axes({0})}, rng);
    check_case({op, x({0}), {}, axes({0})}, rng);
  }
  const auto dot = [&](int64_t b, int64_t m, int64_t k, int64_t n) {
    check_case({Op::dot, {x({b, m, k})[0], x({b, k, n})[0]}, {}, {}}, rng);
  };
  dot(1, 2, 3, 4);
  dot(2, 3, 1, 2);
  dot(2, 0, 3, 2);
  dot(1, 2, 0, 2);
  dot(0, 2, 2, 2);
}

TEST_CASE("gradients at zeros of products") {
  std::mt19937_64 rng(7);
  const Tensor one_zero = doubles({4}, {2, 0, -3, 4}), two = doubles({4}, {2, 0, 3, 0});
  check_case({Op::prod, {one_zero}, {}, axes({0})}, rng);
  check_case({Op::prod, {two}, {}, axes({0})}, rng);
  check_case({Op::cumprod, {one_zero}, {}, axes({0})}, rng);
  check_case({Op::cumprod, {two}, {}, axes({0})}, rng);
  check_case({Op::cumprod, {doubles({3}, {0, 2, 3})}, {}, axes({0})}, rng);
}

// The tape pads each slice's gradient with zeros and adds; a region puts slices side by side together.
TEST_CASE("slices of one value: a region's gradient has the bits of the tape's") {
  struct Piece {
    int64_t start, length;
  };
  struct Form {
    std::vector<Piece> pieces;
    bool together;  // no padding, one concat
  };
  const std::vector<Form> forms = {{{{0, 2}, {2, 3}}, true},          {{{2, 3}, {0, 2}}, true},
                                   {{{0, 1}, {1, 1}, {2, 3}}, true},  {{{1, 2}, {3, 1}}, true},
                                   {{{0, 2}, {2, 0}, {2, 3}}, true},  {{{0, 3}, {2, 3}}, false},
                                   {{{0, 2}, {3, 2}}, false},         {{{0, 5}, {0, 5}}, false},
                                   {{{0, 2}, {2, 1}, {1, 2}}, false}, {{{4, 1}}, false}};
  const double nan = std::nan("");
  for (const bool in_rows : {true, false}) {
    for (const Form& form : forms) {
      const int64_t axis = in_rows ? 0 : 1;
      const Tensor x = doubles(in_rows ? Sizes{5, 2} : Sizes{2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
      const TapeTensor leaf{x, {}, std::make_shared<CountingSink>()};
      Region region;
      TrustingBuilder builder(region);
      const ValueId input = region.add_tensor_input(DType::F64, 2);
      // A product, so that the gradient of the slices' source is wanted for itself.
      const TapeTensor twice[] = {leaf, {x, {}, nullptr}};
      const TapeTensor source = run_taped(Op::mul, twice, {}, {}, true).first;
      const ValueId both[] = {input, input}, value = builder.op(Op::mul, both, {}, {});
      std::vector<TapeTensor> roots, seeds;
      std::vector<GradientSeed> region_seeds;
      std::vector<Tensor> given = {x};
      for (const Piece& piece : form.pieces) {
        const std::vector<Scalar> scalars = ints({piece.start, piece.length, 1});
        roots.push_back(run_taped(Op::slice, {&source, 1}, scalars, axes({axis}), true).first);
        std::vector<double> numbers;
        for (int64_t i = 0; i < 2 * piece.length; ++i) numbers.push_back(i % 3 == 0 ? -0.0 : i % 3 == 1 ? -1.5 : nan);
        seeds.push_back({doubles(roots.back().tensor.sizes(), numbers), {}, nullptr});
        std::vector<ValueId> ids;
        for (const Scalar& scalar : scalars) ids.push_back(builder.constant(scalar.i));
        const ValueId slice = builder.op(Op::slice, {&value, 1}, ids, axes({axis}));
        const ValueId seed = region.add_tensor_input(DType::F64, 2);
        for (int i = 0; i < 2; ++i) builder.assume_equal(builder.size(seed, i), builder.size(slice, i));
        region_seeds.push_back({slice, seed});
        given.push_back(seeds.back().tensor);
      }
      const TapeTensor expected = gradients_of(roots, seeds, {&source, 1}, {})[0];
      const std::vector<ValueId> gradients = append_backward(builder, region_seeds, {&value, 1});
      builder.exit(0, gradients);
      const std::string text = print(region);
      INFO(text);
      CHECK(same_bits(run_region(region, given).live[0].tensor, expected.tensor));
      CHECK((text.find("concat") != std::string::npos) == form.together);
      CHECK((text.find("pad") == std::string::npos) == form.together);
    }
  }
}
