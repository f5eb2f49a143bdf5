// View, Move, Index, Scan, Sort and Create ops against naive expectations.
#include "catch2/catch.hpp"
#include "runtime/random/philox.h"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;
using List = std::vector<double>;
using Ints = std::vector<int64_t>;

namespace {

Tensor iota(const Sizes& sizes, DType dtype = DType::F32) {
  OpAttributes attributes = with_axes({0});
  attributes.dtype = dtype;
  return try_view_reshape(run(Op::iota, {}, ints({numel_of(sizes)}), attributes), sizes);
}
Tensor transposed(const Tensor& x) { return view_permute(x, {1, 0}); }

}  // namespace

TEST_CASE("views share memory, reshape copies only when it must") {
  Tensor x = iota({2, 3, 4});
  auto shares = [&](const Tensor& y) { return y.storage() == x.storage(); };
  CHECK(shares(run(Op::reshape, {x}, ints({6, 4}))));
  CHECK(shares(run(Op::permute, {x}, {}, with_axes({2, 0, 1}))));
  Tensor moved = view_permute(x, {1, 0, 2});
  CHECK(shares(run(Op::reshape, {moved}, ints({3, 2, 2, 2}))));
  Tensor joined = run(Op::reshape, {moved}, ints({6, 4}));
  CHECK(!shares(joined));
  CHECK(values(joined) == values(moved));
  CHECK(shares(run(Op::slice, {x}, ints({3, 2, -2}), with_axes({2}))));
  CHECK(values(run(Op::slice, {iota({5})}, ints({4, 3, -2}), with_axes({0}))) == List{4, 2, 0});
  CHECK(run(Op::reshape, {iota({0, 3})}, ints({3, 0, 7})).sizes() == Sizes{3, 0, 7});
  CHECK(run(Op::reshape, {iota({1})}, {}).rank() == 0);
}

