// The eager tape: leaves, order, errors, gradients of gradients, long chains.
#include <cmath>

#include "jit/autodiff/gradient.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

class Leaf final : public LeafSink {
 public:
  void accumulate(const TapeTensor& gradient) override {
    ++calls;
    grad = gradient;
  }
  TapeTensor grad;
  int calls = 0;
};

struct Variable {
  TapeTensor value;
  std::shared_ptr<Leaf> leaf = std::make_shared<Leaf>();
  explicit Variable(Tensor tensor) { value = {std::move(tensor), {}, leaf}; }
};

TapeTensor apply(Op op, std::initializer_list<TapeTensor> inputs, const std::vector<Scalar>& scalars = {},
                 const OpAttributes& attributes = {}) {
  const std::vector<TapeTensor> list(inputs);
  return run_taped(op, list, scalars, attributes, true).first;
}

TapeTensor total(const TapeTensor& x) {
  Sizes all;
  for (int64_t axis = 0; axis < x.tensor.rank(); ++axis) all.push_back(axis);
  return apply(Op::sum, {x}, {}, axes(all));
}

void backward(const TapeTensor& root, BackwardOptions options = {}) { run_backward({&root, 1}, {}, options); }

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return std::string(error_kind_name(error.kind())) + ": " + error.message();
  }
  return "none";
}

}  // namespace

TEST_CASE("a leaf gets the sum of its gradients, once") {
  Variable x(doubles({3}, {1, 2, 3}));
  const TapeTensor square = apply(Op::mul, {x.value, x.value});
  backward(total(apply(Op::add, {square, x.value})));
  CHECK(x.leaf->calls == 1);
  CHECK(list_of<double>(x.leaf->grad.tensor) == std::vector<double>{3, 5, 7});
  CHECK(!x.leaf->grad.needs_grad());
}

TEST_CASE("constants record nothing") {
  const TapeTensor c{doubles({2}, {1, 2}), {}, nullptr};
  CHECK(!apply(Op::exp, {c}).needs_grad());
  Variable x(doubles({2}, {1, 2}));
  CHECK(!run_taped(Op::exp, {&x.value, 1}, {}, {}, false).first.needs_grad());
  CHECK(!apply(Op::lt, {x.value, x.value}).needs_grad());
  CHECK(!apply(Op::detach, {x.value}).needs_grad());
}

TEST_CASE("errors of the backward pass are PyTorch's") {
  Variable x(doubles({2}, {1, 2}));
  const TapeTensor y = apply(Op::exp, {x.value});
  CHECK_THAT(error_of([&] { backward(y); }),
             Catch::Contains("RuntimeError: grad can be implicitly created only for scalar"));
  const TapeTensor constant{doubles({}, {1}), {}, nullptr};
  CHECK_THAT(error_of([&] { backward(constant); }),
             Catch::Contains("does not require grad and does not have a grad_fn"));
  const TapeTensor seed{doubles({3}, {1, 1, 1}), {}, nullptr};
  CHECK_THAT(error_of([&] { run_backward({&y, 1}, {&seed, 1}, {}); }),
             Catch::Contains("Mismatch in shape") && Catch::Contains("torch.Size([3])"));
  const TapeTensor sum = total(y);
  backward(sum);
  CHECK_THAT(error_of([&] { backward(sum); }), Catch::Contains("backward through the graph a second time"));
}

TEST_CASE("retain_graph allows a second pass, and nodes that save nothing never refuse") {
  Variable x(doubles({2}, {1, 2}));
  const TapeTensor sum = total(apply(Op::exp, {x.value}));
  backward(sum, {true, false});
  const Tensor first = x.leaf->grad.tensor;
  backward(sum);
  CHECK(same_bits(first, x.leaf->grad.tensor));
  const TapeTensor linear = total(apply(Op::add, {x.value, x.value}));
  backward(linear);
  CHECK(error_of([&] { backward(linear); }) == "none");
}

