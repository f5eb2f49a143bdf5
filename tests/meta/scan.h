#pragma once
// A rough reading of C++: enough to find where each function begins and ends. Knows: comments,
// literals, braces. Must not know: types. A lambda belongs to the function that holds it.
#include <string>
#include <vector>

namespace tsc::meta {

struct FunctionSpan {
  std::string head;  // the text before the brace, in one line
  int first_line = 0;
  int last_line = 0;
  int length() const { return last_line - first_line + 1; }
};

// The text with comments, literals and preprocessor lines blanked out; line breaks stay.
std::string blank_literals(const std::string& text);

std::vector<FunctionSpan> functions_in(const std::string& text);

// A class or struct and the member functions that its body declares or defines, constructors and operators among them;
// those of a class inside it are that one's own.
struct ClassSize {
  std::string name;
  int first_line = 0;
  int functions = 0;
};

std::vector<ClassSize> classes_in(const std::string& text);

}  // namespace tsc::meta
