#pragma once
// `tenscript test`: finds the files, runs several at a time, shows what came of it.
#include "interpreter/cli/options.h"

namespace tsc::cli {

// The exit code: 0 all passed, 1 something failed, 2 no such file or no test found.
int run_tests(const Invocation& invocation);

}  // namespace tsc::cli
