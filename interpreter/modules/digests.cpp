#include "interpreter/modules/digests.h"

#include <nettle/nettle-meta.h>

#include "interpreter/heap/patience.h"

namespace tsc::interp {

Digest::Digest(const nettle_hash* kind) : kind_(kind), state_(kind->context_size) { kind_->init(state_.data()); }

std::unique_ptr<Digest> Digest::named(std::string_view name) {
  for (const nettle_hash* kind :
       {&nettle_md5, &nettle_sha1, &nettle_sha224, &nettle_sha256, &nettle_sha384, &nettle_sha512, &nettle_sha3_224,
        &nettle_sha3_256, &nettle_sha3_384, &nettle_sha3_512})
    if (name == kind->name) return std::unique_ptr<Digest>(new Digest(kind));
  return nullptr;
}

void Digest::update(std::string_view data) {
  in_pieces(data.size(), [&](size_t begin, size_t end) {
    kind_->update(state_.data(), end - begin, reinterpret_cast<const uint8_t*>(data.data() + begin));
  });
}

std::string Digest::value() const {
  std::vector<char> state = state_;  // giving it out begins anew
  std::string out(kind_->digest_size, '\0');
  kind_->digest(state.data(), out.size(), reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

size_t Digest::size() const { return kind_->digest_size; }
size_t Digest::block_size() const { return kind_->block_size; }

}  // namespace tsc::interp
