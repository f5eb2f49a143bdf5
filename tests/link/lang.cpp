#include "lang/emit/compile.h"

int main() {
  auto source = std::make_shared<const tsc::lang::Source>("a.tsc", "x = 1\n");
  return tsc::lang::compile_module(source).code ? 0 : 1;
}
