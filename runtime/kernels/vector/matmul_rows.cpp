#include "runtime/kernels/vector/matmul_rows.h"

#include "runtime/kernels/matmul_kernels.h"

namespace tsc::TSC_ISA {

void fill_matmul_rows(MatmulKernels& table) {
  auto set = [&](DType dtype, RowKernel kernel) { table.row[static_cast<int>(dtype)] = kernel; };
  set(DType::U8, product_row<uint8_t>);
  set(DType::I32, product_row<int32_t>);
  set(DType::I64, product_row<int64_t>);
  set(DType::BF16, product_row<BFloat16>);
  set(DType::F32, product_row<float>);
  set(DType::F64, product_row<double>);
}

}  // namespace tsc::TSC_ISA
