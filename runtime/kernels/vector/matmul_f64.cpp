#include "runtime/kernels/vector/matmul_checks.h"
#include "runtime/kernels/vector/matmul_pack.h"
#include "runtime/kernels/vector/matmul_tile.h"
#include "runtime/kernels/vector/matmul_turned.h"

namespace tsc::TSC_ISA {

void fill_matmul_f64(MatmulKernels& table) {
#if defined(__AVX512F__)
  fill_tiles<double, 4, 6>(table.f64);
  fill_tiles<double, 3, 8>(table.f64);
  fill_tiles<double, 2, 12>(table.f64);
  fill_tiles<double, 1, 14>(table.f64);
#elif defined(TSC_TILES)
  fill_tiles<double, 2, 6>(table.f64);
  fill_tiles<double, 1, 12>(table.f64);
#endif
#ifdef TSC_TILES
  fill_turned<double>(table.turned_f64);
#endif
  table.checks_f64 = float_checks<double>();
  table.pack_f64 = pack<double, double>;
}

}  // namespace tsc::TSC_ISA
