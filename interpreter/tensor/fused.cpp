// Module `_fused`: functions that the library writes as chains of primitives too, in one pass over their operands
// (runtime/kernels/fused.h). The library calls them where `_prims.plain` says that nobody needs the chain. Keeps: the
// same bits as the chain; nothing is recorded for gradients; None for operands that the chain refuses with PyTorch's
// words.
#include "runtime/kernels/fused.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/fused_functions.h"
#include "interpreter/tensor/host_access.h"
#include "interpreter/tensor/native_math.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/strided.h"
#include "runtime/kernels/typed.h"

namespace tsc::interp {
namespace {

Tensor given(Vm& vm, const Value& v, const char* what, std::optional<DType> dtype = {}) {
  const Tensor& x = expect_tensor(vm, v, what)->tensor;
  if (!x.is_contiguous() || x.is_meta() || (dtype && x.dtype() != *dtype))
    raise_type_error(vm, std::string("'") + what + "' must be contiguous" +
                             (dtype ? ", of " + std::string(dtype_name(*dtype)) : ""));
  return x;
}

// float32 or float64.
Tensor given_floats(Vm& vm, const Value& v, const char* what) {
  Tensor x = given(vm, v, what);
  if (x.dtype() != DType::F32 && x.dtype() != DType::F64)
    raise_type_error(vm, std::string("'") + what + "' must be float32 or float64");
  return x;
}

template <class Visit>
void visit_float(DType dtype, Visit&& visit) {
  if (dtype == DType::F32) visit.template operator()<float>();
  else visit.template operator()<double>();
}

template <class T>
const FusedLoops<T>& loops() {
  return fused_loops(current_device().isa).of<T>();
}

Value pair_of(Vm& vm, Tensor first, Tensor second) {
  const Value both[] = {make_tensor(vm, std::move(first)).take(), make_tensor(vm, std::move(second)).take()};
  return make_tuple(vm, both).take();
}

bool all_within(const Tensor& index, int64_t from, int64_t to) {
  const int64_t* places = index.data_as<int64_t>();
  return std::all_of(places, places + index.numel(), [=](int64_t place) { return place >= from && place < to; });
}

// ---- bags of rows ----

// Bag b has the rows [starts[b], starts[b + 1]).
struct Bags {
  Tensor rows, starts, factors;
  int64_t padding = -1;
  int64_t count() const { return starts.numel() - 1; }

  bool fit(int64_t table_rows) const {
    const int64_t* at = starts.data_as<int64_t>();
    return count() >= 0 && std::is_sorted(at, at + starts.numel()) && all_within(starts, 0, rows.numel() + 1) &&
           all_within(rows, 0, table_rows) && (!factors.defined() || factors.numel() == rows.numel());
  }
  template <class T>
  Bag<T> bag(const T* table, int64_t columns, int64_t number) const {
    const int64_t* at = starts.data_as<int64_t>() + number;
    return {table,
            columns,
            rows.data_as<int64_t>() + at[0],
            at[1] - at[0],
            factors.defined() ? factors.data_as<T>() + at[0] : nullptr,
            padding};
  }
  double cost(int64_t columns) const {
    return 0.3 * static_cast<double>(columns) * static_cast<double>(rows.numel()) /
               static_cast<double>(std::max<int64_t>(count(), 1)) +
           20;
  }
};

// From arguments rows, starts, factors (or None), padding.
Bags take_bags(Vm& vm, const Value* args, DType dtype) {
  Bags bags;
  bags.rows = given(vm, args[0], "rows", DType::I64);
  bags.starts = given(vm, args[1], "starts", DType::I64);
  if (!args[2].is_none()) bags.factors = given(vm, args[2], "factors", dtype);
  bags.padding = to_index(vm, args[3], "padding");
  return bags;
}

// bags(table, rows, starts, factors, padding, canonical): the sum of each bag.
Value bags(Vm& vm, Args& args) {
  const Tensor table = given_floats(vm, args[0], "table");
  const Bags bags = take_bags(vm, &args[1], table.dtype());
  if (table.rank() != 2 || !bags.fit(table.size(0))) return Value::none();
  const bool canonical = truth(vm, args[5]);
  const int64_t columns = table.size(1);
  Tensor out = Tensor::empty(table.dtype(), {bags.count(), columns});
  visit_float(table.dtype(), [&]<class T>() {
    parallel_for(bags.count(), grain_for(bags.cost(columns)), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        loops<T>().bag_sum(out.data_as<T>() + b * columns, bags.bag(table.data_as<const T>(), columns, b), canonical);
    });
  });
  return make_tensor(vm, std::move(out)).take();
}

// bags_largest(table, rows, starts, factors, padding): (the largest elements of each bag, the rows that they are from).
Value bags_largest(Vm& vm, Args& args) {
  const Tensor table = given_floats(vm, args[0], "table");
  const Bags bags = take_bags(vm, &args[1], table.dtype());
  if (table.rank() != 2 || bags.factors.defined() || !bags.fit(table.size(0))) return Value::none();
  const int64_t columns = table.size(1);
  Tensor out = Tensor::empty(table.dtype(), {bags.count(), columns}),
         from = Tensor::empty(DType::I64, {bags.count(), columns});
  visit_float(table.dtype(), [&]<class T>() {
    parallel_for(bags.count(), grain_for(bags.cost(columns)), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        loops<T>().bag_largest(out.data_as<T>() + b * columns, from.data_as<int64_t>() + b * columns,
                               bags.bag(table.data_as<const T>(), columns, b));
    });
  });
  return pair_of(vm, std::move(out), std::move(from));
}

