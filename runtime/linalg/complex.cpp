// Decompositions of complex matrices. What a system of equations needs is made of real matrices of twice the size, by
// the library in script; here is what is not found so: eigenvalues and singular values with their vectors, QR, LU, LDL.
#include <algorithm>
#include <complex>

#include "runtime/linalg/batch.h"
#include "runtime/linalg/factor.h"

namespace tsc::linalg {
namespace {

// Calls visit with a value of the type of each part.
template <class Visit>
void visit_complex(const Tensor& x, Visit&& visit) {
  if (x.dtype() == DType::C64) visit(float{});
  else visit(double{});
}

DType part_of(const Tensor& x) { return x.dtype() == DType::C64 ? DType::F32 : DType::F64; }

template <class T>
std::complex<T>* numbers(const Tensor& x) {
  return reinterpret_cast<std::complex<T>*>(x.data_as<Complex<T>>());
}

}  // namespace

Exchanged complex_lu(Tensor a) {
  Tensor pivots = beside(a, DType::I32, {std::min(a.size(a.rank() - 1), a.size(a.rank() - 2))});
  Tensor info = beside(a, DType::I32, {});
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a);
    const auto& routines = complex_lapack<T>();
    const int64_t steps = std::min(m.rows, m.columns);
    each_matrix(m.count, m.size() * m.rows * 2, [&](int64_t i) {
      routines.getrf(&m.rows, &m.columns, m.at(i), &m.lead, pivots.data_as<Int>() + i * steps, info.data_as<Int>() + i);
    });
  });
  return {std::move(a), std::move(pivots), std::move(info)};
}

Exchanged complex_ldl(Tensor a, bool hermitian) {
  Tensor pivots = beside(a, DType::I32, {a.size(a.rank() - 1)});
  Tensor info = beside(a, DType::I32, {});
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a);
    const auto factor = hermitian ? complex_lapack<T>().hetrf : complex_lapack<T>().sytrf;
    each_matrix(m.count, m.size() * m.rows * 4 / 3, [&](int64_t i) {
      with_work<std::complex<T>>([&](std::complex<T>* work, Int size) {
        factor("L", &m.rows, m.at(i), &m.lead, pivots.data_as<Int>() + i * m.rows, work, &size, info.data_as<Int>() + i,
               1);
      });
    });
  });
  return {std::move(a), std::move(pivots), std::move(info)};
}

Tensor complex_ldl_solve(const Tensor& ldl, const Tensor& pivots, Tensor b, bool hermitian) {
  visit_complex(b, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(ldl), right(b);
    const auto solve = hermitian ? complex_lapack<T>().hetrs : complex_lapack<T>().sytrs;
    each_matrix(m.count, m.size() * right.columns * 4, [&](int64_t i) {
      Int info;
      solve("L", &m.rows, &right.columns, m.at(i), &m.lead, pivots.data_as<Int>() + i * m.rows, right.at(i),
            &right.lead, &info, 1);
    });
  });
  return b;
}

Reflected complex_qr(Tensor a) {
  const int64_t steps = std::min(a.size(a.rank() - 1), a.size(a.rank() - 2));
  Tensor tau = beside(a, a.dtype(), {steps});
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a);
    const auto& routines = complex_lapack<T>();
    each_matrix(m.count, m.size() * steps * 8, [&](int64_t i) {
      Int info;
      with_work<std::complex<T>>([&](std::complex<T>* work, Int size) {
        routines.geqrf(&m.rows, &m.columns, m.at(i), &m.lead, numbers<T>(tau) + i * steps, work, &size, &info);
      });
    });
  });
  return {std::move(a), std::move(tau)};
}

Tensor complex_reflectors_product(Tensor a, const Tensor& tau) {
  const int64_t taus = tau.size(tau.rank() - 1);
  const Int steps = to_int(taus);
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a);
    const auto& routines = complex_lapack<T>();
    each_matrix(m.count, m.size() * taus * 8, [&](int64_t i) {
      Int info;
      with_work<std::complex<T>>([&](std::complex<T>* work, Int size) {
        routines.ungqr(&m.rows, &m.columns, &steps, m.at(i), &m.lead, numbers<T>(tau) + i * taus, work, &size, &info);
      });
    });
  });
  return a;
}

