#pragma once
// Which of several tables of kernels a machine takes. The files of kernels are compiled once for each instruction set,
// each into a namespace of its own with a function that makes its table.
#include "runtime/device/device.h"

#ifdef TSC_X86_KERNELS
#define TSC_MAKERS(name) baseline::name, avx2::name, avx512::name
#else
#define TSC_MAKERS(name) baseline::name, baseline::name, baseline::name
#endif

namespace tsc {

// The table for an instruction set, made when it is first asked for: table_of_isa(isa, TSC_MAKERS(make_table)).
template <class Table>
const Table& table_of_isa(Isa isa, Table (*baseline)(), Table (*avx2)(), Table (*avx512)()) {
  if (isa == Isa::Avx512) {
    static const Table table = avx512();
    return table;
  }
  if (isa == Isa::Avx2) {
    static const Table table = avx2();
    return table;
  }
  static const Table table = baseline();
  return table;
}

}  // namespace tsc
