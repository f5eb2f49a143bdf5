#include "runtime/kernels/vector/convolve_direct.h"

namespace tsc::TSC_ISA {

void fill_convolve_f32(ConvolveTables& tables) {
#ifdef TSC_TILES
  tables.f32 = convolve_kernels<float, float>();
  tables.bf16 = convolve_kernels<BFloat16, float>();
  tables.f16 = convolve_kernels<Float16, float>();
#endif
  (void)tables;
}

}  // namespace tsc::TSC_ISA
