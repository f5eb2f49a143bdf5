#pragma once
// Random Tenscript programs: a compiled function over tensors with views, reductions, products,
// in-place writes, host numbers, branches, loops, prints and gradients, called a few times. Knows:
// the shapes of what it has made, so that most programs are valid. Must not know: how they are run.
// Keeps: the same seed gives the same program everywhere.
#include <cstdint>
#include <string>

namespace tsc::fuzz {

std::string generate_program(uint64_t seed);

// Plain Python instead: objects, containers, closures, generators, exceptions, operators of classes; what the function
// can reach is changed between its calls.
std::string generate_python_program(uint64_t seed);
// Two kinds of them, which call the function often: objects of many classes that are handed about, and tensors that are
// one in some calls and two in others.
std::string generate_objects_program(uint64_t seed);
std::string generate_aliases_program(uint64_t seed);

// Recurrent functions of tensors, and gradients through their loops: of one call and two, of some inputs, twice, of
// gradients, and asked for in the compiled function.
std::string generate_recurrent_program(uint64_t seed);

}  // namespace tsc::fuzz
