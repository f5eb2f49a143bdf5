// The unary rows of ops.def, through the TSC_ROW_<rule> macros of the including file.
#define TSC_FAMILY_Unary(name, rule) TSC_ROW_##rule(name)
#include "runtime/kernels/vector/family_rows.h"