TEST_CASE("diagonal, unfold, broadcast") {
  Tensor x = iota({3, 4});
  CHECK(values(run(Op::diagonal, {x}, ints({0}), with_axes({0, 1}))) == List{0, 5, 10});
  CHECK(values(run(Op::diagonal, {x}, ints({2}), with_axes({0, 1}))) == List{2, 7});
  CHECK(values(run(Op::diagonal, {x}, ints({-1}), with_axes({0, 1}))) == List{4, 9});
  CHECK(run(Op::diagonal, {x}, ints({9}), with_axes({0, 1})).sizes() == Sizes{0});
  CHECK(run(Op::diagonal, {x}, {Scalar::of_int(std::numeric_limits<int64_t>::min())}, with_axes({0, 1})).sizes() ==
        Sizes{0});
  Tensor windows = run(Op::unfold, {iota({5})}, ints({3, 2}), with_axes({0}));
  CHECK(windows.sizes() == Sizes{2, 3});
  CHECK(values(windows) == List{0, 1, 2, 2, 3, 4});
  Tensor wide = run(Op::broadcast, {iota({2, 1})}, ints({3, 2, 2}));
  CHECK(values(wide) == List{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(wide.overlaps_itself());
  CHECK(windows.overlaps_itself());
  CHECK(!transposed(x).overlaps_itself());
}

TEST_CASE("sizes that generic inference gives are the sizes that ops have") {
  Tensor x = iota({3, 4});
  auto agree = [](Op op, const std::vector<Tensor>& tensors, const std::vector<Scalar>& scalars,
                  const OpAttributes& attributes) {
    std::vector<Sizes> shapes;
    for (const Tensor& t : tensors) shapes.push_back(t.sizes());
    CHECK(infer_sizes(op, shapes, scalars, attributes) == run(op, tensors, scalars, attributes).sizes());
  };
  for (int64_t offset = -5; offset <= 5; ++offset) agree(Op::diagonal, {x}, ints({offset}), with_axes({0, 1}));
  for (int64_t step : {1, 2, 3}) agree(Op::unfold, {x}, ints({2, step}), with_axes({1}));
  agree(Op::slice, {x}, ints({1, 2, 1}), with_axes({1}));
  agree(Op::pad, {x}, ints({9, -1, 3}), with_axes({1}));
  agree(Op::concat, {x, x, x}, {}, with_axes({1}));
  agree(Op::take, {x, i64_tensor({2, 2}, {0, 1, 1, 0})}, {}, with_axes({1}));
}

TEST_CASE("view errors name the shape") {
  Tensor x = iota({2, 3});
  CHECK(message_of([&] { run(Op::reshape, {x}, ints({4})); }) ==
        "RuntimeError: shape '[4]' is invalid for input of size 6");
  CHECK(message_of([&] { run(Op::broadcast, {x}, ints({2, 4})); }) ==
        "RuntimeError: The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
        "dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]");
  CHECK(message_of([&] { run(Op::permute, {x}, {}, with_axes({0, 0})); }) ==
        "RuntimeError: permute(): duplicate dims are not allowed.");
  CHECK(message_of([&] { run(Op::slice, {x}, ints({0, 4, 1}), with_axes({1})); }) ==
        "IndexError: slice: start 0, length 4, step 1 is outside axis 1 of a tensor of shape (2, 3)");
  CHECK(message_of([&] { run(Op::slice, {x}, ints({0, 2, 1}), with_axes({2})); }) ==
        "IndexError: slice: axis 2 is out of range for a tensor of shape (2, 3)");
  CHECK(message_of([&] { run(Op::full, {}, ints({1, -2}), {}); }) ==
        "RuntimeError: Trying to create tensor with negative dimension -2: [-2]");
  CHECK(message_of([&] { run(Op::full, {}, ints({1, int64_t{1} << 40, int64_t{1} << 40}), {}); }) ==
        "OverflowError: size computation overflows a 64-bit integer");
  CHECK(message_of([&] { run(Op::full, {}, ints({1, int64_t{1} << 46}), {}); }).find("MemoryError: cannot allocate") ==
        0);
  // Strides of 0 stay inside the storage whatever the sizes: their product is counted all the same.
  CHECK(message_of([&] { view_as_strided(x, {int64_t{1} << 40, int64_t{1} << 40}, {0, 0}, 0); }).find("overflows") !=
        std::string::npos);
  CHECK(message_of([&] { view_as_strided(x, {3, 3}, {3, 1}, 0); }).find("reach outside a storage of 6 elements") !=
        std::string::npos);
}

TEST_CASE("copies, pads, joins, stores") {
  Tensor x = iota({2, 3});
  CHECK(values(run(Op::copy, {transposed(x)})) == List{0, 3, 1, 4, 2, 5});
  CHECK(values(run(Op::pad, {x}, ints({9, 1, 0}), with_axes({1}))) == List{9, 0, 1, 2, 9, 3, 4, 5});
  CHECK(values(run(Op::pad, {x}, ints({9, -1, 2}), with_axes({1}))) == List{1, 2, 9, 9, 4, 5, 9, 9});
  CHECK(values(run(Op::pad, {iota({4})}, ints({9, -1, -1}), with_axes({0}))) == List{1, 2});
  CHECK_THROWS_AS(run(Op::pad, {iota({2})}, ints({9, -5, 6}), with_axes({0})), Error);
  CHECK(run(Op::pad, {iota({4})}, ints({9, -2, -2}), with_axes({0})).numel() == 0);
  CHECK(message_of([&] {
          run(Op::pad, {iota({4})}, ints({9, -3, -2}), with_axes({0}));
        }).find("leaves a negative size") != std::string::npos);
  CHECK(values(run(Op::concat, {transposed(x), transposed(x)}, {}, with_axes({0}))) ==
        List{0, 3, 1, 4, 2, 5, 0, 3, 1, 4, 2, 5});
  CHECK(message_of([&] { run(Op::concat, {x, iota({3, 2})}, {}, with_axes({0})); }) ==
        "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for tensor "
        "number 1 in the list.");
  // x[:, 1] = y
  Tensor stored = run(Op::store, {x, tensor(DType::F32, {2}, {7, 8})}, ints({1, 2, 3}));
  CHECK(values(stored) == List{0, 7, 2, 3, 8, 5});
  CHECK(values(x) == List{0, 1, 2, 3, 4, 5});
  CHECK_THROWS_AS(run(Op::store, {x, tensor(DType::F32, {2}, {7, 8})}, ints({5, 2, 3})), Error);
}

TEST_CASE("copy_into is exact when source and target overlap") {
  Tensor x = iota({6});
  copy_into(view_slice(x, 0, 1, 5, 1), view_slice(x, 0, 0, 5, 1));
  CHECK(values(x) == List{0, 0, 1, 2, 3, 4});
  Tensor square = iota({3, 3});
  copy_into(square, transposed(square));
  CHECK(values(square) == List{0, 3, 6, 1, 4, 7, 2, 5, 8});
  Tensor line = iota({5});
  copy_into(line, view_slice(line, 0, 4, 5, -1));
  CHECK(values(line) == List{4, 3, 2, 1, 0});
  CHECK(message_of([&] {
          copy_into(view_broadcast(iota({1}), {3}), iota({3}));
        }).find("RuntimeError: more than one element") == 0);
}

TEST_CASE("take and gather, and their bounds") {
  Tensor x = iota({2, 3});
  Tensor index = i64_tensor({2, 2}, {2, 0, 1, 1});
  Tensor taken = run(Op::take, {x, index}, {}, with_axes({1}));
  CHECK(taken.sizes() == Sizes{2, 2, 2});
  CHECK(values(taken) == List{2, 0, 1, 1, 5, 3, 4, 4});
  CHECK(values(run(Op::take, {transposed(x), i64_tensor({}, {2})}, {}, with_axes({0}))) == List{2, 5});
  CHECK(values(run(Op::gather, {x, index}, {}, with_axes({1}))) == List{2, 0, 4, 4});
  CHECK(values(run(Op::gather, {transposed(x), i64_tensor({1, 2}, {2, 0})}, {}, with_axes({0}))) == List{2, 3});
  for (int64_t bad : {int64_t{3}, int64_t{-1}})
    for (Op op : {Op::take, Op::gather})
      CHECK(message_of([&] { run(op, {x, i64_tensor({2, 1}, {0, bad})}, {}, with_axes({1})); }) ==
            "IndexError: index " + std::to_string(bad) + " is out of bounds for dimension 1 with size 3");
  CHECK(message_of([&] { run(Op::take, {x, x}, {}, with_axes({0})); }) ==
        "RuntimeError: take: the index must be an int64 tensor, got float32 and float32");
  CHECK(run(Op::take, {iota({0, 3}), i64_tensor({0}, {})}, {}, with_axes({0})).sizes() == Sizes{0, 3});
}

TEST_CASE("scatter, scatter_add, index_add: deterministic at any thread count") {
  Tensor zeros = run(Op::full, {}, ints({0, 3, 2}), {});
  Tensor index = i64_tensor({4, 2}, {0, 1, 0, 1, 2, 1, 0, 0});
  Tensor updates = tensor(DType::F32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(values(run(Op::scatter, {zeros, index, updates}, {}, with_axes({0}))) == List{7, 8, 0, 6, 5, 0});
  CHECK(values(run(Op::scatter_add, {zeros, index, updates}, {}, with_axes({0}))) == List{11, 8, 0, 12, 5, 0});
  CHECK(values(run(Op::index_add, {zeros, i64_tensor({4}, {2, 0, 2, 2}), updates}, {}, with_axes({0}))) ==
        List{3, 4, 0, 0, 13, 16});
  int64_t n = 20000;
  std::vector<int64_t> places;
  std::vector<double> numbers;
  for (int64_t i = 0; i < n * 8; ++i) {
    places.push_back(i * 7919 % 100);
    numbers.push_back(1.0 / (1 + i % 1013));
  }
  Tensor many = i64_tensor({n, 8}, places), added = tensor(DType::F32, {n, 8}, numbers);
  Tensor base = run(Op::full, {}, ints({0, 100, 8}), {});
  Device one(1), three(3);
  for (Op op : {Op::scatter, Op::scatter_add}) {
    DeviceScope scope(one);
    Tensor expected = run(op, {base, many, added}, {}, with_axes({0}));
    DeviceScope inner(three);
    CHECK(same_bits(run(op, {base, many, added}, {}, with_axes({0})), expected));
  }
  CHECK(message_of([&] {
          run(Op::scatter, {zeros, index, updates}, {}, with_axes({1}));
        }).find("does not fit a tensor of shape (3, 2) apart from dimension 1") != std::string::npos);
}

TEST_CASE("nonzero") {
  Tensor x = tensor(DType::F32, {2, 3}, {0, 1, NAN, -0.0, 0, 5});
  Tensor found = run(Op::nonzero, {x});
  CHECK(found.sizes() == Sizes{3, 2});
  CHECK(int_values(found) == Ints{0, 1, 0, 2, 1, 2});
  CHECK(int_values(run(Op::nonzero, {transposed(x)})) == Ints{1, 0, 2, 0, 2, 1});
  CHECK(run(Op::nonzero, {tensor(DType::Bool, {}, {1})}).sizes() == Sizes{1, 0});
  CHECK(run(Op::nonzero, {tensor(DType::Bool, {}, {0})}).sizes() == Sizes{0, 0});
}

TEST_CASE("scans run in order") {
  Tensor x = tensor(DType::I32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(int_values(run(Op::cumsum, {x}, {}, with_axes({0}))) == Ints{1, 2, 3, 5, 7, 9});
  CHECK(int_values(run(Op::cumprod, {x}, {}, with_axes({1}))) == Ints{1, 2, 6, 4, 20, 120});
  CHECK(run(Op::cumsum, {x}, {}, with_axes({0})).dtype() == DType::I64);
  CHECK(int_values(run(Op::cumsum, {transposed(x)}, {}, with_axes({0}))) == Ints{1, 4, 3, 9, 6, 15});
  std::vector<double> numbers;
  for (int i = 0; i < 3000; ++i) numbers.push_back(1.0 / (i + 1));
  Tensor y = tensor(DType::F32, {3000}, numbers);
  List scanned = values(run(Op::cumsum, {y}, {}, with_axes({0})));
  float running = 0;
  for (int i = 0; i < 3000; ++i) {
    running += y.data_as<float>()[i];
    REQUIRE(scanned[i] == running);
  }
}

TEST_CASE("sort is stable, nan counts as the largest") {
  Tensor x = tensor(DType::F32, {7}, {2, NAN, -1, 2, INFINITY, -0.0, 0.0});
  OpAttributes up = with_axes({0}), down = up;
  down.mode = 1;
  std::vector<Tensor> operands{x};
  CHECK(int_values(run_op(Op::sort, operands, {}, up).second) == Ints{2, 5, 6, 0, 3, 4, 1});
  CHECK(int_values(run_op(Op::sort, operands, {}, down).second) == Ints{1, 4, 0, 3, 5, 6, 2});
  for (int i = 0; i < kDTypeCount; ++i) {
    if (is_complex(dtype_at(i))) continue;
    Tensor y = view_permute(edges(dtype_at(i), {4, 50, 3}, 2, 7), {2, 1, 0});
    std::vector<Tensor> one{y};
    for (const OpAttributes& order : {with_axes({1}), [] {
                                        OpAttributes attributes = with_axes({1});
                                        attributes.mode = 1;
                                        return attributes;
                                      }()}) {
      OpResults sorted = run_op(Op::sort, one, {}, order);
      CHECK(same_bits(run(Op::gather, {y, sorted.second}, {}, with_axes({1})), sorted.first));
      Tensor a = view_slice(sorted.first, 1, order.mode ? 1 : 0, 49, 1);
      Tensor b = view_slice(sorted.first, 1, order.mode ? 0 : 1, 49, 1);
      Tensor fine = run(Op::le, {a, b});
      if (is_floating(dtype_at(i))) fine = run(Op::bitwise_or, {fine, run(Op::ne, {b, b})});
      CHECK(int_values(run(Op::all, {fine}, {}, with_axes({0, 1, 2})))[0] == 1);
    }
  }
}

TEST_CASE("large sorts agree with the standard library") {
  for (DType dtype :
       {DType::F32, DType::F64, DType::I64, DType::I32, DType::BF16, DType::U8, DType::F16, DType::I16, DType::I8}) {
    Tensor words = run(Op::rng_bits, {}, ints({3, 0, 2, 3000, 2}), with_dtype(DType::I64));
    Tensor x = is_floating(dtype)
                   ? cast(run(Op::sub, {cast(words, DType::F64),
                                        run(Op::full, {}, ints({1 << 31, 2, 3000, 2}), with_dtype(DType::F64))}),
                          dtype)
                   : cast(words, dtype);
    for (int64_t mode : {0, 1}) {
      OpAttributes order = with_axes({1});
      order.mode = mode;
      std::vector<Tensor> one{x};
      OpResults sorted = run_op(Op::sort, one, {}, order);
      for (int64_t line = 0; line < 4; ++line) {
        std::vector<double> column;
        List all = values(x), result = values(sorted.first);
        Ints indices = int_values(sorted.second);
        std::vector<int64_t> expected(3000);
        auto at = [&](int64_t i) { return line / 2 * 6000 + i * 2 + line % 2; };
        for (int64_t i = 0; i < 3000; ++i) expected[i] = i;
        std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
          return mode ? all[at(a)] > all[at(b)] : all[at(a)] < all[at(b)];
        });
        for (int64_t i = 0; i < 3000; ++i) {
          REQUIRE(indices[at(i)] == expected[i]);
          REQUIRE(result[at(i)] == all[at(expected[i])]);
        }
      }
    }
  }
}

TEST_CASE("transposed copies of every width and awkward size") {
  for (DType dtype : {DType::U8, DType::BF16, DType::F32, DType::F64, DType::C128})
    for (Sizes sizes : {Sizes{3, 65, 67}, Sizes{1, 128, 200}, Sizes{2, 8, 300}, Sizes{2, 7, 9}}) {
      Tensor x = cast(iota(sizes, DType::I64), dtype);
      for (Sizes axes : {Sizes{0, 2, 1}, Sizes{2, 1, 0}, Sizes{2, 0, 1}, Sizes{1, 2, 0}}) {
        Tensor y = view_permute(x, axes);
        Tensor copied = run(Op::copy, {y});
        List expected, all = values(x);
        for (int64_t i = 0; i < y.size(0); ++i)
          for (int64_t j = 0; j < y.size(1); ++j)
            for (int64_t k = 0; k < y.size(2); ++k)
              expected.push_back(all[i * y.stride(0) + j * y.stride(1) + k * y.stride(2)]);
        REQUIRE(values(copied) == expected);
        REQUIRE(same_bits(run(Op::add, {y, y}), run(Op::add, {copied, copied})));
      }
    }
}

TEST_CASE("full, iota") {
  CHECK(values(run(Op::full, {}, {Scalar::of_float(2.5), Scalar::of_int(3)}, {})) == List{2.5, 2.5, 2.5});
  CHECK(int_values(run(Op::full, {}, {Scalar::of_float(-7.9), Scalar::of_int(1)}, with_dtype(DType::I64))) == Ints{-7});
  CHECK(int_values(run(Op::full, {}, {Scalar::of_bool(true)}, with_dtype(DType::Bool))) == Ints{1});
  Tensor big = run(Op::full, {}, {Scalar::of_int(258), Scalar::of_int(100003)}, with_dtype(DType::I32));
  CHECK(int_values(run(Op::amin, {big}, {}, with_axes({0})))[0] == 258);
  CHECK(int_values(run(Op::amax, {big}, {}, with_axes({0})))[0] == 258);
  OpAttributes attributes = with_axes({1});
  attributes.dtype = DType::I32;
  CHECK(int_values(run(Op::iota, {}, ints({2, 3, 2}), attributes)) == Ints{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
}

TEST_CASE("Philox: the published known answers") {
  CHECK(philox4x32({0, 0, 0, 0}, 0, 0) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("rng_bits depends on seed, offset and index alone") {
  auto draw = [](int64_t seed, int64_t offset, const Sizes& sizes, DType dtype) {
    std::vector<int64_t> scalars{seed, offset};
    for (int64_t size : sizes) scalars.push_back(size);
    return run(Op::rng_bits, {}, ints(scalars), with_dtype(dtype));
  };
  Tensor words = draw(5, 9, {10007}, DType::I64);
  for (int64_t i : {0, 1, 2, 3, 4, 777, 10006}) CHECK(words.data_as<int64_t>()[i] == philox_word(5, 9, i));
  CHECK(same_bits(cast(words, DType::I32), draw(5, 9, {10007}, DType::I32)));
  for (DType dtype : {DType::I32, DType::I64, DType::F32, DType::F64}) {
    Device one(1), three(3);
    Tensor expected;
    {
      DeviceScope scope(one);
      expected = draw(5, 9, {100003}, dtype);
    }
    DeviceScope scope(three);
    CHECK(same_bits(draw(5, 9, {100003}, dtype), expected));
    CHECK(!same_bits(draw(5, 10, {100003}, dtype), expected));
    CHECK(!same_bits(draw(6, 9, {100003}, dtype), expected));
  }
  for (DType dtype : {DType::F32, DType::F64}) {
    Tensor uniform = draw(1, 0, {100000}, dtype);
    CHECK(values(run(Op::amin, {uniform}, {}, with_axes({0})))[0] >= 0);
    CHECK(values(run(Op::amax, {uniform}, {}, with_axes({0})))[0] < 1);
    CHECK(values(run(Op::sum, {uniform}, {}, with_axes({0})))[0] == Approx(50000).epsilon(0.01));
  }
  CHECK(message_of([&] { draw(1, 0, {3}, DType::U8); }) ==
        "TypeError: rng_bits: the dtype must be int32, int64, float32 or float64, not uint8");
}
