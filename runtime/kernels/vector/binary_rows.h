// The binary rows of ops.def, through the TSC_ROW_<rule> macros of the including file.
#define TSC_FAMILY_Binary(name, rule) TSC_ROW_##rule(name)
#include "runtime/kernels/vector/family_rows.h"
