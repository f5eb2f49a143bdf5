#pragma once
// Memory of the system in huge pages: a fault of the first touch costs a microsecond or more, whether it
// brings 4 KiB or 2 MiB. Large blocks are mapped one by one; blocks of middle size are cut from slabs.
// Knows bytes only. Not thread safe.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tsc {

inline constexpr int64_t kHugePage = int64_t{2} << 20;

// `capacity` bytes that begin on a huge page; a multiple of it. Null when the system has none.
std::byte* map_huge_pages(int64_t capacity);
void unmap_huge_pages(std::byte* data, int64_t capacity);

// Cuts blocks from slabs, one after the other; a slab goes back to the system when all of its blocks have
// come back, and what comes back before is not cut again: whoever gives blocks back keeps those whose slab
// stays (count_idle, stays). Whoever asks for little gets nothing here: the first slab alone takes a whole
// huge page.
class Slabs {
 public:
  static constexpr int64_t kSmallest = 4 << 10, kLargest = 1 << 20;  // what is cut

  Slabs() = default;
  ~Slabs();
  Slabs(const Slabs&) = delete;

  // A block aligned to 64 bytes; null when it is not for slabs (yet), or when the system has none.
  std::byte* cut(int64_t capacity);
  // False: the block was not cut here.
  bool take_back(std::byte* data) noexcept;

  // A look at what could come back: after begin_count(), count_idle() is called with every block that nobody
  // uses; stays() then tells the blocks whose slab has others in use.
  void begin_count() noexcept;
  void count_idle(const std::byte* data) noexcept;
  bool stays(const std::byte* data) noexcept;

 private:
  struct Slab {
    std::byte* data;
    int64_t capacity;
    int64_t cut = 0;     // bytes from the beginning
    int64_t blocks = 0;  // cut and not back yet
    int64_t idle = 0;    // of those, counted by count_idle
  };
  bool add_slab();
  Slab* slab_of(const std::byte* data) noexcept;

  std::vector<Slab> slabs_;  // blocks are cut from the last
  int64_t asked_ = 0;        // bytes, while there is no slab
};

}  // namespace tsc