TEST_CASE("a saved value that was written to since is an error, an unsaved one is not") {
  Variable x(doubles({2}, {1, 2})), w(doubles({2}, {3, 4}));
  const TapeTensor product = total(apply(Op::mul, {x.value, w.value}));
  ++w.value.tensor.storage()->version;
  CHECK_THAT(error_of([&] { backward(product); }), Catch::Contains("modified by an inplace operation") &&
                                                       Catch::Contains("version 1") &&
                                                       Catch::Contains("expected version 0"));
  Variable a(doubles({2}, {1, 2})), b(doubles({2}, {3, 4}));
  const TapeTensor sum = total(apply(Op::add, {a.value, b.value}));
  ++a.value.tensor.storage()->version;
  CHECK(error_of([&] { backward(sum); }) == "none");
  // x * constant saves the constant alone.
  Variable c(doubles({2}, {1, 2}));
  const TapeTensor constant{doubles({2}, {5, 6}), {}, nullptr};
  const TapeTensor scaled = total(apply(Op::mul, {c.value, constant}));
  ++c.value.tensor.storage()->version;
  CHECK(error_of([&] { backward(scaled); }) == "none");
}

TEST_CASE("gradients_of leaves leaves alone and reports unconnected inputs") {
  Variable x(doubles({2}, {1, 2})), other(doubles({2}, {0, 0}));
  const TapeTensor middle = apply(Op::exp, {x.value});
  const TapeTensor sum = total(apply(Op::mul, {middle, middle}));
  const TapeTensor wanted[] = {middle, other.value, x.value};
  const auto found = gradients_of({&sum, 1}, {}, wanted, {});
  CHECK(x.leaf->calls == 0);
  CHECK(list_of<double>(found[0].tensor)[1] == 2 * std::exp(2.0));
  CHECK(!found[1].tensor.defined());
  CHECK(list_of<double>(found[2].tensor)[0] == Approx(2 * std::exp(2.0)));
  const TapeTensor constant{doubles({}, {1}), {}, nullptr};
  CHECK_THAT(error_of([&] { gradients_of({&sum, 1}, {}, {&constant, 1}, {}); }),
             Catch::Contains("does not require grad"));
}

TEST_CASE("gradients of gradients") {
  Variable x(doubles({3}, {0.5, -0.25, 0.75}));
  TapeTensor y = total(apply(Op::sin, {x.value}));
  // d/dx sin = cos, -sin, -cos, sin
  const std::function<double(double)> expected[] = {
      [](double v) { return std::cos(v); }, [](double v) { return -std::sin(v); },
      [](double v) { return -std::cos(v); }, [](double v) { return std::sin(v); }};
  for (const auto& slope : expected) {
    const TapeTensor g = gradients_of({&y, 1}, {}, {&x.value, 1}, {true, true})[0];
    const auto values = list_of<double>(g.tensor), at = list_of<double>(x.value.tensor);
    for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(slope(at[i])));
    y = total(g);
  }
}

