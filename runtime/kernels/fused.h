#pragma once
// Loops of functions that the library also writes as several primitives, without the rows between them: what runs where
// nothing is compiled. Each gives the bits of those primitives. Knows raw contiguous memory of float or double; shapes,
// checks and gradients are the library's work (module `_fused`).
#include <cstdint>

#include "runtime/device/device.h"

namespace tsc {

// A bag: rows of a table, each times its factor where there are factors; rows numbered `padding` are left out.
template <class T>
struct Bag {
  const T* table;
  int64_t columns;
  const int64_t* rows;
  int64_t count;
  const T* factors;  // null: none
  int64_t padding;   // negative: none
};

// Cells of recurrent layers, by their gates: i, f, g, o of an LSTM; r, z, n of a GRU.
enum class Cell : uint8_t { Tanh, Relu, Lstm, Gru };
inline constexpr int64_t gates_of(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }

// One row of a batch at one time. `given` is what the input gives to the gates, `own` what the state gives, to which
// `bias` is added where there is one; its memory is used up. `c` and `new_c` are the LSTM's.
template <class T>
struct CellRow {
  const T* given;
  T* own;
  const T *bias, *h, *c;
  T *new_h, *new_c;
  int64_t width;
};

// The gradient of a cell's row, from `dh` and `dc`, those of its new state. `dc` becomes that of the state before; that
// of `h` has the part `dh_direct` beside what `d_own` gives through the weight. `d_own` and `d_given` are the same but
// for a GRU.
template <class T>
struct CellSlopes {
  CellRow<T> row;  // its new_c is known
  const T* dh;
  T *dc, *d_given, *d_own, *dh_direct;
};

// The loss of one sequence of ctc_loss: the logarithms of all paths through its states, each of which has a class. A
// state that `skips` may also follow the last but one.
template <class T>
struct PathLoss {
  const T* logarithms;  // of all classes at the first time
  int64_t stride;       // to those of the next
  int64_t times, states;
  const int64_t* classes;
  const bool* skips;
  int64_t work() const { return (times + 9) * (states + 2); }  // elements
};

// The four elements around each place in a plane: where they lie, -1 outside, and their weights.
template <class T>
struct PlaneCorners {
  int64_t places;
  const int64_t* at[4];
  const T* weights[4];
};

template <class T>
struct FusedLoops {
  // The sum of a bag's rows: in the canonical order of a reduction (runtime/kernels/reduce.h), or one after the other.
  void (*bag_sum)(T* out, const Bag<T>& bag, bool canonical);
  // The largest elements of a bag's rows and the number of the row that each is from; -1 where no row counts.
  void (*bag_largest)(T* out, int64_t* from, const Bag<T>& bag);
  // sums[rows[i]] += gradient times its factor, for every row of the bag that counts, in `width` columns.
  void (*bag_spread)(T* sums, const T* gradient, const Bag<T>& bag, int64_t width);
  // The products of a gradient with each of a bag's rows, as sums in canonical order; 0 for a row that does not count.
  void (*bag_products)(T* out, const T* gradient, const Bag<T>& bag);
  // The loss of one row of multilabel_margin_loss before its mean, and the slopes of the scores. `classes` end at the
  // first -1. `other` has room for the row.
  T (*margins)(const T* scores, const int64_t* classes, int64_t count, T* other, T* slopes);
  // The distances between row x and `count` rows y, and their sums of squares in canonical order.
  void (*distances)(T* out, const T* x, const T* y, int64_t count, int64_t columns);
  // Adds the gradient of such distances in `width` columns: to x in order, and its opposite to each y.
  void (*distance_slopes)(T* dx, T* dy, const T* gradient, const T* distance, const T* x, const T* y, int64_t count,
                          int64_t columns, int64_t width);
  void (*cell)(Cell cell, const CellRow<T>& row);
  void (*cell_slopes)(Cell cell, const CellSlopes<T>& slopes);
  T (*path_loss)(const PathLoss<T>& loss, T* work);
  // `slopes` has the logarithms' places, zeros, and becomes their gradient, `count` classes at each time.
  void (*path_slopes)(T* slopes, const PathLoss<T>& loss, T gradient, int64_t count, T* work);
  void (*corners)(T* out, const T* plane, const PlaneCorners<T>& corners);
  // The gradient of a plane of `count` elements, from that of the places; `work` has room for such a plane.
  void (*corner_slopes)(T* slopes, const T* gradient, const PlaneCorners<T>& corners, int64_t count, T* work);
  // And that of a corner's weights: the sums over planes, in canonical order.
  void (*weight_slopes)(T* slopes, const T* gradient, const T* planes, const PlaneCorners<T>& corners, int corner,
                        int64_t plane_count, int64_t count);
};

struct FusedTable {
  FusedLoops<float> f32;
  FusedLoops<double> f64;
  template <class T>
  const FusedLoops<T>& of() const {
    if constexpr (sizeof(T) == 4) return f32;
    else return f64;
  }
};

const FusedTable& fused_loops(Isa isa);

}  // namespace tsc
