#include "runtime/kernels/vector/unary.h"

namespace tsc::TSC_ISA {

void fill_unary_float(KernelTable& table) {
#define TSC_ROW_Float(name) TSC_FILL_UNARY(name, Float)
#define TSC_ROW_Attribute(name)
#define TSC_ROW_Number(name)
#define TSC_ROW_Integer(name)
#define TSC_ROW_Bool(name)
#include "runtime/kernels/vector/unary_rows.h"
}

}  // namespace tsc::TSC_ISA
