// Module `_fused`'s ctc_loss and grid_sample.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/fused_functions.h"
#include "runtime/kernels/fused.h"

namespace tsc::interp {
namespace {

bool is_given(const Tensor& x, DType dtype, int64_t rank) {
  return x.is_contiguous() && !x.is_meta() && x.dtype() == dtype && x.rank() == rank;
}

// The states of a sequence: a blank before, between and after its targets.
struct States {
  std::vector<int64_t> classes;
  std::unique_ptr<bool[]> skips;

  States(const int64_t* targets, int64_t count, int64_t blank)
      : classes(static_cast<size_t>(2 * count + 1), blank), skips(std::make_unique<bool[]>(classes.size())) {
    for (int64_t i = 0; i < count; ++i) {
      classes[static_cast<size_t>(2 * i + 1)] = targets[i];
      skips[static_cast<size_t>(2 * i + 1)] = i == 0 || targets[i] != targets[i - 1];
    }
  }
};

struct Sequences {
  Tensor x, targets, times, counts;
  int64_t blank;
};

// Calls body(number, path, work) for each sequence.
template <class T, class Body>
void for_sequences(const Sequences& all, Body body) {
  const int64_t batch = all.x.size(1), classes = all.x.size(2), longest = all.targets.size(1);
  parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const States states(all.targets.data_as<int64_t>() + b * longest, all.counts.data_as<int64_t>()[b], all.blank);
      const PathLoss<T> path{all.x.data_as<T>() + b * classes,
                             batch * classes,
                             all.times.data_as<int64_t>()[b],
                             static_cast<int64_t>(states.classes.size()),
                             states.classes.data(),
                             states.skips.get()};
      std::vector<T> work(static_cast<size_t>(path.work()));
      body(b, path, work.data());
    }
  });
}

template <class T>
void path_losses(const Sequences& all, const Tensor& out) {
  const auto loss = fused_loops(current_device().isa).of<T>().path_loss;
  for_sequences<T>(all, [&](int64_t b, const PathLoss<T>& path, T* work) { out.data_as<T>()[b] = loss(path, work); });
}

template <class T>
void path_slopes(const Sequences& all, const Tensor& gradient, const Tensor& out) {
  const auto slopes = fused_loops(current_device().isa).of<T>().path_slopes;
  const int64_t classes = all.x.size(2);
  std::fill_n(out.data_as<T>(), out.numel(), T(0));
  for_sequences<T>(all, [&](int64_t b, const PathLoss<T>& path, T* work) {
    slopes(out.data_as<T>() + b * classes, path, gradient.data_as<T>()[b], classes, work);
  });
}

// What lies around each place of a grid in a plane, as the library's chain has it.
template <class T>
struct Corners {
  std::array<std::vector<int64_t>, 4> at;
  std::array<std::vector<T>, 4> weights;
  std::array<std::vector<T>, 4> parts;  // of the weights: above, below, left, right

  explicit Corners(int64_t places) {
    for (auto& one : at) one.resize(static_cast<size_t>(places));
    for (auto& one : weights) one.resize(static_cast<size_t>(places));
    for (auto& one : parts) one.resize(static_cast<size_t>(places));
  }

  static T place_of(T x, T size, bool border, bool aligned) {
    x = aligned ? (x + T(1)) / T(2) * (size - T(1)) : ((x + T(1)) * size - T(1)) / T(2);
    if (!border) return x;
    x = x != x || x > T(0) ? x : T(0);
    return x != x || x < size - T(1) ? x : size - T(1);
  }

  void find(const T* grid, int64_t height, int64_t width, bool border, bool aligned) {
    const T sizes[2] = {static_cast<T>(height), static_cast<T>(width)};
    for (size_t p = 0; p < at[0].size(); ++p) {
      T low[2], part[2][2];
      for (int d = 0; d < 2; ++d) {
        const T place = place_of(grid[2 * p + 1 - d], sizes[d], border, aligned);
        low[d] = std::floor(place);
        part[d][0] = low[d] + T(1) - place;
        part[d][1] = place - low[d];
        for (int side = 0; side < 2; ++side) parts[static_cast<size_t>(2 * d + side)][p] = part[d][side];
      }
      for (size_t corner = 0; corner < 4; ++corner) {
        const size_t down = corner >> 1, right = corner & 1;
        const T y = down ? low[0] + T(1) : low[0], x = right ? low[1] + T(1) : low[1];
        const bool inside = y >= 0 && y <= sizes[0] - 1 && x >= 0 && x <= sizes[1] - 1;
        at[corner][p] = inside ? static_cast<int64_t>(y) * width + static_cast<int64_t>(x) : -1;
        weights[corner][p] = part[0][down] * part[1][right];
      }
    }
  }

