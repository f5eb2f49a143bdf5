#pragma once
// Native modules of mathematics that is no primitive: each takes plain tensors (contiguous, of a
// few dtypes) and records nothing; the library in script puts shapes, dtypes, errors and gradients
// around it. In a compiled function such a call is made by the interpreter.

namespace tsc::interp {

class Vm;

void register_draws(Vm& vm);   // module `_draws` (draws.cpp)
void register_linalg(Vm& vm);  // module `_linalg` (linalg.cpp)
void register_fft(Vm& vm);     // module `_fft` (fft.cpp)
void register_fused(Vm& vm);   // module `_fused` (fused.cpp)

}  // namespace tsc::interp