// bags_spread(gradient, rows, starts, factors, padding, count): a table of `count` rows with each bag's gradient added
// to its rows.
Value bags_spread(Vm& vm, Args& args) {
  const Tensor gradient = given_floats(vm, args[0], "gradient");
  const Bags bags = take_bags(vm, &args[1], gradient.dtype());
  const int64_t rows = to_index(vm, args[5], "count");
  if (gradient.rank() != 2 || gradient.size(0) != bags.count() || rows < 0 || !bags.fit(rows)) return Value::none();
  const int64_t columns = gradient.size(1);
  constexpr int64_t kWidth = 64;
  Tensor out = Tensor::empty(gradient.dtype(), {rows, columns});
  visit_float(gradient.dtype(), [&]<class T>() {
    T* sums = out.data_as<T>();
    std::fill_n(sums, out.numel(), T(0));
    const double cost = 0.3 * kWidth * static_cast<double>(bags.rows.numel()) + 1;
    parallel_for((columns + kWidth - 1) / kWidth, grain_for(cost), [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kWidth, width = std::min(columns, end * kWidth) - first;
      for (int64_t b = 0; b < bags.count(); ++b)
        loops<T>().bag_spread(sums + first, gradient.data_as<const T>() + b * columns + first,
                              bags.bag<T>(nullptr, columns, b), width);
    });
  });
  return make_tensor(vm, std::move(out)).take();
}

// bags_products(gradient, table, rows, starts, padding): the product of each row with its bag's gradient.
Value bags_products(Vm& vm, Args& args) {
  const Tensor gradient = given_floats(vm, args[0], "gradient"), table = given(vm, args[1], "table", gradient.dtype());
  const Value bag_arguments[] = {args[2], args[3], Value::none(), args[4]};
  const Bags bags = take_bags(vm, bag_arguments, table.dtype());
  if (table.rank() != 2 || gradient.sizes() != Sizes{bags.count(), table.size(1)} || !bags.fit(table.size(0)))
    return Value::none();
  const int64_t columns = table.size(1);
  Tensor out = Tensor::empty(table.dtype(), {bags.rows.numel()});
  visit_float(table.dtype(), [&]<class T>() {
    std::fill_n(out.data_as<T>(), out.numel(), T(0));
    parallel_for(bags.count(), grain_for(bags.cost(columns)), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        loops<T>().bag_products(out.data_as<T>() + bags.starts.data_as<int64_t>()[b],
                                gradient.data_as<T>() + b * columns, bags.bag(table.data_as<const T>(), columns, b));
    });
  });
  return make_tensor(vm, std::move(out)).take();
}

// ---- losses and distances ----

