#include "runtime/kernels/vector/binary.h"

namespace tsc::TSC_ISA {

void fill_binary_float(KernelTable& table) {
#define TSC_ROW_Float(name) TSC_FILL_BINARY(name, Float)
#define TSC_ROW_Same(name)
#define TSC_ROW_Number(name) TSC_FILL_BINARY(name, Number)
#define TSC_ROW_Integer(name)
#define TSC_ROW_Bool(name)
#include "runtime/kernels/vector/binary_rows.h"
}

}  // namespace tsc::TSC_ISA
