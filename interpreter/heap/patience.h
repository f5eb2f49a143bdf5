#pragma once
// Loops of native code that may take long hear a stop now and then. Knows only that this thread works
// for a Vm. Keeps: a step is a decrement and a branch.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tsc::interp {

// Raises what is pending (a limit, Ctrl-C) for the Vm that is current on this thread.
void hear_stop();

// Counts the steps of a loop: once per some thousands of them a stop is heard.
class Patience {
 public:
  void step(size_t work = 1) {
    if (left_ > work) [[likely]]
      left_ -= work;
    else rest();
  }

 private:
  static constexpr size_t kSteps = 16 << 10;
  void rest() {
    left_ = kSteps;
    hear_stop();
  }
  size_t left_ = kSteps;
};

// work(begin, end) for the pieces of [0, size), one after the other.
template <class Work>
void in_pieces(size_t size, Work work) {
  constexpr size_t kPiece = 512 << 10;
  for (size_t at = 0; at < size; at += kPiece) {
    if (at) hear_stop();
    work(at, std::min(at + kPiece, size));
  }
}
// memcpy, for any size.
inline void copy_bytes(char* to, const char* from, size_t size) {
  in_pieces(size, [&](size_t begin, size_t end) { std::memcpy(to + begin, from + begin, end - begin); });
}
// Fills [to, to + total) with a piece over and over.
void repeat_bytes(char* to, const char* piece, size_t size, size_t total);

}  // namespace tsc::interp
