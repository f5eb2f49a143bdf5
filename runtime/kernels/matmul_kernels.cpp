#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/table_of_isa.h"

namespace tsc {

#define TSC_DECLARE_FILLS(isa)                 \
  namespace isa {                              \
  void fill_matmul_f32(MatmulKernels& table);  \
  void fill_matmul_f64(MatmulKernels& table);  \
  void fill_matmul_rows(MatmulKernels& table); \
  static MatmulKernels make_matmul_kernels() { \
    MatmulKernels table{};                     \
    fill_matmul_f32(table);                    \
    fill_matmul_f64(table);                    \
    fill_matmul_rows(table);                   \
    return table;                              \
  }                                            \
  }

TSC_DECLARE_FILLS(baseline)
#ifdef TSC_X86_KERNELS
TSC_DECLARE_FILLS(avx2)
TSC_DECLARE_FILLS(avx512)
#endif

const MatmulKernels& matmul_kernels(Isa isa) { return table_of_isa(isa, TSC_MAKERS(make_matmul_kernels)); }

}  // namespace tsc
