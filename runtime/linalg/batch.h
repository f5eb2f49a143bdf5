#pragma once
// What the factorizations share: a tensor seen as a batch of column-major matrices.
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/linalg/lapack.h"
#include "runtime/tensor/tensor.h"

namespace tsc::linalg {

inline Int to_int(int64_t size) {
  if (size > std::numeric_limits<Int>::max())
    throw Error(ErrorKind::ValueError,
                "torch.linalg: a matrix of " + std::to_string(size) + " rows or columns is more than LAPACK can count");
  return static_cast<Int>(size);
}

// The matrices of one operand, none of a meta tensor; `lead` is at least 1, which LAPACK demands of empty ones too.
template <class T>
struct Matrices {
  T* data;
  Int rows, columns, lead;
  int64_t count;
  explicit Matrices(const Tensor& x)
      : data(x.is_meta() ? nullptr : x.data_as<T>()), rows(to_int(x.size(x.rank() - 1))),
        columns(to_int(x.size(x.rank() - 2))), lead(std::max<Int>(rows, 1)), count(x.is_meta() ? 0 : 1) {
    for (int64_t axis = 0; axis < x.rank() - 2; ++axis) count *= x.size(axis);
  }
  int64_t size() const { return int64_t{rows} * columns; }
  T* at(int64_t i) const { return data + i * size(); }
};

inline Sizes batch_sizes(const Tensor& x, int64_t matrix_axes = 2) {
  Sizes sizes;
  for (int64_t axis = 0; axis < x.rank() - matrix_axes; ++axis) sizes.push_back(x.size(axis));
  return sizes;
}

// Tensors of the batch of x with these axes behind it.
inline Tensor beside(const Tensor& x, DType dtype, std::initializer_list<int64_t> more) {
  Sizes sizes = batch_sizes(x);
  for (int64_t size : more) sizes.push_back(size);
  return x.is_meta() ? Tensor::meta(dtype, sizes) : Tensor::empty(dtype, sizes);
}

// Calls body(i) for every matrix of a batch, on several threads where each is worth it.
template <class Body>
void each_matrix(int64_t count, int64_t elements, Body body) {
  const double nanoseconds = 50.0 + 2.0 * static_cast<double>(elements);
  parallel_for(count, grain_for(nanoseconds), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

// Calls visit with a value of the element type.
template <class Visit>
decltype(auto) visit_float(const Tensor& x, Visit&& visit) {
  return x.dtype() == DType::F32 ? visit(float{}) : visit(double{});
}

// Work space as a routine asks for it: call(work, size) with size -1 leaves the wish in *work, or in its real part.
template <class T, class Call>
void with_work(Call call) {
  T wish{};
  call(&wish, Int{-1});
  const Int size = std::max<Int>(static_cast<Int>(std::real(wish)), 1);
  std::vector<T> work(static_cast<size_t>(size));
  call(work.data(), size);
}

}  // namespace tsc::linalg
