#pragma once
// What the name before the cursor could become. Knows: the Vm's namespaces. Must not know: a
// terminal. Keeps: runs no script code.
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::embed {

struct Completion {
  std::size_t begin;  // where the name to replace begins
  std::vector<std::string> names;
};

Completion complete(interp::Vm& vm, interp::ModuleObject* module, std::string_view text,
                    std::size_t cursor);

}  // namespace tsc::embed
