#include "jit/cache/artifacts.h"

#include <cstdint>
#include <cstring>

namespace tsc::jit {
namespace {

constexpr std::string_view kMagic = "TSCARTF1";

void append_number(std::string* out, uint64_t number) {
  out->append(reinterpret_cast<const char*>(&number), sizeof number);
}

bool take_number(std::string_view* bytes, uint64_t* number) {
  if (bytes->size() < sizeof *number) return false;
  std::memcpy(number, bytes->data(), sizeof *number);
  bytes->remove_prefix(sizeof *number);
  return true;
}

}  // namespace

// magic, number of entries, then each entry after its size.
std::string pack_artifacts(std::span<const CacheEntry> entries) {
  std::string bytes(kMagic);
  append_number(&bytes, entries.size());
  for (const CacheEntry& entry : entries) {
    const std::string packed = pack_entry(entry);
    append_number(&bytes, packed.size());
    bytes += packed;
  }
  return bytes;
}

UnpackedArtifacts unpack_artifacts(std::string_view bytes) {
  UnpackedArtifacts found;
  uint64_t count = 0;
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    found.problems.push_back("these are no cache artifacts of this format");
    return found;
  }
  bytes.remove_prefix(kMagic.size());
  bool whole = take_number(&bytes, &count);
  for (uint64_t i = 0; whole && i < count; ++i) {
    uint64_t size = 0;
    whole = take_number(&bytes, &size) && size <= bytes.size();
    if (!whole) break;
    CacheEntry entry;
    const std::string problem = unpack_entry(bytes.substr(0, size), &entry);
    if (problem.empty()) found.entries.push_back(std::move(entry));
    else
      found.problems.push_back("artifact " + std::to_string(i + 1) + " of " + std::to_string(count) +
                               " cannot be used: " + problem);
    bytes.remove_prefix(size);
  }
  if (!whole || !bytes.empty()) found.problems.push_back("the artifacts do not end where their header says");
  return found;
}

}  // namespace tsc::jit
