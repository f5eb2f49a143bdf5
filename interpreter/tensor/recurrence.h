#pragma once
// The loop of a recurrent layer over time, for module `_fused` (fused.cpp).
#include "interpreter/vm/native.h"

namespace tsc::interp {

// recurrence(cell, gates, weight, bias, h, c, backwards): (the state h at each time, the last c or None). gates: what the input
// gives, (times, batch, gates of all units); weight: (units, gates of all units); bias, and c but of an LSTM, may be None.
Value recurrence(Vm& vm, Args& args);

}  // namespace tsc::interp
