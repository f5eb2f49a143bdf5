// Module `_linalg`: the factorizations of runtime/linalg on tensors, for torch.linalg. Matrices are
// column-major there: the library hands in transposed views and takes such. Keeps: arguments are
// copied, nothing is recorded for gradients.
#include <cmath>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/host_access.h"
#include "interpreter/tensor/native_math.h"
#include "runtime/linalg/factor.h"

namespace tsc::interp {
namespace {

// A contiguous copy of a float32 or float64 tensor of at least `rank` axes, which a routine may
// overwrite.
Tensor fresh(Vm& vm, const Value& v, const char* what, int64_t rank = 2) {
  TensorObject* x = expect_tensor(vm, v, what);
  const DType dtype = x->tensor.dtype();
  if ((dtype != DType::F32 && dtype != DType::F64) || x->tensor.rank() < rank)
    raise_type_error(vm, std::string("'") + what + "' must be matrices of float32 or float64");
  TensorObject* operands[] = {x};
  return run_eager(vm, Op::copy, operands, {}, {}).first->tensor;
}

// A contiguous tensor that is only read.
Tensor given(Vm& vm, const Value& v, const char* what, DType dtype) {
  const Tensor& x = expect_tensor(vm, v, what)->tensor;
  if (x.dtype() != dtype || !x.is_contiguous())
    raise_type_error(vm, std::string("'") + what + "' must be contiguous, of " + std::string(dtype_name(dtype)));
  return x;
}

bool same_batch(const Tensor& a, const Tensor& b, int64_t axes_of_a, int64_t axes_of_b) {
  if (a.rank() - axes_of_a != b.rank() - axes_of_b) return false;
  for (int64_t axis = 0; axis < a.rank() - axes_of_a; ++axis)
    if (a.size(axis) != b.size(axis)) return false;
  return true;
}

void expect_fit(Vm& vm, bool fits) {
  if (!fits) raise_value_error(vm, "the operands' shapes do not fit each other");
}

int64_t rows(const Tensor& x) { return x.size(x.rank() - 1); }
int64_t columns(const Tensor& x) { return x.size(x.rank() - 2); }

Value tuple_of(Vm& vm, std::initializer_list<Tensor> tensors) {
  Local<TupleObject> tuple = make_tuple(vm, tensors.size());
  size_t i = 0;
  for (const Tensor& x : tensors) tuple->items[i++] = make_tensor(vm, x).take();
  return tuple.take();
}

Tensor fresh_square(Vm& vm, const Value& v) {
  Tensor a = fresh(vm, v, "a");
  expect_fit(vm, rows(a) == columns(a));
  return a;
}
// What was factored before, for a solution of `b`: the factors, and their pivots.
void expect_factors(Vm& vm, const Tensor& factors, const Tensor& pivots, const Tensor& b) {
  expect_fit(vm, factors.rank() >= 2 && rows(factors) == columns(factors) && rows(factors) == rows(b) &&
                     same_batch(factors, b, 2, 2) && same_batch(factors, pivots, 2, 1) &&
                     pivots.size(pivots.rank() - 1) == rows(factors));
}

Value cholesky(Vm& vm, Args& args) {
  Tensor a = fresh_square(vm, args[0]);
  const linalg::Factored found = linalg::cholesky(std::move(a));
  return tuple_of(vm, {found.matrix, found.info});
}

Value lu(Vm& vm, Args& args) {
  const linalg::Exchanged found = linalg::lu(fresh(vm, args[0], "a"));
  return tuple_of(vm, {found.matrix, found.pivots, found.info});
}

// A pivot outside of the matrix would be an exchange with foreign memory.
void check_pivots(const Tensor& pivots, int64_t n, bool paired) {
  if (pivots.is_meta()) return;
  const int32_t* values = pivots.data_as<int32_t>();
  for (int64_t i = 0; i < pivots.numel(); ++i) {
    const int64_t value = paired ? std::abs(int64_t{values[i]}) : values[i];
    if (value < 1 || value > n)
      throw Error(ErrorKind::RuntimeError, "Pivots given to lu_solve must all be greater or equal to 1 and at most " +
                                               std::to_string(n) + ". Did you properly pass the result of lu_factor?");
  }
}

Value lu_solve(Vm& vm, Args& args) {
  Tensor b = fresh(vm, args[2], "b");
  const Tensor factors = given(vm, args[0], "lu", b.dtype());
  const Tensor pivots = given(vm, args[1], "pivots", DType::I32);
  expect_factors(vm, factors, pivots, b);
  check_pivots(pivots, rows(factors), false);
  return make_tensor(vm, linalg::lu_solve(factors, pivots, std::move(b), truth(vm, args[3]))).take();
}

// permutation(pivots, rows): where each row of L @ U came from (int64), for LAPACK's exchanges.
Value permutation(Vm& vm, Args& args) {
  const Tensor pivots = given(vm, args[0], "pivots", DType::I32);
  const int64_t size = to_index(vm, args[1], "rows");
  if (pivots.rank() < 1 || size < 0) raise_value_error(vm, "pivots are vectors of rows");
  check_pivots(pivots, size, false);
  Sizes sizes = pivots.sizes();
  const int64_t steps = sizes.back();
  if (steps > size) raise_value_error(vm, "more pivots than rows");
  sizes.back() = size;
  if (pivots.is_meta()) return make_tensor(vm, Tensor::meta(DType::I64, sizes)).take();
  Tensor out = Tensor::empty(DType::I64, sizes);
  const int64_t count = size ? out.numel() / size : 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t* order = out.data_as<int64_t>() + i * size;
    for (int64_t row = 0; row < size; ++row) order[row] = row;
    for (int64_t row = 0; row < steps; ++row)
      std::swap(order[row], order[pivots.data_as<int32_t>()[i * steps + row] - 1]);
  }
  return make_tensor(vm, std::move(out)).take();
}

Value ldl(Vm& vm, Args& args) {
  Tensor a = fresh_square(vm, args[0]);
  const linalg::Exchanged found = linalg::ldl(std::move(a));
  return tuple_of(vm, {found.matrix, found.pivots, found.info});
}

Value ldl_solve(Vm& vm, Args& args) {
  Tensor b = fresh(vm, args[2], "b");
  const Tensor factors = given(vm, args[0], "ldl", b.dtype());
  const Tensor pivots = given(vm, args[1], "pivots", DType::I32);
  expect_factors(vm, factors, pivots, b);
  check_pivots(pivots, rows(factors), true);
  return make_tensor(vm, linalg::ldl_solve(factors, pivots, std::move(b))).take();
}

Value solve_triangular(Vm& vm, Args& args) {
  Tensor b = fresh(vm, args[1], "b");
  const Tensor a = given(vm, args[0], "a", b.dtype());
  expect_fit(vm, a.rank() >= 2 && rows(a) == columns(a) && rows(a) == rows(b) && same_batch(a, b, 2, 2));
  return make_tensor(vm, linalg::solve_triangular(a, std::move(b), truth(vm, args[2]), truth(vm, args[3]))).take();
}

Value qr(Vm& vm, Args& args) {
  const linalg::Reflected found = linalg::qr(fresh(vm, args[0], "a"));
  return tuple_of(vm, {found.matrix, found.tau});
}

Value reflectors_product(Vm& vm, Args& args) {
  Tensor a = fresh(vm, args[0], "a");
  const Tensor tau = given(vm, args[1], "tau", a.dtype());
  expect_fit(vm, tau.rank() >= 1 && same_batch(a, tau, 2, 1) && rows(a) >= columns(a) &&
                     tau.size(tau.rank() - 1) <= columns(a));
  return make_tensor(vm, linalg::reflectors_product(std::move(a), tau)).take();
}

Value reflectors_times(Vm& vm, Args& args) {
  Tensor c = fresh(vm, args[2], "c");
  const Tensor a = given(vm, args[0], "a", c.dtype()), tau = given(vm, args[1], "tau", c.dtype());
  const bool left = truth(vm, args[3]);
  expect_fit(vm, a.rank() >= 2 && tau.rank() >= 1 && same_batch(a, tau, 2, 1) && same_batch(a, c, 2, 2) &&
                     rows(a) == (left ? rows(c) : columns(c)) && tau.size(tau.rank() - 1) <= columns(a) &&
                     tau.size(tau.rank() - 1) <= rows(a));
  return make_tensor(vm, linalg::reflectors_times(a, tau, std::move(c), left, truth(vm, args[4]))).take();
}

Value eigh(Vm& vm, Args& args) {
  Tensor a = fresh_square(vm, args[0]);
  const linalg::Spectrum found = linalg::eigh(std::move(a), truth(vm, args[1]), truth(vm, args[2]));
  return tuple_of(vm, {found.values, found.matrix, found.info});
}

Value svd(Vm& vm, Args& args) {
  const std::string_view job = text_of(vm, args[1], "job");
  if (job != "N" && job != "S" && job != "A") raise_value_error(vm, "'job' must be N, S or A");
  const linalg::Singular found = linalg::svd(fresh(vm, args[0], "a"), job[0]);
  return tuple_of(vm, {found.u, found.s, found.vt, found.info});
}

Value eig(Vm& vm, Args& args) {
  Tensor a = fresh_square(vm, args[0]);
  const linalg::ComplexSpectrum found = linalg::eig(std::move(a), truth(vm, args[1]));
  return tuple_of(vm, {found.real, found.imaginary, found.vectors, found.info});
}

// A contiguous copy of a complex tensor of at least two axes, which a routine may overwrite.
Tensor fresh_complex(Vm& vm, const Value& v, bool square = false) {
  TensorObject* x = expect_tensor(vm, v, "a");
  if (!is_complex(x->tensor.dtype()) || x->tensor.rank() < 2)
    raise_type_error(vm, "'a' must be matrices of complex numbers");
  TensorObject* operands[] = {x};
  Tensor a = run_eager(vm, Op::copy, operands, {}, {}).first->tensor;
  expect_fit(vm, !square || rows(a) == columns(a));
  return a;
}

Value complex_lu(Vm& vm, Args& args) {
  const linalg::Exchanged found = linalg::complex_lu(fresh_complex(vm, args[0]));
  return tuple_of(vm, {found.matrix, found.pivots, found.info});
}

Value complex_ldl(Vm& vm, Args& args) {
  Tensor a = fresh_complex(vm, args[0]);
  expect_fit(vm, rows(a) == columns(a));
  const linalg::Exchanged found = linalg::complex_ldl(std::move(a), truth(vm, args[1]));
  return tuple_of(vm, {found.matrix, found.pivots, found.info});
}

Value complex_ldl_solve(Vm& vm, Args& args) {
  Tensor b = fresh_complex(vm, args[2]);
  const Tensor factors = given(vm, args[0], "ldl", b.dtype());
  const Tensor pivots = given(vm, args[1], "pivots", DType::I32);
  expect_factors(vm, factors, pivots, b);
  check_pivots(pivots, rows(factors), true);
  return make_tensor(vm, linalg::complex_ldl_solve(factors, pivots, std::move(b), truth(vm, args[3]))).take();
}

Value complex_qr(Vm& vm, Args& args) {
  const linalg::Reflected found = linalg::complex_qr(fresh_complex(vm, args[0]));
  return tuple_of(vm, {found.matrix, found.tau});
}

Value complex_reflectors_product(Vm& vm, Args& args) {
  Tensor a = fresh_complex(vm, args[0]);
  const Tensor tau = given(vm, args[1], "tau", a.dtype());
  expect_fit(vm, tau.rank() >= 1 && same_batch(a, tau, 2, 1) && rows(a) >= columns(a) &&
                     tau.size(tau.rank() - 1) <= columns(a));
  return make_tensor(vm, linalg::complex_reflectors_product(std::move(a), tau)).take();
}

Value complex_eigh(Vm& vm, Args& args) {
  const linalg::Spectrum found =
      linalg::complex_eigh(fresh_complex(vm, args[0], true), truth(vm, args[1]), truth(vm, args[2]));
  return tuple_of(vm, {found.values, found.matrix, found.info});
}

Value complex_svd(Vm& vm, Args& args) {
  const std::string_view job = text_of(vm, args[1], "job");
  if (job != "N" && job != "S" && job != "A") raise_value_error(vm, "'job' must be N, S or A");
  const linalg::Singular found = linalg::complex_svd(fresh_complex(vm, args[0]), job[0]);
  return tuple_of(vm, {found.u, found.s, found.vt, found.info});
}

Value complex_eig(Vm& vm, Args& args) {
  const linalg::Spectrum found = linalg::complex_eig(fresh_complex(vm, args[0], true), truth(vm, args[1]));
  return tuple_of(vm, {found.values, found.matrix, found.info});
}

Value lstsq(Vm& vm, Args& args) {
  Tensor a = fresh(vm, args[0], "a"), b = fresh(vm, args[1], "b");
  const std::string_view driver = text_of(vm, args[2], "driver");
  Scalar rcond;
  if (driver.size() != 1 || std::string_view("lyds").find(driver) == std::string_view::npos ||
      !number_of(args[3], &rcond))
    raise_value_error(vm, "'driver' must be l, y, d or s, and 'rcond' a number");
  expect_fit(vm, a.dtype() == b.dtype() && same_batch(a, b, 2, 2) && rows(b) == std::max(rows(a), columns(a)));
  const linalg::LeastSquares found = linalg::lstsq(std::move(a), std::move(b), driver[0], rcond.as_float());
  return tuple_of(vm, {found.solution, found.rank, found.singular, found.info});
}

Local<ModuleObject> make_linalg(Vm& vm) {
  ModuleBuilder module(vm, "_linalg");
  module.function("cholesky", "a", with_access<cholesky>)
      .function("lu", "a", with_access<lu>)
      .function("lu_solve", "lu, pivots, b, transposed", with_access<lu_solve>)
      .function("permutation", "pivots, rows", with_access<permutation>)
      .function("ldl", "a", with_access<ldl>)
      .function("ldl_solve", "ldl, pivots, b", with_access<ldl_solve>)
      .function("solve_triangular", "a, b, upper, unit", with_access<solve_triangular>)
      .function("qr", "a", with_access<qr>)
      .function("reflectors_product", "a, tau", with_access<reflectors_product>)
      .function("reflectors_times", "a, tau, c, left, transposed", with_access<reflectors_times>)
      .function("eigh", "a, upper, vectors", with_access<eigh>)
      .function("svd", "a, job", with_access<svd>)
      .function("eig", "a, vectors", with_access<eig>)
      .function("complex_lu", "a", with_access<complex_lu>)
      .function("complex_ldl", "a, hermitian", with_access<complex_ldl>)
      .function("complex_ldl_solve", "ldl, pivots, b, hermitian", with_access<complex_ldl_solve>)
      .function("complex_qr", "a", with_access<complex_qr>)
      .function("complex_reflectors_product", "a, tau", with_access<complex_reflectors_product>)
      .function("complex_eigh", "a, upper, vectors", with_access<complex_eigh>)
      .function("complex_svd", "a, job", with_access<complex_svd>)
      .function("complex_eig", "a, vectors", with_access<complex_eig>)
      .function("lstsq", "a, b, driver, rcond", with_access<lstsq>);
  return module.finish();
}

}  // namespace

void register_linalg(Vm& vm) { register_native_module(vm, "_linalg", make_linalg); }

}  // namespace tsc::interp
