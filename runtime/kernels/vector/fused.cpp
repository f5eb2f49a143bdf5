// The loops of runtime/kernels/fused.h. A sum in canonical order keeps 64 lanes, as reduce.cpp does; elements that are
// not there add nothing to theirs.
#include "runtime/kernels/fused.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/kernels/reduce.h"
#include "runtime/kernels/scalar_math.h"
#include "runtime/kernels/scalar_ops.h"

namespace tsc::TSC_ISA {
namespace {

constexpr int64_t kTile = 64;  // columns of a bag at a time: their lanes are 16 or 32 KiB

template <class T>
TSC_INLINE void add_row(T* sums, const T* row, int64_t width) {
  for (int64_t j = 0; j < width; ++j) sums[j] += row[j];
}

template <class T>
TSC_INLINE void add_row(T* sums, const T* row, T factor, int64_t width) {
  for (int64_t j = 0; j < width; ++j) sums[j] += row[j] * factor;
}

// Rows [begin, end) of a tile of columns into `lane_count` lanes, a power of two.
template <class T>
TSC_INLINE void add_rows(T* lanes, int64_t lane_count, const Bag<T>& bag, int64_t first, int64_t width, int64_t begin,
                         int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    if (bag.rows[i] == bag.padding) continue;
    T* lane = lanes + ((i - begin) & (lane_count - 1)) * kTile;
    const T* row = bag.table + bag.rows[i] * bag.columns + first;
    if (bag.factors)
      width == kTile ? add_row(lane, row, bag.factors[i], kTile) : add_row(lane, row, bag.factors[i], width);
    else width == kTile ? add_row(lane, row, kTile) : add_row(lane, row, width);
  }
}

template <class T>
void bag_sum(T* out, const Bag<T>& bag, bool canonical) {
  alignas(64) T lanes[kReduceLanes * kTile];
  for (int64_t first = 0; first < bag.columns; first += kTile) {
    const int64_t width = std::min(kTile, bag.columns - first), chunk = canonical ? kReduceChunk : bag.count;
    std::fill_n(out + first, width, T(0));
    for (int64_t begin = 0; begin < bag.count; begin += chunk) {
      const int64_t end = std::min(bag.count, begin + chunk);
      const auto filled = static_cast<uint64_t>(canonical ? std::min(kReduceLanes, end - begin) : 1);
      const auto used = static_cast<int64_t>(std::bit_ceil(filled));
      std::fill_n(lanes, used * kTile, T(0));
      add_rows(lanes, canonical ? kReduceLanes : 1, bag, first, width, begin, end);
      for (int64_t half = used / 2; half > 0; half /= 2) add_row(lanes, lanes + half * kTile, half * kTile);
      begin == 0 ? static_cast<void>(std::copy_n(lanes, width, out + first)) : add_row(out + first, lanes, width);
    }
  }
}

template <class T>
void bag_largest(T* out, int64_t* from, const Bag<T>& bag) {
  std::fill_n(from, bag.columns, int64_t{-1});
  std::fill_n(out, bag.columns, T(0));
  for (int64_t i = 0; i < bag.count; ++i) {
    const int64_t number = bag.rows[i];
    if (number == bag.padding) continue;
    const T* row = bag.table + number * bag.columns;
    for (int64_t j = 0; j < bag.columns; ++j) {
      const T value = row[j], best = out[j];
      const bool takes = (from[j] < 0) | (value > best) | ((value != value) & (best == best));
      out[j] = takes ? value : best;
      from[j] = takes ? number : from[j];
    }
  }
}

template <class T>
void bag_spread(T* sums, const T* gradient, const Bag<T>& bag, int64_t width) {
  for (int64_t i = 0; i < bag.count; ++i) {
    if (bag.rows[i] == bag.padding) continue;
    T* row = sums + bag.rows[i] * bag.columns;
    if (bag.factors) add_row(row, gradient, bag.factors[i], width);
    else add_row(row, gradient, width);
  }
}

// Lane 0 takes in the others, the farther half first.
template <class T>
TSC_INLINE T joined(T* lanes, int64_t used) {
  for (int64_t half = used / 2; half > 0; half /= 2) add_row(lanes, lanes + half, half);
  return lanes[0];
}

// Adds the margins of a class against the scores from `begin` on to lanes that turn with them, and counts those above
// 0.
template <class T>
TSC_INLINE T add_margins(T* lanes, T start, const T* scores, const T* other, T* slopes, int64_t count) {
  T above = 0;
  for (int64_t j = 0; j < count; ++j) {
    const T margin = start + scores[j];
    const T counts = (other[j] != 0) & (margin > 0) ? T(1) : T(0);
    lanes[j] += counts != 0 ? margin : T(0);
    slopes[j] += counts;
    above += counts;
  }
  return above;
}

template <class T>
T margins(const T* scores, const int64_t* classes, int64_t count, T* other, T* slopes) {
  std::fill_n(other, count, T(1));
  std::fill_n(slopes, count, T(0));
  int64_t named = 0;
  for (; named < count && classes[named] != -1; ++named) other[classes[named]] = 0;
  T lanes[kReduceLanes] = {}, total = 0;
  int64_t place = 0;  // of the element in the row of all pairs
  for (int64_t y = 0; y < named; ++y) {
    const T start = T(1) - scores[classes[y]];
    T above = 0;
    for (int64_t j = 0; j < count;) {
      const int64_t lane = place % kReduceLanes, step = std::min(kReduceLanes - lane, count - j);
      above += add_margins(lanes + lane, start, scores + j, other + j, slopes + j, step);
      j += step;
      place += step;
      if (place % kReduceChunk == 0) {
        total += joined(lanes, kReduceLanes);
        std::fill_n(lanes, kReduceLanes, T(0));
      }
    }
    slopes[classes[y]] -= above;
  }
  return total + joined(lanes, kReduceLanes);
}

// The sum of term(k) for k < columns, in canonical order.
template <class T, class Term>
TSC_INLINE T canonical_sum(int64_t columns, Term term) {
  T total = 0;
  for (int64_t begin = 0; begin < columns; begin += kReduceChunk) {
    const int64_t end = std::min(columns, begin + kReduceChunk);
    alignas(64) T lanes[kReduceLanes] = {};
    int64_t k = begin;
    for (; k + kReduceLanes <= end; k += kReduceLanes)
      for (int64_t l = 0; l < kReduceLanes; ++l) lanes[l] += term(k + l);
    for (int64_t l = 0; k < end; ++k, ++l) lanes[l] += term(k);
    for (int64_t l = 0; l < 32; ++l) lanes[l] += lanes[l + 32];
    for (int64_t l = 0; l < 16; ++l) lanes[l] += lanes[l + 16];
    for (int64_t l = 0; l < 8; ++l) lanes[l] += lanes[l + 8];
    for (int64_t l = 0; l < 4; ++l) lanes[l] += lanes[l + 4];
    const T sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

template <class T>
void bag_products(T* out, const T* gradient, const Bag<T>& bag) {
  for (int64_t i = 0; i < bag.count; ++i) {
    const T* row = bag.table + bag.rows[i] * bag.columns;
    out[i] = bag.rows[i] == bag.padding
                 ? T(0)
                 : canonical_sum<T>(bag.columns, [=](int64_t k) { return gradient[k] * row[k]; });
  }
}

template <class T>
void distances(T* out, const T* x, const T* y, int64_t count, int64_t columns) {
  for (int64_t i = 0; i < count; ++i, y += columns)
    out[i] = scalar::sqrt(canonical_sum<T>(columns, [=](int64_t k) {
      const T apart = x[k] - y[k];
      return apart * apart;
    }));
}

template <class T>
void distance_slopes(T* dx, T* dy, const T* gradient, const T* distance, const T* x, const T* y, int64_t count,
                     int64_t columns, int64_t width) {
  for (int64_t i = 0; i < count; ++i, y += columns, dy += columns) {
    const T slope = distance[i] == 0 ? T(0) : gradient[i] / (distance[i] + distance[i]);
    for (int64_t k = 0; k < width; ++k) {
      const T part = slope * (x[k] - y[k]), both = part + part;
      dx[k] += both;
      dy[k] += -both;
    }
  }
}

template <class T>
[[gnu::flatten]] void sigmoid_row(T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    ScalarMachine<T> machine;
    x[i] = scalar_math::sigmoid(machine, x[i]);
  }
}
template <class T>
[[gnu::flatten]] void tanh_row(T* out, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    ScalarMachine<T> machine;
    out[i] = scalar_math::tanh(machine, x[i]);
  }
}

// What reaches the operand of a sigmoid or of a tanh, as the primitives' gradient rules have it.
template <class T>
TSC_INLINE T through_sigmoid(T gradient, T result) {
  return gradient * (T(1) - result) * result;
}
template <class T>
TSC_INLINE T through_tanh(T gradient, T result) {
  return gradient * (T(1) - result * result);
}

template <class T>
void lstm_slopes(const CellSlopes<T>& slopes) {
  const CellRow<T>& row = slopes.row;
  const int64_t n = row.width;
  T *i = row.own, *f = i + n, *g = f + n, *o = g + n, *d = slopes.d_given;
  sigmoid_row(i, 2 * n);
  tanh_row(g, g, n);
  sigmoid_row(o, n);
  tanh_row(slopes.dh_direct, row.new_c, n);  // no part of the gradient of an LSTM goes there
  for (int64_t k = 0; k < n; ++k) {
    const T c = slopes.dh_direct[k], dc = slopes.dc[k] + through_tanh(slopes.dh[k] * o[k], c);
    d[k] = through_sigmoid(dc * g[k], i[k]);
    d[n + k] = through_sigmoid(dc * row.c[k], f[k]);
    d[2 * n + k] = through_tanh(dc * i[k], g[k]);
    d[3 * n + k] = through_sigmoid(slopes.dh[k] * c, o[k]);
    slopes.dc[k] = dc * f[k];
  }
  std::fill_n(slopes.dh_direct, n, T(0));
}

template <class T>
void gru_slopes(const CellSlopes<T>& slopes) {
  const CellRow<T>& row = slopes.row;
  const int64_t n = row.width;
  // The state's part of the new one stays apart from its sum with the input's.
  T *r = row.own, *z = r + n, *own = z + n, *made = slopes.d_own + 2 * n;
  for (int64_t k = 0; k < 2 * n; ++k) r[k] = row.given[k] + r[k];
  sigmoid_row(r, 2 * n);
  for (int64_t k = 0; k < n; ++k) made[k] = row.given[2 * n + k] + r[k] * own[k];
  tanh_row(made, made, n);
  for (int64_t k = 0; k < n; ++k) {
    const T dh = slopes.dh[k];
    const T d_new = through_tanh(dh * (T(1) - z[k]), made[k]);
    slopes.d_given[k] = slopes.d_own[k] = through_sigmoid(d_new * own[k], r[k]);
    slopes.d_given[n + k] = slopes.d_own[n + k] = through_sigmoid(dh * row.h[k] - dh * made[k], z[k]);
    slopes.d_given[2 * n + k] = d_new;
    slopes.d_own[2 * n + k] = d_new * r[k];
    slopes.dh_direct[k] = dh * z[k];
  }
}

template <class T>
void cell_slopes(Cell cell, const CellSlopes<T>& slopes) {
  const CellRow<T>& row = slopes.row;
  const int64_t n = gates_of(cell) * row.width;
  if (row.bias) add_row(row.own, row.bias, n);
  if (cell == Cell::Gru) return gru_slopes(slopes);
  for (int64_t k = 0; k < n; ++k) row.own[k] = row.given[k] + row.own[k];
  if (cell == Cell::Lstm) {
    lstm_slopes(slopes);
  } else {
    if (cell == Cell::Tanh) tanh_row(row.own, row.own, n);
    for (int64_t k = 0; k < n; ++k)
      slopes.d_given[k] = cell == Cell::Tanh ? through_tanh(slopes.dh[k], row.own[k])
                          : row.own[k] > 0   ? slopes.dh[k]
                                             : T(0);
    std::fill_n(slopes.dh_direct, n, T(0));
  }
  std::copy_n(slopes.d_given, n, slopes.d_own);
}

template <class T>
void lstm_row(const CellRow<T>& row) {
  const int64_t n = row.width;
  T *i = row.own, *f = i + n, *g = f + n, *o = g + n;
  sigmoid_row(i, 2 * n);
  tanh_row(g, g, n);
  sigmoid_row(o, n);
  for (int64_t k = 0; k < n; ++k) row.new_c[k] = f[k] * row.c[k] + i[k] * g[k];
  tanh_row(g, row.new_c, n);
  for (int64_t k = 0; k < n; ++k) row.new_h[k] = o[k] * g[k];
}

template <class T>
void gru_row(const CellRow<T>& row) {
  const int64_t n = row.width;
  T *r = row.own, *z = r + n, *own = z + n;
  for (int64_t k = 0; k < 2 * n; ++k) r[k] = row.given[k] + r[k];
  sigmoid_row(r, 2 * n);
  for (int64_t k = 0; k < n; ++k) own[k] = row.given[2 * n + k] + r[k] * own[k];
  tanh_row(own, own, n);
  for (int64_t k = 0; k < n; ++k) row.new_h[k] = (T(1) - z[k]) * own[k] + z[k] * row.h[k];
}

template <class T>
void cell_row(Cell cell, const CellRow<T>& row) {
  const int64_t n = gates_of(cell) * row.width;
  if (row.bias) add_row(row.own, row.bias, n);
  if (cell == Cell::Gru) return gru_row(row);
  for (int64_t k = 0; k < n; ++k) row.own[k] = row.given[k] + row.own[k];
  if (cell == Cell::Lstm) return lstm_row(row);
  if (cell == Cell::Tanh) return tanh_row(row.new_h, row.own, n);
  for (int64_t k = 0; k < n; ++k) row.new_h[k] = scalar::maximum(row.own[k], T(0));
}

template <class T>
[[gnu::flatten]] void exp_row(T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    ScalarMachine<T> machine;
    x[i] = scalar_math::exp(machine, x[i]);
  }
}
template <class T>
[[gnu::flatten]] void log_row(T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    ScalarMachine<T> machine;
    x[i] = scalar_math::log(machine, x[i]);
  }
}