  PlaneCorners<T> view() const {
    PlaneCorners<T> all{static_cast<int64_t>(at[0].size()), {}, {}};
    for (size_t corner = 0; corner < 4; ++corner)
      all.at[corner] = at[corner].data(), all.weights[corner] = weights[corner].data();
    return all;
  }
};

template <class T>
void sample_planes(const Tensor& x, const Tensor& grid, bool border, bool aligned, T* out) {
  const int64_t channels = x.size(1), height = x.size(2), width = x.size(3), places = grid.size(1) * grid.size(2);
  const auto sample = fused_loops(current_device().isa).of<T>().corners;
  parallel_for(x.size(0), grain_for(4.0 * static_cast<double>(places * channels) + 1), [&](int64_t begin, int64_t end) {
    Corners<T> corners(places);
    for (int64_t b = begin; b < end; ++b) {
      corners.find(grid.data_as<T>() + b * places * 2, height, width, border, aligned);
      const PlaneCorners<T> all = corners.view();
      for (int64_t plane = b * channels; plane < (b + 1) * channels; ++plane)
        sample(out + plane * places, x.data_as<T>() + plane * height * width, all);
    }
  });
}

// The gradients of planes and grid; outside of the planes are zeros.
template <class T>
void sample_slopes(const Tensor& x, const Tensor& grid, bool aligned, const Tensor& gradient, const Tensor& of_x,
                   const Tensor& of_grid) {
  const int64_t channels = x.size(1), height = x.size(2), width = x.size(3), places = grid.size(1) * grid.size(2),
                count = height * width;
  const FusedLoops<T>& loops = fused_loops(current_device().isa).of<T>();
  const T sizes[2] = {static_cast<T>(height), static_cast<T>(width)};
  parallel_for(
      x.size(0), grain_for(16.0 * static_cast<double>(places * channels) + 1), [&](int64_t begin, int64_t end) {
        Corners<T> corners(places);
        std::vector<T> work(static_cast<size_t>(count)), of_weight(static_cast<size_t>(places)),
            of_place(static_cast<size_t>(2 * places));
        for (int64_t b = begin; b < end; ++b) {
          corners.find(grid.data_as<T>() + b * places * 2, height, width, false, aligned);
          const PlaneCorners<T> all = corners.view();
          const T *planes = x.data_as<T>() + b * channels * count, *of = gradient.data_as<T>() + b * channels * places;
          for (int64_t c = 0; c < channels; ++c)
            loops.corner_slopes(of_x.data_as<T>() + (b * channels + c) * count, of + c * places, all, count,
                                work.data());
          for (int corner = 3; corner >= 0; --corner) {
            loops.weight_slopes(of_weight.data(), of, planes, all, corner, channels, count);
            const size_t down = static_cast<size_t>(corner >> 1), right = static_cast<size_t>(corner & 1);
            for (size_t p = 0; p < of_weight.size(); ++p)
              for (size_t d = 0; d < 2; ++d) {
                const T part = of_weight[p] * (d == 0 ? corners.parts[2 + right][p] : corners.parts[down][p]);
                const T one = (d == 0 ? down : right) ? part : -part;
                of_place[2 * p + d] = corner == 3 ? one : of_place[2 * p + d] + one;
              }
          }
          T* to = of_grid.data_as<T>() + b * places * 2;
          for (int64_t p = 0; p < places; ++p)
            for (int64_t d = 0; d < 2; ++d) {
              const T one = of_place[static_cast<size_t>(2 * p + d)];
              to[2 * p + 1 - d] = aligned ? one * (sizes[d] - T(1)) / T(2) : one / T(2) * sizes[d];
            }
        }
      });
}

}  // namespace

