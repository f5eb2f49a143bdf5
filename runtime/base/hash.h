#pragma once
// 128-bit content hash (two independent 64-bit lanes of a multiply-xor mix): kernel identity, cache
// keys. Not cryptographic; hash tables over script-controlled keys use the keyed hash of interpreter/.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

namespace tsc {

struct Hash128 {
  uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
};

inline uint64_t hash_mix(uint64_t a, uint64_t b) {
  __uint128_t product = static_cast<__uint128_t>(a ^ 0x9E3779B97F4A7C15ull) * (b ^ 0xD1B54A32D192ED03ull);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline Hash128 hash_bytes(std::string_view bytes) {
  uint64_t high = bytes.size(), low = ~bytes.size();
  size_t i = 0;
  for (; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, bytes.size() - i < 8 ? bytes.size() - i : 8);
    high = hash_mix(high + word, 0xA0761D6478BD642Full);
    low = hash_mix(low ^ word, 0xE7037ED1A0B428DBull + i);
  }
  return {hash_mix(high, low), hash_mix(low, high + 1)};
}

}  // namespace tsc

template <>
struct std::hash<tsc::Hash128> {
  size_t operator()(const tsc::Hash128& h) const noexcept { return h.high ^ h.low; }
};
