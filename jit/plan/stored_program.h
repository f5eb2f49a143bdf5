#pragma once
// The binary form of a kernel program. Private to this room.
// Keeps: reading trusts no number; verify() tells whether what was read is a program.
#include "jit/loops/kernel_program.h"
#include "runtime/base/byte_stream.h"

namespace tsc::jit {

void write_program(const KernelProgram& program, ByteWriter& out);
KernelProgram read_program(ByteReader& in);

}  // namespace tsc::jit
