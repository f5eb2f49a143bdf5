#pragma once
// What is removed from emitted code before anybody sees it: checks of variables that are certainly
// bound, instructions that nothing reaches, jumps to the next instruction.
#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

void optimize(CodeObject& code);

}  // namespace tsc::lang