TEST_CASE("second gradients of every family agree with finite differences") {
  std::mt19937_64 rng(11);
  struct Chain {
    const char* name;
    std::function<TapeTensor(const TapeTensor&)> run;
    Sizes sizes;
  };
  const TapeTensor index{longs({2, 3}, {0, 2, 2, 1, 0, 1}), {}, nullptr};
  const Chain chains[] = {
      {"tanh", [](auto& x) { return apply(Op::tanh, {x}); }, {4}},
      {"div", [](auto& x) { return apply(Op::div, {apply(Op::exp, {x}), x}); }, {4}},
      {"pow", [](auto& x) { return apply(Op::pow, {x, x}); }, {3}},
      {"dot", [](auto& x) { return apply(Op::dot, {x, apply(Op::exp, {x})}); }, {2, 2, 2}},
      {"prod", [](auto& x) { return apply(Op::prod, {x}, {}, axes({0, 1})); }, {2, 3}},
      {"cumprod", [](auto& x) { return apply(Op::cumprod, {x}, {}, axes({1})); }, {2, 3}},
      {"gather", [&](auto& x) { return apply(Op::exp, {apply(Op::gather, {x, index}, {}, axes({0}))}); }, {3, 3}},
      {"slice", [](auto& x) { return apply(Op::exp, {apply(Op::slice, {x}, ints({3, 2, -2}), axes({0}))}); }, {4}},
      {"unfold", [](auto& x) { return apply(Op::exp, {apply(Op::unfold, {x}, ints({2, 1}), axes({0}))}); }, {4}},
      {"amax", [](auto& x) { return apply(Op::exp, {apply(Op::amax, {x}, {}, axes({1}))}); }, {2, 3}},
      {"sort",
       [](auto& x) {
         const TapeTensor sorted = apply(Op::sort, {x}, {}, axes({0}));
         return apply(Op::mul, {sorted, apply(Op::cumsum, {sorted}, {}, axes({0}))});
       },
       {4}},
  };
  for (const Chain& chain : chains) {
    INFO(chain.name);
    const Tensor start = random_doubles(chain.sizes, 0.4, 1.6, rng);
    const auto first_gradient = [&](const Tensor& at, bool again, Variable* variable) {
      *variable = Variable(at);
      const TapeTensor y = chain.run(variable->value);
      const TapeTensor squares = total(apply(Op::mul, {y, y}));
      return gradients_of({&squares, 1}, {}, {&variable->value, 1}, {again, again})[0];
    };
    Variable x(start);
    const TapeTensor g = first_gradient(start, true, &x);
    const TapeTensor sum = total(g);
    const TapeTensor second = gradients_of({&sum, 1}, {}, {&x.value, 1}, {})[0];
    const auto values = list_of<double>(second.tensor);
    for (size_t i = 0; i < values.size(); ++i) {
      const double h = 1e-5;
      Tensor up = fresh(start), down = fresh(start);
      up.data_as<double>()[i] += h;
      down.data_as<double>()[i] -= h;
      Variable scratch(start);
      const auto a = list_of<double>(first_gradient(up, false, &scratch).tensor);
      const auto b = list_of<double>(first_gradient(down, false, &scratch).tensor);
      double slope = 0;
      for (size_t k = 0; k < a.size(); ++k) slope += (a[k] - b[k]) / (2 * h);
      CHECK(values[i] == Approx(slope).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("edges: ties share, unselected sides give exact zero") {
  Variable x(doubles({3}, {1, 2, 3})), y(doubles({3}, {1, 3, 2}));
  backward(total(apply(Op::maximum, {x.value, y.value})));
  CHECK(list_of<double>(x.leaf->grad.tensor) == std::vector<double>{0.5, 0, 1});
  CHECK(list_of<double>(y.leaf->grad.tensor) == std::vector<double>{0.5, 1, 0});
  Variable ties(doubles({4}, {2, 5, 5, 1}));
  backward(apply(Op::amax, {ties.value}, {}, axes({0})));
  CHECK(list_of<double>(ties.leaf->grad.tensor) == std::vector<double>{0, 0.5, 0.5, 0});
  Variable bad(doubles({2}, {0, 4}));
  const TapeTensor mask{tensor_of<uint8_t>(DType::Bool, {2}, {0, 1}), {}, nullptr};
  const TapeTensor nans{doubles({2}, {NAN, NAN}), {}, nullptr};
  const TapeTensor picked = apply(Op::select, {mask, bad.value, nans});
  const TapeTensor seed{doubles({2}, {NAN, 1}), {}, nullptr};
  run_backward({&picked, 1}, {&seed, 1}, {});
  CHECK(list_of<double>(bad.leaf->grad.tensor) == std::vector<double>{0, 1});
  Variable zero(doubles({1}, {0.0}));
  backward(total(apply(Op::abs, {zero.value})));
  CHECK(list_of<double>(zero.leaf->grad.tensor)[0] == 0);
  Variable root(doubles({1}, {0.0}));
  backward(total(apply(Op::sqrt, {root.value})));
  CHECK(std::isinf(list_of<double>(root.leaf->grad.tensor)[0]));
}

TEST_CASE("a chain of many nodes neither recurses nor leaks") {
  Variable x(doubles({}, {1}));
  TapeTensor y = x.value;
  for (int i = 0; i < 200000; ++i) y = apply(Op::neg, {y});
  backward(y, {true, false});
  CHECK(list_of<double>(x.leaf->grad.tensor)[0] == 1);
  y = {};  // frees the chain
}

TEST_CASE("hooks see and replace the whole gradient of an output") {
  class Doubling final : public GradientHook {
   public:
    TapeTensor on_gradient(const TapeTensor& gradient) override {
      seen = gradient.tensor;
      return apply(Op::add, {gradient, gradient});
    }
    Tensor seen;
  };
  Variable x(doubles({2}, {1, 2}));
  const TapeTensor y = apply(Op::neg, {x.value});
  const auto hook = std::make_shared<Doubling>();
  y.history.node->hooks.push_back({y.history.output, hook});
  backward(total(apply(Op::add, {y, y})));
  CHECK(list_of<double>(hook->seen) == std::vector<double>{2, 2});
  CHECK(list_of<double>(x.leaf->grad.tensor) == std::vector<double>{-4, -4});
}

TEST_CASE("an embedder's node takes part") {
  class Times final : public TapeNode {
   public:
    std::string_view name(uint32_t) const override { return "TimesBackward"; }
    uint32_t outputs() const override { return 2; }
    void backward(std::span<const TapeTensor> outputs, std::span<TapeTensor> inputs, Pass&) override {
      CHECK(!outputs[0].tensor.defined());
      inputs[0] = apply(Op::add, {outputs[1], outputs[1]});
    }
    void release_saved() override { released = true; }
    bool released = false;
  };
  Variable x(doubles({2}, {1, 2}));
  Ref<Times> node = make_ref<Times>();
  node->edges.push_back({x.value.history, x.value.leaf});
  const TapeTensor y{doubles({2}, {2, 4}), {node, 1}, nullptr};
  backward(total(y));
  CHECK(list_of<double>(x.leaf->grad.tensor) == std::vector<double>{2, 2});
  CHECK(node->released);
}

TEST_CASE("tape and region give the same bits for a small network") {
  std::mt19937_64 rng(12);
  const Tensor x = random_doubles({1, 4, 3}, -1, 1, rng), w = random_doubles({1, 3, 5}, -1, 1, rng);
  Variable xv(x), wv(w);
  const auto forward = [](auto&& op, auto x, auto w) {
    const auto h = op(Op::tanh, std::vector{op(Op::dot, std::vector{x, w})});
    const auto back = op(Op::permute, std::vector{w});
    const auto y = op(Op::dot, std::vector{h, back});
    return op(Op::sum, std::vector{op(Op::mul, std::vector{y, op(Op::exp, std::vector{y})})});
  };
  const auto attributes = [](Op op) {
    return op == Op::permute ? axes({0, 2, 1}) : op == Op::sum ? axes({0, 1, 2}) : OpAttributes();
  };
  const auto eager_op = [&](Op op, std::vector<TapeTensor> in) {
    return run_taped(op, in, {}, attributes(op), true).first;
  };
  backward(forward(eager_op, xv.value, wv.value));
  Region region;
  TrustingBuilder b(region);
  const ValueId xi = region.add_tensor_input(DType::F64, 3);
  const ValueId wi = region.add_tensor_input(DType::F64, 3);
  const ValueId loss =
      forward([&](Op op, std::vector<ValueId> in) { return b.op(op, in, {}, attributes(op)); }, xi, wi);
  const ValueId one = b.fill(b.constant(1.0), {}, DType::F64);
  const GradientSeed seeds[] = {{loss, one}};
  const ValueId wrt[] = {xi, wi};
  b.exit(0, append_backward(b, seeds, wrt));
  const RunExit exit = run_region(region, {x, w});
  CHECK(same_bits(exit.live[0].tensor, xv.leaf->grad.tensor));
  CHECK(same_bits(exit.live[1].tensor, wv.leaf->grad.tensor));
}
