#pragma once
// Functions of module `_fused` (fused.cpp) that stand in files of their own.
#include "interpreter/vm/native.h"

namespace tsc::interp {

// recurrence(cell, gates, weight, bias, h, c, backwards): (the state h at each time, the last c or None). gates: what the input
// gives, (times, batch, gates of all units); weight: (units, gates of all units); bias, and c but of an LSTM, may be None.
Value recurrence(Vm& vm, Args& args);
// ctc_losses(logarithms, targets, times, counts, blank): of each sequence of (times, batch, classes), with targets (batch, longest).
Value ctc_losses(Vm& vm, Args& args);
// sampled(x, grid, border, aligned): planes between four elements at each place of a grid, zeros or the border outside.
Value sampled(Vm& vm, Args& args);

}  // namespace tsc::interp
