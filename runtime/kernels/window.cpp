// Operations over windows: convolve, on the schedules of convolve.h, and the place of each window's maximum.
#include "runtime/device/device.h"
#include "runtime/kernels/convolve_kernels.h"
#include "runtime/kernels/families.h"

namespace tsc {
namespace {

constexpr double kElementNanoseconds = 0.2;

// Rows of x that are no rows in memory would be read element by element for every tap.
Tensor with_plain_rows(const Tensor& x) {
  const int64_t last = x.rank() - 1;
  return x.size(last) <= 1 || x.stride(last) == 1 ? x : contiguous(x);
}

ConvolutionArgs arguments_of(const OpCall& call, const Tensor& x, const Tensor& w, const Tensor& out) {
  ConvolutionArgs args;
  args.dtype = out.dtype();
  args.images = x.size(0), args.groups = x.size(1), args.channels = x.size(2), args.outputs = w.size(1);
  args.x = x.data(), args.w = w.data(), args.out = const_cast<void*>(static_cast<const void*>(out.data()));
  args.x_image = x.stride(0), args.x_group = x.stride(1), args.x_channel = x.stride(2);
  args.w_group = w.stride(0), args.w_output = w.stride(1), args.w_channel = w.stride(2);
  const bool channels_first = call.attributes.mode == 1;
  args.out_image = out.stride(channels_first ? 2 : 0);
  args.out_group = out.stride(channels_first ? 0 : 1);
  args.out_output = out.stride(channels_first ? 1 : 2);
  const int64_t windowed = x.rank() - 3;
  for (int64_t i = 0; i < windowed; ++i) {
    ConvolutionAxis& axis = args.axes[kWindowAxes - windowed + i];
    const auto list = [&](int64_t k) { return call.scalars[k * windowed + i].as_int(); };
    axis.size = x.size(3 + i), axis.taps = w.size(3 + i), axis.places = list(0);
    axis.stride = list(1), axis.dilation = list(2), axis.gap = list(3), axis.low = list(4);
    axis.x_stride = x.stride(3 + i), axis.w_stride = w.stride(3 + i), axis.out_stride = out.stride(3 + i);
  }
  return args;
}

OpResults run_window_argmax(const OpCall& call) {
  Tensor out = empty_result(call);
  const Tensor x = contiguous(call.tensors[0]);
  PoolAxis axes[kWindowAxes];
  const int64_t windowed = x.rank() - 1;
  for (int64_t i = 0; i < windowed; ++i) {
    const auto list = [&](int64_t k) { return call.scalars[k * windowed + i].as_int(); };
    axes[kWindowAxes - windowed + i] = {x.size(1 + i), list(0), list(1), list(2), list(3), list(4)};
  }
  const auto& [az, ay, ax] = axes;
  if (out.numel() == 0) return {std::move(out), {}};
  const int64_t space = az.size * ay.size * ax.size;
  const double cost = kElementNanoseconds * static_cast<double>(ax.places * az.taps * ay.taps * ax.taps) + 10;
  const StopFlag& stop = current_device().stop;
  const ArgmaxRow argmax = convolve_tables(current_device().isa).argmax[static_cast<int>(x.dtype())];
  parallel_for(x.size(0) * az.places * ay.places, grain_for(cost), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      stop.poll();
      const int64_t y = row % ay.places, z = row / ay.places % az.places;
      const std::byte* from = x.data() + row / ay.places / az.places * space * dtype_size(x.dtype());
      if (!argmax(from, axes, z, y, out.data_as<int64_t>() + row * ax.places))
        throw Error(ErrorKind::RuntimeError, "window_argmax: a window lies outside of the input");
    }
  });
  return {std::move(out), {}};
}

}  // namespace

OpResults run_window(const OpCall& call) {
  if (call.op == Op::window_argmax) return run_window_argmax(call);
  Tensor out = empty_result(call);
  if (out.numel() == 0) return {std::move(out), {}};
  const Tensor x = with_plain_rows(call.tensors[0]);
  convolve(arguments_of(call, x, call.tensors[1], out));
  return {std::move(out), {}};
}

}  // namespace tsc
