// Generated from op_rows(): every elementwise op, every dtype its rule admits, in every layout, under
// every instruction set; then the edge behaviour that ops.def promises, by hand.
#include "catch2/catch.hpp"
#include "runtime/kernels/kernel_table.h"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

namespace {

std::vector<Isa> available_isas() {
  std::vector<Isa> isas{Isa::Baseline};
  if (best_isa() >= Isa::Avx2) isas.push_back(Isa::Avx2);
  if (best_isa() >= Isa::Avx512) isas.push_back(Isa::Avx512);
  return isas;
}

template <class Visit>
void for_elementwise(Visit visit) {
  for (const OpRow& row : op_rows()) {
    if (!is_elementwise(row.op) || row.op == Op::bitcast) continue;
    for (int i = 0; i < kDTypeCount; ++i)
      if (admitted(row.op, dtype_at(i))) visit(row, dtype_at(i));
  }
}

// The result computed one element at a time on fresh 0-d tensors.
Tensor one_by_one(Op op, const std::vector<Tensor>& operands, const OpAttributes& attributes) {
  std::vector<Tensor> flat;
  for (const Tensor& x : operands) flat.push_back(run(Op::reshape, {x}, ints({x.numel()})));
  std::vector<Tensor> elements;
  for (int64_t i = 0; i < flat[0].numel(); ++i) {
    std::vector<Tensor> at;
    for (const Tensor& x : flat)
      at.push_back(run(Op::copy, {view_as_strided(x, {}, {}, x.offset() + i * x.stride(0))}));
    elements.push_back(run(Op::reshape, {run(op, at, {}, attributes)}, ints({1})));
  }
  Tensor joined = run(Op::concat, elements, {}, with_axes({0}));
  std::vector<Scalar> sizes;
  for (int64_t size : operands[0].sizes()) sizes.push_back(Scalar::of_int(size));
  return run(Op::reshape, {joined}, sizes);
}

using Layout = Tensor (*)(const Tensor&);  // of a (3, 4) tensor

const std::vector<std::pair<const char*, Layout>> kLayouts = {
    {"contiguous", [](const Tensor& x) { return x; }},
    {"transposed", [](const Tensor& x) { return view_permute(run(Op::copy, {view_permute(x, {1, 0})}), {1, 0}); }},
    {"flipped",
     [](const Tensor& x) {
       Tensor reversed = run(Op::copy, {view_slice(x, 1, 3, 4, -1)});
       return view_slice(reversed, 1, 3, 4, -1);
     }},
    {"sliced",
     [](const Tensor& x) {
       Tensor wide = run(Op::concat, {x, x, x}, {}, with_axes({1}));
       return view_slice(wide, 1, 4, 4, 1);
     }},
    {"row broadcast", [](const Tensor& x) { return view_broadcast(view_slice(x, 0, 1, 1, 1), {3, 4}); }},
    {"column broadcast", [](const Tensor& x) { return view_broadcast(view_slice(x, 1, 2, 1, 1), {3, 4}); }},
    {"scalar broadcast",
     [](const Tensor& x) { return view_broadcast(view_slice(view_slice(x, 0, 1, 1, 1), 1, 3, 1, 1), {3, 4}); }},
};

}  // namespace

TEST_CASE("every op and dtype has a kernel under every instruction set") {
  for (Isa isa : available_isas())
    for_elementwise([&](const OpRow& row, DType dtype) {
      INFO(row.name << " " << dtype_name(dtype));
      if (row.op != Op::cast) CHECK(kernel_table(isa).element[static_cast<int>(row.op)][static_cast<int>(dtype)]);
    });
}

TEST_CASE("every layout gives the bits of one element at a time") {
  for_elementwise([&](const OpRow& row, DType dtype) {
    std::vector<Tensor> contiguous = elementwise_operands(row.op, dtype, {3, 4});
    for (const auto& [first_name, first] : kLayouts)
      for (const auto& [second_name, second] : kLayouts) {
        if (row.tensors == 1 && second != kLayouts[0].second) continue;
        std::vector<Tensor> operands;
        for (size_t i = 0; i < contiguous.size(); ++i) operands.push_back((i == 1 ? second : first)(contiguous[i]));
        OpAttributes attributes = with_dtype(DType::I32);
        INFO(row.name << " " << dtype_name(dtype) << " " << first_name << " " << second_name);
        Tensor result = run(row.op, operands, {}, attributes);
        REQUIRE(result.is_contiguous());
        REQUIRE(same_bits(result, one_by_one(row.op, operands, attributes)));
      }
  });
}

TEST_CASE("empty and 0-d tensors") {
  for_elementwise([&](const OpRow& row, DType dtype) {
    INFO(row.name << " " << dtype_name(dtype));
    for (Sizes sizes : {Sizes{0}, Sizes{3, 0, 2}})
      CHECK(run(row.op, elementwise_operands(row.op, dtype, sizes)).sizes() == sizes);
    CHECK(run(row.op, elementwise_operands(row.op, dtype, {})).rank() == 0);
  });
}

