#pragma once
// All places at which a call would leave its region, for a function that must not (fullgraph=True): capture stops at
// the first one, and whoever mends a program wants to see the others too. So the capture is made again, and where it
// would stop, the instruction is passed over: what it would have made is unknown, what needs that is passed over
// silently, and of an unknown branch both sides are seen, one after the other. Only for an error's text: what is
// captured so means nothing. Knows Capture from inside; nothing runs.
#include <string>
#include <vector>

#include "interpreter/capture/capture.h"

namespace tsc::interp {

struct FoundBreak {
  BreakReason reason;
  std::string detail;
  std::vector<TracebackEntry> places;  // the calls that lead there, innermost last
};

// In the order of the program; each place once.
std::vector<FoundBreak> find_breaks(Vm& vm, const Frame& frame, CaptureMemory memory);

}  // namespace tsc::interp
