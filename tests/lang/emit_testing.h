#pragma once
// Compiling small programs in tests: every code object that comes out is verified.
#include <algorithm>
#include <memory>
#include <string>

#include "catch2/catch.hpp"
#include "lang/bytecode/disassemble.h"
#include "lang/emit/compile.h"

namespace tsc::lang {

inline CompileResult compile_text(const std::string& text, bool interactive = false) {
  CompileOptions options;
  options.interactive = interactive;
  return compile_module(std::make_shared<const Source>("test.tsc", text), options);
}

inline CodeRef compile_checked(const std::string& text, bool interactive = false) {
  auto source = std::make_shared<const Source>("test.tsc", text);
  CompileOptions options;
  options.interactive = interactive;
  CompileResult result = compile_module(source, options);
  INFO(render_all(result.diagnostics, *source));
  REQUIRE(result.code);
  for (const std::string& fault : verify(*result.code)) {
    INFO(fault << "\n" << disassemble(*result.code));
    CHECK(false);
  }
  return result.code;
}

// The code of the first function of that name, at any depth.
inline CodeRef find_code(const CodeRef& code, const std::string& name) {
  if (code->name == name) return code;
  for (const CodeRef& inner : code->codes) {
    if (CodeRef found = find_code(inner, name)) return found;
  }
  return nullptr;
}

inline CodeRef function_code(const std::string& text, const std::string& name = "f") {
  CodeRef found = find_code(compile_checked(text), name);
  REQUIRE(found);
  return found;
}

inline size_t count_ops(const CodeObject& code, Op op) {
  return static_cast<size_t>(std::count_if(code.instructions.begin(), code.instructions.end(),
                                           [op](const Instruction& instruction) { return instruction.op == op; }));
}

// The instructions alone, one a line, blanks collapsed.
inline std::string listing(const CodeObject& code) {
  std::string out;
  for (uint32_t pc = 0; pc < code.instructions.size(); ++pc) {
    std::string line = disassemble_instruction(code, pc);
    for (size_t i = 0; i < line.size(); ++i) {
      bool repeats = line[i] == ' ' && !out.empty() && out.back() == ' ';
      if (!repeats) out += line[i];
    }
    out += "\n";
  }
  return out;
}

}  // namespace tsc::lang
