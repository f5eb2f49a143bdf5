// The first test to read: one call through every family of the reference runner.
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/base/error.h"
#include "runtime/kernels/run_op.h"

using namespace tsc;

namespace {

Tensor floats(const Sizes& sizes, const std::vector<float>& values) {
  Tensor x = Tensor::empty(DType::F32, sizes);
  std::copy(values.begin(), values.end(), x.data_as<float>());
  return x;
}
Tensor run(Op op, std::vector<Tensor> tensors, std::vector<Scalar> scalars = {}, OpAttributes attributes = {}) {
  return run_op(op, tensors, scalars, attributes).first;
}
std::vector<float> values(const Tensor& x) {
  Tensor flat = run(Op::copy, {x});
  return {flat.data_as<float>(), flat.data_as<float>() + flat.numel()};
}
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a family each") {
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor t = view_permute(x, {1, 0});
  CHECK(values(t) == Floats{1, 4, 2, 5, 3, 6});
  CHECK(values(run(Op::add, {x, x})) == Floats{2, 4, 6, 8, 10, 12});
  CHECK(values(run(Op::mul, {t, t})) == Floats{1, 16, 4, 25, 9, 36});
  OpAttributes axis1;
  axis1.axes = {1};
  CHECK(values(run(Op::sum, {x}, {}, axis1)) == Floats{6, 15});
  CHECK(values(run(Op::amax, {t}, {}, axis1)) == Floats{4, 5, 6});
  CHECK(values(run(Op::cumsum, {x}, {}, axis1)) == Floats{1, 3, 6, 4, 9, 15});
  Tensor row = run(Op::broadcast, {floats({3}, {1, 0, -1})}, {Scalar::of_int(2), Scalar::of_int(3)});
  CHECK(values(run(Op::sub, {x, row})) == Floats{0, 2, 4, 3, 5, 7});
  Tensor x3 = run(Op::reshape, {x}, {Scalar::of_int(1), Scalar::of_int(2), Scalar::of_int(3)});
  Tensor t3 = run(Op::reshape, {t}, {Scalar::of_int(1), Scalar::of_int(3), Scalar::of_int(2)});
  CHECK(values(run(Op::dot, {x3, t3})) == Floats{14, 32, 32, 77});
  CHECK(run(Op::nonzero, {row}).sizes() == Sizes{4, 2});
  CHECK(values(run(Op::concat, {x, row}, {}, axis1)) == Floats{1, 2, 3, 1, 0, -1, 4, 5, 6, 1, 0, -1});
  OpResults sorted = run_op(Op::sort, std::vector<Tensor>{row}, {}, axis1);
  CHECK(values(sorted.first) == Floats{-1, 0, 1, -1, 0, 1});
  CHECK(values(run(Op::gather, {x, sorted.second}, {}, axis1)) == Floats{3, 2, 1, 6, 5, 4});
  CHECK_THROWS_AS(run(Op::add, {x, t}), Error);
}
