// matmul against its own definition, bit for bit: every instruction set, thread counts, sizes
// around the tiles' and blocks' borders, strides of all signs.
#include "runtime/kernels/matmul.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/device/device.h"
#include "runtime/kernels/matmul_kernels.h"
#include "runtime/tensor/small_floats.h"

using namespace tsc;

namespace {

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::BF16;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::U8;
};

template <class T>
auto load(T x) {
  if constexpr (kIsSmallFloat<T>) return widen(x);
  else if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(x);
  else return x;
}
template <class T, class C>
T store(C x) {
  if constexpr (kIsSmallFloat<T>) return narrow<T>(x);
  else return static_cast<T>(x);
}

// The definition, literally.
template <class T>
std::vector<T> by_definition(const MatmulArgs& args) {
  std::vector<T> out;
  auto at = [](const MatmulOperand& operand, int64_t batch, int64_t row, int64_t column) {
    return load(static_cast<const T*>(
        operand.data)[batch * operand.batch_stride + row * operand.row_stride + column * operand.column_stride]);
  };
  for (int64_t b = 0; b < args.batch; ++b)
    for (int64_t i = 0; i < args.m; ++i)
      for (int64_t j = 0; j < args.n; ++j) {
        decltype(load(T())) total = 0;
        for (int64_t start = 0; start < args.k; start += 512) {
          decltype(total) block = 0;
          for (int64_t k = start; k < std::min<int64_t>(args.k, start + 512); ++k) {
            auto x = at(args.a, b, i, k), y = at(args.b, b, k, j);
            if constexpr (std::is_floating_point_v<decltype(x)>) block = std::fma(x, y, block);
            else block = x * y + block;
          }
          total = start == 0 ? block : total + block;
        }
        out.push_back(store<T>(total));
      }
  return out;
}

template <class T>
bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

struct Layout {
  int64_t batch, m, n, k;
  bool a_transposed = false, b_transposed = false;
  int64_t padding = 0;      // elements between rows
  bool reversed = false;    // negative row strides
  bool b_shared = false;    // batch stride 0
  bool a_step_two = false;  // neither stride is 1
};

// Operands filled at random, and C with a guard around it.
template <class T>
class Case {
 public:
  explicit Case(const Layout& layout, bool specials = false) {
    args.dtype = DTypeOf<T>::value;
    args.batch = layout.batch, args.m = layout.m, args.n = layout.n, args.k = layout.k;
    fill(a_, layout.a_step_two ? 2 : 1, layout, layout.a_transposed, layout.m, layout.k, args.a);
    fill(b_, 1, layout, layout.b_transposed, layout.k, layout.n, args.b);
    if (layout.b_shared) args.b.batch_stride = 0;
    args.c_row_stride = layout.n + layout.padding;
    args.c_batch_stride = args.c_row_stride * layout.m;
    c_.assign(kGuard * 2 + layout.batch * args.c_batch_stride, sentinel());
    args.c = c_.data() + kGuard;
    if constexpr (std::is_floating_point_v<T>)
      if (specials && !a_.empty() && !b_.empty()) {
        a_[a_.size() / 2] = NAN;
        b_[b_.size() / 3] = INFINITY;
        b_[b_.size() / 2] = -INFINITY;
      }
  }

  void check(const std::vector<T>& expected) {
    size_t next = 0;
    int64_t wrong = 0;
    std::vector<T> copy = c_;
    for (int64_t b = 0; b < args.batch; ++b)
      for (int64_t i = 0; i < args.m; ++i)
        for (int64_t j = 0; j < args.n; ++j) {
          T& element = copy[kGuard + b * args.c_batch_stride + i * args.c_row_stride + j];
          wrong += !same_bits(element, expected[next++]);
          element = sentinel();
        }
    CHECK(wrong == 0);
    int64_t touched = 0;
    for (T x : copy) touched += !same_bits(x, sentinel());
    CHECK(touched == 0);
    std::fill(c_.begin(), c_.end(), sentinel());
  }

  MatmulArgs args;

 private:
  static constexpr int64_t kGuard = 80;
  static T sentinel() { return store<T>(decltype(load(T()))(77)); }

