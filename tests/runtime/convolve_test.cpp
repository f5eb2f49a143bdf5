// convolve against its own definition, bit for bit: every instruction set, thread counts, shapes that take each
// schedule, strides, gaps and paddings of all signs, values that are no numbers.
#include "runtime/kernels/convolve.h"

#include <functional>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/kernels/matmul.h"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

namespace {

struct Axis {
  int64_t size, taps, places, stride, dilation, gap, low;
};
struct Geometry {
  int64_t n, g, c, o;
  std::vector<Axis> axes;
};

std::string text_of(const Geometry& s) {
  std::string text = "n g c o " + std::to_string(s.n) + " " + std::to_string(s.g) + " " + std::to_string(s.c) + " " +
                     std::to_string(s.o);
  for (const Axis& a : s.axes)
    for (int64_t value : {a.size, a.taps, a.places, a.stride, a.dilation, a.gap, a.low})
      text += " " + std::to_string(value);
  return text;
}

Tensor random_tensor(DType dtype, const Sizes& sizes, std::mt19937_64& rng, bool special) {
  std::vector<double> values;
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < count; ++i) {
    double value = is_floating(dtype) ? uniform(rng) : static_cast<double>(rng() % 9);
    if (special && is_floating(dtype) && rng() % 97 == 0) value = rng() % 2 ? 1e-39 : -1e-39;
    if (special && is_floating(dtype) && rng() % 499 == 0) value = rng() % 2 ? INFINITY : NAN;
    values.push_back(value);
  }
  return tensor(dtype, sizes, values);
}

// The element of the definition, one term after the other.
template <class T, class Load>
T element(const Geometry& s, const std::vector<int64_t>& place, const Load& load) {
  T total = 0, block = 0;
  int64_t k = 0;
  std::vector<int64_t> tap(s.axes.size());
  for (int64_t c = 0; c < s.c; ++c) {
    std::function<void(size_t)> walk = [&](size_t axis) {
      if (axis == s.axes.size()) {
        std::vector<int64_t> at(axis);
        for (size_t i = 0; i < axis; ++i) {
          const Axis& a = s.axes[i];
          const int64_t position = place[i] * a.stride + tap[i] * a.dilation - a.low;
          if (position % a.gap != 0) return;
          at[i] = position / a.gap;
        }
        const auto [x, w] = load(c, at, tap);
        if constexpr (std::is_floating_point_v<T>) block = std::fma(w, x, block);
        else block = static_cast<T>(block + w * x);
        if (++k % kMatmulBlock == 0) total = k == kMatmulBlock ? block : total + block, block = 0;
        return;
      }
      for (tap[axis] = 0; tap[axis] < s.axes[axis].taps; ++tap[axis]) walk(axis + 1);
    };
    walk(0);
  }
  if (k % kMatmulBlock != 0) total = k < kMatmulBlock ? block : total + block;
  return total;
}

Sizes sizes_of(std::initializer_list<int64_t> first, const Geometry& s, int64_t Axis::* member) {
  Sizes sizes(first);
  for (const Axis& a : s.axes) sizes.push_back(a.*member);
  return sizes;
}

std::vector<Scalar> scalars_of(const Geometry& s) {
  std::vector<int64_t> values;
  for (auto member : {&Axis::places, &Axis::stride, &Axis::dilation, &Axis::gap, &Axis::low})
    for (const Axis& a : s.axes) values.push_back(a.*member);
  return ints(values);
}

