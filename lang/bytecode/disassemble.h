#pragma once
// CodeObject -> text, for --emit=bytecode, tests and bug reports; and its verifier.
#include <string>
#include <vector>

#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

// The code and its nested codes, one instruction a line.
std::string disassemble(const CodeObject& code);
std::string disassemble_instruction(const CodeObject& code, uint32_t pc);
std::string literal_text(const Literal& literal);

// What is wrong with the code, one sentence each; empty when it keeps every rule of bytecode.def:
// indices in range, jump targets inside, only JumpBack backwards, nothing live above a window,
// no read of a register that no path has written, statements properly nested.
std::vector<std::string> verify(const CodeObject& code);

// The part of verify that needs no analysis and leaves nested codes out: every index of the code's
// tables refers to something that is there.
std::vector<std::string> verify_references(const CodeObject& code);

}  // namespace tsc::lang
