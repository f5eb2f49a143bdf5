#include "runtime/kernels/convolve_kernels.h"

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

const ConvolveTables& convolve_tables(Isa isa) {
#ifdef TSC_X86_KERNELS
  if (isa == Isa::Avx512) {
    static const ConvolveTables tables = avx512::make_convolve_tables();
    return tables;
  }
  if (isa == Isa::Avx2) {
    static const ConvolveTables tables = avx2::make_convolve_tables();
    return tables;
  }
#endif
  (void)isa;
  static const ConvolveTables tables = baseline::make_convolve_tables();
  return tables;
}

}  // namespace tsc