Spectrum complex_eigh(Tensor a, bool upper, bool vectors) {
  Tensor values = beside(a, part_of(a), {a.size(a.rank() - 1)});
  Tensor info = beside(a, DType::I32, {});
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a);
    const auto& routines = complex_lapack<T>();
    each_matrix(m.count, m.size() * m.rows * 16, [&](int64_t i) {
      Int index_size = -1, real_size = -1, index_wish = 1;
      T real_wish = 1;
      std::vector<Int> index(1);
      std::vector<T> real(1);
      with_work<std::complex<T>>([&](std::complex<T>* work, Int size) {
        if (size >= 0) {
          index_size = std::max<Int>(index_wish, 1);
          real_size = std::max<Int>(static_cast<Int>(real_wish), 1);
          index.resize(static_cast<size_t>(index_size));
          real.resize(static_cast<size_t>(real_size));
        }
        routines.heevd(vectors ? "V" : "N", upper ? "U" : "L", &m.rows, m.at(i), &m.lead,
                       values.data_as<T>() + i * m.rows, work, &size, real.data(), &real_size, index.data(),
                       &index_size, info.data_as<Int>() + i, 1, 1);
        index_wish = index[0];
        real_wish = real[0];
      });
    });
  });
  return {std::move(values), std::move(a), std::move(info)};
}

Singular complex_svd(Tensor a, char job) {
  const int64_t rows = a.size(a.rank() - 1), columns = a.size(a.rank() - 2);
  const int64_t least = std::min(rows, columns), most = std::max(rows, columns);
  const int64_t width = job == 'N' ? 0 : job == 'A' ? rows : least;
  const int64_t height = job == 'N' ? 0 : job == 'A' ? columns : least;
  Singular out{beside(a, a.dtype(), {width, rows}), beside(a, part_of(a), {least}),
               beside(a, a.dtype(), {columns, height}), beside(a, DType::I32, {})};
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a), u(out.u), vt(out.vt);
    const auto& routines = complex_lapack<T>();
    const char jobs[] = {job, '\0'};
    // gesdd's rwork: at least small * max(5 small + 7, 2 large + 2 small + 1).
    const auto real_size =
        static_cast<size_t>(std::max<int64_t>(least * std::max(5 * least + 7, 2 * most + 2 * least + 1), 1));
    each_matrix(m.count, m.size() * least * 32, [&](int64_t i) {
      std::vector<Int> index(static_cast<size_t>(8 * std::max<int64_t>(least, 1)));
      std::vector<T> real(real_size);
      with_work<std::complex<T>>([&](std::complex<T>* work, Int size) {
        routines.gesdd(jobs, &m.rows, &m.columns, m.at(i), &m.lead, out.s.data_as<T>() + i * least, u.at(i), &u.lead,
                       vt.at(i), &vt.lead, work, &size, real.data(), index.data(), out.info.data_as<Int>() + i, 1);
      });
    });
  });
  return out;
}

Spectrum complex_eig(Tensor a, bool vectors) {
  const int64_t n = a.size(a.rank() - 1), side = vectors ? n : 0;
  Spectrum out{beside(a, a.dtype(), {n}), beside(a, a.dtype(), {side, side}), beside(a, DType::I32, {})};
  visit_complex(a, [&]<class T>(T) {
    const Matrices<std::complex<T>> m(a), v(out.matrix);
    const auto& routines = complex_lapack<T>();
    const Int one = 1;
    each_matrix(m.count, m.size() * m.rows * 40, [&](int64_t i) {
      std::vector<T> real(static_cast<size_t>(std::max<int64_t>(2 * n, 1)));
      with_work<std::complex<T>>([&](std::complex<T>* work, Int size) {
        routines.geev("N", vectors ? "V" : "N", &m.rows, m.at(i), &m.lead, numbers<T>(out.values) + i * n, nullptr,
                      &one, v.at(i), &v.lead, work, &size, real.data(), out.info.data_as<Int>() + i, 1, 1);
      });
    });
  });
  return out;
}

}  // namespace tsc::linalg
