#include "runtime/kernels/vector/convolve_direct.h"

namespace tsc::TSC_ISA {

void fill_convolve_f64(ConvolveTables& tables) {
#ifdef TSC_TILES
  tables.f64 = convolve_kernels<double, double>();
#endif
  (void)tables;
}

}  // namespace tsc::TSC_ISA