// Three rows of exp(a - top), exp(b - top), exp(c - top) with the largest as top, 0 where all are -inf; without c two.
template <class T>
void exponentials(T* terms, T* top, const T* a, const T* b, const T* c, int64_t n) {
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    T most = scalar::maximum(a[i], b[i]);
    if (c) most = scalar::maximum(most, c[i]);
    most = most == kLowest ? T(0) : most;
    top[i] = most;
    terms[i] = a[i] - most;
    terms[n + i] = b[i] - most;
    if (c) terms[2 * n + i] = c[i] - most;
  }
  exp_row(terms, (c ? 3 : 2) * n);
}

// totals[i] = the sum of the terms.
template <class T>
void add_terms(T* totals, const T* terms, bool three, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    totals[i] = three ? terms[i] + terms[n + i] + terms[2 * n + i] : terms[i] + terms[n + i];
}

// out = log(exp(a) + exp(b) + exp(c)), -inf where all are.
template <class T>
void add_logarithms(T* out, const T* a, const T* b, const T* c, T* terms, T* top, T* totals, int64_t n) {
  exponentials(terms, top, a, b, c, n);
  add_terms(totals, terms, c != nullptr, n);
  for (int64_t i = 0; i < n; ++i) terms[i] = totals[i] == 0 ? T(1) : totals[i];
  log_row(terms, n);
  for (int64_t i = 0; i < n; ++i) out[i] = totals[i] == 0 ? -std::numeric_limits<T>::infinity() : terms[i] + top[i];
}

