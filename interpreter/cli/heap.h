#pragma once
// The heap of the process, which is ours in the executable and the host's everywhere else.

namespace tsc::cli {

// Compiling allocates and frees tens of megabytes: huge pages save a page fault for each 4 KiB of them, and
// what was freed stays with the process. Call it before anything else. Without glibc it does nothing.
void set_up_heap();

}  // namespace tsc::cli
