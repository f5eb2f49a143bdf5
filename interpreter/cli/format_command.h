#pragma once
// `tenscript fmt`. Knows: files, the engine's formatter. Keeps: a file with errors is left alone.
#include "interpreter/cli/session.h"

namespace tsc::cli {

// The exit code: 0 done, 1 a text with errors, or with --check one that is not formatted.
int run_format(Session& session, const Invocation& invocation);

}  // namespace tsc::cli