// margins(scores, classes): (the loss of each row of multilabel_margin_loss before its mean over classes, its slopes).
Value margins(Vm& vm, Args& args) {
  const Tensor scores = given_floats(vm, args[0], "scores");
  const Tensor classes = given(vm, args[1], "classes", DType::I64);
  if (scores.rank() != 2 || classes.sizes() != scores.sizes() || !all_within(classes, -1, scores.size(1)))
    return Value::none();
  const int64_t rows = scores.size(0), count = scores.size(1);
  Tensor losses = Tensor::empty(scores.dtype(), {rows}), slopes = Tensor::empty(scores.dtype(), scores.sizes());
  visit_float(scores.dtype(), [&]<class T>() {
    parallel_for(rows, 1, [&](int64_t begin, int64_t end) {
      std::vector<T> other(static_cast<size_t>(count));
      for (int64_t row = begin; row < end; ++row)
        losses.data_as<T>()[row] =
            loops<T>().margins(scores.data_as<T>() + row * count, classes.data_as<int64_t>() + row * count, count,
                               other.data(), slopes.data_as<T>() + row * count);
    });
  });
  return pair_of(vm, std::move(losses), std::move(slopes));
}

// Where the distances of row i to those behind it begin.
int64_t first_pair(int64_t i, int64_t rows) { return i * (2 * rows - i - 1) / 2; }

// distances(x): of all pairs of rows, (0, 1), (0, 2) ... (1, 2) ...
Value distances(Vm& vm, Args& args) {
  const Tensor x = given_floats(vm, args[0], "x");
  if (x.rank() != 2) return Value::none();
  const int64_t rows = x.size(0), columns = x.size(1);
  Tensor out = Tensor::empty(x.dtype(), {first_pair(rows, rows)});
  visit_float(x.dtype(), [&]<class T>() {
    const T* data = x.data_as<T>();
    const double cost = 0.1 * static_cast<double>(columns + 64) * static_cast<double>(rows) / 2 + 1;
    parallel_for(rows, grain_for(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        loops<T>().distances(out.data_as<T>() + first_pair(i, rows), data + i * columns, data + (i + 1) * columns,
                             rows - i - 1, columns);
    });
  });
  return make_tensor(vm, std::move(out)).take();
}

// distance_slopes(gradient, distances, x): the gradient of distances(x).
Value distance_slopes(Vm& vm, Args& args) {
  const Tensor x = given_floats(vm, args[2], "x");
  const Tensor gradient = given(vm, args[0], "gradient", x.dtype()),
               distance = given(vm, args[1], "distances", x.dtype());
  if (x.rank() != 2 || gradient.numel() != first_pair(x.size(0), x.size(0)) || distance.numel() != gradient.numel())
    return Value::none();
  const int64_t rows = x.size(0), columns = x.size(1);
  constexpr int64_t kWidth = 64;
  Tensor out = Tensor::empty(x.dtype(), x.sizes());
  visit_float(x.dtype(), [&]<class T>() {
    // What pairs give to their first row and to their second, each in the order of the pairs.
    std::vector<T> second(static_cast<size_t>(x.numel()), T(0));
    T* first = out.data_as<T>();
    std::fill_n(first, out.numel(), T(0));
    const T* data = x.data_as<T>();
    const double cost = 0.2 * kWidth * static_cast<double>(gradient.numel()) + 1;
    parallel_for((columns + kWidth - 1) / kWidth, grain_for(cost), [&](int64_t begin, int64_t end) {
      const int64_t from = begin * kWidth, width = std::min(columns, end * kWidth) - from;
      for (int64_t i = 0; i + 1 < rows; ++i) {
        const int64_t pair = first_pair(i, rows), own = i * columns + from, next = own + columns;
        loops<T>().distance_slopes(first + own, second.data() + next, gradient.data_as<T>() + pair,
                                   distance.data_as<T>() + pair, data + own, data + next, rows - i - 1, columns, width);
      }
    });
    for (int64_t k = 0; k < out.numel(); ++k) first[k] += second[k];
  });
  return make_tensor(vm, std::move(out)).take();
}

// ---- places ----

template <bool kRight, class C, class S>
int64_t place_of(const S* sequence, int64_t length, C value) {
  const S* base = sequence;
  const auto before = [=](const S* element) {
    return kRight ? !(load_element(element) > value) : !(load_element(element) >= value);
  };
  while (length > 1) {
    const int64_t half = length / 2;
    base = before(base + half - 1) ? base + half : base;
    length -= half;
  }
  return base - sequence + (length == 1 && before(base));
}

