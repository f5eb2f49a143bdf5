#include "runtime/base/error.h"

int main() { return tsc::error_kind_name(tsc::ErrorKind::ValueError) == "ValueError" ? 0 : 1; }
