#pragma once
// The wrapped world: the text of a whole program becomes the body of one function that is compiled and called three
// times, and what it prints is compared with the same function in the interpreter alone. A program that the compiler was
// not made for says more about it than one that was.
#include <string>

namespace tsc::worlds {

// The text as the body of a function of that kind. Lines inside literals stay where they are.
std::string wrapped(const std::string& text);

// Runs `script` wrapped, with and without the compiler; empty where both did the same.
std::string run_wrapped(const std::string& tenscript, const std::string& script);

}  // namespace tsc::worlds
