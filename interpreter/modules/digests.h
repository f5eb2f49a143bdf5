#pragma once
// Message digests: MD5, SHA-1, SHA-2 and SHA-3, those of nettle; SHAKE and BLAKE2, which it has not; and keys made of
// passwords. Knows: bytes, nothing of the Vm.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::interp {

// One that grows, by pieces of any size.
class Digest {
 public:
  // Of a name ("md5", "sha1", "sha224", ..., "sha3_512", "shake_128", "shake_256", "blake2b", "blake2s"); null for
  // another one.
  static std::unique_ptr<Digest> named(std::string_view name);
  Digest() = default;
  virtual ~Digest() = default;
  Digest& operator=(const Digest&) = delete;
  virtual std::unique_ptr<Digest> copy() const = 0;
  virtual void update(std::string_view data) = 0;
  // Of what there is so far. SHAKE gives as many bytes as one asks for, the others all they have.
  virtual std::string value(size_t length = 0) const = 0;
  virtual size_t size() const = 0;  // 0 for SHAKE
  virtual size_t block_size() const = 0;

 protected:
  Digest(const Digest&) = default;
};

// The parameter block of BLAKE2 (RFC 7693, 2.5 and the paper's tree mode).
struct BlakeParameters {
  size_t digest_size = 0;
  std::string key, salt, person;
  uint8_t fanout = 1, depth = 1;
  uint32_t leaf_size = 0;
  uint64_t node_offset = 0;
  uint8_t node_depth = 0, inner_size = 0;
  bool last_node = false;
};
// BLAKE2b where `wide`, else BLAKE2s. What is too long for it is the caller's mistake.
std::unique_ptr<Digest> make_blake2(bool wide, const BlakeParameters& parameters);
std::unique_ptr<Digest> make_shake(bool strong);  // SHAKE256, or SHAKE128

// A key of so many bytes from a password (RFC 8018, 5.2), with the digest `empty`, which has taken nothing yet.
std::string pbkdf2(const Digest& empty, std::string_view password, std::string_view salt, uint64_t rounds,
                   size_t length);
// The same by RFC 7914: n is a power of two.
struct ScryptCost {
  uint64_t n, r, p;
};
std::string scrypt(std::string_view password, std::string_view salt, const ScryptCost& cost, size_t length);

}  // namespace tsc::interp
