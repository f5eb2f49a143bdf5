// Module `_fused`'s recurrent layers: the loop over time of nn.LSTM, nn.GRU and nn.RNN.
#include "interpreter/tensor/fused_functions.h"

#include <algorithm>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "runtime/kernels/fused.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

struct Layer {
  Cell cell;
  Tensor gates, weight, bias, h, c;  // weight: one row for each of h, one column for each gate
  int64_t times, batch, width;
};

template <class T>
class LayerRun {
 public:
  LayerRun(const Layer& layer, Tensor out, Tensor last_c)
      : layer_(layer), columns_(gates_of(layer.cell) * layer.width), out_(std::move(out)), last_c_(std::move(last_c)),
        own_(static_cast<size_t>(layer.batch * columns_)) {}

  void run(bool backwards) {
    const T* h = layer_.h.data_as<T>();
    const T* c = layer_.c.defined() ? layer_.c.data_as<T>() : nullptr;
    for (int64_t step = 0; step < layer_.times; ++step) {
      const int64_t t = backwards ? layer_.times - 1 - step : step;
      T* to = out_.data_as<T>() + t * layer_.batch * layer_.width;
      multiply(h);
      run_cells(t, h, c, to);
      h = to;
      c = last_c_.defined() ? last_c_.data_as<T>() : nullptr;
    }
  }

 private:
  void multiply(const T* h) {
    MatmulArgs args;
    args.dtype = layer_.gates.dtype();
    args.m = layer_.batch, args.n = columns_, args.k = layer_.width;
    args.a = {h, layer_.width, 1, 0};
    args.b = {layer_.weight.data(), columns_, 1, 0};
    args.c = own_.data();
    args.c_row_stride = columns_;
    matmul(args);
  }

  void run_cells(int64_t t, const T* h, const T* c, T* to) {
    const auto cell = fused_loops(current_device().isa).of<T>().cell;
    const T* bias = layer_.bias.defined() ? layer_.bias.data_as<T>() : nullptr;
    parallel_for(layer_.batch, grain_for(8.0 * static_cast<double>(columns_)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * layer_.width;
        cell(layer_.cell, {layer_.gates.data_as<T>() + (t * layer_.batch + row) * columns_, own_.data() + row * columns_, bias, h + at,
                           c ? c + at : nullptr, to + at, last_c_.defined() ? last_c_.data_as<T>() + at : nullptr, layer_.width});
      }
    });
  }

  const Layer& layer_;
  int64_t columns_;
  Tensor out_, last_c_;
  std::vector<T> own_;
};

Tensor given(Vm& vm, const Value& v, const char* what, DType dtype) {
  const Tensor& x = expect_tensor(vm, v, what)->tensor;
  if (x.dtype() != dtype || !x.is_contiguous() || x.is_meta())
    raise_type_error(vm, std::string("'") + what + "' must be contiguous, of one floating dtype");
  return x;
}

bool fits(const Layer& layer) {
  const Sizes state = {layer.batch, layer.width};
  const int64_t columns = gates_of(layer.cell) * layer.width;
  return layer.times > 0 && layer.batch > 0 && layer.width > 0 && layer.gates.size(2) == columns && layer.h.sizes() == state &&
         layer.weight.sizes() == Sizes{layer.width, columns} && (!layer.bias.defined() || layer.bias.sizes() == Sizes{columns}) &&
         (layer.cell == Cell::Lstm) == layer.c.defined() && (!layer.c.defined() || layer.c.sizes() == state);
}

}  // namespace

Value recurrence(Vm& vm, Args& args) {
  Layer layer;
  const int64_t cell = to_index(vm, args[0], "cell");
  layer.gates = expect_tensor(vm, args[1], "gates")->tensor;
  const DType dtype = layer.gates.dtype();
  if (cell < 0 || cell > static_cast<int64_t>(Cell::Gru) || layer.gates.rank() != 3 || (dtype != DType::F32 && dtype != DType::F64))
    return Value::none();
  layer.cell = static_cast<Cell>(cell);
  layer.gates = given(vm, args[1], "gates", dtype);
  layer.weight = given(vm, args[2], "weight", dtype);
  if (!args[3].is_none()) layer.bias = given(vm, args[3], "bias", dtype);
  layer.h = given(vm, args[4], "h", dtype);
  if (!args[5].is_none()) layer.c = given(vm, args[5], "c", dtype);
  layer.times = layer.gates.size(0), layer.batch = layer.gates.size(1), layer.width = layer.h.rank() == 2 ? layer.h.size(1) : 0;
  if (!fits(layer)) return Value::none();
  const Tensor out = Tensor::empty(dtype, {layer.times, layer.batch, layer.width});
  const Tensor last_c = layer.c.defined() ? Tensor::empty(dtype, layer.c.sizes()) : Tensor();
  if (dtype == DType::F32) LayerRun<float>(layer, out, last_c).run(truth(vm, args[6]));
  else LayerRun<double>(layer, out, last_c).run(truth(vm, args[6]));
  const Value both[] = {make_tensor(vm, out).take(), last_c.defined() ? make_tensor(vm, last_c).take() : Value::none()};
  return make_tuple(vm, both).take();
}

}  // namespace tsc::interp
