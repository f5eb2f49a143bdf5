#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/table_of_isa.h"

namespace tsc {

#define TSC_DECLARE_FILLS(isa)                \
  namespace isa {                             \
  void fill_unary(KernelTable& table);        \
  void fill_unary_float(KernelTable& table);  \
  void fill_unary_rare(KernelTable& table);   \
  void fill_binary(KernelTable& table);       \
  void fill_binary_float(KernelTable& table); \
  void fill_ternary(KernelTable& table);      \
  void fill_cast(KernelTable& table);         \
  void fill_complex(KernelTable& table);      \
  void fill_reduce(KernelTable& table);       \
  void fill_random(KernelTable& table);       \
  static KernelTable make_table() {           \
    KernelTable table{};                      \
    fill_unary(table);                        \
    fill_unary_float(table);                  \
    fill_unary_rare(table);                   \
    fill_binary(table);                       \
    fill_binary_float(table);                 \
    fill_ternary(table);                      \
    fill_cast(table);                         \
    fill_complex(table);                      \
    fill_reduce(table);                       \
    fill_random(table);                       \
    return table;                             \
  }                                           \
  }

TSC_DECLARE_FILLS(baseline)
#ifdef TSC_X86_KERNELS
TSC_DECLARE_FILLS(avx2)
TSC_DECLARE_FILLS(avx512)
#endif

const KernelTable& kernel_table(Isa isa) { return table_of_isa(isa, TSC_MAKERS(make_table)); }

}  // namespace tsc
