// Module `_fft`: the discrete Fourier transform (runtime/fft) of the lines of a tensor; torch.fft is written over it. Keeps:
// every transform is computed in float64 and rounded once; nothing is recorded for gradients.
#include "runtime/fft/fft.h"

#include <algorithm>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/native_math.h"
#include "runtime/device/device.h"
#include "runtime/fft/stages.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/typed.h"

namespace tsc::interp {
namespace {

// What is made of each line. It is cut off, or extended with zeros, to `points` numbers; a `hermitian` one is the half whose
// conjugates follow. `count` results stand in the line of the result, zeros behind the last point.
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

template <class T>
void take_line(const LineTransform& line, const T* from, int64_t length, int64_t step, fft::Complex* to) {
  const int64_t own = line.hermitian ? line.points / 2 + 1 : line.points, given = std::min(length, own);
  for (int64_t i = 0; i < given; ++i) to[i] = wide(from[i * step]);
  std::fill(to + given, to + own, fft::Complex(0));
  for (int64_t i = own; i < line.points; ++i) to[i] = std::conj(to[line.points - i]);
}

template <class T>
void give_line(const LineTransform& line, const fft::Complex* from, T* to, int64_t step) {
  const int64_t made = std::min(line.count, line.points);
  for (int64_t i = 0; i < made; ++i) put(to + i * step, {from[i].real() * line.factor, from[i].imag() * line.factor});
  for (int64_t i = made; i < line.count; ++i) put(to + i * step, fft::Complex(0));
}

// kSide lines at once: they go into numbers side by side and come out of them as they are converted.
template <class From, class To>
void transform_side(const fft::Plan& plan, const LineTransform& line, const From* const* from, int64_t length, To* const* to,
                    int64_t step, double* before, double* after) {
  const fft::Stages& loops = fft::stages(current_device().isa);
  const auto is_double = [](auto x) { return sizeof(x) == (kIsComplex<decltype(x)> ? 16 : 8); };
  const int64_t own = line.hermitian ? line.points / 2 + 1 : line.points, given = std::min(length, own);
  constexpr int64_t kNumber = 2 * fft::kSide;
  loops.take_lines[is_double(From{})][kIsComplex<From>](reinterpret_cast<const void* const*>(from), given, step, before);
  std::fill(before + given * kNumber, before + own * kNumber, 0.0);
  for (int64_t i = own; i < line.points; ++i)
    for (int64_t l = 0; l < kNumber; ++l) {
      const double x = before[(line.points - i) * kNumber + l];
      before[i * kNumber + l] = l < fft::kSide ? x : -x;
    }
  plan.transform_side_by_side(before, after, line.inverse);
  const int64_t made = std::min(line.count, line.points);
  loops.give_lines[is_double(To{})][kIsComplex<To>](after, made, step, line.factor, reinterpret_cast<void* const*>(to));
  for (int64_t i = made; i < line.count; ++i)
    for (int l = 0; l < fft::kSide; ++l) put(to[l] + i * step, fft::Complex(0));
}

// A thread takes as many lines as are transformed side by side.
template <class From, class To>
void transform_lines(const LineTransform& line, const From* x, To* out, const Lines& lines) {
  const fft::Plan plan(line.points);
  const int64_t all = lines.outer * lines.inner, blocks = (all + fft::kSide - 1) / fft::kSide;
  const double nanoseconds = 8.0 * fft::kSide * static_cast<double>(line.points + line.count) + 1;
  parallel_for(blocks, grain_for(nanoseconds), [&](int64_t begin, int64_t end) {
    std::vector<fft::Complex> before(static_cast<size_t>(fft::kSide * line.points)), after(before.size());
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * fft::kSide, some = std::min<int64_t>(fft::kSide, all - first);
      const From* from[fft::kSide];
      To* to[fft::kSide];
      for (int64_t i = 0; i < some; ++i) {
        const int64_t number = first + i, outer = number / lines.inner, inner = number % lines.inner;
        from[i] = x + outer * lines.length * lines.inner + inner;
        to[i] = out + outer * line.count * lines.inner + inner;
      }
      if (some == fft::kSide && plan.runs_side_by_side()) {
        transform_side(plan, line, from, lines.length, to, lines.inner, reinterpret_cast<double*>(before.data()),
                       reinterpret_cast<double*>(after.data()));
        continue;
      }
      for (int64_t i = 0; i < some; ++i) take_line(line, from[i], lines.length, lines.inner, before.data() + i * line.points);
      plan.transform(before.data(), after.data(), some, line.inverse);
      for (int64_t i = 0; i < some; ++i) give_line(line, after.data() + i * line.points, to[i], lines.inner);
    }
  });
}

// Calls visit.operator()<T>() for float32, float64 and their complex numbers.
template <class Visit>
void visit_numbers(DType dtype, Visit&& visit) {
  if (dtype == DType::F32) visit.template operator()<float>();
  else if (dtype == DType::F64) visit.template operator()<double>();
  else if (dtype == DType::C64) visit.template operator()<Complex<float>>();
  else visit.template operator()<Complex<double>>();
}

// lines(x, dim, points, count, hermitian, inverse, factor, dtype): the transforms along an axis of a contiguous tensor, times a
// factor; of a real dtype are their real parts.
Value lines(Vm& vm, Args& args) {
  const Tensor x = expect_tensor(vm, args[0], "x")->tensor;
  const int64_t axis = to_index(vm, args[1], "dim");
  LineTransform line{to_index(vm, args[2], "points"), to_index(vm, args[3], "count"), truth(vm, args[4]), truth(vm, args[5]), 0};
  line.factor = to_double(vm, args[6], "factor");
  const DType dtype = expect_dtype(vm, args[7], "dtype");
  const auto fits = [](DType one) { return one == DType::F32 || one == DType::F64 || one == DType::C64 || one == DType::C128; };
  if (!fits(x.dtype()) || !fits(dtype) || !x.is_contiguous() || axis < 0 || axis >= x.rank() || line.points < 1 || line.count < 0)
    raise_type_error(vm, "'x' must be contiguous, of float32, float64 or complex numbers of such parts");
  Sizes sizes = x.sizes();
  sizes[axis] = line.count;
  if (x.is_meta()) return make_tensor(vm, Tensor::meta(dtype, sizes)).take();
  Tensor out = Tensor::empty(dtype, sizes);
  if (out.numel() > 0)
    visit_numbers(x.dtype(), [&]<class From>() {
      visit_numbers(dtype, [&]<class To>() { transform_lines(line, x.data_as<From>(), out.data_as<To>(), Lines(x.sizes(), axis)); });
    });
  return make_tensor(vm, std::move(out)).take();
}

Local<ModuleObject> make_fft(Vm& vm) {
  ModuleBuilder module(vm, "_fft");
  module.function("lines", "x, dim, points, count, hermitian, inverse, factor, dtype", lines);
  return module.finish();
}

}  // namespace

void register_fft(Vm& vm) { register_native_module(vm, "_fft", make_fft); }

}  // namespace tsc::interp
