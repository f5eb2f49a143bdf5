#pragma once
// What a kernel's machine code and a region's plan depend on besides the program and the region: the
// compiler and the processor. Known without LLVM, so that a process can use the disk cache and never load it.
#include <string>

namespace tsc::jit {

// Of this build: a digest of the sources of passes and code generator, and the version of LLVM.
const char* code_version();

// False of a build that was made without LLVM: it has no compiler, and that is no fault.
bool is_built_with_llvm();

// The processor's family and every instruction set it offers to this process, as text. Two
// processes with the same text may run one another's code.
std::string processor_identity();

// One line each: format, code version, processor.
std::string machine_code_identity();

}  // namespace tsc::jit