namespace {

// From arguments logarithms, targets, times, counts, blank.
bool take_sequences(Vm& vm, Args& args, Sequences* all) {
  *all = {expect_tensor(vm, args[0], "logarithms")->tensor, expect_tensor(vm, args[1], "targets")->tensor,
          expect_tensor(vm, args[2], "times")->tensor, expect_tensor(vm, args[3], "counts")->tensor,
          to_index(vm, args[4], "blank")};
  const DType dtype = all->x.dtype();
  if ((dtype != DType::F32 && dtype != DType::F64) || !is_given(all->x, dtype, 3) ||
      !is_given(all->targets, DType::I64, 2) || !is_given(all->times, DType::I64, 1) ||
      !is_given(all->counts, DType::I64, 1))
    return false;
  const int64_t batch = all->x.size(1), classes = all->x.size(2), longest = all->targets.size(1);
  if (all->targets.size(0) != batch || all->times.numel() != batch || all->counts.numel() != batch || all->blank < 0 ||
      all->blank >= classes)
    return false;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t count = all->counts.data_as<int64_t>()[b], time = all->times.data_as<int64_t>()[b];
    if (count < 0 || count > longest || time < 0 || time > all->x.size(0)) return false;
    const int64_t* of = all->targets.data_as<int64_t>() + b * longest;
    if (!std::all_of(of, of + count, [&](int64_t one) { return one >= 0 && one < classes; })) return false;
  }
  return true;
}

}  // namespace

Value ctc_losses(Vm& vm, Args& args) {
  Sequences all;
  if (!take_sequences(vm, args, &all)) return Value::none();
  const Tensor out = Tensor::empty(all.x.dtype(), {all.x.size(1)});
  if (all.x.dtype() == DType::F32) path_losses<float>(all, out);
  else path_losses<double>(all, out);
  return make_tensor(vm, out).take();
}

Value ctc_slopes(Vm& vm, Args& args) {
  Sequences all;
  const Tensor gradient = expect_tensor(vm, args[5], "gradient")->tensor;
  if (!take_sequences(vm, args, &all) || !is_given(gradient, all.x.dtype(), 1) || gradient.numel() != all.x.size(1))
    return Value::none();
  const Tensor out = Tensor::empty(all.x.dtype(), all.x.sizes());
  if (all.x.dtype() == DType::F32) path_slopes<float>(all, gradient, out);
  else path_slopes<double>(all, gradient, out);
  return make_tensor(vm, out).take();
}

namespace {

bool are_sampled(const Tensor& x, const Tensor& grid) {
  const DType dtype = x.dtype();
  return (dtype == DType::F32 || dtype == DType::F64) && is_given(x, dtype, 4) && is_given(grid, dtype, 4) &&
         grid.size(0) == x.size(0) && grid.size(3) == 2 && x.size(2) >= 1 && x.size(3) >= 1;
}

}  // namespace

Value sampled(Vm& vm, Args& args) {
  const Tensor &x = expect_tensor(vm, args[0], "x")->tensor, &grid = expect_tensor(vm, args[1], "grid")->tensor;
  if (!are_sampled(x, grid)) return Value::none();
  const Tensor out = Tensor::empty(x.dtype(), {x.size(0), x.size(1), grid.size(1), grid.size(2)});
  const bool border = truth(vm, args[2]), aligned = truth(vm, args[3]);
  if (x.dtype() == DType::F32) sample_planes<float>(x, grid, border, aligned, out.data_as<float>());
  else sample_planes<double>(x, grid, border, aligned, out.data_as<double>());
  return make_tensor(vm, out).take();
}

Value sampled_slopes(Vm& vm, Args& args) {
  const Tensor &x = expect_tensor(vm, args[0], "x")->tensor, &grid = expect_tensor(vm, args[1], "grid")->tensor;
  const Tensor& gradient = expect_tensor(vm, args[3], "gradient")->tensor;
  if (!are_sampled(x, grid) || !is_given(gradient, x.dtype(), 4) ||
      gradient.sizes() != Sizes{x.size(0), x.size(1), grid.size(1), grid.size(2)})
    return Value::none();
  const Tensor of_x = Tensor::empty(x.dtype(), x.sizes()), of_grid = Tensor::empty(x.dtype(), grid.sizes());
  const bool aligned = truth(vm, args[2]);
  if (x.dtype() == DType::F32) sample_slopes<float>(x, grid, aligned, gradient, of_x, of_grid);
  else sample_slopes<double>(x, grid, aligned, gradient, of_x, of_grid);
  const Value both[] = {make_tensor(vm, of_x).take(), make_tensor(vm, of_grid).take()};
  return make_tuple(vm, both).take();
}

}  // namespace tsc::interp
