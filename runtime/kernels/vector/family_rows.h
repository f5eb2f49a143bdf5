// Expands TSC_ROW_<rule>(name) for every row of the family that TSC_FAMILY_<family> names. Included
// several times, so it has no guard.
#ifndef TSC_FAMILY_Unary
#define TSC_FAMILY_Unary(name, rule)
#endif
#ifndef TSC_FAMILY_Binary
#define TSC_FAMILY_Binary(name, rule)
#endif
#define TSC_FAMILY_Ternary(name, rule)
#define TSC_FAMILY_Create(name, rule)
#define TSC_FAMILY_View(name, rule)
#define TSC_FAMILY_Move(name, rule)
#define TSC_FAMILY_Index(name, rule)
#define TSC_FAMILY_Reduce(name, rule)
#define TSC_FAMILY_Scan(name, rule)
#define TSC_FAMILY_Sort(name, rule)
#define TSC_FAMILY_Contract(name, rule)
#define TSC_FAMILY_Window(name, rule)
#define OP(name, family, tensors, scalars, rule, flags, domain, doc) TSC_FAMILY_##family(name, rule)
#include "runtime/ops/ops.def"
