#include "interpreter/heap/patience.h"

#include <cstring>

namespace tsc::interp {

// What is there already is copied again, twice as much each time until the pieces are large.
void repeat_bytes(char* to, const char* piece, size_t size, size_t total) {
  constexpr size_t kStep = 512 << 10;
  if (size == 0 || total == 0) return;
  if (size == 1) {
    in_pieces(total, [&](size_t begin, size_t end) { std::memset(to + begin, *piece, end - begin); });
    return;
  }
  const size_t most = std::max(size, kStep / size * size);
  size_t done = std::min(size, total);
  copy_bytes(to, piece, done);
  while (done < total) {
    const size_t next = std::min({done, total - done, most});
    copy_bytes(to + done, to, next);
    done += next;
    if (next == most) hear_stop();
  }
}

}  // namespace tsc::interp
