// Reductions against the literal text of the canonical order (runtime/kernels/reduce.h), in every
// layout, at several thread counts, under every instruction set.
#include <random>

#include "catch2/catch.hpp"
#include "runtime/kernels/reduce.h"
#include "runtime/kernels/scalar_ops.h"
#include "runtime/kernels/typed.h"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

namespace {

template <class A>
A combine(Op op, A a, A b) {
  switch (op) {
    case Op::sum: return baseline::scalar::add(a, b);
    case Op::prod: return baseline::scalar::mul(a, b);
    case Op::amax: return baseline::scalar::maximum(a, b);
    default: return baseline::scalar::minimum(a, b);
  }
}

template <class A>
A identity(Op op) {
  using Limits = std::numeric_limits<A>;
  if (op == Op::sum) return A(0);
  if (op == Op::prod) return A(1);
  A low = Limits::has_infinity ? A(-Limits::infinity()) : Limits::lowest();
  A high = Limits::has_infinity ? Limits::infinity() : Limits::max();
  return op == Op::amax ? low : high;
}

// The definition, word for word.
template <class A>
A canonical(Op op, const std::vector<A>& x) {
  std::vector<A> chunks;
  for (size_t begin = 0; begin < x.size(); begin += kReduceChunk) {
    A lanes[kReduceLanes];
    for (A& lane : lanes) lane = identity<A>(op);
    size_t end = std::min<size_t>(x.size(), begin + kReduceChunk);
    for (size_t i = begin; i < end; ++i) {
      A& lane = lanes[(i - begin) % kReduceLanes];
      lane = combine(op, lane, x[i]);
    }
    for (int step : {32, 16, 8, 4, 2, 1})
      for (int lane = 0; lane < step; ++lane) lanes[lane] = combine(op, lanes[lane], lanes[lane + step]);
    chunks.push_back(lanes[0]);
  }
  if (chunks.empty()) return identity<A>(op);
  A total = chunks[0];
  for (size_t i = 1; i < chunks.size(); ++i) total = combine(op, total, chunks[i]);
  return total;
}

Sizes complement(int64_t rank, const Sizes& axes) {
  Sizes rest;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) rest.push_back(axis);
  return rest;
}

// Rows of the reduced elements, one a result, in row-major order.
Tensor rows_of(const Tensor& x, const Sizes& axes) {
  Sizes order = complement(x.rank(), axes);
  for (int64_t axis : axes) order.push_back(axis);
  return run(Op::copy, {view_permute(x, order)});
}

Tensor expected_reduction(Op op, const Tensor& x, const Sizes& axes) {
  Sizes sizes;
  for (int64_t axis : complement(x.rank(), axes)) sizes.push_back(x.size(axis));
  std::vector<DType> dtypes{x.dtype()};
  Tensor out = Tensor::empty(infer_dtype(op, dtypes, {}), sizes);
  Tensor rows = rows_of(x, axes);
  int64_t count = out.numel() ? x.numel() / out.numel() : 0;
  visit_ordered_dtype(x.dtype(), [&]<class S>() {
    using C = decltype(load_element(static_cast<const S*>(nullptr)));
    bool widens = (op == Op::sum || op == Op::prod) && std::is_integral_v<C>;
    for (int64_t i = 0; i < out.numel(); ++i) {
      const S* row = rows.data_as<S>() + i * count;
      if (widens) {
        std::vector<int64_t> elements;
        for (int64_t k = 0; k < count; ++k) elements.push_back(static_cast<int64_t>(load_element(row + k)));
        out.data_as<int64_t>()[i] = canonical(op, elements);
      } else if constexpr (std::is_same_v<C, bool>) {
        std::vector<uint8_t> elements(row, row + count);
        out.data_as<uint8_t>()[i] = canonical(op, elements);
      } else {
        std::vector<C> elements;
        for (int64_t k = 0; k < count; ++k) elements.push_back(load_element(row + k));
        store_element(out.data_as<S>() + i, canonical(op, elements));
      }
    }
  });
  return out;
}

