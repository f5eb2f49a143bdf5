#pragma once
// LAPACK's routines, found at run time: the library is opened at the first factorization, so
// programs that need none do not load it and a machine without it runs everything else.
// LAPACK_ROUTINES lists what is used; each exists for float and double. Matrices are column-major;
// every argument is passed by address, and the lengths of the character arguments follow at the
// end, as gfortran has it.
#include <complex>
#include <cstddef>

namespace tsc::linalg {

using Int = int;
using Length = size_t;
using Text = const char*;
using Number = const Int*;

// TSC_ROUTINE(name without the letter of the type, arguments)
#define LAPACK_ROUTINES(TSC_ROUTINE)                                                                                   \
  TSC_ROUTINE(potrf, Text, Number n, T* a, Number lda, Int* info, Length)                                              \
  TSC_ROUTINE(getrf, Number m, Number n, T* a, Number lda, Int* pivots, Int* info)                                     \
  TSC_ROUTINE(getrs, Text, Number n, Number count, const T* a, Number lda, const Int* pivots, T* b, Number ldb,        \
              Int* info, Length)                                                                                       \
  TSC_ROUTINE(geqrf, Number m, Number n, T* a, Number lda, T* tau, T* work, Number lwork, Int* info)                   \
  TSC_ROUTINE(orgqr, Number m, Number n, Number k, T* a, Number lda, const T* tau, T* work, Number lwork, Int* info)   \
  TSC_ROUTINE(ormqr, Text, Text, Number m, Number n, Number k, const T* a, Number lda, const T* tau, T* c, Number ldc, \
              T* work, Number lwork, Int* info, Length, Length)                                                        \
  TSC_ROUTINE(syevd, Text, Text, Number n, T* a, Number lda, T* w, T* work, Number lwork, Int* iwork, Number liwork,   \
              Int* info, Length, Length)                                                                               \
  TSC_ROUTINE(gesdd, Text, Number m, Number n, T* a, Number lda, T* s, T* u, Number ldu, T* vt, Number ldvt, T* work,  \
              Number lwork, Int* iwork, Int* info, Length)                                                             \
  TSC_ROUTINE(geev, Text, Text, Number n, T* a, Number lda, T* wr, T* wi, T* vl, Number ldvl, T* vr, Number ldvr,      \
              T* work, Number lwork, Int* info, Length, Length)                                                        \
  TSC_ROUTINE(sytrf, Text, Number n, T* a, Number lda, Int* pivots, T* work, Number lwork, Int* info, Length)          \
  TSC_ROUTINE(sytrs, Text, Number n, Number count, const T* a, Number lda, const Int* pivots, T* b, Number ldb,        \
              Int* info, Length)                                                                                       \
  TSC_ROUTINE(gels, Text, Number m, Number n, Number count, T* a, Number lda, T* b, Number ldb, T* work, Number lwork, \
              Int* info, Length)                                                                                       \
  TSC_ROUTINE(gelsy, Number m, Number n, Number count, T* a, Number lda, T* b, Number ldb, Int* jpvt, const T* rcond,  \
              Int* rank, T* work, Number lwork, Int* info)                                                             \
  TSC_ROUTINE(gelsd, Number m, Number n, Number count, T* a, Number lda, T* b, Number ldb, T* s, const T* rcond,       \
              Int* rank, T* work, Number lwork, Int* iwork, Int* info)                                                 \
  TSC_ROUTINE(gelss, Number m, Number n, Number count, T* a, Number lda, T* b, Number ldb, T* s, const T* rcond,       \
              Int* rank, T* work, Number lwork, Int* info)                                                             \
  TSC_ROUTINE(trsm, Text, Text, Text, Text, Number m, Number n, const T* alpha, const T* a, Number lda, T* b,          \
              Number ldb, Length, Length, Length, Length)

// Those that are used for complex numbers: C is the type of the numbers, T that of their parts.
#define COMPLEX_LAPACK_ROUTINES(TSC_ROUTINE)                                                                          \
  TSC_ROUTINE(getrf, Number m, Number n, C* a, Number lda, Int* pivots, Int* info)                                    \
  TSC_ROUTINE(geqrf, Number m, Number n, C* a, Number lda, C* tau, C* work, Number lwork, Int* info)                  \
  TSC_ROUTINE(ungqr, Number m, Number n, Number k, C* a, Number lda, const C* tau, C* work, Number lwork, Int* info)  \
  TSC_ROUTINE(heevd, Text, Text, Number n, C* a, Number lda, T* w, C* work, Number lwork, T* rwork, Number lrwork,    \
              Int* iwork, Number liwork, Int* info, Length, Length)                                                   \
  TSC_ROUTINE(gesdd, Text, Number m, Number n, C* a, Number lda, T* s, C* u, Number ldu, C* vt, Number ldvt, C* work, \
              Number lwork, T* rwork, Int* iwork, Int* info, Length)                                                  \
  TSC_ROUTINE(sytrf, Text, Number n, C* a, Number lda, Int* pivots, C* work, Number lwork, Int* info, Length)         \
  TSC_ROUTINE(hetrf, Text, Number n, C* a, Number lda, Int* pivots, C* work, Number lwork, Int* info, Length)         \
  TSC_ROUTINE(sytrs, Text, Number n, Number count, const C* a, Number lda, const Int* pivots, C* b, Number ldb,       \
              Int* info, Length)                                                                                      \
  TSC_ROUTINE(hetrs, Text, Number n, Number count, const C* a, Number lda, const Int* pivots, C* b, Number ldb,       \
              Int* info, Length)                                                                                      \
  TSC_ROUTINE(geev, Text, Text, Number n, C* a, Number lda, C* w, C* vl, Number ldvl, C* vr, Number ldvr, C* work,    \
              Number lwork, T* rwork, Int* info, Length, Length)

template <class T>
struct ComplexLapack {
  using C = std::complex<T>;
#define TSC_ROUTINE(name, ...) void (*name)(__VA_ARGS__) = nullptr;
  COMPLEX_LAPACK_ROUTINES(TSC_ROUTINE)
#undef TSC_ROUTINE
};

template <class T>
struct Lapack {
#define TSC_ROUTINE(name, ...) void (*name)(__VA_ARGS__) = nullptr;
  LAPACK_ROUTINES(TSC_ROUTINE)
#undef TSC_ROUTINE
};

// The routines for float or double. RuntimeError, with what to install, where there is no LAPACK.
template <class T>
const Lapack<T>& lapack();
// Those for complex numbers with parts of this type.
template <class T>
const ComplexLapack<T>& complex_lapack();

}  // namespace tsc::linalg
