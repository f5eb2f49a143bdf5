#pragma once
// The parameters of a host's function, written as a script would write them. For: define_function. Knows: the
// parser. Must not know: the host. Keeps: what it lets pass is a parameter list and nothing else, with defaults
// that need no code to run.
#include <string>

namespace tsc::embed {

// As interp::Signature takes them; Misuse with what is wrong.
std::string checked_parameters(const std::string& parameters);

}  // namespace tsc::embed
