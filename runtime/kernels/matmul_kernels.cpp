#include "runtime/kernels/matmul_kernels.h"

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

const MatmulKernels& matmul_kernels(Isa isa) {
#ifdef TSC_X86_KERNELS
  if (isa == Isa::Avx512) {
    static const MatmulKernels table = avx512::make_matmul_kernels();
    return table;
  }
  if (isa == Isa::Avx2) {
    static const MatmulKernels table = avx2::make_matmul_kernels();
    return table;
  }
#endif
  (void)isa;
  static const MatmulKernels table = baseline::make_matmul_kernels();
  return table;
}

}  // namespace tsc
