#pragma once
// Modules and attributes of modules of Python's library, and some that model files import from elsewhere, that are not
// here: why, and what to use. Knows: names. Must not know: the engine. Keeps: one row a module, in absent_modules.cpp.
#include <span>
#include <string_view>

namespace tsc::interp {

struct AbsentModule {
  std::string_view name;
  std::string_view why;  // the reason and the replacement, one clause each
};

std::span<const AbsentModule> absent_modules();

// Of a dotted name: the row of the name itself, or of a package that it lies in; empty without one.
std::string_view absent_module(std::string_view name);

// Of `module.name`: the row of that attribute, or empty.
std::string_view absent_attribute(std::string_view name);

}  // namespace tsc::interp