template <class T>
Tensor expected(DType dtype, const Geometry& s, const Tensor& x, const Tensor& w) {
  const std::vector<double> xs = values(x), ws = values(w);
  std::vector<double> out;
  std::vector<int64_t> place(s.axes.size());
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t g = 0; g < s.g; ++g)
      for (int64_t o = 0; o < s.o; ++o) {
        std::function<void(size_t)> walk = [&](size_t axis) {
          if (axis < s.axes.size()) {
            for (place[axis] = 0; place[axis] < s.axes[axis].places; ++place[axis]) walk(axis + 1);
            return;
          }
          out.push_back(static_cast<double>(element<T>(s, place, [&](int64_t c, const auto& at, const auto& tap) {
            int64_t xi = (n * s.g + g) * s.c + c, wi = (g * s.o + o) * s.c + c;
            bool inside = true;
            for (size_t i = 0; i < at.size(); ++i) {
              inside = inside && at[i] >= 0 && at[i] < s.axes[i].size;
              xi = xi * s.axes[i].size + at[i];
              wi = wi * s.axes[i].taps + tap[i];
            }
            return std::pair<T, T>(inside ? static_cast<T>(xs[xi]) : T(0), static_cast<T>(ws[wi]));
          })));
        };
        walk(0);
      }
  return tensor(dtype, sizes_of({s.n, s.g, s.o}, s, &Axis::places), out);
}

void check(DType dtype, const Geometry& s, std::mt19937_64& rng, bool special) {
  INFO(text_of(s) << " " << dtype_name(dtype));
  const Tensor x = random_tensor(dtype, sizes_of({s.n, s.g, s.c}, s, &Axis::size), rng, special);
  const Tensor w = random_tensor(dtype, sizes_of({s.g, s.o, s.c}, s, &Axis::taps), rng, special);
  const Tensor wanted = dtype == DType::F64  ? expected<double>(dtype, s, x, w)
                        : is_floating(dtype) ? expected<float>(dtype, s, x, w)
                                             : expected<int64_t>(dtype, s, x, w);
  // The same elements where neighbours are apart, and from the last to the first.
  const auto spread = [](const Tensor& t) {
    Sizes order;
    for (int64_t axis = t.rank(); axis-- > 0;) order.push_back(axis);
    return view_permute(run(Op::copy, {view_permute(t, order)}), order);
  };
  for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
    if (isa > best_isa()) continue;
    for (int threads : {1, 3}) {
      Device device(threads);
      device.isa = isa;
      const DeviceScope scope(device);
      CHECK(same_bits(run(Op::convolve, {x, w}, scalars_of(s)), wanted));
      CHECK(same_bits(run(Op::convolve, {spread(x), spread(w)}, scalars_of(s)), wanted));
      OpAttributes first;
      first.mode = 1;
      Sizes order = {2, 0, 1};
      for (int64_t axis = 3; axis < x.rank(); ++axis) order.push_back(axis);
      const Tensor turned = run(Op::convolve, {x, w}, scalars_of(s), first);
      CHECK(same_bits(run(Op::copy, {view_permute(turned, order)}), wanted));
    }
  }
}

}  // namespace

