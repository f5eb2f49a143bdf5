// dot: the batched matrix product.
#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr int64_t kBlockK = 512;

template <class S>
void dot_rows(const Tensor& a, const Tensor& b, const Tensor& out) {
  using C = decltype(load_element(static_cast<const S*>(nullptr)));
  using A = std::conditional_t<std::is_integral_v<C>, int64_t, C>;
  int64_t rows = a.size(1), columns = b.size(2), depth = a.size(2);
  const S *x = a.data_as<S>(), *y = b.data_as<S>();
  S* result = out.data_as<S>();
  parallel_for(a.size(0) * rows, grain_for(0.5 * columns * depth + 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row)
                   for (int64_t column = 0; column < columns; ++column) {
                     A total = 0;
                     for (int64_t first = 0; first < depth; first += kBlockK) {
                       A block = 0;
                       for (int64_t k = first; k < std::min(depth, first + kBlockK); ++k) {
                         A left = load_element(x + row * depth + k);
                         A right = load_element(y + (row / rows * depth + k) * columns + column);
                         if constexpr (std::is_integral_v<C>)
                           block = TSC_ISA::scalar::add(block, TSC_ISA::scalar::mul(left, right));
                         else
                           block = TSC_ISA::scalar::fma(left, right, block);
                       }
                       total = first == 0 ? block : TSC_ISA::scalar::add(total, block);
                     }
                     store_element(result + row * columns + column, static_cast<C>(total));
                   }
               });
}

}  // namespace

OpResults run_contract(const OpCall& call) {
  Tensor out = empty_result(call);
  if (out.numel() == 0) return {std::move(out), {}};
  Tensor a = contiguous(call.tensors[0]), b = contiguous(call.tensors[1]);
  visit_dtype(out.dtype(), [&]<class S>() { dot_rows<S>(a, b, out); });
  return {std::move(out), {}};
}

}  // namespace tsc
