#pragma once
// What a value is, for a person: signature, documentation, place, source. Behind help(x), x? and
// x?? of the prompt. Knows: objects. Must not know: the command line.
#include <string>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::embed {

// "f(a, b=1)\n    What f does.\ndefined in a.tsc:12", and the source below when asked for.
std::string describe(interp::Vm& vm, const interp::Value& value, bool with_source);

// The names a call of the value may give by keyword; runs no script code.
std::vector<std::string> keyword_names(const interp::Value& value);

// Puts help(x) among the builtins.
void install_help(interp::Vm& vm);

}  // namespace tsc::embed
