#include "runtime/kernels/vector/binary.h"

namespace tsc::TSC_ISA {

void fill_binary(KernelTable& table) {
#define TSC_ROW_Float(name)
#define TSC_ROW_Same(name) TSC_FILL_BINARY(name, Same)
#define TSC_ROW_Number(name)
#define TSC_ROW_Integer(name) TSC_FILL_BINARY(name, Integer)
#define TSC_ROW_Bool(name) TSC_FILL_BINARY(name, Bool)
#include "runtime/kernels/vector/binary_rows.h"
}

}  // namespace tsc::TSC_ISA