// searchsorted(sequence, values, right): of one dtype; a vector, or one sequence for each row of values.
Value searchsorted(Vm& vm, Args& args) {
  const Tensor sequence = given(vm, args[0], "sequence"), values = given(vm, args[1], "values", sequence.dtype());
  const bool right = truth(vm, args[2]), shared = sequence.rank() == 1;
  if (sequence.rank() == 0 || is_complex(sequence.dtype()) || sequence.dtype() == DType::Bool) return Value::none();
  const int64_t length = sequence.size(sequence.rank() - 1);
  const int64_t count = shared ? values.numel() : values.rank() == 0 ? 0 : values.size(values.rank() - 1);
  Tensor out = Tensor::empty(DType::I64, values.sizes());
  if (values.numel() == 0) return make_tensor(vm, std::move(out)).take();
  if (!shared && (count == 0 || values.numel() / count * length != sequence.numel())) return Value::none();
  visit_ordered_dtype(sequence.dtype(), [&]<class S>() {
    const S *data = sequence.data_as<S>(), *wanted = values.data_as<S>();
    int64_t* places = out.data_as<int64_t>();
    parallel_for(values.numel(), grain_for(10), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const S* own = shared ? data : data + i / count * length;
        const auto value = load_element(wanted + i);
        places[i] = right ? place_of<true>(own, length, value) : place_of<false>(own, length, value);
      }
    });
  });
  return make_tensor(vm, std::move(out)).take();
}

template <class C>
struct Candidate {
  C value;
  int64_t index;
};

// The order of sort: nan above every number, of equal elements the first first.
template <bool kLargest, class C>
bool stands_before(const Candidate<C>& a, const Candidate<C>& b) {
  if (a.value != a.value || b.value != b.value) {
    const bool first = a.value != a.value, second = b.value != b.value;
    if (first != second) return kLargest ? first : second;
    return a.index < b.index;
  }
  if (a.value != b.value) return kLargest ? a.value > b.value : a.value < b.value;
  return a.index < b.index;
}

// The first `count` of a line in that order: candidates are kept until there are many, then the better half stays.
template <bool kLargest, class S>
void choose(const S* x, int64_t length, int64_t count, int64_t* out) {
  using C = decltype(load_element(x));
  const int64_t room = std::max<int64_t>(4 * count, 256);
  std::vector<Candidate<C>> kept;
  kept.reserve(static_cast<size_t>(room));
  bool full = false;
  const auto before = stands_before<kLargest, C>;
  const auto shrink = [&] {
    std::nth_element(kept.begin(), kept.begin() + (count - 1), kept.end(), before);
    kept.resize(static_cast<size_t>(count));
    full = true;
  };
  C limit{};
  for (int64_t i = 0; i < length; ++i) {
    const C value = load_element(x + i);
    // What does not come before the last of the best so far, which stands at an earlier index, cannot be among the
    // first.
    if (full && (kLargest ? value <= limit : value >= limit)) continue;
    kept.push_back({value, i});
    if (static_cast<int64_t>(kept.size()) < room) continue;
    shrink();
    limit = kept.back().value;
  }
  if (static_cast<int64_t>(kept.size()) > count) shrink();
  std::sort(kept.begin(), kept.end(), before);
  for (int64_t i = 0; i < count; ++i) out[i] = kept[static_cast<size_t>(i)].index;
}

// first_places(x, count, largest): where the first `count` elements of each line of the last axis stand, sorted.
Value first_places(Vm& vm, Args& args) {
  const Tensor x = given(vm, args[0], "x");
  const int64_t count = to_index(vm, args[1], "count"), length = x.rank() ? x.size(x.rank() - 1) : 0;
  const bool largest = truth(vm, args[2]);
  if (count < 1 || count > length || is_complex(x.dtype())) return Value::none();
  Sizes sizes = x.sizes();
  sizes.back() = count;
  Tensor out = Tensor::empty(DType::I64, sizes);
  visit_ordered_dtype(x.dtype(), [&]<class S>() {
    parallel_for(x.numel() / length, grain_for(static_cast<double>(length) + 1), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const S* from = x.data_as<S>() + line * length;
        int64_t* to = out.data_as<int64_t>() + line * count;
        largest ? choose<true>(from, length, count, to) : choose<false>(from, length, count, to);
      }
    });
  });
  return make_tensor(vm, std::move(out)).take();
}

template <bool kLargest, class C>
C extreme_of(C a, C b) {
  if (a != a) return a;
  if (b != b) return b;
  return kLargest ? (b > a ? b : a) : (b < a ? b : a);
}

