#include "interpreter/modules/digests.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "interpreter/heap/counted_memory.h"
#include "interpreter/heap/patience.h"

namespace tsc::interp {
namespace {

// The data, a one bit, zeros, and the length in bits: whole blocks.
std::string padded(std::string_view data, size_t block, bool big_endian) {
  size_t length_bytes = block / 8;
  check_text_room(data.size() / 2);
  std::string out;
  out.reserve(data.size() + 2 * block);
  in_pieces(data.size(), [&](size_t begin, size_t end) { out += data.substr(begin, end - begin); });
  out += '\x80';
  while ((out.size() + length_bytes) % block) out += '\0';
  uint64_t bits = uint64_t{data.size()} * 8;
  for (size_t i = 0; i < length_bytes; ++i) {
    size_t shift = 8 * (big_endian ? length_bytes - 1 - i : i);
    out += shift < 64 ? static_cast<char>(bits >> shift) : '\0';
  }
  return out;
}
template <class Word>
Word load(const char* p, bool big_endian) {
  Word w = 0;
  for (size_t i = 0; i < sizeof(Word); ++i)
    w |= Word{static_cast<uint8_t>(p[i])} << (8 * (big_endian ? sizeof(Word) - 1 - i : i));
  return w;
}
template <class Word>
void store(std::string& out, Word w, bool big_endian) {
  for (size_t i = 0; i < sizeof(Word); ++i)
    out += static_cast<char>(w >> (8 * (big_endian ? sizeof(Word) - 1 - i : i)));
}

std::string md5(std::string_view data) {
  static const std::array<uint32_t, 64> kSines = [] {
    std::array<uint32_t, 64> table{};
    for (size_t i = 0; i < 64; ++i)
      table[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
    return table;
  }();
  static constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint32_t h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string text = padded(data, 64, false);
  Patience patience;
  for (size_t at = 0; at < text.size(); at += 64) {
    patience.step(64);
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3];
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t f, g;
      switch (i / 16) {
        case 0: f = (b & c) | (~b & d), g = i; break;
        case 1: f = (d & b) | (~d & c), g = (5 * i + 1) % 16; break;
        case 2: f = b ^ c ^ d, g = (3 * i + 5) % 16; break;
        default: f = c ^ (b | ~d), g = 7 * i % 16;
      }
      uint32_t next = b + std::rotl(a + f + kSines[i] + load<uint32_t>(&text[at + 4 * g], false),
                                    kShifts[i / 16][i % 4]);
      a = d, d = c, c = b, b = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d;
  }
  std::string out;
  for (uint32_t word : h) store(out, word, false);
  return out;
}

std::string sha1(std::string_view data) {
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  static constexpr uint32_t kConstants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
  std::string text = padded(data, 64, true);
  Patience patience;
  for (size_t at = 0; at < text.size(); at += 64) {
    patience.step(64);
    uint32_t w[80];
    for (size_t i = 0; i < 16; ++i) w[i] = load<uint32_t>(&text[at + 4 * i], true);
    for (size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (size_t i = 0; i < 80; ++i) {
      uint32_t f = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
      uint32_t next = std::rotl(a, 5) + f + e + kConstants[i / 20] + w[i];
      e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  std::string out;
  for (uint32_t word : h) store(out, word, true);
  return out;
}

// The first bits of the fraction of a root of a small prime, as FIPS 180-4 defines its constants: found
// by bisection on integers, exactly.
uint64_t root_fraction(uint64_t prime, int degree) {
  // floor(root * 2^64) by bits: the largest x of 68 bits with x^degree <= prime * 2^(64 * degree).
  using Wide = std::array<uint32_t, 9>;  // 288 bits, little endian
  auto multiply = [](const Wide& a, const Wide& b) {
    Wide r{};
    for (size_t i = 0; i < 9; ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; i + j < 9; ++j) {
        carry += uint64_t{a[i]} * b[j] + r[i + j];
        r[i + j] = static_cast<uint32_t>(carry);
        carry >>= 32;
      }
    }
    return r;
  };
  Wide limit{};
  limit[static_cast<size_t>(degree) * 2] = static_cast<uint32_t>(prime);
  Wide x{};
  for (int bit = 68; bit-- > 0;) {
    Wide tried = x;
    tried[static_cast<size_t>(bit / 32)] |= uint32_t{1} << (bit % 32);
    Wide power = tried;
    for (int i = 1; i < degree; ++i) power = multiply(power, tried);
    bool fits = true;
    for (size_t i = 9; i-- > 0;)
      if (power[i] != limit[i]) {
        fits = power[i] < limit[i];
        break;
      }
    if (fits) x = tried;
  }
  return uint64_t{x[1]} << 32 | x[0];
}
std::vector<uint64_t> root_fractions(size_t count, int degree) {
  std::vector<uint64_t> primes, out;
  for (uint64_t n = 2; primes.size() < count; ++n) {
    bool prime = true;
    for (uint64_t p : primes) prime = prime && n % p != 0;
    if (!prime) continue;
    primes.push_back(n);
    out.push_back(root_fraction(n, degree));
  }
  return out;
}

template <class Word>
struct Sha2 {
  static constexpr bool kLong = sizeof(Word) == 8;
  static constexpr size_t kRounds = kLong ? 80 : 64, kBlock = kLong ? 128 : 64;
  // Rotations of the four functions; the last of each small sigma is a shift.
  static constexpr int kBig0[3] = {kLong ? 28 : 2, kLong ? 34 : 13, kLong ? 39 : 22};
  static constexpr int kBig1[3] = {kLong ? 14 : 6, kLong ? 18 : 11, kLong ? 41 : 25};
  static constexpr int kSmall0[3] = {kLong ? 1 : 7, kLong ? 8 : 18, kLong ? 7 : 3};
  static constexpr int kSmall1[3] = {kLong ? 19 : 17, kLong ? 61 : 19, kLong ? 6 : 10};
  static Word big(Word x, const int (&r)[3]) { return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ std::rotr(x, r[2]); }
  static Word small(Word x, const int (&r)[3]) { return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ (x >> r[2]); }

  static std::string run(std::string_view data, std::array<Word, 8> h, size_t bytes) {
    static const std::vector<uint64_t> kRoots = root_fractions(80, 3);
    std::string text = padded(data, kBlock, true);
    Patience patience;
    for (size_t at = 0; at < text.size(); at += kBlock) {
      patience.step(64);
      Word w[kRounds];
      for (size_t i = 0; i < 16; ++i) w[i] = load<Word>(&text[at + sizeof(Word) * i], true);
      for (size_t i = 16; i < kRounds; ++i)
        w[i] = small(w[i - 2], kSmall1) + w[i - 7] + small(w[i - 15], kSmall0) + w[i - 16];
      std::array<Word, 8> v = h;
      for (size_t i = 0; i < kRounds; ++i) {
        Word constant = kLong ? static_cast<Word>(kRoots[i]) : static_cast<Word>(kRoots[i] >> 32);
        Word t1 = v[7] + big(v[4], kBig1) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constant + w[i];
        Word t2 = big(v[0], kBig0) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v = {static_cast<Word>(t1 + t2), v[0], v[1], v[2], static_cast<Word>(v[3] + t1), v[4], v[5], v[6]};
      }
      for (size_t i = 0; i < 8; ++i) h[i] += v[i];
    }
    std::string out;
    for (Word word : h) store(out, word, true);
    return out.substr(0, bytes);
  }
};

std::string sha2(std::string_view name, std::string_view data) {
  static const std::vector<uint64_t> kSquares = root_fractions(16, 2);
  std::array<uint32_t, 8> narrow;
  std::array<uint64_t, 8> wide;
  bool cut = name == "sha224" || name == "sha384";
  for (size_t i = 0; i < 8; ++i) {
    // SHA-224 takes the second half of the roots of the 9th to 16th primes.
    narrow[i] = cut ? static_cast<uint32_t>(kSquares[i + 8]) : static_cast<uint32_t>(kSquares[i] >> 32);
    wide[i] = kSquares[cut ? i + 8 : i];
  }
  if (name == "sha224") return Sha2<uint32_t>::run(data, narrow, 28);
  if (name == "sha256") return Sha2<uint32_t>::run(data, narrow, 32);
  if (name == "sha384") return Sha2<uint64_t>::run(data, wide, 48);
  if (name == "sha512") return Sha2<uint64_t>::run(data, wide, 64);
  return "";
}

}  // namespace

std::string digest(std::string_view name, std::string_view data) {
  if (name == "md5") return md5(data);
  if (name == "sha1") return sha1(data);
  return sha2(name, data);
}

}  // namespace tsc::interp
