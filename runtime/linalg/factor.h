#pragma once
// Factorizations of batches of matrices through LAPACK: solvers, decompositions, eigenvalues. The
// room knows tensors and LAPACK, no graph, no gradient and no script.
//
// Matrices are column-major, as LAPACK has them: the last axis of a tensor runs down a column, the
// last but one over the columns. Callers hand in fresh contiguous float32 or float64 tensors, which
// are overwritten where a result has their shape; leading axes are the batch. Matrices of a batch
// are independent, so threads change no bit. `info` is LAPACK's for each matrix (int32): 0, or what
// went wrong.
#include "runtime/tensor/tensor.h"

namespace tsc::linalg {

// The lower Cholesky factor in the lower triangle; the rest of the matrix stays.
struct Factored {
  Tensor matrix, info;
};
Factored cholesky(Tensor a);

// P @ L @ U in one matrix, with LAPACK's row exchanges (from 1 on).
struct Exchanged {
  Tensor matrix, pivots, info;
};
Exchanged lu(Tensor a);
// x of A x = b, or of A^T x = b.
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, Tensor b, bool transposed);
Exchanged ldl(Tensor a);
Tensor ldl_solve(const Tensor& ldl, const Tensor& pivots, Tensor b);

// x of A x = b for a triangular A; zeros on the diagonal give infinities, as arithmetic does.
Tensor solve_triangular(const Tensor& a, Tensor b, bool upper, bool unit);

// R in the upper triangle, reflectors below; and the reflectors' scales.
struct Reflected {
  Tensor matrix, tau;
};
Reflected qr(Tensor a);
// The first columns of Q, as many as the matrix has.
Tensor reflectors_product(Tensor a, const Tensor& tau);
// Q @ c or c @ Q, transposed or not, for square Q.
Tensor reflectors_times(const Tensor& a, const Tensor& tau, Tensor c, bool left, bool transposed);

// Ascending eigenvalues of symmetric matrices, of which the lower or the upper triangle is read;
// the vectors, where wanted, are in `matrix`.
struct Spectrum {
  Tensor values, matrix, info;
};
Spectrum eigh(Tensor a, bool upper, bool vectors);

// A = U @ diag(S) @ Vt with S descending. Job 'N': S alone; 'S': as many vectors as S has values;
// 'A': all.
struct Singular {
  Tensor u, s, vt, info;
};
Singular svd(Tensor a, char job);

// Eigenvalues of any square matrix in two parts, real and imaginary. Vectors as LAPACK's geev
// leaves them: of a pair of conjugate values the first column is the real part, the second the
// imaginary one.
struct ComplexSpectrum {
  Tensor real, imaginary, vectors, info;
};
ComplexSpectrum eig(Tensor a, bool vectors);

// The same of complex matrices: complex64 or complex128 tensors; what is real of the results, the values of a Hermitian
// matrix and singular values, is of the dtype of a part. Eigenvalues of any square matrix are complex tensors here.
Exchanged complex_lu(Tensor a);
// Of Hermitian matrices, or of symmetric ones.
Exchanged complex_ldl(Tensor a, bool hermitian);
Tensor complex_ldl_solve(const Tensor& ldl, const Tensor& pivots, Tensor b, bool hermitian);
Reflected complex_qr(Tensor a);
Tensor complex_reflectors_product(Tensor a, const Tensor& tau);
Spectrum complex_eigh(Tensor a, bool upper, bool vectors);
Singular complex_svd(Tensor a, char job);
Spectrum complex_eig(Tensor a, bool vectors);

// Least squares by LAPACK's driver 'l' (gels), 'y', 'd' or 's'. b has as many rows as the larger
// side of A; the solution is in its first rows. Rank (int64) and singular values where the driver
// finds them.
struct LeastSquares {
  Tensor solution, rank, singular, info;
};
LeastSquares lstsq(Tensor a, Tensor b, char driver, double rcond);

}  // namespace tsc::linalg