// extremes_at(x, index, src, dim, largest, include_self): x with the largest or smallest of what src has for each
// place.
Value extremes_at(Vm& vm, Args& args) {
  const Tensor x = given(vm, args[0], "x"), index = given(vm, args[1], "index", DType::I64),
               src = given(vm, args[2], "src", x.dtype());
  const int64_t axis = to_index(vm, args[3], "dim");
  const bool largest = truth(vm, args[4]), include_self = truth(vm, args[5]);
  if (axis < 0 || axis >= x.rank() || index.rank() != x.rank() || src.sizes() != index.sizes() ||
      is_complex(x.dtype()) || !all_within(index, 0, x.size(axis)))
    return Value::none();
  for (int64_t k = 0; k < x.rank(); ++k)
    if (k != axis && index.size(k) > x.size(k)) return Value::none();
  TensorObject* operands[] = {expect_tensor(vm, args[0], "x")};
  const Tensor out = run_eager(vm, Op::copy, operands, {}, {}).first->tensor;
  std::vector<uint8_t> touched(include_self ? 0 : static_cast<size_t>(out.numel()));
  const Lines around(index.sizes(), axis);
  Sizes line_sizes = index.sizes();
  line_sizes[axis] = 1;
  const StridedMap map(line_sizes, out.strides(), 1);  // offsets in elements
  const int64_t step = out.stride(axis);
  visit_ordered_dtype(out.dtype(), [&]<class S>() {
    S* result = out.data_as<S>();
    const auto take = [&](int64_t to, int64_t from) {
      const auto value = load_element(src.data_as<S>() + from), before = load_element(result + to);
      const bool first = !include_self && !std::exchange(touched[static_cast<size_t>(to)], 1);
      store_element(result + to, first     ? value
                                 : largest ? extreme_of<true>(before, value)
                                           : extreme_of<false>(before, value));
    };
    parallel_for(around.outer * around.inner, grain_for(2.0 * static_cast<double>(around.length) + 1),
                 [&](int64_t begin, int64_t end) {
                   StridedWalk walk(map, begin);
                   for (int64_t line = begin; line < end; ++line, walk.next()) {
                     const int64_t start = line / around.inner * around.length * around.inner + line % around.inner;
                     for (int64_t i = 0; i < around.length; ++i) {
                       const int64_t element = start + i * around.inner;
                       take(walk.offset() + index.data_as<int64_t>()[element] * step, element);
                     }
                   }
                 });
  });
  return make_tensor(vm, out).take();
}

Local<ModuleObject> make_fused(Vm& vm) {
  ModuleBuilder module(vm, "_fused");
  module.function("bags", "table, rows, starts, factors, padding, canonical", with_access<bags>)
      .function("bags_largest", "table, rows, starts, factors, padding", with_access<bags_largest>)
      .function("bags_spread", "gradient, rows, starts, factors, padding, count", with_access<bags_spread>)
      .function("bags_products", "gradient, table, rows, starts, padding", with_access<bags_products>)
      .function("margins", "scores, classes", with_access<margins>)
      .function("distances", "x", with_access<distances>)
      .function("distance_slopes", "gradient, distances, x", with_access<distance_slopes>)
      .function("searchsorted", "sequence, values, right", with_access<searchsorted>)
      .function("recurrence", "cell, gates, weight, bias, h, c, backwards", with_access<recurrence>)
      .function("recurrence_slopes", "cell, gates, weight, bias, h, c, backwards, all_h, all_c, of_all, of_h, of_c",
                with_access<recurrence_slopes>)
      .function("ctc_losses", "logarithms, targets, times, counts, blank", with_access<ctc_losses>)
      .function("ctc_slopes", "logarithms, targets, times, counts, blank, gradient", with_access<ctc_slopes>)
      .function("sampled", "x, grid, border, aligned", with_access<sampled>)
      .function("sampled_slopes", "x, grid, aligned, gradient", with_access<sampled_slopes>)
      .function("extremes_at", "x, index, src, dim, largest, include_self", with_access<extremes_at>)
      .function("first_places", "x, count, largest", with_access<first_places>);
  return module.finish();
}

}  // namespace

void register_fused(Vm& vm) { register_native_module(vm, "_fused", make_fused); }

}  // namespace tsc::interp
