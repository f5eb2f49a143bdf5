#pragma once
// The discrete Fourier transform of any length, in double precision: mixed radix (Cooley and Tukey
// 1965) where all prime factors of the length are small, else by a convolution of a power of two
// (Bluestein 1970). Transforms run side by side where there are several (stages.h). Knows numbers alone: no tensors.
// Keeps: one order of operations for each length, so the same bits everywhere.
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace tsc::fft {

using Complex = std::complex<double>;

// exp(-2 pi i k / n) for k < count.
std::vector<Complex> roots_of_unity(int64_t n, int64_t count);

// What transforms of one length share: factors and roots of unity. Serves several threads at once.
class Plan {
 public:
  explicit Plan(int64_t length);
  ~Plan();
  Plan(const Plan&) = delete;
  int64_t length() const { return length_; }
  // `count` transforms, one behind the other: out[k] = sum over j of in[j] * exp(-2 pi i j k / length), or with +2 pi
  // i. Not scaled. `in` and `out` are different memory.
  void transform(const Complex* in, Complex* out, int64_t count, bool inverse) const;
  // Whether there is a transform of kSide lines whose numbers lie side by side (stages.h) already.
  bool runs_side_by_side() const { return roots_ != nullptr; }
  void transform_side_by_side(const double* in, double* out, bool inverse) const;

 private:
  struct Roots;
  struct Convolution;
  int64_t length_;
  std::unique_ptr<Roots> roots_;              // null: by convolution
  std::unique_ptr<Convolution> convolution_;  // null: by factors
};

}  // namespace tsc::fft
