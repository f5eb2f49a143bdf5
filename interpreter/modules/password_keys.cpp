// Keys made of passwords: PBKDF2 and scrypt.
#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/digests.h"

namespace tsc::interp {
namespace {

// A keyed digest (RFC 2104) that is asked many times.
class Keyed {
 public:
  Keyed(const Digest& empty, std::string_view key) {
    std::string block(key);
    if (block.size() > empty.block_size()) {
      const auto hashed = empty.copy();
      hashed->update(key);
      block = hashed->value();
    }
    block.resize(empty.block_size());
    inner_ = begun(empty, block, 0x36);
    outer_ = begun(empty, block, 0x5C);
  }
  std::string of(std::string_view message) const {
    const auto inner = inner_->copy(), outer = outer_->copy();
    inner->update(message);
    outer->update(inner->value());
    return outer->value();
  }

 private:
  static std::unique_ptr<Digest> begun(const Digest& empty, std::string block, char with) {
    for (char& c : block) c = static_cast<char>(c ^ with);
    auto digest = empty.copy();
    digest->update(block);
    return digest;
  }
  std::unique_ptr<Digest> inner_, outer_;
};

uint32_t word_at(const char* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Salsa20 with 8 rounds, on 16 words in place.
void salsa(uint32_t (&block)[16]) {
  uint32_t x[16];
  std::copy(block, block + 16, x);
  auto quarter = [&x](int a, int b, int c, int d) {
    x[b] ^= std::rotl(x[a] + x[d], 7);
    x[c] ^= std::rotl(x[b] + x[a], 9);
    x[d] ^= std::rotl(x[c] + x[b], 13);
    x[a] ^= std::rotl(x[d] + x[c], 18);
  };
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 4; ++i) quarter(i * 5, (i * 5 + 4) % 16, (i * 5 + 8) % 16, (i * 5 + 12) % 16);
    for (int i = 0; i < 4; ++i) quarter(i * 5, i * 4 + (i + 1) % 4, i * 4 + (i + 2) % 4, i * 4 + (i + 3) % 4);
  }
  for (int i = 0; i < 16; ++i) block[i] += x[i];
}

using Words = std::vector<uint32_t>;

// BlockMix of RFC 7914: 2 r blocks of 16 words.
void mix_blocks(Words& words, Words& scratch) {
  const size_t blocks = words.size() / 16;
  uint32_t x[16];
  std::copy(words.end() - 16, words.end(), x);
  for (size_t i = 0; i < blocks; ++i) {
    for (size_t k = 0; k < 16; ++k) x[k] ^= words[i * 16 + k];
    salsa(x);
    std::copy(x, x + 16, scratch.data() + (i / 2 + i % 2 * (blocks / 2)) * 16);
  }
  words.swap(scratch);
}

// ROMix: the table has n rows of the length of `words`.
void mix_by_table(Words& words, Words& table, uint64_t n) {
  const size_t width = words.size();
  Words scratch(width);
  Patience patience;
  for (uint64_t i = 0; i < n; ++i) {
    std::copy(words.begin(), words.end(), table.begin() + static_cast<ptrdiff_t>(i * width));
    mix_blocks(words, scratch);
    patience.step(width);
  }
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t* last = words.data() + width - 16;
    const uint64_t row = (last[0] | uint64_t{last[1]} << 32) & (n - 1);
    for (size_t k = 0; k < width; ++k) words[k] ^= table[row * width + k];
    mix_blocks(words, scratch);
    patience.step(width);
  }
}

}  // namespace

std::string pbkdf2(const Digest& empty, std::string_view password, std::string_view salt, uint64_t rounds,
                   size_t length) {
  const Keyed keyed(empty, password);
  std::string key;
  Patience patience;
  for (uint32_t block = 1; key.size() < length; ++block) {
    std::string message(salt);
    for (int shift = 24; shift >= 0; shift -= 8) message += static_cast<char>(block >> shift);
    std::string last = keyed.of(message), total = last;
    for (uint64_t round = 1; round < rounds; ++round) {
      last = keyed.of(last);
      for (size_t i = 0; i < total.size(); ++i) total[i] = static_cast<char>(total[i] ^ last[i]);
      patience.step(64);
    }
    key += total;
  }
  key.resize(length);
  return key;
}

std::string scrypt(std::string_view password, std::string_view salt, const ScryptCost& cost, size_t length) {
  const auto digest = Digest::named("sha256");
  const size_t width = cost.r * 32;
  std::string blocks = pbkdf2(*digest, password, salt, 1, cost.p * width * 4);
  Words table(cost.n * width), words(width);
  for (size_t i = 0; i < cost.p; ++i) {
    char* block = blocks.data() + i * width * 4;
    for (size_t k = 0; k < width; ++k) words[k] = word_at(block + k * 4);
    mix_by_table(words, table, cost.n);
    std::memcpy(block, words.data(), width * 4);
  }
  return pbkdf2(*digest, password, blocks, 1, length);
}

}  // namespace tsc::interp
