#pragma once
// What the name before the cursor could become. Knows: the Vm's namespaces. Must not know: a
// terminal. Keeps: runs no script code.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::embed {

struct Completion {
  std::size_t begin;  // where the name to replace begins
  std::vector<std::string> names;
};

Completion complete(interp::Vm& vm, interp::ModuleObject* module, std::string_view text, std::size_t cursor);

using NameSet = std::set<std::string, std::less<>>;

// The names that a namespace holds.
void add_keys(interp::DictObject* dict, NameSet& names);

// False when the text does not end inside an import statement. `parent`: the dotted name before the cursor
// without its last part.
bool complete_import(interp::Vm& vm, std::string_view text, std::string_view parent, NameSet& names);

}  // namespace tsc::embed
