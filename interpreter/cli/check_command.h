#pragma once
// `tenscript check`. Knows: files, the engine's checker.
#include "interpreter/cli/session.h"

namespace tsc::cli {

// The exit code: 0 nothing found, 1 findings.
int run_check(Session& session, const Invocation& invocation);

}  // namespace tsc::cli
