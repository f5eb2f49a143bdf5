#include "runtime/fft/stages.h"

#include "runtime/kernels/table_of_isa.h"

namespace tsc::fft {

#define TSC_DECLARE_FFT(isa) \
  namespace isa {            \
  Stages make_stages();      \
  }

TSC_DECLARE_FFT(baseline)
#ifdef TSC_X86_KERNELS
TSC_DECLARE_FFT(avx2)
TSC_DECLARE_FFT(avx512)
#endif

const Stages& stages(Isa isa) { return table_of_isa(isa, TSC_MAKERS(make_stages)); }

}  // namespace tsc::fft