Tensor random_tensor(DType dtype, const Sizes& sizes, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> all(numel_of(sizes));
  for (double& value : all) {
    value = std::ldexp(static_cast<double>(generator()) - 0x1p31, static_cast<int>(generator() % 20) - 40);
    if (!is_floating(dtype)) value = static_cast<double>(generator() % 5) - 2;
  }
  return tensor(dtype, sizes, all);
}

const std::vector<Op> kCanonicalOps = {Op::sum, Op::prod, Op::amax, Op::amin};

void check_reductions(const Tensor& x, const Sizes& axes) {
  for (Op op : kCanonicalOps) {
    INFO(op_name(op) << " " << dtype_name(x.dtype()) << " " << shape_text(x.sizes()) << " axes " << shape_text(axes));
    REQUIRE(same_bits(run(op, {x}, {}, with_axes(axes)), expected_reduction(op, x, axes)));
  }
}

}  // namespace

TEST_CASE("every dtype, axes and layout follows the canonical order") {
  const std::vector<Sizes> all_axes = {{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
  for (int i = 0; i < kDTypeCount; ++i) {
    if (is_complex(dtype_at(i))) continue;
    Tensor x = random_tensor(dtype_at(i), {5, 70, 33}, 7 + i);
    std::vector<Tensor> layouts = {x, view_permute(x, {2, 0, 1}), view_slice(view_slice(x, 1, 69, 35, -2), 2, 1, 16, 2),
                                   view_broadcast(view_slice(x, 1, 3, 1, 1), {5, 70, 33})};
    for (const Tensor& layout : layouts)
      for (const Sizes& axes : all_axes) check_reductions(layout, axes);
  }
}

TEST_CASE("around the lane and chunk boundaries") {
  for (int64_t n : {1, 2, 3, 31, 63, 64, 65, 127, 1023, 1024, 1025, 65535, 65536, 65537, 200000}) {
    check_reductions(random_tensor(DType::F32, {n}, static_cast<unsigned>(n)), {0});
    check_reductions(random_tensor(DType::BF16, {n, 1}, static_cast<unsigned>(n)), {0});
    check_reductions(random_tensor(DType::F16, {n, 1}, static_cast<unsigned>(n)), {0});
    check_reductions(random_tensor(DType::F32, {2, n}, static_cast<unsigned>(n)), {1});
  }
  check_reductions(random_tensor(DType::F32, {70000, 20}, 1), {0});
  check_reductions(random_tensor(DType::F64, {300, 2, 300}, 2), {0, 2});
}

TEST_CASE("any thread count and instruction set gives the same bits") {
  Tensor big = random_tensor(DType::F32, {300, 1000}, 3);
  for (const Sizes& axes : {Sizes{0}, Sizes{1}, Sizes{0, 1}})
    for (Op op : kCanonicalOps) {
      Tensor expected = expected_reduction(op, big, axes);
      for (int threads : {1, 2, 3, 7})
        for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
          if (isa > best_isa()) continue;
          Device device(threads);
          device.isa = isa;
          DeviceScope scope(device);
          CHECK(same_bits(run(op, {big}, {}, with_axes(axes)), expected));
        }
    }
}

TEST_CASE("any instruction set gives the same bits of complex numbers") {
  for (DType dtype : {DType::C64, DType::C128})
    for (Op op : {Op::sum, Op::prod})
      for (const Sizes& axes : {Sizes{0}, Sizes{1}, Sizes{0, 1}}) {
        const Tensor x = fractions(dtype, {37, 70}, 5);
        Device device(1);
        DeviceScope scope(device);
        device.isa = Isa::Baseline;
        const Tensor expected = run(op, {x}, {}, with_axes(axes));
        for (Isa isa : {Isa::Avx2, Isa::Avx512}) {
          if (isa > best_isa()) continue;
          device.isa = isa;
          INFO(op_name(op) << " " << dtype_name(dtype) << " axes " << shape_text(axes));
          CHECK(same_bits(run(op, {x}, {}, with_axes(axes)), expected));
        }
      }
}

TEST_CASE("nan, zeros and infinities") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (int64_t place : {0, 5, 64, 99}) {
    std::vector<double> all(100, -1);
    all[place] = kNan;
    Tensor x = tensor(DType::F32, {100}, all);
    for (Op op : {Op::sum, Op::prod, Op::amax, Op::amin})
      CHECK(std::isnan(values(run(op, {x}, {}, with_axes({0})))[0]));
    CHECK(int_values(run(Op::argmax, {x}, {}, with_axes({0})))[0] == place);
    CHECK(int_values(run(Op::argmin, {x}, {}, with_axes({0})))[0] == place);
    CHECK(int_values(run(Op::any, {x}, {}, with_axes({0})))[0] == 1);
  }
  Tensor zeros = tensor(DType::F64, {2}, {-0.0, 0.0});
  CHECK(!std::signbit(values(run(Op::amax, {zeros}, {}, with_axes({0})))[0]));
  CHECK(std::signbit(values(run(Op::amin, {zeros}, {}, with_axes({0})))[0]));
}

