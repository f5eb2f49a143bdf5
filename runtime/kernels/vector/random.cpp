// Philox words, 64 blocks side by side, and their conversion to elements.
#include "runtime/kernels/vector/loops.h"
#include "runtime/random/philox.h"

namespace tsc::TSC_ISA {

static void random_words(uint32_t* out, uint64_t seed, uint64_t offset, uint64_t first_block, int64_t count) {
  constexpr int64_t kSide = 64;
  for (int64_t done = 0; done < count; done += kSide) {
    uint32_t word[4][kSide];
    for (int64_t i = 0; i < kSide; ++i) {
      uint64_t block = first_block + static_cast<uint64_t>(done + i);
      word[0][i] = static_cast<uint32_t>(block);
      word[1][i] = static_cast<uint32_t>(block >> 32);
      word[2][i] = static_cast<uint32_t>(offset);
      word[3][i] = static_cast<uint32_t>(offset >> 32);
    }
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
#pragma GCC ivdep
      for (int64_t i = 0; i < kSide; ++i) {
        uint64_t product0 = uint64_t{0xD2511F53} * word[0][i];
        uint64_t product1 = uint64_t{0xCD9E8D57} * word[2][i];
        word[0][i] = static_cast<uint32_t>(product1 >> 32) ^ word[1][i] ^ key0;
        word[1][i] = static_cast<uint32_t>(product1);
        word[2][i] = static_cast<uint32_t>(product0 >> 32) ^ word[3][i] ^ key1;
        word[3][i] = static_cast<uint32_t>(product0);
      }
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    for (int64_t i = 0; i < kSide; ++i)
      for (int64_t w = 0; w < 4; ++w) out[(done + i) * 4 + w] = word[w][i];
  }
}

static void to_i32(void* out, const uint32_t* words, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<int32_t*>(out)[i] = static_cast<int32_t>(words[i]);
}
static void to_i64(void* out, const uint32_t* words, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<int64_t*>(out)[i] = words[i];
}
static void to_f32(void* out, const uint32_t* words, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<float*>(out)[i] = philox_uniform(words[i]);
}
static void to_f64(void* out, const uint32_t* words, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<double*>(out)[i] = philox_uniform(words[2 * i], words[2 * i + 1]);
}

void fill_random(KernelTable& table) {
  table.random.words = random_words;
  table.random.convert[static_cast<int>(DType::I32)] = to_i32;
  table.random.convert[static_cast<int>(DType::I64)] = to_i64;
  table.random.convert[static_cast<int>(DType::F32)] = to_f32;
  table.random.convert[static_cast<int>(DType::F64)] = to_f64;
}

}  // namespace tsc::TSC_ISA
