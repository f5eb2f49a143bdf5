#pragma once
// Philox4x32-10 (Salmon et al., SC 2011): a counter-based generator, so an element's number depends on
// (seed, offset, element index) alone and not on who computed it or when.
// The rule of the project (rng_bits): key = the 64-bit seed, counter = (block, offset), both 64 bits,
// low words first; the four words of a block serve four consecutive elements.
#include <array>
#include <cstdint>

namespace tsc {

using PhiloxBlock = std::array<uint32_t, 4>;

[[gnu::always_inline]] inline PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

[[gnu::always_inline]] inline PhiloxBlock philox_block(uint64_t seed, uint64_t offset, uint64_t block) {
  return philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(offset),
                     static_cast<uint32_t>(offset >> 32)},
                    static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

// Element i: word i % 4 of block i / 4.
inline uint32_t philox_word(uint64_t seed, uint64_t offset, uint64_t index) {
  return philox_block(seed, offset, index / 4)[index % 4];
}

// f32: uniform in [0, 1) with 24 bits.
[[gnu::always_inline]] inline float philox_uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
// f64: element i takes the words 2 * (i % 2) (the high half) and 2 * (i % 2) + 1 of block i / 2; the
// top 53 of these 64 bits.
[[gnu::always_inline]] inline double philox_uniform(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace tsc
