#pragma once
// Streams over what may keep a script waiting: pipes, terminals, sockets. Knows descriptors and the Vm's
// interrupts. Must not know: file objects. Keeps: no wait is longer than a slice without looking whether
// the script is to stop; then the operation fails with EINTR and the caller polls the Vm.
#include <cstdio>
#include <memory>
#include <string>

#include "interpreter/vm/threads.h"

namespace tsc::interp {

// Other threads have their turns while one waits in a stream. The stream is in the middle of an operation then, and of
// that thread alone.
struct StreamTurn {
  bool is_taken = false;    // a thread waits in it
  bool keeps_turn = false;  // no other may have its turn: the heap is closing it
  WaitList others;
};

// open(2) within the grants (open_granted), which for a pipe with nobody at its other end waits in
// slices. The descriptor, or -1 with errno.
int open_patiently(Vm& vm, const std::string& path, int flags);

// fdopen(3). A regular file gets an ordinary stream, and no turn, which lives as long as the stream. The descriptor is
// the stream's, also on failure.
std::FILE* make_stream(Vm& vm, int descriptor, const char* mode, std::unique_ptr<StreamTurn>& turn);

}  // namespace tsc::interp