TEST_CASE("empty reductions") {
  Tensor empty = tensor(DType::F32, {0, 3}, {});
  CHECK(values(run(Op::sum, {empty}, {}, with_axes({0}))) == std::vector<double>{0, 0, 0});
  CHECK(values(run(Op::prod, {empty}, {}, with_axes({0}))) == std::vector<double>{1, 1, 1});
  CHECK(values(run(Op::any, {empty}, {}, with_axes({0}))) == std::vector<double>{0, 0, 0});
  CHECK(values(run(Op::all, {empty}, {}, with_axes({0, 1}))) == std::vector<double>{1});
  CHECK(run(Op::amax, {empty}, {}, with_axes({1})).sizes() == Sizes{0});
  for (Op op : {Op::amax, Op::amin, Op::argmax, Op::argmin})
    CHECK(message_of([&] { run(op, {empty}, {}, with_axes({0})); }) ==
          "IndexError: " + std::string(op_name(op)) +
              ": expected reduction dim 0 to have non-zero size, got shape (0, 3)");
}

TEST_CASE("sums of integers and bools widen, and wrap in 64 bits") {
  Tensor bytes = tensor(DType::U8, {1000}, std::vector<double>(1000, 255));
  Tensor total = run(Op::sum, {bytes}, {}, with_axes({0}));
  CHECK(total.dtype() == DType::I64);
  CHECK(int_values(total)[0] == 255000);
  Tensor bools = tensor(DType::Bool, {300}, std::vector<double>(300, 1));
  CHECK(int_values(run(Op::sum, {bools}, {}, with_axes({0})))[0] == 300);
}

TEST_CASE("any, all, argmax and argmin in every layout") {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (is_complex(dtype_at(i))) continue;
    Tensor x = random_tensor(dtype_at(i), {4, 9, 20}, 50 + i);
    for (const Tensor& layout : {x, view_permute(x, {1, 2, 0})})
      for (const Sizes& axes : {Sizes{0}, Sizes{1}, Sizes{2}, Sizes{0, 2}, Sizes{0, 1, 2}}) {
        Tensor rows = cast(rows_of(layout, axes), DType::F64);
        Tensor most = run(Op::argmax, {layout}, {}, with_axes(axes));
        Tensor least = run(Op::argmin, {layout}, {}, with_axes(axes));
        Tensor any = run(Op::any, {layout}, {}, with_axes(axes));
        Tensor all = run(Op::all, {layout}, {}, with_axes(axes));
        int64_t count = layout.numel() / most.numel();
        for (int64_t row = 0; row < most.numel(); ++row) {
          const double* begin = rows.data_as<double>() + row * count;
          const double* end = begin + count;
          REQUIRE(int_values(most)[row] == std::max_element(begin, end) - begin);
          REQUIRE(int_values(least)[row] == std::min_element(begin, end) - begin);
          REQUIRE(int_values(any)[row] == std::any_of(begin, end, [](double v) { return v != 0; }));
          REQUIRE(int_values(all)[row] == std::all_of(begin, end, [](double v) { return v != 0; }));
        }
      }
  }
}
