#include "runtime/kernels/fused.h"

#include "runtime/kernels/table_of_isa.h"

namespace tsc {

#define TSC_DECLARE_FUSED(isa)   \
  namespace isa {                \
  FusedTable make_fused_table(); \
  }

TSC_DECLARE_FUSED(baseline)
#ifdef TSC_X86_KERNELS
TSC_DECLARE_FUSED(avx2)
TSC_DECLARE_FUSED(avx512)
#endif

const FusedTable& fused_loops(Isa isa) { return table_of_isa(isa, TSC_MAKERS(make_fused_table)); }

}  // namespace tsc
