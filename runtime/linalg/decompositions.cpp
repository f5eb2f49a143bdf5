// QR, eigenvalues, singular values and least squares.
#include <algorithm>

#include "runtime/linalg/batch.h"
#include "runtime/linalg/factor.h"

namespace tsc::linalg {

Reflected qr(Tensor a) {
  Tensor tau = beside(a, a.dtype(), {std::min(a.size(a.rank() - 1), a.size(a.rank() - 2))});
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a);
    const auto& routines = lapack<T>();
    const int64_t steps = std::min(m.rows, m.columns);
    each_matrix(m.count, m.size() * steps, [&](int64_t i) {
      with_work<T>([&](T* work, Int size) {
        Int info;
        routines.geqrf(&m.rows, &m.columns, m.at(i), &m.lead, tau.data_as<T>() + i * steps, work, &size, &info);
      });
    });
  });
  return {std::move(a), std::move(tau)};
}

Tensor reflectors_product(Tensor a, const Tensor& tau) {
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a);
    const auto& routines = lapack<T>();
    const Int steps = to_int(tau.size(tau.rank() - 1));
    each_matrix(m.count, m.size() * steps, [&](int64_t i) {
      with_work<T>([&](T* work, Int size) {
        Int info;
        routines.orgqr(&m.rows, &m.columns, &steps, m.at(i), &m.lead, tau.data_as<T>() + i * steps, work, &size, &info);
      });
    });
  });
  return a;
}

Tensor reflectors_times(const Tensor& a, const Tensor& tau, Tensor c, bool left, bool transposed) {
  visit_float(c, [&]<class T>(T) {
    const Matrices<T> m(a), product(c);
    const auto& routines = lapack<T>();
    const Int steps = to_int(tau.size(tau.rank() - 1));
    each_matrix(product.count, product.size() * steps, [&](int64_t i) {
      with_work<T>([&](T* work, Int size) {
        Int info;
        routines.ormqr(left ? "L" : "R", transposed ? "T" : "N", &product.rows, &product.columns, &steps, m.at(i),
                       &m.lead, tau.data_as<T>() + i * steps, product.at(i), &product.lead, work, &size, &info, 1, 1);
      });
    });
  });
  return c;
}

Spectrum eigh(Tensor a, bool upper, bool vectors) {
  Tensor values = beside(a, a.dtype(), {a.size(a.rank() - 1)});
  Tensor info = beside(a, DType::I32, {});
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a);
    const auto& routines = lapack<T>();
    each_matrix(m.count, m.size() * m.rows * 4, [&](int64_t i) {
      Int index_size = -1, wish = 1;
      std::vector<Int> index(1);
      with_work<T>([&](T* work, Int size) {
        if (size >= 0) {
          index_size = std::max<Int>(wish, 1);
          index.resize(static_cast<size_t>(index_size));
        }
        routines.syevd(vectors ? "V" : "N", upper ? "U" : "L", &m.rows, m.at(i), &m.lead,
                       values.data_as<T>() + i * m.rows, work, &size, index.data(), &index_size,
                       info.data_as<Int>() + i, 1, 1);
        wish = index[0];
      });
    });
  });
  return {std::move(values), std::move(a), std::move(info)};
}

Singular svd(Tensor a, char job) {
  const int64_t rows = a.size(a.rank() - 1), columns = a.size(a.rank() - 2);
  const int64_t least = std::min(rows, columns);
  const int64_t width = job == 'N' ? 0 : job == 'A' ? rows : least;
  const int64_t height = job == 'N' ? 0 : job == 'A' ? columns : least;
  Singular out{beside(a, a.dtype(), {width, rows}), beside(a, a.dtype(), {least}),
               beside(a, a.dtype(), {columns, height}), beside(a, DType::I32, {})};
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a), u(out.u), vt(out.vt);
    const auto& routines = lapack<T>();
    const char jobs[] = {job, '\0'};
    each_matrix(m.count, m.size() * least * 8, [&](int64_t i) {
      std::vector<Int> index(static_cast<size_t>(8 * std::max<int64_t>(least, 1)));
      with_work<T>([&](T* work, Int size) {
        routines.gesdd(jobs, &m.rows, &m.columns, m.at(i), &m.lead, out.s.data_as<T>() + i * least, u.at(i), &u.lead,
                       vt.at(i), &vt.lead, work, &size, index.data(), out.info.data_as<Int>() + i, 1);
      });
    });
  });
  return out;
}

