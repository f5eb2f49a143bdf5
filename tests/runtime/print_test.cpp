// tensor_repr against PyTorch's own output.
#include "runtime/tensor/print.h"
#include "catch2/catch.hpp"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

namespace {

struct Golden {
  DType dtype;
  Sizes sizes;
  std::vector<double> values;
  const char* text;
};

const std::vector<Golden>& goldens() {
  static const std::vector<Golden> all = {
#include "print_goldens.inc"
  };
  return all;
}

Tensor iota(DType dtype, const Sizes& sizes) {
  OpAttributes attributes = with_axes({0});
  attributes.dtype = dtype;
  Tensor flat = run(Op::iota, {}, ints({numel_of(sizes)}), attributes);
  return try_view_reshape(flat, sizes);
}

}  // namespace

TEST_CASE("small tensors print as in PyTorch") {
  for (const Golden& golden : goldens())
    CHECK(tensor_repr(tensor(golden.dtype, golden.sizes, golden.values)) == golden.text);
}

TEST_CASE("long tensors are summarised as in PyTorch") {
  CHECK(tensor_repr(iota(DType::I64, {1001})) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  CHECK(tensor_repr(iota(DType::F64, {501, 2})) ==
        "tensor([[0.0000e+00, 1.0000e+00],\n        [2.0000e+00, 3.0000e+00],\n"
        "        [4.0000e+00, 5.0000e+00],\n        ...,\n        [9.9600e+02, 9.9700e+02],\n"
        "        [9.9800e+02, 9.9900e+02],\n        [1.0000e+03, 1.0010e+03]], "
        "dtype=torch.float64)");
  std::string square = tensor_repr(iota(DType::F32, {64, 64}));
  CHECK(square.substr(0, 171) ==
        "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 6.1000e+01, 6.2000e+01,\n"
        "         6.3000e+01],\n        [6.4000e+01, 6.5000e+01, 6.6000e+01,  ..., 1.2500e+02, "
        "1.2600e+02,");
  std::string cube = tensor_repr(iota(DType::I64, {4, 5, 100}));
  CHECK(cube.find("[ 400,  401,  402,  ...,  497,  498,  499]],\n\n        [[ 500,  501") != std::string::npos);
}

TEST_CASE("views print their own elements; suffixes wrap at the line's end") {
  Tensor x = tensor(DType::F32, {2, 2}, {1, 2, 3, 4});
  CHECK(tensor_repr(view_permute(x, {1, 0})) == "tensor([[1., 3.],\n        [2., 4.]])");
  CHECK(tensor_repr(view_slice(x, 1, 1, 2, -1)) == "tensor([[2., 1.],\n        [4., 3.]])");
  CHECK(tensor_repr(x, "requires_grad=True") == "tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)");
  Tensor line = tensor(DType::F64, {8}, {0.5, 1, 2, 3, 4, 5, 6, 7});
  CHECK(tensor_repr(line, "requires_grad=True") ==
        "tensor([0.5000, 1.0000, 2.0000, 3.0000, 4.0000, 5.0000, 6.0000, 7.0000],\n"
        "       dtype=torch.float64, requires_grad=True)");
}

TEST_CASE("print options") {
  Tensor x = tensor(DType::F32, {4}, {1, 2.5, 3, 4});
  PrintOptions options;
  options.precision = 1;
  options.threshold = 3;
  options.edge_items = 1;
  CHECK(tensor_repr(x, "", options) == "tensor([1.,  ..., 4.])");
  options.scientific = true;
  CHECK(tensor_repr(x, "", options) == "tensor([1.0e+00,  ..., 4.0e+00])");
}
