#include "runtime/kernels/vector/matmul_rows.h"

#include "runtime/kernels/matmul_kernels.h"

namespace tsc::TSC_ISA {

void fill_matmul_rows(MatmulKernels& table) {
  table.c64 = {split_columns<float>, complex_product_row<float>};
  table.c128 = {split_columns<double>, complex_product_row<double>};
  auto one = [&]<DType kDType>() {
    if constexpr (kDType != DType::Bool) table.row[static_cast<int>(kDType)] = product_row<StorageOf<kDType>>;
  };
#define DTYPE(id, ...) one.template operator()<DType::id>();
#include "runtime/tensor/dtypes.def"
}

}  // namespace tsc::TSC_ISA