// The rows of one pass over the times: the states' logarithms at each time, with two of -inf before them, and work.
template <class T>
struct Paths {
  const PathLoss<T>& loss;
  T *work, *skipped, *terms, *top, *totals;

  Paths(const PathLoss<T>& of, T* memory) : loss(of), work(memory) {
    skipped = memory + std::max<int64_t>(of.times, 1) * (of.states + 2);
    terms = skipped + of.states;
    top = terms + 3 * of.states;
    totals = top + of.states;
  }
  T* at(int64_t t) const { return work + t * (loss.states + 2) + 2; }

  void skip(int64_t t) const {
    for (int64_t s = 0; s < loss.states; ++s)
      skipped[s] = loss.skips[s] ? at(t)[s - 2] : -std::numeric_limits<T>::infinity();
  }
  // Minus the loss, from the last two states.
  T run() const {
    const int64_t n = loss.states, times = std::max<int64_t>(loss.times, 1);
    std::fill_n(work, times * (n + 2), -std::numeric_limits<T>::infinity());
    if (loss.times == 0) at(0)[0] = 0;
    for (int64_t s = 0; loss.times > 0 && s < std::min<int64_t>(n, 2); ++s) at(0)[s] = loss.logarithms[loss.classes[s]];
    for (int64_t t = 1; t < loss.times; ++t) {
      skip(t - 1);
      add_logarithms(at(t), at(t - 1), at(t - 1) - 1, skipped, terms, top, totals, n);
      const T* now = loss.logarithms + t * loss.stride;
      for (int64_t s = 0; s < n; ++s) at(t)[s] += now[loss.classes[s]];
    }
    T found;
    add_logarithms<T>(&found, at(times - 1) + n - 1, at(times - 1) + n - 2, nullptr, terms, top, totals, 1);
    return found;
  }
};

