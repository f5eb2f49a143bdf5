#pragma once
// Message digests: MD5, SHA-1, SHA-2 and SHA-3, those of nettle. Knows: bytes, nothing of the Vm.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct nettle_hash;

namespace tsc::interp {

// One that grows, by pieces of any size.
class Digest {
 public:
  // Of a name ("md5", "sha1", "sha224", ..., "sha3_512"); null for another one.
  static std::unique_ptr<Digest> named(std::string_view name);
  void update(std::string_view data);
  // Of what there is so far.
  std::string value() const;
  size_t size() const;
  size_t block_size() const;

 private:
  explicit Digest(const nettle_hash* kind);
  const nettle_hash* kind_;
  std::vector<char> state_;
};

}  // namespace tsc::interp