  void fill(std::vector<T>& data, int64_t step, const Layout& layout, bool transposed, int64_t rows, int64_t columns,
            MatmulOperand& operand) {
    const int64_t inner = transposed ? rows : columns, outer = transposed ? columns : rows;
    const int64_t stride = inner * step + layout.padding;
    data.resize(std::max<int64_t>(layout.batch * outer * stride, 1));
    for (T& x : data) {
      if constexpr (std::is_integral_v<T>) x = static_cast<T>(random_());
      else
        x = store<T>(
            static_cast<decltype(load(T()))>(std::ldexp(static_cast<double>(static_cast<int64_t>(random_())), -63)));
    }
    operand.data = data.data();
    operand.row_stride = transposed ? step : stride;
    operand.column_stride = transposed ? stride : step;
    operand.batch_stride = outer * stride;
    if (layout.reversed && rows > 0) {
      operand.data = data.data() + (rows - 1) * operand.row_stride;
      operand.row_stride = -operand.row_stride;
    }
  }

  std::mt19937_64 random_{7};
  std::vector<T> a_, b_, c_;
};

std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::Baseline};
  if (best_isa() != Isa::Baseline) all.push_back(Isa::Avx2);
  if (best_isa() == Isa::Avx512) all.push_back(Isa::Avx512);
  return all;
}

template <class T>
void check_everywhere(const Layout& layout, bool specials = false) {
  Case<T> test(layout, specials);
  INFO("batch " << layout.batch << " m " << layout.m << " n " << layout.n << " k " << layout.k << " a^T "
                << layout.a_transposed << " b^T " << layout.b_transposed << " padding " << layout.padding
                << " reversed " << layout.reversed);
  auto expected = by_definition<T>(test.args);
  for (Isa isa : isas())
    for (int threads : {1, 3}) {
      Device device(threads);
      device.isa = isa;
      DeviceScope scope(device);
      INFO("isa " << static_cast<int>(isa) << " threads " << threads);
      matmul(test.args);
      test.check(expected);
    }
}

}  // namespace

TEST_CASE("matmul: sizes around every border", "[matmul]") {
  const int64_t sizes[] = {1, 2, 5, 7, 13, 16, 17, 31, 63, 64, 65, 97, 130};
  std::mt19937 random(3);
  auto any = [&] { return sizes[random() % std::size(sizes)]; };
  for (int64_t size : sizes) {
    check_everywhere<float>({1, size, any(), any()});
    check_everywhere<float>({1, any(), size, any()});
    check_everywhere<float>({2, any(), any(), size, true, false});
    check_everywhere<double>({1, size, any(), any(), false, true});
    check_everywhere<double>({2, any(), size, any(), true, true});
    check_everywhere<BFloat16>({1, size, any(), any()});
    check_everywhere<Float16>({1, size, any(), any()});
    check_everywhere<int8_t>({1, size, any(), any()});
  }
}

TEST_CASE("matmul: empty sizes", "[matmul]") {
  check_everywhere<float>({1, 3, 70, 0});
  check_everywhere<double>({2, 3, 5, 0});
  check_everywhere<BFloat16>({1, 3, 5, 0});
  check_everywhere<int64_t>({1, 3, 5, 0});
  check_everywhere<float>({0, 3, 5, 2});
  check_everywhere<float>({1, 0, 5, 2});
  check_everywhere<float>({1, 3, 0, 2});
}

TEST_CASE("matmul: blocks of k", "[matmul]") {
  for (int64_t k : {511, 512, 513, 1023, 1024, 1025, 1600}) {
    check_everywhere<float>({1, 9, 70, k});
    check_everywhere<float>({1, 33, 130, k, true, true});
    check_everywhere<double>({1, 7, 33, k, false, true});
    check_everywhere<BFloat16>({2, 7, 33, k, true, false});
    check_everywhere<Float16>({2, 7, 33, k, true, false});
    check_everywhere<int32_t>({1, 3, 5, k});
  }
}

TEST_CASE("matmul: strides", "[matmul]") {
  for (bool a_transposed : {false, true})
    for (bool b_transposed : {false, true})
      for (bool reversed : {false, true}) {
        Layout layout{3, 29, 77, 40, a_transposed, b_transposed, 5, reversed, false, false};
        check_everywhere<float>(layout);
        check_everywhere<double>(layout);
        check_everywhere<int64_t>(layout);
        check_everywhere<uint8_t>(layout);
        layout.b_shared = layout.a_step_two = true;
        check_everywhere<float>(layout);
        check_everywhere<BFloat16>(layout);
        check_everywhere<int32_t>(layout);
      }
}

