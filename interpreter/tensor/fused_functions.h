#pragma once
// Functions of module `_fused` (fused.cpp) that stand in files of their own.
#include "interpreter/vm/native.h"

namespace tsc::interp {

// recurrence(cell, gates, weight, bias, h, c, backwards): (the state h at each time, that of c or None). gates: what
// the input gives, (times, batch, gates of all units); weight: (gates of all units, units); bias, and c but of an LSTM,
// may be None.
Value recurrence(Vm& vm, Args& args);
// recurrence_slopes(..., all_h, all_c, of_all, of_h, of_c): the gradients of gates, weight, bias, h and c, from those
// of all h, the last h and the last c.
Value recurrence_slopes(Vm& vm, Args& args);
// ctc_losses(logarithms, targets, times, counts, blank): of each sequence of (times, batch, classes), with targets
// (batch, longest).
Value ctc_losses(Vm& vm, Args& args);
// ctc_slopes(..., gradient): the gradient of the logarithms, from those of the losses.
Value ctc_slopes(Vm& vm, Args& args);
// sampled(x, grid, border, aligned): planes between four elements at each place of a grid, zeros or the border outside.
Value sampled(Vm& vm, Args& args);
// sampled_slopes(x, grid, aligned, gradient): the gradients of x and grid, zeros outside.
Value sampled_slopes(Vm& vm, Args& args);

}  // namespace tsc::interp
