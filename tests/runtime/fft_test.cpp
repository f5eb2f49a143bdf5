// The transform of runtime/fft: against the sum that defines it, and with the same bits alone and side by side, under
// every instruction set.
#include <cmath>

#include "catch2/catch.hpp"
#include "runtime/fft/fft.h"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

namespace {

std::vector<fft::Complex> numbers(int64_t count, uint32_t seed) {
  const Tensor drawn = fractions(DType::C128, {count}, seed);
  const auto* begin = reinterpret_cast<const fft::Complex*>(drawn.data());
  return {begin, begin + count};
}

std::vector<fft::Complex> transformed(const std::vector<fft::Complex>& in, int64_t length, bool inverse) {
  std::vector<fft::Complex> out(in.size());
  fft::Plan(length).transform(in.data(), out.data(), static_cast<int64_t>(in.size()) / length, inverse);
  return out;
}

bool same(const fft::Complex* a, const fft::Complex* b, int64_t count) {
  return std::memcmp(a, b, count * sizeof *a) == 0;
}

// Small factors, one large one, and what goes by the convolution.
const std::vector<int64_t> kLengths = {1,  2,  3,  4,  5,  6,  8,   12,  16,  30,  31,
                                       32, 37, 49, 64, 74, 96, 120, 128, 250, 256, 961};

}  // namespace

TEST_CASE("the transform is the sum that defines it") {
  for (int64_t n : kLengths)
    for (bool inverse : {false, true}) {
      const auto in = numbers(n, 3), out = transformed(in, n, inverse);
      for (int64_t k = 0; k < n; ++k) {
        fft::Complex sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const double angle = 2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n);
          sum += in[j] * fft::Complex(std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle));
        }
        INFO(n << " points, " << k);
        REQUIRE(std::abs(out[k] - sum) < 1e-12 * static_cast<double>(n));
      }
    }
}

TEST_CASE("transforms alone, side by side and under every instruction set have the same bits") {
  for (int64_t n : kLengths)
    for (bool inverse : {false, true}) {
      constexpr int64_t kCount = 19;
      const auto in = numbers(n * kCount, 11);
      Device device(1);
      DeviceScope scope(device);
      device.isa = Isa::Baseline;
      const auto expected = transformed(in, n, inverse);
      for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512}) {
        if (isa > best_isa()) continue;
        device.isa = isa;
        INFO(n << " points, isa " << static_cast<int>(isa));
        REQUIRE(same(transformed(in, n, inverse).data(), expected.data(), n * kCount));
        for (int64_t i : {0, 7, 18}) {
          const std::vector<fft::Complex> one(in.begin() + i * n, in.begin() + (i + 1) * n);
          REQUIRE(same(transformed(one, n, inverse).data(), expected.data() + i * n, n));
        }
      }
    }
}
