#include "runtime/kernels/vector/matmul_checks.h"
#include "runtime/kernels/vector/matmul_pack.h"
#include "runtime/kernels/vector/matmul_tile.h"
#include "runtime/kernels/vector/matmul_turned.h"

namespace tsc::TSC_ISA {

void fill_matmul_f32(MatmulKernels& table) {
#if defined(__AVX512F__)
  fill_tiles<float, 4, 6>(table.f32);
  fill_tiles<float, 3, 8>(table.f32);
  fill_tiles<float, 2, 12>(table.f32);
  fill_tiles<float, 1, 14>(table.f32);
#elif defined(TSC_TILES)
  fill_tiles<float, 2, 6>(table.f32);
  fill_tiles<float, 1, 12>(table.f32);
#endif
#ifdef TSC_TILES
  fill_turned<float>(table.turned_f32);
  fill_turned<BFloat16>(table.turned_bf16);
#endif
  table.checks_f32 = float_checks<float>();
  table.pack_f32 = pack<float, float>;
  table.pack_bf16 = pack<BFloat16, float>;
  table.pack_f16 = pack<Float16, float>;
}

}  // namespace tsc::TSC_ISA