TEST_CASE("convolutions have the bits of their definition in every schedule") {
  std::mt19937_64 rng(1);
  const Axis plain{9, 3, 9, 1, 1, 1, 1}, strided{11, 3, 6, 2, 1, 1, 1}, wide{70, 3, 70, 1, 1, 1, 1};
  const Axis gradient{6, 3, 11, 1, 1, 2, 1}, taps{9, 9, 3, 1, 1, 1, 1}, strided_taps{11, 6, 3, 1, 2, 1, 1};
  const Axis point{8, 1, 8, 1, 1, 1, 0}, all{8, 8, 1, 1, 1, 1, 0}, dilated{9, 2, 7, 1, 3, 1, 0};
  const Axis odd_gap{5, 4, 9, 2, 3, 4, -1}, cropped{9, 2, 3, 3, 1, 1, -2};
  const Axis holes{4, 1, 7, 1, 1, 2, 0}, small{3, 3, 3, 1, 1, 1, 1};
  // clang-format off
  const std::vector<Geometry> shapes = {
      {2, 1, 5, 7, {plain, plain}},         {1, 1, 130, 26, {plain, strided}},  {3, 1, 3, 30, {wide, plain}},
      {2, 1, 9, 8, {strided, strided}},     {2, 1, 4, 9, {gradient, gradient}}, {5, 1, 7, 9, {taps, taps}},
      {4, 1, 9, 6, {strided_taps, strided_taps}}, {2, 1, 60, 70, {point, point}}, {9, 1, 20, 66, {all, all}},
      {2, 20, 1, 1, {plain, plain}},        {2, 3, 1, 1, {strided, wide}},      {1, 19, 3, 1, {taps, taps}},
      {1, 16, 8, 1, {strided_taps, taps}},  {2, 17, 1, 1, {gradient, gradient}}, {2, 2, 3, 5, {dilated, plain}},
      {3, 2, 4, 6, {odd_gap, odd_gap}},     {2, 1, 3, 5, {cropped, plain}},     {2, 1, 2, 5, {plain}},
      {1, 1, 3, 5, {dilated, plain, strided}}, {2, 1, 3, 6, {point, point, point}}, {1, 2, 3, 6, {taps, taps, taps}},
      {2, 1, 5, 7, {holes, holes}},        {9, 2, 6, 8, {small, small}},          {3, 1, 4, 9, {small, small, small}},
      {1, 1, 60, 3, {plain, plain}},        {1, 9, 2, 1, {all, taps}}};
  // clang-format on
  for (const Geometry& s : shapes)
    for (DType dtype : {DType::F32, DType::F64, DType::BF16}) check(dtype, s, rng, false);
  for (const Geometry& s : shapes) check(DType::F32, s, rng, true);
  for (size_t i : {0, 3, 4, 9, 17}) check(DType::I32, shapes[i], rng, false);
}

TEST_CASE("convolutions of any geometry have the bits of their definition") {
  std::mt19937_64 rng(2);
  const auto upto = [&](uint64_t n) { return static_cast<int64_t>(rng() % (n + 1)); };
  for (int round = 0; round < 150; ++round) {
    Geometry s{upto(3), upto(3), upto(4), upto(9), {}};
    if (round % 4 == 0) s.g = 15 + upto(3), s.o = 1, s.c = 1 + upto(2), s.n = 1;
    const int64_t rank = 1 + upto(2);
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t most = rank == 3 ? 4 : 9;
      s.axes.push_back(
          {upto(most), upto(most / 2), upto(most), 1 + upto(3), 1 + upto(2), 1 + upto(round % 3 ? 0 : 3), upto(6) - 3});
    }
    check(round % 5 == 4 ? DType::F64 : DType::F32, s, rng, round % 7 == 0);
  }
}

TEST_CASE("what does not fit is refused") {
  const Tensor x = tensor(DType::F32, {1, 1, 1, 3}, {1, 2, 3}), w = tensor(DType::F32, {1, 1, 1, 2}, {1, 2});
  const auto refuses = [&](const Tensor& a, const Tensor& b, const std::vector<int64_t>& numbers) {
    CHECK_THROWS_AS(run(Op::convolve, {a, b}, ints(numbers)), Error);
  };
  refuses(x, w, {2, 0, 1, 1, 0});
  refuses(x, w, {2, 1, 0, 1, 0});
  refuses(x, w, {2, 1, 1, 0, 0});
  refuses(x, w, {-1, 1, 1, 1, 0});
  refuses(x, w, {2, 1, 1, 1});
  refuses(x, w, {2, INT64_MAX, 1, 1, 0});
  refuses(x, w, {2, 1, 1, 1, INT64_MIN});
  refuses(x, tensor(DType::F32, {1, 1, 2, 1}, {1, 2}), {2, 1, 1, 1, 0});
  refuses(x, cast(w, DType::F64), {2, 1, 1, 1, 0});
  const std::vector<int64_t> outside = {1, 1, 1, 1, 9};
  CHECK_THROWS_AS(run(Op::window_argmax, {tensor(DType::F32, {1, 3}, {1, 2, 3})}, ints(outside)), Error);
}
