#pragma once
// The interactive prompt: read a block, run it, show its value. Knows: the public API, the editor.
// Keeps: an error or Ctrl-C ends the statement, never the session; what a script prints is its own.
#include "interpreter/cli/session.h"

namespace tsc::cli {

// Returns the exit code. Without a terminal, or with --basic, lines are read as they come.
int run_repl(Session& session, const Invocation& invocation);

}  // namespace tsc::cli
