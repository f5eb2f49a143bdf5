// Products in strips against two calls of matmul, bit for bit: every instruction set and thread count, sizes
// around the strips' and panels' borders, ends of columns that hold zeros, and values that forbid skipping.
#include "runtime/kernels/matmul_strips.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/device/device.h"

using namespace tsc;

namespace {

struct Case {
  int64_t batch, rows, depth, columns, width;
};

// Row i sees the columns up to i: others become zero. Halving keeps the rest exact.
template <class T>
void weigh(void*, const StripRows& rows, void*) {
  for (int64_t i = 0; i < rows.count; ++i)
    for (int64_t j = 0; j < rows.columns; ++j) {
      const T product = static_cast<T*>(rows.products)[i * rows.products_stride + j];
      static_cast<T*>(rows.weights)[i * rows.weights_stride + j] = j <= rows.row0 + i ? product / 2 : T(0);
    }
}

template <class T>
std::vector<T> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> out(static_cast<size_t>(count));
  for (T& x : out) x = static_cast<T>(random() % 2001) / 1000 - 1;
  return out;
}

template <class T>
MatmulOperand matrices(const std::vector<T>& x, int64_t rows, int64_t columns, bool transposed) {
  return transposed ? MatmulOperand{x.data(), 1, rows, rows * columns}
                    : MatmulOperand{x.data(), columns, 1, rows * columns};
}

template <class T>
MatmulArgs product(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, MatmulOperand a, MatmulOperand b,
                   std::vector<T>* c) {
  MatmulArgs args;
  args.dtype = dtype;
  args.batch = batch, args.m = m, args.n = n, args.k = k;
  args.a = a, args.b = b;
  c->resize(static_cast<size_t>(batch * m * n));
  args.c = c->data();
  args.c_row_stride = n, args.c_batch_stride = m * n;
  return args;
}

template <class T>
size_t different(const std::vector<T>& a, const std::vector<T>& b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    count += !both_nan && std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
  }
  return count;
}

template <class T>
void check(DType dtype, const Case& c, bool transposed, bool spoiled) {
  const std::vector<T> a = numbers<T>(c.batch * c.rows * c.depth, 1);
  const std::vector<T> b = numbers<T>(c.batch * c.depth * c.columns, 2);
  std::vector<T> v = numbers<T>(c.batch * c.columns * c.width, 3), between, expected;
  if (spoiled) {
    v.back() = std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < c.columns * c.width; ++i) v[static_cast<size_t>(i)] = T(-0.0);
  }
  StripArgs args;
  args.dtype = dtype;
  args.batch = c.batch, args.rows = c.rows, args.depth = c.depth;
  args.columns = c.columns, args.width = c.width;
  args.a = matrices(a, c.rows, c.depth, transposed);
  args.b = matrices(b, c.depth, c.columns, !transposed);
  args.v = matrices(v, c.columns, c.width, transposed);
  args.weigh = weigh<T>;
  matmul(product(dtype, c.batch, c.rows, c.columns, c.depth, args.a, args.b, &between));
  for (int64_t i = 0; i < c.batch; ++i) {
    T* rows = between.data() + i * c.rows * c.columns;
    weigh<T>(nullptr, {rows, rows, c.columns, c.columns, i, 0, c.rows, c.columns}, nullptr);
  }
  matmul(product(dtype, c.batch, c.rows, c.width, c.columns, matrices(between, c.rows, c.columns, false), args.v,
                 &expected));
  const int64_t height = c.depth % 7 + 5;
  std::vector<T> l = numbers<T>(c.batch * height * c.rows, 4);
  if (spoiled) {
    l[l.size() / 2] = std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < c.rows; ++i) l[static_cast<size_t>(i)] = -std::numeric_limits<T>::min();
  }
  std::vector<T> across_expected;
  args.height = height;
  args.l = matrices(l, height, c.rows, transposed);
  matmul(product(dtype, c.batch, height, c.columns, c.rows, args.l, matrices(between, c.rows, c.columns, false),
                 &across_expected));
  std::vector<int64_t> ends;
  for (int64_t group = 0; group < group_count(c.rows); ++group)
    ends.push_back(std::min(c.columns, (group + 1) * kGroupRows));
  for (int way = 0; way < 10; ++way) {
    std::vector<T> out(expected.size(), T(7)), weights(between.size(), T(7));
    std::vector<T> across(across_expected.size(), T(7));
    args.across = way & 4 || way > 7 ? across.data() : nullptr;
    args.whole_products = way > 7;
    args.ends = way & 1 ? ends.data() : nullptr;
    args.weights = way & 2 ? weights.data() : nullptr;
    args.whole_rows = way & 2 || way > 7;
    args.out = out.data();
    matmul_strips(args);
    CHECK(different(out, expected) == 0);
    if (way & 2) CHECK(different(weights, between) == 0);
    if (args.across) CHECK(different(across, across_expected) == 0);
  }
}

}  // namespace

TEST_CASE("strips have the bits of two products") {
  const Case cases[] = {{1, 1, 1, 1, 1},      {2, 24, 64, 24, 64},   {3, 25, 7, 70, 130}, {1, 100, 5, 513, 3},
                        {2, 49, 513, 65, 17}, {1, 300, 16, 300, 64}, {1, 7, 64, 30, 16},  {1, 31, 400, 110, 700},
                        {3, 1030, 3, 20, 9},  {3, 513, 17, 5, 2}};
  for (int threads : {1, 3})
    for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
      if (isa > best_isa()) continue;
      Device device(threads);
      device.isa = isa;
      DeviceScope scope(device);
      for (const Case& c : cases)
        for (int kind = 0; kind < 4; ++kind) {
          CAPTURE(threads, static_cast<int>(isa), c.rows, c.columns, kind);
          check<float>(DType::F32, c, kind & 1, kind & 2);
          check<double>(DType::F64, c, kind & 1, kind & 2);
        }
    }
}
