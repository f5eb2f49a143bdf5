// Module `_fft`: the discrete Fourier transform (runtime/fft) of the lines of a tensor; torch.fft is written over it.
// Keeps: every transform is computed in float64 and rounded once; nothing is recorded for gradients.
#include "runtime/fft/fft.h"

#include <algorithm>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/host_access.h"
#include "interpreter/tensor/native_math.h"
#include "runtime/device/device.h"
#include "runtime/fft/stages.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/typed.h"

namespace tsc::interp {
namespace {

// What is made of each line. It is cut off, or extended with zeros, to `points` numbers; a `hermitian` one is the half
// whose conjugates follow. `count` results stand in the line of the result, zeros behind the last point.
struct LineTransform {
  int64_t points, count;
  bool hermitian, inverse;
  double factor;
};

fft::Complex wide(float x) { return {x, 0}; }
fft::Complex wide(double x) { return {x, 0}; }
template <class T>
fft::Complex wide(Complex<T> x) {
  return {x.re, x.im};
}

template <class T>
void put(T* to, fft::Complex x) {
  if constexpr (kIsComplex<T>) {
    using Part = decltype(to->re);
    *to = {static_cast<Part>(x.real()), static_cast<Part>(x.imag())};
  } else {
    *to = static_cast<T>(x.real());
  }
}

// The transforms of one call. Real lines of an even length are transformed as complex ones of half of it.
template <class From, class To>
class LineTransforms {
 public:
  LineTransforms(const LineTransform& line, const Lines& lines)
      : line_(line), lines_(lines),
        halved_(!kIsComplex<From> && !line.hermitian && line.points % 2 == 0 && line.points >= 4),
        loops_(fft::stages(current_device().isa)), plan_(halved_ ? line.points / 2 : line.points) {
    if (halved_) roots_ = fft::roots_of_unity(line.points, plan_.length() / 2 + 1);
  }

  // A thread takes as many lines as are transformed side by side.
  void run(const From* x, To* out) const {
    const int64_t all = lines_.outer * lines_.inner, blocks = (all + fft::kSide - 1) / fft::kSide;
    const double nanoseconds = 8.0 * fft::kSide * static_cast<double>(line_.points + line_.count) + 1;
    parallel_for(blocks, grain_for(nanoseconds), [&](int64_t begin, int64_t end) {
      std::vector<fft::Complex> before(static_cast<size_t>(fft::kSide * line_.points)), after(before.size());
      auto *first = reinterpret_cast<double*>(before.data()), *second = reinterpret_cast<double*>(after.data());
      for (int64_t block = begin; block < end; ++block) {
        const int64_t number = block * fft::kSide, some = std::min<int64_t>(fft::kSide, all - number);
        const void* from[fft::kSide];
        void* to[fft::kSide];
        for (int64_t i = 0; i < some; ++i) {
          const int64_t outer = (number + i) / lines_.inner, inner = (number + i) % lines_.inner;
          from[i] = x + outer * lines_.length * lines_.inner + inner;
          to[i] = out + outer * line_.count * lines_.inner + inner;
        }
        if (some == fft::kSide && plan_.runs_side_by_side()) run_some<fft::kSide>(from, to, first, second);
        else
          for (int64_t i = 0; i < some; ++i) run_some<1>(from + i, to + i, first, second);
      }
    });
  }

 private:
  static constexpr bool kFromDouble = sizeof(From) == (kIsComplex<From> ? 16 : 8),
                        kToDouble = sizeof(To) == (kIsComplex<To> ? 16 : 8);

  // kLanes lines, side by side where these are kSide (stages.h).
  template <int kLanes>
  void run_some(const void* const* from, void* const* to, double* before, double* after) const {
    take<kLanes>(from, before);
    if constexpr (kLanes == 1)
      plan_.transform(reinterpret_cast<const fft::Complex*>(before), reinterpret_cast<fft::Complex*>(after), 1,
                      !halved_ && line_.inverse);
    else plan_.transform_side_by_side(before, after, !halved_ && line_.inverse);
    if (!halved_) return give<kLanes>(after, to);
    (kLanes == 1 ? loops_.unpack : loops_.unpack_side)(before, after, roots_.data(), plan_.length(), line_.inverse);
    conjugate<kLanes>(before, plan_.length() + 1, std::min(line_.count, line_.points));
    give<kLanes>(before, to);
  }

  // The numbers from the first on, as far as the last, are the conjugates of those from the other end.
  template <int kLanes>
  void conjugate(double* x, int64_t first, int64_t last) const {
    for (int64_t i = first; i < last; ++i)
      for (int l = 0; l < 2 * kLanes; ++l) {
        const double other = x[(line_.points - i) * 2 * kLanes + l];
        x[i * 2 * kLanes + l] = l < kLanes ? other : -other;
      }
  }

