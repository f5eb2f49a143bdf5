#include "jit/region/region.h"

int main() {
  tsc::jit::Region region;
  return region.add_input(tsc::jit::ValueKind::Int) == 0 ? 0 : 1;
}
