#include "stdlib/embedded.h"

int main() { return tsc::stdlib::end() > tsc::stdlib::begin() ? 0 : 1; }
