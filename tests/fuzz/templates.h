#pragma once
// Programs by templates: a template is text with holes, {i} for what stands under 'i' in the tables; a hole is filled
// by another template of that kind, or, where the kind is one of variables, by a name of one. {:} is a suite of
// statements, {{ and }} are braces. Must not know what the programs mean.
#include <map>
#include <string>
#include <vector>

#include "random.h"

namespace tsc::fuzz {

using Templates = std::vector<const char*>;

struct Grammar {
  std::map<char, Templates> expressions;  // the first ones of each kind are short
  Templates simple, compound;             // statements
  std::map<char, std::vector<const char*>> variables;
};

class TemplateText {
 public:
  TemplateText(const Grammar& grammar, uint64_t seed) : random(seed), grammar_(grammar) {}
  std::string expand(const std::string& text, int depth);
  std::string statement(int depth);
  // Some statements, about half of which catch what they raise.
  std::string guarded(size_t count);

  Random random;

 private:
  std::string hole(char kind, int depth);
  std::string suite(int depth, size_t most);

  const Grammar& grammar_;
};

std::string indented(const std::string& text);

// One parameter of the compiled function, and the list that the program takes its arguments from; null: numbers.
struct Parameter {
  const char* name;
  const char* pool;
  const char* fresh;  // an argument that each call makes anew
};

// A whole program: `prelude` and `pools`; a function f of the parameters that its body names, compiled, or made anew
// from time to time and compiled with them as its cells; 30 and more calls with arguments out of the pools, and
// statements between them. `shown` is printed behind each call.
struct CallsProgram {
  const Grammar& grammar;
  const char* prelude;
  const char* pools;
  std::vector<Parameter> parameters;
  const char* begin;  // of the body, behind its name: declarations
  const char* shown;
};
std::string calls_program(const CallsProgram& program, uint64_t seed);

}  // namespace tsc::fuzz
