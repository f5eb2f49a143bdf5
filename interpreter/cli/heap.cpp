#include "interpreter/cli/heap.h"

#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace tsc::cli {

#ifdef __GLIBC__

void set_up_heap() {
  constexpr int kStep = 64 << 20;  // the heap's size; pages that nobody touches cost nothing
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  // What a short program takes stays in small pages. The kernel gives a huge page at the first touch,
  // and where the heap begins is random: one start in five would hold two megabytes more.
  constexpr uintptr_t kStart = uintptr_t{2} << 20;
  constexpr size_t kProbe = 1 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;  // nothing to spare
  mallopt(M_MMAP_THRESHOLD, kStep / 2);
  mallopt(M_TRIM_THRESHOLD, kStep);
  mallopt(M_TOP_PAD, kStep);
  const auto begin = (reinterpret_cast<uintptr_t>(sbrk(0)) + kStart + kHugePage - 1) & ~(kHugePage - 1);
  void* volatile probe = std::malloc(kProbe);  // more than there is: the heap grows
  std::free(probe);
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  mallopt(M_TOP_PAD, 1 << 20);  // beyond, and for the heaps of threads
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

#else

void set_up_heap() {}

#endif

}  // namespace tsc::cli