ComplexSpectrum eig(Tensor a, bool vectors) {
  const int64_t n = a.size(a.rank() - 1), side = vectors ? n : 0;
  ComplexSpectrum out{beside(a, a.dtype(), {n}), beside(a, a.dtype(), {n}), beside(a, a.dtype(), {side, side}),
                      beside(a, DType::I32, {})};
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a), v(out.vectors);
    const auto& routines = lapack<T>();
    const Int one = 1;
    each_matrix(m.count, m.size() * m.rows * 10, [&](int64_t i) {
      with_work<T>([&](T* work, Int size) {
        routines.geev("N", vectors ? "V" : "N", &m.rows, m.at(i), &m.lead, out.real.data_as<T>() + i * n,
                      out.imaginary.data_as<T>() + i * n, nullptr, &one, v.at(i), &v.lead, work, &size,
                      out.info.data_as<Int>() + i, 1, 1);
      });
    });
  });
  return out;
}

namespace {

template <class T>
void least_squares_of(const Matrices<T>& m, const Matrices<T>& right, int64_t i, char driver, T rcond, Int* rank,
                      T* singular, Int* info) {
  const auto& routines = lapack<T>();
  const Int small = std::max<Int>(std::min(m.rows, m.columns), 1);
  // gelsd's iwork is at least 3 small levels + 11 small, with at most 32 levels.
  std::vector<Int> index(static_cast<size_t>(std::max<int64_t>(int64_t{107} * small, m.columns)));
  with_work<T>([&](T* work, Int size) {
    switch (driver) {
      case 'l':
        return routines.gels("N", &m.rows, &m.columns, &right.columns, m.at(i), &m.lead, right.at(i), &right.lead, work,
                             &size, info, 1);
      case 'y':
        std::fill(index.begin(), index.end(), 0);
        return routines.gelsy(&m.rows, &m.columns, &right.columns, m.at(i), &m.lead, right.at(i), &right.lead,
                              index.data(), &rcond, rank, work, &size, info);
      case 'd':
        return routines.gelsd(&m.rows, &m.columns, &right.columns, m.at(i), &m.lead, right.at(i), &right.lead, singular,
                              &rcond, rank, work, &size, index.data(), info);
      default:
        return routines.gelss(&m.rows, &m.columns, &right.columns, m.at(i), &m.lead, right.at(i), &right.lead, singular,
                              &rcond, rank, work, &size, info);
    }
  });
}

}  // namespace

LeastSquares lstsq(Tensor a, Tensor b, char driver, double rcond) {
  const int64_t least = std::min(a.size(a.rank() - 1), a.size(a.rank() - 2));
  LeastSquares out{std::move(b), beside(a, DType::I64, {}), beside(a, a.dtype(), {least}), beside(a, DType::I32, {})};
  visit_float(a, [&]<class T>(T) {
    const Matrices<T> m(a), right(out.solution);
    lapack<T>();
    each_matrix(m.count, m.size() * least * 8, [&](int64_t i) {
      Int rank = 0;
      least_squares_of(m, right, i, driver, static_cast<T>(rcond), &rank, out.singular.data_as<T>() + i * least,
                       out.info.data_as<Int>() + i);
      out.rank.data_as<int64_t>()[i] = rank;
    });
  });
  return out;
}

}  // namespace tsc::linalg