TEST_CASE("matmul: one row, one column, broadcast operands", "[matmul]") {
  check_everywhere<float>({1, 1, 700, 600});
  check_everywhere<float>({1, 1, 700, 600, false, true});
  check_everywhere<float>({1, 700, 1, 600});
  check_everywhere<float>({5, 40, 10, 64});
  Case<float> test({1, 20, 30, 40});
  test.args.a.row_stride = 0;
  test.args.b.column_stride = 0;
  auto expected = by_definition<float>(test.args);
  matmul(test.args);
  test.check(expected);
}

TEST_CASE("matmul: a matrix by one column", "[matmul]") {
  for (int64_t m : {1, 2, 5, 8, 33, 150})
    for (int64_t k : {0, 1, 7, 40, 512, 530}) {
      check_everywhere<float>({1, m, 1, k});
      check_everywhere<float>({2, m, 1, k, false, true, 3});
      check_everywhere<double>({2, m, 1, k, true, true});
      check_everywhere<BFloat16>({2, m, 1, k, false, false, 1});
    }
}

TEST_CASE("matmul: few rows by a matrix of contiguous columns", "[matmul]") {
  for (int64_t m : {1, 2, 3, 4, 5})
    for (int64_t n : {1, 3, 8, 33, 71, 150})
      for (int64_t k : {0, 1, 7, 8, 17, 40, 512, 530}) {
        check_everywhere<float>({1, m, n, k, false, true});
        check_everywhere<double>({2, m, n, k, true, true});
        check_everywhere<BFloat16>({2, m, n, k, m % 2 == 0, true});
      }
  // Columns at a distance that the caches dislike, and ones that are no multiple of a word apart.
  for (int64_t k : {1024, 2048, 1027}) {
    check_everywhere<float>({1, 2, 37, k, false, true});
    check_everywhere<BFloat16>({1, 2, 37, k, false, true, 1});
    check_everywhere<double>({1, 1, 37, k, false, true}, true);
    check_everywhere<float>({1, 9, 37, k, false, true});
    check_everywhere<BFloat16>({1, 9, 37, k, false, true, 1});
    check_everywhere<double>({1, 9, 37, k, false, true}, true);
  }
}

TEST_CASE("matmul: many tasks, panels packed ahead", "[matmul]") {
  check_everywhere<float>({1, 260, 330, 600});
  check_everywhere<float>({1, 300, 300, 520, true, true});
  check_everywhere<double>({2, 150, 140, 530});
  check_everywhere<float>({64, 64, 32, 64, false, true});
}

TEST_CASE("matmul: nan and infinity propagate", "[matmul]") {
  check_everywhere<float>({1, 30, 70, 50}, true);
  check_everywhere<double>({1, 30, 40, 50, true, true}, true);
}

TEST_CASE("matmul: the epilogue sees every element of C once, finished", "[matmul]") {
  for (Isa isa : isas())
    for (int64_t k : {0, 40, 1100}) {
      Case<float> test({2, 150, 300, k, false, true});
      auto expected = by_definition<float>(test.args);
      struct Context {
        const MatmulArgs* args;
        std::vector<std::atomic<int>> seen;
      } context{&test.args, std::vector<std::atomic<int>>(2 * 150 * 300)};
      test.args.epilogue.context = &context;
      test.args.epilogue.run = [](void* opaque, int64_t batch, int64_t row0, int64_t rows, int64_t col0, int64_t cols) {
        auto& c = *static_cast<Context*>(opaque);
        for (int64_t i = row0; i < row0 + rows; ++i)
          for (int64_t j = col0; j < col0 + cols; ++j) {
            float& x = static_cast<float*>(c.args->c)[batch * c.args->c_batch_stride + i * c.args->c_row_stride + j];
            x = 2 * x + 1;
            c.seen[(batch * 150 + i) * 300 + j]++;
          }
      };
      for (float& x : expected) x = 2 * x + 1;
      Device device(2);
      device.isa = isa;
      DeviceScope scope(device);
      matmul(test.args);
      test.check(expected);
      int64_t wrong = 0;
      for (auto& count : context.seen) wrong += count != 1;
      CHECK(wrong == 0);
    }
}
