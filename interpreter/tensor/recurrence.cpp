// Module `_fused`'s recurrent layers: the loop over time of nn.LSTM, nn.GRU and nn.RNN.
#include "interpreter/tensor/fused_functions.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "runtime/kernels/fused.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/matmul_turned.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

struct Layer {
  Cell cell;
  Tensor gates, weight, bias, h, c;  // weight: one row for each gate, one column for each unit
  int64_t times, batch, width;
};

template <class T>
class LayerRun {
 public:
  // The states at each time, h and c (of an LSTM), are made, or known.
  LayerRun(const Layer& layer, const Tensor& h, const Tensor& c, bool backwards)
      : layer_(layer), columns_(gates_of(layer.cell) * layer.width), state_(layer.batch * layer.width),
        backwards_(backwards), h_(h.data_as<T>()), c_(c.defined() ? c.data_as<T>() : nullptr),
        own_(static_cast<size_t>(layer.batch * columns_)) {
    // Few rows read the weight where it lies; for more it is turned once instead of at each time.
    weight_ = view_permute(layer.weight, {1, 0});
    if (layer.batch > kTurnedRows) weight_ = run_op(Op::copy, {&weight_, 1}, {}, {}).first;
  }

  void run() {
    const auto cell = fused_loops(current_device().isa).of<T>().cell;
    for (int64_t step = 0; step < layer_.times; ++step) {
      give_own(step);
      for_rows([&](int64_t row) { cell(layer_.cell, row_at(step, row)); });
    }
  }

  struct Gradients {
    Tensor gates, weight, bias, h, c;
  };
  // From those of all h and of the last h and c.
  Gradients slopes(const Tensor& of_all, const Tensor& of_h, const Tensor& of_c) {
    const DType dtype = layer_.gates.dtype();
    Gradients found{Tensor::empty(dtype, layer_.gates.sizes()), Tensor::empty(dtype, layer_.weight.sizes()),
                    Tensor::empty(dtype, {columns_}), Tensor::empty(dtype, layer_.h.sizes()),
                    Tensor::empty(dtype, layer_.h.sizes())};
    const auto slopes_of = fused_loops(current_device().isa).of<T>().cell_slopes;
    std::vector<T> d_own(own_.size()), direct(static_cast<size_t>(state_)), through(direct.size()),
        d_here(static_cast<size_t>(layer_.weight.numel()));
    T *dh = found.h.template data_as<T>(), *dc = found.c.template data_as<T>(),
      *d_weight = found.weight.template data_as<T>();
    std::copy_n(of_h.data_as<T>(), state_, dh);
    if (of_c.defined()) std::copy_n(of_c.data_as<T>(), state_, dc);
    for (int64_t step = layer_.times - 1; step >= 0; --step) {
      const bool last = step == layer_.times - 1;
      const T* here = of_all.data_as<T>() + time_of(step) * state_;
      for (int64_t k = 0; k < state_; ++k) dh[k] = last ? dh[k] + here[k] : (through[k] + direct[k]) + here[k];
      give_own(step);
      T* d_given = found.gates.template data_as<T>() + time_of(step) * layer_.batch * columns_;
      for_rows([&](int64_t row) {
        const int64_t at = row * layer_.width;
        slopes_of(layer_.cell, {row_at(step, row), dh + at, dc + at, d_given + row * columns_,
                                d_own.data() + row * columns_, direct.data() + at});
      });
      add_bias(d_own.data(), found.bias.template data_as<T>(), last);
      multiply(d_own.data(), {1, columns_}, columns_, before(step), {layer_.width, 1}, layer_.batch, layer_.width,
               last ? d_weight : d_here.data());
      if (!last) add_weight(d_here.data(), d_weight);
      multiply(d_own.data(), {columns_, 1}, layer_.batch, layer_.weight.template data_as<T>(), {layer_.width, 1},
               columns_, layer_.width, through.data());
    }
    for (int64_t k = 0; k < state_; ++k) dh[k] = direct[k] + through[k];
    return found;
  }

 private:
  struct Strides {
    int64_t row, column;
  };

  int64_t time_of(int64_t step) const { return backwards_ ? layer_.times - 1 - step : step; }
  const T* before(int64_t step) const { return step == 0 ? layer_.h.data_as<T>() : h_ + time_of(step - 1) * state_; }

  // out (m, n) = a (m, k) times b (k, n), with their strides.
  void multiply(const T* a, Strides of_a, int64_t m, const T* b, Strides of_b, int64_t k, int64_t n, T* out) {
    MatmulArgs args;
    args.dtype = layer_.gates.dtype();
    args.m = m, args.n = n, args.k = k;
    args.a = {a, of_a.row, of_a.column, 0};
    args.b = {b, of_b.row, of_b.column, 0};
    args.c = out;
    args.c_row_stride = n;
    matmul(args);
  }
  void give_own(int64_t step) {
    multiply(before(step), {layer_.width, 1}, layer_.batch, weight_.template data_as<T>(),
             {weight_.stride(0), weight_.stride(1)}, layer_.width, columns_, own_.data());
  }

