#pragma once
// Random numbers that are the same on every machine and library: SplitMix64.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tsc::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : state_(seed * 0x9e3779b97f4a7c15 + stream) { state_ = next(); }
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, count); 0 when count is 0.
  size_t below(size_t count) { return count == 0 ? 0 : next() % count; }
  // True once in `times`.
  bool once_in(size_t times) { return below(times) == 0; }
  template <class Items>
  const auto& pick(const Items& items) {
    return items[below(std::size(items))];
  }

 private:
  uint64_t state_;
};

}  // namespace tsc::fuzz
