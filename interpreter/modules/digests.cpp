#include "interpreter/modules/digests.h"

#include <nettle/nettle-meta.h>

#include <algorithm>
#include <bit>

#include "interpreter/heap/patience.h"

namespace tsc::interp {
namespace {

class NettleDigest : public Digest {
 public:
  explicit NettleDigest(const nettle_hash* kind) : kind_(kind), state_(kind->context_size) {
    kind_->init(state_.data());
  }
  std::unique_ptr<Digest> copy() const override { return std::make_unique<NettleDigest>(*this); }
  void update(std::string_view data) override {
    in_pieces(data.size(), [&](size_t begin, size_t end) {
      kind_->update(state_.data(), end - begin, reinterpret_cast<const uint8_t*>(data.data() + begin));
    });
  }
  std::string value(size_t) const override {
    std::vector<char> state = state_;  // giving it out begins anew
    std::string out(kind_->digest_size, '\0');
    kind_->digest(state.data(), out.size(), reinterpret_cast<uint8_t*>(out.data()));
    return out;
  }
  size_t size() const override { return kind_->digest_size; }
  size_t block_size() const override { return kind_->block_size; }

 private:
  const nettle_hash* kind_;
  std::vector<char> state_;
};

// --- SHAKE (FIPS 202) -------------------------------------------------------------------------------------------

// The permutation Keccak-f[1600]. Lane (x, y) stands at x + 5 y.
void permute(uint64_t (&lanes)[25]) {
  uint8_t shift = 1;  // of the register that makes the constants of the rounds
  for (int round = 0; round < 24; ++round) {
    uint64_t columns[5];
    for (int x = 0; x < 5; ++x) columns[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20];
    for (int i = 0; i < 25; ++i) lanes[i] ^= columns[(i + 4) % 5] ^ std::rotl(columns[(i + 1) % 5], 1);
    int x = 1, y = 0;
    uint64_t moved = lanes[1];
    for (int step = 1; step <= 24; ++step) {
      const int next = (2 * x + 3 * y) % 5;
      x = y, y = next;
      const uint64_t turned = std::rotl(moved, step * (step + 1) / 2 % 64);
      moved = lanes[x + 5 * y];
      lanes[x + 5 * y] = turned;
    }
    for (int row = 0; row < 25; row += 5) {
      const uint64_t old[] = {lanes[row], lanes[row + 1], lanes[row + 2], lanes[row + 3], lanes[row + 4]};
      for (int i = 0; i < 5; ++i) lanes[row + i] = old[i] ^ (~old[(i + 1) % 5] & old[(i + 2) % 5]);
    }
    for (int bit = 1; bit <= 64; bit *= 2) {
      if (shift & 1) lanes[0] ^= uint64_t{1} << (bit - 1);
      shift = static_cast<uint8_t>((shift << 1) ^ (shift & 0x80 ? 0x71 : 0));
    }
  }
}

class Shake : public Digest {
 public:
  explicit Shake(bool strong) : rate_(strong ? 136 : 168) {}
  std::unique_ptr<Digest> copy() const override { return std::make_unique<Shake>(*this); }
  void update(std::string_view data) override {
    Patience patience;
    for (const char c : data) {
      patience.step();
      put(at_++, static_cast<uint8_t>(c));
      if (at_ == rate_) permute(lanes_), at_ = 0;
    }
  }
  std::string value(size_t length) const override {
    Shake end(*this);
    end.put(at_, 0x1F);
    end.put(rate_ - 1, 0x80);
    std::string out;
    Patience patience;
    while (out.size() < length) {
      permute(end.lanes_);
      for (size_t i = 0; i < rate_ && out.size() < length; ++i, patience.step())
        out += static_cast<char>(end.lanes_[i / 8] >> (i % 8 * 8));
    }
    return out;
  }
  size_t size() const override { return 0; }
  size_t block_size() const override { return rate_; }

 private:
  void put(size_t at, uint8_t byte) { lanes_[at / 8] ^= uint64_t{byte} << (at % 8 * 8); }
  size_t rate_, at_ = 0;
  uint64_t lanes_[25] = {};
};

}  // namespace

std::unique_ptr<Digest> make_shake(bool strong) { return std::make_unique<Shake>(strong); }

std::unique_ptr<Digest> Digest::named(std::string_view name) {
  for (const nettle_hash* kind :
       {&nettle_md5, &nettle_sha1, &nettle_sha224, &nettle_sha256, &nettle_sha384, &nettle_sha512, &nettle_sha3_224,
        &nettle_sha3_256, &nettle_sha3_384, &nettle_sha3_512})
    if (name == kind->name) return std::make_unique<NettleDigest>(kind);
  BlakeParameters whole;
  whole.digest_size = name == "blake2b" ? 64 : 32;
  if (name == "blake2b" || name == "blake2s") return make_blake2(name == "blake2b", whole);
  return name == "shake_128" || name == "shake_256" ? make_shake(name == "shake_256") : nullptr;
}

}  // namespace tsc::interp