  template <int kLanes>
  void take(const void* const* from, double* to) const {
    const int64_t own = line_.hermitian ? line_.points / 2 + 1 : line_.points, given = std::min(lines_.length, own);
    if (halved_) {
      // Number i is the real part of number i / 2 where it is even, else the imaginary one.
      for (int64_t i = 0; i < line_.points; ++i)
        for (int l = 0; l < kLanes; ++l)
          to[i * kLanes + l] = i < given ? wide(static_cast<const From*>(from[l])[i * lines_.inner]).real() : 0.0;
      return;
    }
    if constexpr (kLanes == 1) {
      auto* numbers = reinterpret_cast<fft::Complex*>(to);
      for (int64_t i = 0; i < given; ++i) numbers[i] = wide(static_cast<const From*>(from[0])[i * lines_.inner]);
    } else {
      loops_.take_lines[kFromDouble][kIsComplex<From>](from, given, lines_.inner, to);
    }
    std::fill(to + given * 2 * kLanes, to + own * 2 * kLanes, 0.0);
    conjugate<kLanes>(to, own, line_.points);
  }

  template <int kLanes>
  void give(const double* x, void* const* to) const {
    const int64_t made = std::min(line_.count, line_.points), step = lines_.inner;
    if constexpr (kLanes == 1)
      for (int64_t i = 0; i < made; ++i)
        put(static_cast<To*>(to[0]) + i * step, {x[2 * i] * line_.factor, x[2 * i + 1] * line_.factor});
    else loops_.give_lines[kToDouble][kIsComplex<To>](x, made, step, line_.factor, to);
    for (int64_t i = made; i < line_.count; ++i)
      for (int l = 0; l < kLanes; ++l) put(static_cast<To*>(to[l]) + i * step, fft::Complex(0));
  }

  const LineTransform& line_;
  const Lines lines_;
  const bool halved_;
  const fft::Stages& loops_;
  const fft::Plan plan_;
  std::vector<fft::Complex> roots_;
};

// Calls visit.operator()<T>() for float32, float64 and their complex numbers.
template <class Visit>
void visit_numbers(DType dtype, Visit&& visit) {
  if (dtype == DType::F32) visit.template operator()<float>();
  else if (dtype == DType::F64) visit.template operator()<double>();
  else if (dtype == DType::C64) visit.template operator()<Complex<float>>();
  else visit.template operator()<Complex<double>>();
}

// lines(x, dim, points, count, hermitian, inverse, factor, dtype): the transforms along an axis of a contiguous tensor,
// times a factor; of a real dtype are their real parts.
Value lines(Vm& vm, Args& args) {
  const Tensor x = expect_tensor(vm, args[0], "x")->tensor;
  const int64_t axis = to_index(vm, args[1], "dim");
  LineTransform line{to_index(vm, args[2], "points"), to_index(vm, args[3], "count"), truth(vm, args[4]),
                     truth(vm, args[5]), 0};
  line.factor = to_double(vm, args[6], "factor");
  const DType dtype = expect_dtype(vm, args[7], "dtype");
  const auto fits = [](DType one) {
    return one == DType::F32 || one == DType::F64 || one == DType::C64 || one == DType::C128;
  };
  if (!fits(x.dtype()) || !fits(dtype) || !x.is_contiguous() || axis < 0 || axis >= x.rank() || line.points < 1 ||
      line.count < 0)
    raise_type_error(vm, "'x' must be contiguous, of float32, float64 or complex numbers of such parts");
  Sizes sizes = x.sizes();
  sizes[axis] = line.count;
  if (x.is_meta()) return make_tensor(vm, Tensor::meta(dtype, sizes)).take();
  Tensor out = Tensor::empty(dtype, sizes);
  if (out.numel() > 0)
    visit_numbers(x.dtype(), [&]<class From>() {
      visit_numbers(dtype, [&]<class To>() {
        LineTransforms<From, To>(line, Lines(x.sizes(), axis)).run(x.data_as<From>(), out.data_as<To>());
      });
    });
  return make_tensor(vm, std::move(out)).take();
}

Local<ModuleObject> make_fft(Vm& vm) {
  ModuleBuilder module(vm, "_fft");
  module.function("lines", "x, dim, points, count, hermitian, inverse, factor, dtype", with_access<lines>);
  return module.finish();
}

}  // namespace

void register_fft(Vm& vm) { register_native_module(vm, "_fft", make_fft); }

}  // namespace tsc::interp
