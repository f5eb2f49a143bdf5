#include "runtime/kernels/vector/unary.h"

namespace tsc::TSC_ISA {

void fill_unary(KernelTable& table) {
#define TSC_ROW_Float(name)
#define TSC_ROW_Attribute(name)
#define TSC_ROW_Number(name) TSC_FILL_UNARY(name, Number)
#define TSC_ROW_Integer(name) TSC_FILL_UNARY(name, Integer)
#define TSC_ROW_Bool(name) TSC_FILL_UNARY(name, Bool)
#include "runtime/kernels/vector/unary_rows.h"
}

}  // namespace tsc::TSC_ISA
