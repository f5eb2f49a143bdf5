#pragma once
// The compiler's events as people read them: the explanation, the closing summary, log channels.
// Knows: jit/report.h. Must not know: who made the events.
#include <functional>
#include <string>
#include <string_view>

#include "jit/report.h"

namespace tsc::embed {

// One line of totals, then every region with its kernels, breaks and facts.
std::string explain_text(const jit::Report& report);
// The totals, a line each; empty when nothing was compiled.
std::string summary_text(const jit::Report& report);

// Prints the events of the channels named in `channels` ("graph_breaks,recompiles", "all") as they
// come. A name that is no channel is a Misuse.
void add_log_sink(jit::Report& report, std::string_view channels, std::function<void(std::string_view)> write);

}  // namespace tsc::embed
