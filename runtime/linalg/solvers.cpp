// Cholesky, LU, LDL and triangular systems.
#include <algorithm>

#include "runtime/linalg/batch.h"
#include "runtime/linalg/factor.h"

namespace tsc::linalg {

Factored cholesky(Tensor a) {
  Tensor info = beside(a, DType::I32, {});
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a);
    const auto& routines = lapack<T>();
    each_matrix(m.count, m.size() * m.rows / 3,
                [&](int64_t i) { routines.potrf("L", &m.rows, m.at(i), &m.lead, info.data_as<Int>() + i, 1); });
  });
  return {std::move(a), std::move(info)};
}

Exchanged lu(Tensor a) {
  Tensor pivots = beside(a, DType::I32, {std::min(a.size(a.rank() - 1), a.size(a.rank() - 2))});
  Tensor info = beside(a, DType::I32, {});
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a);
    const auto& routines = lapack<T>();
    const int64_t steps = std::min(m.rows, m.columns);
    each_matrix(m.count, m.size() * m.rows / 2, [&](int64_t i) {
      routines.getrf(&m.rows, &m.columns, m.at(i), &m.lead, pivots.data_as<Int>() + i * steps, info.data_as<Int>() + i);
    });
  });
  return {std::move(a), std::move(pivots), std::move(info)};
}

Tensor lu_solve(const Tensor& lu, const Tensor& pivots, Tensor b, bool transposed) {
  visit_float(b, [&]<class T>(T) {
    const Matrices<T> m(lu), right(b);
    const auto& routines = lapack<T>();
    each_matrix(m.count, m.size() * right.columns, [&](int64_t i) {
      Int info;
      routines.getrs(transposed ? "T" : "N", &m.rows, &right.columns, m.at(i), &m.lead,
                     pivots.data_as<Int>() + i * m.rows, right.at(i), &right.lead, &info, 1);
    });
  });
  return b;
}

Exchanged ldl(Tensor a) {
  Tensor pivots = beside(a, DType::I32, {a.size(a.rank() - 1)});
  Tensor info = beside(a, DType::I32, {});
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a);
    const auto& routines = lapack<T>();
    each_matrix(m.count, m.size() * m.rows / 3, [&](int64_t i) {
      with_work<T>([&](T* work, Int size) {
        routines.sytrf("L", &m.rows, m.at(i), &m.lead, pivots.data_as<Int>() + i * m.rows, work, &size,
                       info.data_as<Int>() + i, 1);
      });
    });
  });
  return {std::move(a), std::move(pivots), std::move(info)};
}

Tensor ldl_solve(const Tensor& ldl, const Tensor& pivots, Tensor b) {
  visit_float(b, [&]<class T>(T) {
    const Matrices<T> m(ldl), right(b);
    const auto& routines = lapack<T>();
    each_matrix(m.count, m.size() * right.columns, [&](int64_t i) {
      Int info;
      routines.sytrs("L", &m.rows, &right.columns, m.at(i), &m.lead, pivots.data_as<Int>() + i * m.rows, right.at(i),
                     &right.lead, &info, 1);
    });
  });
  return b;
}

Tensor solve_triangular(const Tensor& a, Tensor b, bool upper, bool unit) {
  visit_float(b, [&]<class T>(T) {
    const Matrices<T> m(a), right(b);
    const auto& routines = lapack<T>();
    const T one = 1;
    each_matrix(m.count, m.size() * right.columns / 2, [&](int64_t i) {
      routines.trsm("L", upper ? "U" : "L", "N", unit ? "U" : "N", &right.rows, &right.columns, &one, m.at(i), &m.lead,
                    right.at(i), &right.lead, 1, 1, 1, 1);
    });
  });
  return b;
}

}  // namespace tsc::linalg
