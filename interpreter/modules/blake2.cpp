// BLAKE2b and BLAKE2s (RFC 7693), with the parameters of its tree mode.
#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/digests.h"

namespace tsc::interp {
namespace {

static_assert(std::endian::native == std::endian::little);  // words are copied as they lie

constexpr uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

struct Wide64 {
  using Word = uint64_t;
  static constexpr int kRounds = 12, kTurns[4] = {32, 24, 16, 63};
  static constexpr Word kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                     0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
};
struct Narrow32 {
  using Word = uint32_t;
  static constexpr int kRounds = 10, kTurns[4] = {16, 12, 8, 7};
  static constexpr Word kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

template <class Form>
class Blake2 : public Digest {
  using Word = typename Form::Word;
  static constexpr size_t kBlock = 16 * sizeof(Word), kPart = 2 * sizeof(Word);  // the part of a salt

 public:
  explicit Blake2(const BlakeParameters& given) : size_(given.digest_size), last_node_(given.last_node) {
    char block[8 * sizeof(Word)] = {};
    const uint8_t heads[] = {static_cast<uint8_t>(size_), static_cast<uint8_t>(given.key.size()), given.fanout,
                             given.depth};
    std::memcpy(block, heads, sizeof heads);
    std::memcpy(block + 4, &given.leaf_size, sizeof given.leaf_size);
    constexpr size_t kOffset = sizeof(Word) == 8 ? 8 : 6;  // bytes of node_offset
    std::memcpy(block + 8, &given.node_offset, kOffset);
    block[8 + kOffset] = static_cast<char>(given.node_depth);
    block[9 + kOffset] = static_cast<char>(given.inner_size);
    std::copy(given.salt.begin(), given.salt.end(), block + 4 * sizeof(Word));
    std::copy(given.person.begin(), given.person.end(), block + 4 * sizeof(Word) + kPart);
    Word words[8];
    std::memcpy(words, block, sizeof words);
    for (int i = 0; i < 8; ++i) state_[i] = Form::kStart[i] ^ words[i];
    if (given.key.empty()) return;
    std::copy(given.key.begin(), given.key.end(), buffer_);
    filled_ = kBlock;
  }
  std::unique_ptr<Digest> copy() const override { return std::make_unique<Blake2>(*this); }
  // The last block is kept back, as it is compressed in another way.
  void update(std::string_view data) override {
    Patience patience;
    while (!data.empty()) {
      if (filled_ == kBlock) {
        compress(kBlock, false);
        filled_ = 0;
        patience.step(kBlock);
      }
      const size_t taken = std::min(data.size(), kBlock - filled_);
      std::memcpy(buffer_ + filled_, data.data(), taken);
      filled_ += taken;
      data.remove_prefix(taken);
    }
  }
  std::string value(size_t) const override {
    Blake2 end(*this);
    std::memset(end.buffer_ + filled_, 0, kBlock - filled_);
    end.compress(filled_, true);
    std::string out(sizeof end.state_, '\0');
    std::memcpy(out.data(), end.state_, out.size());
    return out.substr(0, size_);
  }
  size_t size() const override { return size_; }
  size_t block_size() const override { return kBlock; }

 private:
  void compress(size_t counted, bool last) {
    count_ += counted;
    Word m[16], v[16];
    std::memcpy(m, buffer_, sizeof m);
    for (int i = 0; i < 8; ++i) v[i] = state_[i], v[i + 8] = Form::kStart[i];
    constexpr int kBits = 8 * sizeof(Word);
    v[12] ^= static_cast<Word>(count_);
    v[13] ^= static_cast<Word>(count_ >> kBits);
    if (last) v[14] = static_cast<Word>(~v[14]);
    if (last && last_node_) v[15] = static_cast<Word>(~v[15]);
    for (int round = 0; round < Form::kRounds; ++round) {
      const uint8_t* order = kOrder[round % 10];
      for (int i = 0; i < 8; ++i) {
        const int turn = i / 4;  // 0: a column, 1: a diagonal
        mix(v, {i % 4, 4 + (i + turn) % 4, 8 + (i + 2 * turn) % 4, 12 + (i + 3 * turn) % 4}, m[order[2 * i]],
            m[order[2 * i + 1]]);
      }
    }
    for (int i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
  }
  struct Places {
    int a, b, c, d;
  };
  static void mix(Word (&v)[16], const Places& at, Word x, Word y) {
    Word &a = v[at.a], &b = v[at.b], &c = v[at.c], &d = v[at.d];
    a += b + x;
    d = std::rotr(d ^ a, Form::kTurns[0]);
    c += d;
    b = std::rotr(b ^ c, Form::kTurns[1]);
    a += b + y;
    d = std::rotr(d ^ a, Form::kTurns[2]);
    c += d;
    b = std::rotr(b ^ c, Form::kTurns[3]);
  }
  size_t size_;
  bool last_node_;
  Word state_[8];
  char buffer_[kBlock] = {};
  size_t filled_ = 0;
  unsigned __int128 count_ = 0;
};

}  // namespace

std::unique_ptr<Digest> make_blake2(bool wide, const BlakeParameters& parameters) {
  if (wide) return std::make_unique<Blake2<Wide64>>(parameters);
  return std::make_unique<Blake2<Narrow32>>(parameters);
}

}  // namespace tsc::interp