template <class T>
T path_loss(const PathLoss<T>& loss, T* work) {
  return -Paths<T>(loss, work).run() + T(0);
}

// What reaches the terms of a sum of exponentials.
template <class T>
T through_logarithm(T gradient, T total) {
  return total == 0 ? T(0) : gradient / total;
}

template <class T>
void path_slopes(T* slopes, const PathLoss<T>& loss, T gradient, int64_t count, T* work) {
  const Paths<T> paths(loss, work);
  const T found = paths.run();
  const int64_t n = loss.states;
  if (loss.times == 0) return;
  // Gradients of the states at a time, and of those before; two places behind them take what nobody wants.
  T *here = paths.totals + n, *before = here + n + 2;
  std::fill_n(here, n + 2, T(0));
  exponentials<T>(paths.terms, paths.top, paths.at(loss.times - 1) + n - 1, paths.at(loss.times - 1) + n - 2, nullptr,
                  1);
  const T of_total = through_logarithm(-gradient, paths.terms[0] + paths.terms[1]);
  here[n - 1] = of_total * paths.terms[0];
  if (n > 1) here[n - 2] = of_total * paths.terms[1];
  for (int64_t t = loss.times - 1; t >= 0; --t) {
    T* row = slopes + t * loss.stride;
    for (int64_t s = 0; s < (t == 0 ? std::min<int64_t>(n, 2) : n); ++s) row[loss.classes[s]] += here[s];
    if (t == 0) break;
    paths.skip(t - 1);
    exponentials<T>(paths.terms, paths.top, paths.at(t - 1), paths.at(t - 1) - 1, paths.skipped, n);
    add_terms(paths.totals, paths.terms, true, n);
    for (int64_t s = 0; s < n; ++s) {
      const T of = through_logarithm(here[s], paths.totals[s]);
      for (int64_t k = 0; k < 3; ++k) paths.terms[k * n + s] = of * paths.terms[k * n + s];
    }
    for (int64_t s = 0; s < n; ++s) {
      T sum = paths.terms[s];
      if (s + 2 < n) sum += loss.skips[s + 2] ? paths.terms[2 * n + s + 2] : T(0);
      if (s + 1 < n) sum += paths.terms[n + s + 1];
      before[s] = sum;
    }
    std::copy_n(before, n, here);
  }
  // The gradient holds that of log_softmax, whose classes sum to 1 at each time.
  for (int64_t t = 0; t < loss.times; ++t)
    for (int64_t k = 0; k < count; ++k) {
      ScalarMachine<T> machine;
      const T share = scalar_math::exp(machine, loss.logarithms[t * loss.stride + k]);
      slopes[t * loss.stride + k] =
          (found > -std::numeric_limits<T>::infinity() ? gradient : T(0)) * share + slopes[t * loss.stride + k];
    }
}