TEST_CASE("all instruction sets give the same bits") {
  for_elementwise([&](const OpRow& row, DType dtype) {
    auto [left, right] = edge_pairs(dtype);
    bool may_fail = (row.flags & kMayRaise) && !is_floating(dtype);
    std::vector<Tensor> operands{left, right, run(Op::copy, {view_slice(left, 0, left.size(0) - 1, left.size(0), -1)})};
    if (row.op == Op::select) operands[0] = run(Op::ne, {left, right});
    operands.resize(row.tensors);
    if (may_fail) operands = elementwise_operands(row.op, dtype, {200});
    for (int to = 0; to < (row.op == Op::cast ? kDTypeCount : 1); ++to) {
      Device device(1);
      DeviceScope scope(device);
      device.isa = Isa::Baseline;
      Tensor expected = run(row.op, operands, {}, with_dtype(dtype_at(to)));
      for (Isa isa : available_isas()) {
        device.isa = isa;
        Tensor result = run(row.op, operands, {}, with_dtype(dtype_at(to)));
        INFO(row.name << " " << dtype_name(dtype) << " isa " << static_cast<int>(isa) << " at "
                      << first_difference(result, expected));
        CHECK(same_bits(result, expected));
      }
    }
  });
}

TEST_CASE("all instruction sets give the same bits of sums and products that round") {
  for_elementwise([&](const OpRow& row, DType dtype) {
    if (!is_floating(dtype) && !is_complex(dtype)) return;
    std::vector<Tensor> operands;
    for (int i = 0; i < row.tensors; ++i) operands.push_back(fractions(dtype, {333}, 7 + i));
    if (row.op == Op::select) operands[0] = run(Op::ne, {operands[1], operands[2]});
    Device device(1);
    DeviceScope scope(device);
    device.isa = Isa::Baseline;
    const Tensor expected = run(row.op, operands, {}, with_dtype(dtype));
    for (Isa isa : available_isas()) {
      device.isa = isa;
      const Tensor result = run(row.op, operands, {}, with_dtype(dtype));
      INFO(row.name << " " << dtype_name(dtype) << " isa " << static_cast<int>(isa));
      CHECK(first_difference(result, expected) == -1);
    }
  });
}

TEST_CASE("wrong dtypes and shapes are refused by name") {
  Tensor floats = edges(DType::F32, {2, 3}), other = edges(DType::F32, {3, 2});
  Tensor longs = edges(DType::I64, {2, 3}), bools = edges(DType::Bool, {2, 3});
  CHECK(message_of([&] { run(Op::add, {floats, other}); }) ==
        "RuntimeError: add: the operands must have one shape, got (2, 3) and (3, 2)");
  CHECK(message_of([&] { run(Op::add, {floats, longs}); }) ==
        "RuntimeError: add: the operands must have one dtype, got float32 and int64");
  CHECK(message_of([&] { run(Op::exp, {longs}); }) == "NotImplementedError: exp: needs a floating dtype, got int64");
  CHECK(message_of([&] { run(Op::sub, {bools, bools}); }) ==
        "NotImplementedError: sub: does not take bool tensors, got bool and bool");
  CHECK(message_of([&] { run(Op::bitwise_and, {floats, floats}); }) ==
        "NotImplementedError: \"bitwise_and_cpu\" not implemented for 'Float'");
  CHECK(message_of([&] { run(Op::select, {floats, floats, floats}); }) ==
        "RuntimeError: select: the condition must be a bool tensor, got float32, float32 and float32");
  CHECK(message_of([&] { run(Op::add, {floats}); }) == "TypeError: add: takes 2 tensors, got 1");
  CHECK(message_of([&] { run(Op::bitcast, {floats}, {}, with_dtype(DType::I64)); }) ==
        "RuntimeError: bitcast: needs two dtypes of one width, neither bool, and the result is int64, "
        "got float32");
}

TEST_CASE("integer division by zero and negative integer powers raise, floats do not") {
  for (DType dtype : {DType::U8, DType::I32, DType::I64}) {
    Tensor x = edges(dtype, {5000}), zero = tensor(dtype, {5000}, std::vector<double>(5000, 0));
    for (Op op : {Op::quot, Op::rem, Op::floor_div, Op::remainder})
      CHECK(message_of([&] { run(op, {x, zero}); }) ==
            "ZeroDivisionError: " + std::string(op_name(op)) + ": integer division by zero");
  }
  Tensor two = tensor(DType::I64, {1}, {2}), minus = tensor(DType::I64, {1}, {-1});
  CHECK(message_of([&] { run(Op::pow, {two, minus}); }) ==
        "RuntimeError: pow: integers to negative integer powers are not allowed");
  Tensor one = tensor(DType::F32, {1}, {1}), zero = tensor(DType::F32, {1}, {0});
  CHECK(values(run(Op::floor_div, {one, zero}))[0] == INFINITY);
  CHECK(std::isnan(values(run(Op::remainder, {one, zero}))[0]));
}

TEST_CASE("bf16 computes in float and rounds once") {
  Tensor x = tensor(DType::BF16, {4}, {1, 1, 3.140625, 1e30});
  Tensor y = tensor(DType::BF16, {4}, {0.00390625, 0.0078125, 3, 1e30});
  CHECK(values(run(Op::add, {x, y})) ==
        std::vector<double>{1, 1.0078125, 6.125, values(run(Op::mul, {x, tensor(DType::BF16, {4}, {2, 2, 2, 2})}))[3]});
}
