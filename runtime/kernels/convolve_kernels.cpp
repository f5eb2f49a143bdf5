#include "runtime/kernels/convolve_kernels.h"
#include "runtime/kernels/table_of_isa.h"

namespace tsc {

#define TSC_DECLARE_FILLS(isa)                     \
  namespace isa {                                  \
  void fill_convolve_f32(ConvolveTables& tables);  \
  void fill_convolve_f64(ConvolveTables& tables);  \
  void fill_convolve_rows(ConvolveTables& tables); \
  void fill_window_argmax(ConvolveTables& tables); \
  static ConvolveTables make_convolve_tables() {   \
    ConvolveTables tables{};                       \
    fill_convolve_f32(tables);                     \
    fill_convolve_f64(tables);                     \
    fill_convolve_rows(tables);                    \
    fill_window_argmax(tables);                    \
    return tables;                                 \
  }                                                \
  }

TSC_DECLARE_FILLS(baseline)
#ifdef TSC_X86_KERNELS
TSC_DECLARE_FILLS(avx2)
TSC_DECLARE_FILLS(avx512)
#endif

const ConvolveTables& convolve_tables(Isa isa) { return table_of_isa(isa, TSC_MAKERS(make_convolve_tables)); }

}  // namespace tsc