template <class T>
void corners(T* out, const T* plane, const PlaneCorners<T>& corners) {
  for (int64_t p = 0; p < corners.places; ++p) {
    T total = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const int64_t at = corners.at[corner][p];
      const T term = (at < 0 ? T(0) : plane[at]) * corners.weights[corner][p];
      total = corner == 0 ? term : total + term;
    }
    out[p] = total;
  }
}

// The chain adds what the last corner gives first.
template <class T>
void corner_slopes(T* slopes, const T* gradient, const PlaneCorners<T>& corners, int64_t count, T* work) {
  for (int corner = 3; corner >= 0; --corner) {
    T* to = corner == 3 ? slopes : work;
    std::fill_n(to, count, T(0));
    for (int64_t p = 0; p < corners.places; ++p)
      if (corners.at[corner][p] >= 0) to[corners.at[corner][p]] += gradient[p] * corners.weights[corner][p];
    if (corner < 3) add_row(slopes, work, count);
  }
}

template <class T>
void weight_slopes(T* slopes, const T* gradient, const T* planes, const PlaneCorners<T>& corners, int corner,
                   int64_t plane_count, int64_t count) {
  alignas(64) T lanes[kReduceLanes * kTile];
  for (int64_t first = 0; first < corners.places; first += kTile) {
    const int64_t width = std::min(kTile, corners.places - first);
    for (int64_t begin = 0; begin < plane_count; begin += kReduceChunk) {
      const int64_t end = std::min(plane_count, begin + kReduceChunk);
      const auto used = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(kReduceLanes, end - begin))));
      std::fill_n(lanes, used * kTile, T(0));
      for (int64_t c = begin; c < end; ++c) {
        T* lane = lanes + ((c - begin) & (kReduceLanes - 1)) * kTile;
        const T *plane = planes + c * count, *of = gradient + c * corners.places + first;
        for (int64_t p = 0; p < width; ++p) {
          const int64_t at = corners.at[corner][first + p];
          lane[p] += of[p] * (at < 0 ? T(0) : plane[at]);
        }
      }
      for (int64_t half = used / 2; half > 0; half /= 2) add_row(lanes, lanes + half * kTile, half * kTile);
      begin == 0 ? static_cast<void>(std::copy_n(lanes, width, slopes + first)) : add_row(slopes + first, lanes, width);
    }
  }
}

template <class T>
FusedLoops<T> loops() {
  return {bag_sum<T>,  bag_largest<T>, bag_spread<T>, bag_products<T>, margins<T>, distances<T>,     distance_slopes<T>,
          cell_row<T>, cell_slopes<T>, path_loss<T>,  path_slopes<T>,  corners<T>, corner_slopes<T>, weight_slopes<T>};
}

}  // namespace

FusedTable make_fused_table() { return {loops<float>(), loops<double>()}; }

}  // namespace tsc::TSC_ISA