  // What this time gives, added to what later times gave.
  void add_weight(const T* here, T* sums) const {
    constexpr double kNanoseconds = 0.4;
    parallel_for(layer_.weight.numel(), grain_for(kNanoseconds), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) sums[k] = sums[k] + here[k];
    });
  }

  template <class Body>
  void for_rows(Body body) const {
    parallel_for(layer_.batch, grain_for(8.0 * static_cast<double>(columns_)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) body(row);
    });
  }

  CellRow<T> row_at(int64_t step, int64_t row) {
    const int64_t at = row * layer_.width, here = time_of(step) * state_ + at;
    const T* c = !c_ ? nullptr : step == 0 ? layer_.c.data_as<T>() + at : c_ + time_of(step - 1) * state_ + at;
    return {layer_.gates.data_as<T>() + (time_of(step) * layer_.batch + row) * columns_,
            own_.data() + row * columns_,
            layer_.bias.defined() ? layer_.bias.data_as<T>() : nullptr,
            before(step) + at,
            c,
            h_ + here,
            c_ ? c_ + here : nullptr,
            layer_.width};
  }

  // The sum over the batch, in canonical order, added to what later times gave.
  void add_bias(const T* d_own, T* sums, bool last) {
    std::vector<int64_t> rows(static_cast<size_t>(layer_.batch));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<T> here(static_cast<size_t>(columns_));
    fused_loops(current_device().isa)
        .of<T>()
        .bag_sum(here.data(), {d_own, columns_, rows.data(), layer_.batch, nullptr, -1}, true);
    for (int64_t k = 0; k < columns_; ++k) sums[k] = last ? here[k] : sums[k] + here[k];
  }

  const Layer& layer_;
  const int64_t columns_, state_;
  const bool backwards_;
  T *h_, *c_;
  std::vector<T> own_;
  Tensor weight_;  // (width, columns)
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
  return layer.times > 0 && layer.batch > 0 && layer.width > 0 && layer.gates.size(2) == columns &&
         layer.h.sizes() == state && layer.weight.sizes() == Sizes{columns, layer.width} &&
         (!layer.bias.defined() || layer.bias.sizes() == Sizes{columns}) &&
         (layer.cell == Cell::Lstm) == layer.c.defined() && (!layer.c.defined() || layer.c.sizes() == state);
}

// From arguments cell, gates, weight, bias, h, c.
bool take_layer(Vm& vm, Args& args, Layer* layer) {
  const int64_t cell = to_index(vm, args[0], "cell");
  layer->gates = expect_tensor(vm, args[1], "gates")->tensor;
  const DType dtype = layer->gates.dtype();
  if (cell < 0 || cell > static_cast<int64_t>(Cell::Gru) || layer->gates.rank() != 3 ||
      (dtype != DType::F32 && dtype != DType::F64))
    return false;
  layer->cell = static_cast<Cell>(cell);
  layer->gates = given(vm, args[1], "gates", dtype);
  layer->weight = given(vm, args[2], "weight", dtype);
  if (!args[3].is_none()) layer->bias = given(vm, args[3], "bias", dtype);
  layer->h = given(vm, args[4], "h", dtype);
  if (!args[5].is_none()) layer->c = given(vm, args[5], "c", dtype);
  layer->times = layer->gates.size(0), layer->batch = layer->gates.size(1),
  layer->width = layer->h.rank() == 2 ? layer->h.size(1) : 0;
  return fits(*layer);
}

Value made_or_none(Vm& vm, const Tensor& x, bool wanted = true) {
  return wanted ? make_tensor(vm, x).take() : Value::none();
}

}  // namespace

Value recurrence(Vm& vm, Args& args) {
  Layer layer;
  if (!take_layer(vm, args, &layer)) return Value::none();
  const DType dtype = layer.gates.dtype();
  const Sizes sizes = {layer.times, layer.batch, layer.width};
  const Tensor h = Tensor::empty(dtype, sizes), c = layer.c.defined() ? Tensor::empty(dtype, sizes) : Tensor();
  const bool backwards = truth(vm, args[6]);
  if (dtype == DType::F32) LayerRun<float>(layer, h, c, backwards).run();
  else LayerRun<double>(layer, h, c, backwards).run();
  const Value both[] = {made_or_none(vm, h), made_or_none(vm, c, c.defined())};
  return make_tuple(vm, both).take();
}

Value recurrence_slopes(Vm& vm, Args& args) {
  Layer layer;
  if (!take_layer(vm, args, &layer)) return Value::none();
  const DType dtype = layer.gates.dtype();
  const bool backwards = truth(vm, args[6]), has_c = layer.c.defined();
  const Tensor h = given(vm, args[7], "all_h", dtype), c = has_c ? given(vm, args[8], "all_c", dtype) : Tensor();
  const Tensor of_all = given(vm, args[9], "gradient", dtype), of_h = given(vm, args[10], "gradient", dtype);
  const Tensor of_c = has_c ? given(vm, args[11], "gradient", dtype) : Tensor();
  const Sizes sizes = {layer.times, layer.batch, layer.width};
  if (h.sizes() != sizes || of_all.sizes() != sizes || of_h.sizes() != layer.h.sizes() ||
      (has_c && (c.sizes() != sizes || of_c.sizes() != layer.h.sizes())))
    return Value::none();
  const auto give = [&](const auto& found) {
    const Value all[] = {made_or_none(vm, found.gates), made_or_none(vm, found.weight),
                         made_or_none(vm, found.bias, layer.bias.defined()), made_or_none(vm, found.h),
                         made_or_none(vm, found.c, has_c)};
    return make_tuple(vm, all).take();
  };
  if (dtype == DType::F32) return give(LayerRun<float>(layer, h, c, backwards).slopes(of_all, of_h, of_c));
  return give(LayerRun<double>(layer, h, c, backwards).slopes(of_all, of_h, of_c));
}

}  // namespace tsc::interp
